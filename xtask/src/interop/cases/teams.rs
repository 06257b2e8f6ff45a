//! Three phases, each with a real program: alone in two dialects, and as a team of several vendors.

use anyhow::Result;

use super::super::case::{Case, same};
use super::super::stage::Stage;
use super::super::team::{self, Dialect};
use super::super::vendor::Vendor;

/// Returns the team of one vendor, in each dialect.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    Dialect::ALL.map(|dialect| case(&format!("{}/team-{}", vendor.name(), dialect.name()), [vendor; 3], dialect)).into()
}

/// Returns a team in which every phase is another vendor's.
pub(crate) fn mixed() -> Case {
    case("mixed/team", [Vendor::Claude, Vendor::Codex, Vendor::Gemini], Dialect::MetadataBlock)
}

fn case(name: &str, vendors: [Vendor; 3], dialect: Dialect) -> Case {
    Case::new(name, team::script(dialect), move |stage| play(stage, vendors, dialect))
}

fn play(stage: &Stage, vendors: [Vendor; 3], dialect: Dialect) -> Result<()> {
    stage.write("check.sh", team::CHECK)?;
    let journal = stage.run(&team::workflow(vendors, dialect, &stage.variables()?))?;
    for phase in ["design", "implement", "review"] {
        same(&format!("failures of {phase}"), journal.failures(phase), Vec::new())?;
        same(&format!("turns of {phase}"), journal.turns(phase), 1)?;
    }
    same("exit code", journal.ended.code, Some(0))?;
    // The calls of the script: three for the design, three for the implementation, one for the review.
    same("model calls", stage.model.asked().calls, 7)?;
    same("tokens of the design", journal.tokens("design"), 3 * 1250)
}

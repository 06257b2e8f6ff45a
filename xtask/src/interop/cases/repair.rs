//! A report that cannot be read or is not true is repaired in its session: one model call for each repair.

use anyhow::Result;

use super::super::case::{Case, same};
use super::super::script::{Answer, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// Returns one repair, two of them, and a session that is given up.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let name = |name: &str| format!("{}/{name}", vendor.name());
    vec![
        Case::new(name("repair"), script(1), move |stage| repaired(stage, vendor, 1)),
        Case::new(name("repair-twice"), script(2), move |stage| repaired(stage, vendor, 2)),
        Case::new(name("repair-given-up"), script(3), move |stage| given_up(stage, vendor)),
    ]
}

/// Six calls of tools, then `bad` answers without a block, then a good one.
fn script(bad: usize) -> Script {
    let mut steps: Vec<Vec<Answer>> = vec![vec![team::skill("designing")]];
    steps.extend((0..4).map(|_| vec![team::shell("true")]));
    steps.push(vec![team::write_design()]);
    let mut ends = vec![Answer::Text("The design is in DESIGN.md. It is short.".to_owned()); bad];
    ends.push(team::good_report());
    steps.push(ends);
    Script::default().when_again("Design the word counter", steps)
}

fn repaired(stage: &Stage, vendor: Vendor, times: usize) -> Result<()> {
    let journal = stage.run(&team::design(team::agent(vendor, &stage.variables()?)))?;
    same("exit code", journal.ended.code, Some(0))?;
    same("model calls: six tools, the first answer, one for each repair", stage.model.asked().calls, 7 + times)?;
    same("repairs", journal.repairs("design"), times)?;
    same("turns", journal.turns("design"), 1 + times)?;
    same("tokens of all turns", journal.tokens("design"), (7 + times as u64) * 1250)
}

/// After two repairs a fresh session does the work again.
fn given_up(stage: &Stage, vendor: Vendor) -> Result<()> {
    let journal = stage.run(&team::design(team::agent(vendor, &stage.variables()?)))?;
    same("exit code", journal.ended.code, Some(0))?;
    same("repairs", journal.repairs("design"), 2)?;
    same("model calls: nine in the first session, seven in the second", stage.model.asked().calls, 16)
}

//! Where a program keeps its things: a folder that a variable names, one that is not there yet, one in the workspace.

use anyhow::Result;

use super::super::case::{Case, same};
use super::super::script::{Answer, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// Returns the homes that this program may have.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let (variable, folder) = match vendor {
        Vendor::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        Vendor::Codex => ("CODEX_HOME", ".codex"),
        Vendor::Gemini => return Vec::new(),
        Vendor::Opencode => {
            return vec![Case::new("opencode/own-folder", script(), |stage| {
                stage.write(".opencode/opencode.json", "{}")?;
                repaired(stage, Vendor::Opencode, &[])
            })];
        }
    };
    let name = |name: &str| format!("{}/{name}", vendor.name());
    let mut cases = vec![Case::new(name("home-elsewhere"), script(), move |stage| {
        std::fs::rename(stage.in_home(folder), stage.in_home("elsewhere"))?;
        repaired(stage, vendor, &[(variable, &stage.in_home("elsewhere").to_string_lossy())])
    })];
    // The settings of Codex lead it to the model, so its folder is always there.
    if vendor == Vendor::Claude {
        cases.push(Case::new(name("home-empty"), script(), move |stage| {
            std::fs::remove_dir_all(stage.in_home(folder))?;
            repaired(stage, vendor, &[])
        }));
    }
    cases
}

/// A report that must be repaired: whoever cannot keep a session does all of it again.
fn script() -> Script {
    let bad = Answer::Text("The design is in DESIGN.md. It is short.".to_owned());
    Script::default()
        .when_again("Design the word counter", vec![vec![team::write_design()], vec![bad, team::good_report()]])
}

fn repaired(stage: &Stage, vendor: Vendor, variables: &[(&str, &str)]) -> Result<()> {
    let journal = stage.run_with(&team::design(team::agent(vendor, &stage.variables()?)), variables)?;
    same("failures", journal.failures("design").len(), 1)?;
    same("exit code", journal.ended.code, Some(0))?;
    same("model calls: a file, the first answer, the repair", stage.model.asked().calls, 3)
}

//! What the programs' own events prove: a report before the end of a subagent, skills, permissions.

use anyhow::Result;
use serde_json::json;

use super::super::case::{Case, same, says};
use super::super::script::{Answer, Call, Fault, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// Returns the cases that this program has events for.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let name = |name: &str| format!("{}/{name}", vendor.name());
    let design = |steps| Script::default().when("Design the word counter", steps);
    let with_skill =
        |skill: &str| design(vec![team::skill(skill), team::write_design(), team::report_with_skills(&["designing"])]);
    let mut cases = vec![
        Case::new(name("skill-proven"), with_skill("designing"), move |stage| skill(stage, vendor, "verified")),
        Case::new(name("skill-failed"), with_skill("no-such-skill"), move |stage| skill(stage, vendor, "refuted")),
    ];
    // A command that fails in Codex' sandbox leaves no trace in its events.
    if vendor != Vendor::Codex {
        let told = Answer::Text("I was not allowed to write DESIGN.md.".to_owned());
        let refused = design(vec![team::write_design(), told]);
        cases.push(Case::new(name("permission-refused"), refused, move |stage| permission(stage, vendor)));
    }
    if vendor == Vendor::Claude {
        let agrees = Answer::Text("The subagent agrees. My report above stands.".to_owned());
        cases.push(Case::new(name("report-before-subagent"), before_subagent(agrees.clone()), lost_report));
        let fault = Answer::Fault(Fault::Forbidden);
        cases.push(Case::new(name("report-before-error"), before_subagent(fault), lost_report));
        cases.push(Case::new(name("skill-of-subagent"), before_subagent(agrees), |stage| {
            skill(stage, Vendor::Claude, "verified")
        }));
    }
    cases
}

/// The report comes first, then a subagent in the background ends, and the last word is not a report.
fn before_subagent(last: Answer) -> Script {
    let subagent = Answer::Calls(vec![Call::Subagent("Look at the design again.".to_owned())]);
    Script::default()
        .when("Look at the design again", vec![team::skill("designing"), Answer::Text("It is good.".to_owned())])
        .when(
            "Design the word counter",
            vec![team::write_design(), subagent, team::report_with_skills(&["designing"]), last],
        )
}

fn lost_report(stage: &Stage) -> Result<()> {
    let journal = stage.run(&team::design(team::agent(Vendor::Claude, &stage.variables()?)))?;
    same("failures", journal.failures("design"), Vec::new())?;
    same("exit code", journal.ended.code, Some(0))
}

fn skill(stage: &Stage, vendor: Vendor, verdict: &str) -> Result<()> {
    let mut agent = team::agent(vendor, &stage.variables()?);
    agent["mandatory_skills"] = json!(["designing"]);
    agent["retry"] = json!({"max_retries": 0});
    let journal = stage.run(&team::design(agent))?;
    let verdicts = journal.verdicts("design", "designing");
    same("the first verdict about the skill", verdicts.first().map(String::as_str), Some(verdict))
}

fn permission(stage: &Stage, vendor: Vendor) -> Result<()> {
    let journal = stage.run(&team::design(team::reader(vendor, &stage.variables()?)))?;
    let argument: &[&str] = match vendor {
        Vendor::Claude => &["--permission-mode", "acceptEdits", "--allowedTools"],
        Vendor::Codex => &["--sandbox"],
        Vendor::Gemini => &["--approval-mode"],
        Vendor::Opencode => &["--auto", "--agent"],
    };
    same("whether the model was asked", stage.model.asked().calls > 0, true)?;
    says(&journal.text(), &["refused", "not allowed", "denied", "permission"])?;
    says(&journal.text(), argument)?;
    same("exit code", journal.ended.code, Some(3))
}

//! What passes: a fault of the service that the program gets over by itself, a model that hangs, and three agents at once.

use anyhow::Result;
use serde_json::json;

use super::super::case::{Case, same, says};
use super::super::journal::{Failed, Follows};
use super::super::script::{Answer, Fault, Script};
use super::super::stage::Stage;
use super::super::team::{self, Dialect};
use super::super::vendor::Vendor;

/// Agents that review at the same time, each of them in a phase of its name.
const REVIEWERS: [&str; 3] = ["quality", "safety", "speed"];

/// Returns the cases, which every program has.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let name = |name: &str| format!("{}/{name}", vendor.name());
    let once = |first: Answer| {
        let steps = vec![vec![first, team::write_design()], vec![team::good_report()]];
        Script::default().when_again("Design the word counter", steps)
    };
    vec![
        Case::new(name("rate-limited-once"), once(Answer::Fault(Fault::RateLimited)), move |stage| {
            // Codex gives up at once, and Baton tries again.
            gets_over(stage, vendor, usize::from(vendor == Vendor::Codex), 3)
        }),
        Case::new(name("stream-cut-once"), once(Answer::Cut("The design".to_owned())), move |stage| {
            // OpenCode keeps the half that came, and the model goes on from there: to the script that was a step.
            gets_over(stage, vendor, 0, if vendor == Vendor::Opencode { 2 } else { 3 })
        }),
        Case::new(name("model-hangs"), once(Answer::Hang), move |stage| hangs(stage, vendor)),
        Case::new(name("three-at-once"), reviews(), move |stage| at_once(stage, vendor)),
    ]
}

fn gets_over(stage: &Stage, vendor: Vendor, retries: usize, calls: usize) -> Result<()> {
    let journal = stage.run(&team::design(team::agent(vendor, &stage.variables()?)))?;
    let failures = journal.failures("design").into_iter().map(|failed| failed.follows).collect();
    same("what follows", failures, vec![Follows::Retry; retries])?;
    same("exit code", journal.ended.code, Some(0))?;
    same("model calls: the fault, a file, the report", stage.model.asked().calls, calls)
}

/// Nothing comes from the model, so nothing comes from the program. The next turn goes on in the same session, if its name is
/// known: OpenCode tells it when the model has begun to answer.
fn hangs(stage: &Stage, vendor: Vendor) -> Result<()> {
    let mut agent = team::agent(vendor, &stage.variables()?);
    agent["silence"] = json!("20s");
    let journal = stage.run(&team::design(agent))?;
    let failures = journal.failures("design");
    same("codes", failures.iter().map(|failed| failed.code.as_str()).collect(), vec!["TIMEOUT"])?;
    says(&failures[0].message, &["said nothing for 20 s"])?;
    let known = usize::from(vendor != Vendor::Opencode);
    same("turns that went on in the session", journal.resumed("design"), known)?;
    same("exit code", journal.ended.code, Some(0))
}

fn reviews() -> Script {
    REVIEWERS.iter().fold(Script::default(), |script, name| {
        let report = team::report(Dialect::MetadataBlock, name, "review", &[]);
        script.when(&format!("Review the {name}"), vec![team::shell("true"), Answer::Text(report)])
    })
}

/// Of several OpenCodes that make the database of one home at the same time, some fail; Baton tries again.
fn is_first_start(failed: &Failed) -> bool {
    let is_its_database =
        ["database is locked", "Failed query: CREATE TABLE"].iter().any(|word| failed.message.contains(word));
    is_its_database && failed.follows == Follows::Retry
}

fn at_once(stage: &Stage, vendor: Vendor) -> Result<()> {
    let variables = stage.variables()?;
    let mut workflow = json!({"name": "team", "agents": {}, "phases": [{"id": "look", "parallel": []}]});
    for name in REVIEWERS {
        let mut agent = team::agent(vendor, &variables);
        agent["dialect"] = json!(Dialect::MetadataBlock.name());
        workflow["agents"][name] = agent;
        let phase = json!({"id": name, "agent": name, "task": format!("Review the {name}"), "writes": []});
        workflow["phases"][0]["parallel"].as_array_mut().into_iter().for_each(|phases| phases.push(phase.clone()));
    }
    let journal = stage.run(&workflow)?;
    for name in REVIEWERS {
        let phase = format!("look/{name}");
        let failures: Vec<Failed> =
            journal.failures(&phase).into_iter().filter(|failed| !is_first_start(failed)).collect();
        same(&format!("failures of {phase}"), failures, Vec::new())?;
    }
    same("exit code", journal.ended.code, Some(0))?;
    same("model calls: two for each", stage.model.asked().calls, 2 * REVIEWERS.len())
}

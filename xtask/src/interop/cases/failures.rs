//! What can go wrong between a program and its model, and what Baton makes of it.

use anyhow::{Result, bail};
use serde_json::json;

use super::super::case::{Case, same, says};
use super::super::journal::{Failed, Follows, Journal};
use super::super::script::{Answer, Fault, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// A row of the matrix: the fault, and what must follow from it.
const ROWS: &[(&str, Fault, Follows)] = &[
    ("unauthorized", Fault::Unauthorized, Follows::Nothing),
    ("forbidden", Fault::Forbidden, Follows::Nothing),
    ("rate-limited", Fault::RateLimited, Follows::Retry),
    ("overloaded", Fault::Overloaded, Follows::Retry),
    ("server-error", Fault::ServerError, Follows::Retry),
    ("out-of-credit", Fault::OutOfCredit, Follows::Nothing),
    ("model-not-found", Fault::ModelNotFound, Follows::Nothing),
    ("context-too-long", Fault::ContextTooLong, Follows::Nothing),
];

/// Returns the rows, and what else this program may lack.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let name = |name: &str| format!("{}/{name}", vendor.name());
    let script = |fault| Script::default().when("Design the word counter", vec![Answer::Fault(fault)]);
    let mut cases: Vec<Case> = ROWS
        .iter()
        .map(|(row, fault, follows)| Case::new(name(row), script(*fault), move |stage| failed(stage, vendor, *follows)))
        .collect();
    if matches!(vendor, Vendor::Claude | Vendor::Codex) {
        cases.push(Case::new(name("limit-with-reset"), script(Fault::LimitWithReset), move |stage| {
            parked(stage, vendor)
        }));
    }
    if vendor != Vendor::Opencode {
        cases
            .push(Case::new(name("missing-key"), script(Fault::Unauthorized), move |stage| missing_key(stage, vendor)));
    }
    if matches!(vendor, Vendor::Codex | Vendor::Gemini) {
        cases.push(Case::new(name("untrusted"), script(Fault::Unauthorized), move |stage| untrusted(stage, vendor)));
    }
    cases
}

fn failed(stage: &Stage, vendor: Vendor, follows: Follows) -> Result<()> {
    let journal = stage.run(&team::design(team::agent(vendor, &stage.variables()?)))?;
    let attempts = if follows == Follows::Nothing { 1 } else { 2 };
    same("whether the model was asked", stage.model.asked().calls > 0, true)?;
    same("what follows", first(&journal)?.follows, follows)?;
    same("attempts", journal.attempts("design"), attempts)?;
    same("exit code", journal.ended.code, Some(3))
}

fn parked(stage: &Stage, vendor: Vendor) -> Result<()> {
    let login: &[(&str, &str)] = match vendor {
        // Only a subscription tells when a limit ends.
        Vendor::Claude => &[("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "not-a-token")],
        _ => &[],
    };
    let mut variables = stage.variables()?;
    variables.push("CLAUDE_CODE_OAUTH_TOKEN");
    let mut running = stage.start(&team::design(team::agent(vendor, &variables)), login)?;
    // The run waits for the end of the limit; what was journalled is there before.
    let journal = stage.stop_when(&mut running, "\"event\":\"failed\"")?;
    same("what follows", first(&journal)?.follows, Follows::Wait)?;
    same("attempts", journal.turns("design"), 1)
}

fn missing_key(stage: &Stage, vendor: Vendor) -> Result<()> {
    let key = match vendor {
        Vendor::Claude => "ANTHROPIC_API_KEY",
        Vendor::Codex => "LOCAL_KEY",
        Vendor::Gemini | Vendor::Opencode => "GEMINI_API_KEY",
    };
    let variables: Vec<&str> = stage.variables()?.into_iter().filter(|name| *name != key).collect();
    let journal = stage.run(&team::design(team::agent(vendor, &variables)))?;
    let failed = first(&journal)?;
    same("what follows", failed.follows, Follows::Nothing)?;
    same("model calls", stage.model.asked().calls, 0)?;
    says(&failed.message, &[key])?;
    says(&journal.text(), &["`env`", "env:", "not passed on"])
}

fn untrusted(stage: &Stage, vendor: Vendor) -> Result<()> {
    let (arguments, hint) = match vendor {
        Vendor::Codex => (json!(["--sandbox", "workspace-write"]), "--skip-git-repo-check"),
        _ => (json!(["--approval-mode", "yolo"]), "--skip-trust"),
    };
    let mut agent = team::agent(vendor, &stage.variables()?);
    agent["arguments"] = arguments;
    let journal = stage.run(&team::design(agent))?;
    let failed = first(&journal)?;
    same("what follows", failed.follows, Follows::Nothing)?;
    says(&failed.message, &[hint])?;
    if failed.message.contains('\u{1b}') {
        bail!("the message has control characters: {:?}", failed.message);
    }
    Ok(())
}

fn first(journal: &Journal) -> Result<Failed> {
    let failed = journal.failures("design").into_iter().next();
    failed.ok_or_else(|| anyhow::anyhow!("no attempt failed:\n{}", journal.ended.stderr))
}

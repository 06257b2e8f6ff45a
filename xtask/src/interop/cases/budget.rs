//! A budget that is reached in the middle of a turn ends the turn.

use anyhow::{Result, bail};
use serde_json::json;

use super::super::case::{Case, same, says};
use super::super::script::Script;
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// The model calls tools for ever, 1250 tokens each time; the limit is reached after the fifth.
const TOKENS: u64 = 6000;
/// The same with the prices of our settings: $0.00381 for each call of OpenCode, which tells what each one costs.
const COST: f64 = 0.0171;
/// Nobody is interrupted before the budget is used up.
const CALLS_MIN: usize = 5;
/// How many calls may pass until the program has ended.
const CALLS_MAX: usize = 40;

/// Returns the budgets that this program's events show while it works.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    // Codex and Gemini CLI say what they used only when they end.
    let limits = match vendor {
        // Claude Code says what it costs only when it ends.
        Vendor::Claude => vec![("tokens", json!(TOKENS))],
        Vendor::Opencode => vec![("tokens", json!(TOKENS)), ("cost", json!(COST))],
        Vendor::Codex | Vendor::Gemini => Vec::new(),
    };
    let script = || Script::default().when("Design the word counter", vec![team::shell("true")]);
    let case = |(limit, value): (&'static str, serde_json::Value)| {
        let name = format!("{}/budget-{limit}", vendor.name());
        Case::new(name, script(), move |stage| budget(stage, vendor, limit, &value))
    };
    limits.into_iter().map(case).collect()
}

fn budget(stage: &Stage, vendor: Vendor, limit: &str, value: &serde_json::Value) -> Result<()> {
    let mut workflow = team::design(team::agent(vendor, &stage.variables()?));
    workflow["limits"] = json!({limit: value});
    let journal = stage.run(&workflow)?;
    same("exit code", journal.ended.code, Some(3))?;
    says(&journal.text(), &["limit"])?;
    let calls = stage.model.asked().calls;
    if !(CALLS_MIN..=CALLS_MAX).contains(&calls) {
        bail!("model calls: expected {CALLS_MIN} to {CALLS_MAX}, got {calls}");
    }
    Ok(())
}

//! `baton hook` in a session that Baton does not drive: the end is blocked until the report is good, or three times.

use anyhow::Result;
use serde_json::json;

use super::super::case::{Case, same};
use super::super::script::{Answer, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

const PROMPT: &str = "Design the word counter.";
/// Whoever has read an invalid report three times has read enough.
const BLOCKED_MAX: usize = 3;

/// Returns a report that is repaired and one that never is, for programs with such hooks.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    if vendor == Vendor::Opencode {
        return Vec::new();
    }
    let name = |name: &str| format!("{}/{name}", vendor.name());
    let bad = || Answer::Text("The design is in DESIGN.md. It is short.".to_owned());
    let repaired = Script::default().when_again(
        "Design the word counter",
        vec![vec![team::write_design()], vec![bad(), bad(), team::good_report()]],
    );
    let never = Script::default().when("Design the word counter", vec![team::write_design(), bad()]);
    vec![
        Case::new(name("hook-blocks-twice"), repaired, move |stage| play(stage, vendor, 2)),
        Case::new(name("hook-lets-go"), never, move |stage| play(stage, vendor, BLOCKED_MAX)),
    ]
}

fn play(stage: &Stage, vendor: Vendor, blocked: usize) -> Result<()> {
    stage.write("baton.toml", "[hooks.main]\ndialect = \"metadata-block\"\n")?;
    set_up(stage, vendor)?;
    let arguments: &[&str] = match vendor {
        Vendor::Claude => &["--permission-mode", "acceptEdits"],
        Vendor::Codex => &["--sandbox", "workspace-write", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"],
        Vendor::Gemini | Vendor::Opencode => &["--skip-trust", "--approval-mode", "auto_edit"],
    };
    let ended = stage.program(vendor, arguments, PROMPT)?;
    same("exit code", ended.code, Some(0))?;
    same("model calls: a file, the first answer, one for each time", stage.model.asked().calls, 2 + blocked)
}

fn set_up(stage: &Stage, vendor: Vendor) -> Result<()> {
    let hook = |program: &str| json!([{"hooks": [{"type": "command", "command": format!("baton hook {program}")}]}]);
    match vendor {
        Vendor::Claude => {
            stage.write(".claude/settings.json", &json!({"hooks": {"Stop": hook("claude-code")}}).to_string())
        }
        Vendor::Codex => stage.write(".codex/hooks.json", &json!({"hooks": {"Stop": hook("codex")}}).to_string()),
        Vendor::Gemini | Vendor::Opencode => {
            stage.write(".gemini/settings.json", &json!({"hooks": {"AfterAgent": hook("gemini")}}).to_string())
        }
    }
}

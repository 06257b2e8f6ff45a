//! `kill -9` in the middle of a tool call, of Baton and of the agent: the work goes on in the same session.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::super::case::{Case, same};
use super::super::script::{Answer, Script};
use super::super::stage::Stage;
use super::super::team;
use super::super::vendor::Vendor;

/// Returns the death of Baton and that of the agent.
pub(crate) fn of(vendor: Vendor) -> Vec<Case> {
    let name = |name: &str| format!("{}/{name}", vendor.name());
    vec![
        Case::new(name("kill-baton"), script(), move |stage| kill_baton(stage, vendor)),
        Case::new(name("kill-agent"), script(), move |stage| kill_agent(stage, vendor)),
    ]
}

/// A fresh session would write the file again, and hang again in the second step.
fn script() -> Script {
    let hangs: Answer = team::shell("touch started && tail -f started");
    Script::default().when("Design the word counter", vec![team::write_design(), hangs, team::good_report()])
}

fn kill_baton(stage: &Stage, vendor: Vendor) -> Result<()> {
    let mut running = stage.start(&workflow(stage, vendor)?, &[])?;
    stage.wait_for("started", &mut running)?;
    running.kill()?;
    running.wait()?;
    let journal = stage.resume()?;
    same("exit code of baton resume", journal.ended.code, Some(0))?;
    same("turns that went on in the session", journal.resumed("design"), 1)?;
    same("model calls: two before the death, one after it", stage.model.asked().calls, 3)
}

fn kill_agent(stage: &Stage, vendor: Vendor) -> Result<()> {
    let mut running = stage.start(&workflow(stage, vendor)?, &[])?;
    stage.wait_for("started", &mut running)?;
    for process in agents_of(stage)? {
        // One that has ended with its parent is gone already.
        Command::new("kill").args(["-KILL", &process]).stderr(Stdio::null()).status()?;
    }
    let journal = super::super::journal::Journal::read(stage.wait(running, "run")?);
    same("exit code", journal.ended.code, Some(0))?;
    same("turns that went on in the session", journal.resumed("design"), 1)?;
    same("model calls: two before the death, one after it", stage.model.asked().calls, 3)
}

fn workflow(stage: &Stage, vendor: Vendor) -> Result<serde_json::Value> {
    let mut workflow = team::design(team::agent(vendor, &stage.variables()?));
    workflow["phases"][0]["writes"] = serde_json::json!(["DESIGN.md", "started"]);
    Ok(workflow)
}

/// Returns the processes that work in the workspace of this stage.
fn agents_of(stage: &Stage) -> Result<Vec<String>> {
    let workspace = stage.in_workspace("").canonicalize()?;
    let works_here = |process: &String| {
        std::fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|folder| folder == workspace)
            && std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() != "bwrap")
    };
    let entries = std::fs::read_dir("/proc").context("there is no /proc")?.flatten();
    let processes = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(works_here).collect())
}

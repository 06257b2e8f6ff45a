//! `baton init`: sets a project up for the hooks of coding agents.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::init::{self, CodingAgent};
use crate::output::Output;

/// Set a project up for the hooks of coding agents
///
/// Adds `baton hook` to the settings of each coding agent that is named and keeps everything that is there. Adds `[hooks]`
/// to baton.toml, a .gitignore to the folder .baton, and a sample workflow.yaml whose agents are those of .claude/agents.
/// Shows what changes, and what must be trusted by hand. Doing it again changes nothing; --undo takes out exactly what was
/// put in. If a file cannot be understood, nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton init --claude-code\n  baton init --claude-code --codex --dry-run\n  \
baton init --claude-code --undo")]
#[command(group = clap::ArgGroup::new("programs").required(true).multiple(true).args(["claude_code", "codex", "gemini", "opencode"]))]
pub(crate) struct Options {
    /// The project
    #[arg(value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Add hooks to .claude/settings.json
    #[arg(long)]
    claude_code: bool,
    /// Add hooks to .codex/hooks.json
    #[arg(long)]
    codex: bool,
    /// Add hooks to .gemini/settings.json
    #[arg(long)]
    gemini: bool,
    /// Add a plugin to .opencode/plugin
    #[arg(long)]
    opencode: bool,
    /// Take out what was put in
    #[arg(long)]
    undo: bool,
    /// Show what would change, and change nothing
    #[arg(long, visible_alias = "print")]
    dry_run: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    fn agents(&self) -> Vec<CodingAgent> {
        let given = [self.claude_code, self.codex, self.gemini, self.opencode];
        CodingAgent::ALL.into_iter().zip(given).filter(|(_, given)| *given).map(|(agent, _)| agent).collect()
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let project = fs::canonicalize(&options.project)
        .map_err(|error| CommandError::usage(format!("cannot open {}: {error}", options.project.display())))?;
    let plan = if options.undo { init::plan_undo } else { init::plan };
    let set_up = plan(&project, &options.agents())?;
    if options.json {
        let files: Vec<_> = set_up
            .changes
            .iter()
            .map(|change| json!({ "path": change.path, "action": change.action(), "difference": change.difference() }))
            .collect();
        output.json(&json!({
            "version": 1, "dry_run": options.dry_run, "undo": options.undo, "files": files, "by_hand": set_up.by_hand,
        }))?;
    } else {
        for change in &set_up.changes {
            output.data(&format!("{} {}\n{}", change.action(), change.path, change.difference()))?;
        }
        if set_up.changes.is_empty() {
            output.note("there is nothing to take out");
        }
        set_up.by_hand.iter().for_each(|told| output.note(&format!("note: {told}")));
        if options.dry_run {
            output.note("nothing was changed");
        }
    }
    if !options.dry_run {
        set_up.carry_out(&project, options.undo)?;
    }
    Ok(Exit::Done)
}

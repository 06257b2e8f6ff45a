//! `baton init`: writes a small start or an example, or sets a project up for the hooks of coding agents.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::init::{self, CodingAgent, Example, FileChange, SetUp};
use crate::output::Output;

/// Start with a workflow that runs, or add hooks for coding agents
///
/// Without options it writes a small start: workflow.yaml, two agents of a few lines each, the schema of workflow files
/// for editors, and a .gitignore. With --from it writes an example instead. It only adds: a .gitignore gets the lines
/// that it lacks, and if any other file exists with different content, nothing is written. Running it again changes
/// nothing.
///
/// With the name of a coding agent it adds `baton hook` to its settings and keeps everything else. It also adds
/// `[hooks]` to baton.toml, a .gitignore to the folder .baton, and a sample workflow.yaml whose agents are those of
/// .claude/agents. It shows what changes, and what you must trust by hand. --undo removes exactly what was added, for
/// all programs if none is named. If a file cannot be read or written, nothing is changed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton init && baton run\n  baton init --from integration\n  baton init --claude-code\n  \
baton init --claude-code --codex --dry-run\n  baton init --undo"
)]
#[command(group = clap::ArgGroup::new("hooks").multiple(true).args(["claude_code", "codex", "gemini", "opencode", "undo"]))]
pub(crate) struct Options {
    /// The project; made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Write this example instead of the small start
    #[arg(long, value_name = "EXAMPLE", value_enum, conflicts_with = "hooks")]
    from: Option<Example>,
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
    /// Remove what was added
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
    /// Returns whether it is about hooks.
    fn is_about_hooks(&self) -> bool {
        self.undo || self.named().contains(&true)
    }

    fn named(&self) -> [bool; 4] {
        [self.claude_code, self.codex, self.gemini, self.opencode]
    }

    fn agents(&self) -> Vec<CodingAgent> {
        // Only undoing does without names.
        let given = if self.named().contains(&true) { self.named() } else { [true; 4] };
        CodingAgent::ALL.into_iter().zip(given).filter(|(_, given)| *given).map(|(agent, _)| agent).collect()
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let unusable = |error| CommandError::usage(format!("cannot open {}: {error}", options.project.display()));
    if !options.is_about_hooks() {
        return start(options, &std::path::absolute(&options.project).map_err(unusable)?, output);
    }
    let project = fs::canonicalize(&options.project).map_err(unusable)?;
    let plan = if options.undo { init::plan_undo } else { init::plan };
    let set_up = plan(&project, &options.agents())?;
    if !options.dry_run {
        set_up.carry_out(&project)?;
    }
    if options.json {
        output.json(&form(options, &set_up))?;
    } else {
        for change in &set_up.changes {
            output.data(&format!("{} {}\n{}", action(options, change), change.path, change.difference()))?;
        }
        if set_up.changes.is_empty() {
            output.note("nothing to remove");
        }
        set_up.by_hand.iter().for_each(|told| output.note(&format!("note: {told}")));
        if options.dry_run {
            output.note("nothing was changed");
        }
    }
    Ok(Exit::Done)
}

/// Writes the small start or an example, and says how to go on.
fn start(options: &Options, project: &Path, output: &Output) -> Result<Exit, CommandError> {
    let set_up = init::plan_start(project, options.from)?;
    if !options.dry_run {
        fs::create_dir_all(project)
            .map_err(|error| CommandError::usage(format!("cannot make {}: {error}", options.project.display())))?;
        set_up.carry_out(project)?;
    }
    let next = init::next_command(&options.project, options.from);
    if options.json {
        let mut form = form(options, &set_up);
        form["next"] = json!(next);
        output.json(&form)?;
        return Ok(Exit::Done);
    }
    let changed: Vec<_> = set_up.changes.iter().filter(|change| change.differs()).collect();
    for change in &changed {
        output.data(&format!("{} {}\n", action(options, change), change.path))?;
    }
    if changed.is_empty() {
        output.note("already set up; nothing was changed");
    } else if options.dry_run {
        output.note("dry run: nothing was changed");
    }
    if options.from.is_some() {
        output.note("the agents of this example are scripts; --answers answers.yaml plays the person who is asked");
    }
    output.note(&format!("next: {next}"));
    Ok(Exit::Done)
}

/// Returns what happens to a file, or what would happen.
fn action(options: &Options, change: &FileChange) -> &'static str {
    match change.action() {
        action if !options.dry_run => action,
        "created" => "would create",
        "changed" => "would change",
        "removed" => "would remove",
        action => action,
    }
}

/// Returns what is done, for machines.
fn form(options: &Options, set_up: &SetUp) -> Value {
    let files: Vec<_> = set_up
        .changes
        .iter()
        .map(|change| json!({ "path": change.path, "action": change.action(), "difference": change.difference() }))
        .collect();
    json!({
        "version": 1, "dry_run": options.dry_run, "undo": options.undo, "files": files, "by_hand": set_up.by_hand,
    })
}

//! Sets a project up for the hooks of coding agents: adds to the settings that are there, and takes out again exactly that.
//!
//! Everything is worked out before the first file is written, so that a mistake in one file changes none of them.

mod change;
mod json_text;
mod plugin;
mod record;
mod settings;
mod team;

pub(crate) use change::FileChange;
pub(crate) use settings::CodingAgent;

use std::fs;
use std::path::Path;

use crate::command_error::CommandError;
use crate::config;
use crate::own_folder;
use record::InitRecord;
use team::Team;

/// The sample of a workflow.
const WORKFLOW: &str = "workflow.yaml";

/// What is done to a project.
#[derive(Debug, Default)]
pub(crate) struct SetUp {
    /// The files, in the order in which they are told.
    pub changes: Vec<FileChange>,
    /// What people have to do themselves.
    pub by_hand: Vec<String>,
    record: InitRecord,
}

/// Works out how a project is set up for these coding agents.
pub(crate) fn plan(project: &Path, agents: &[CodingAgent]) -> Result<SetUp, CommandError> {
    let team = Team::of(project);
    let mut set_up = SetUp { record: InitRecord::read(project), ..SetUp::default() };
    for agent in agents {
        set_up.changes.push(agent.add(project)?);
        set_up.by_hand.extend(agent.by_hand(project));
    }
    set_up.changes.push(configuration(project, &team)?);
    match team.workflow(agents) {
        Some(text) => set_up.changes.push(sample(project, text, &mut set_up.by_hand)?),
        None => set_up
            .by_hand
            .push("there is nothing in .claude/agents: name your agents under [hooks.agents] in baton.toml".to_owned()),
    }
    for change in set_up.changes.iter().filter(|change| change.before.is_none()) {
        set_up.record.note(&change.path, change.after.as_deref().unwrap_or_default());
    }
    Ok(set_up)
}

/// Works out how what was added for these coding agents is taken out again; the rest goes with the last of them.
pub(crate) fn plan_undo(project: &Path, agents: &[CodingAgent]) -> Result<SetUp, CommandError> {
    let mut set_up = SetUp { record: InitRecord::read(project), ..SetUp::default() };
    for agent in agents {
        let change = agent.remove(project, &set_up.record)?;
        set_up.changes.extend(change);
    }
    let mut left = false;
    for agent in CodingAgent::ALL.into_iter().filter(|agent| !agents.contains(agent)) {
        left |= agent.is_set_up(project)?;
    }
    if left {
        return Ok(set_up);
    }
    set_up.changes.extend(without_configuration(project, &set_up.record)?);
    let path = project.join(WORKFLOW);
    if let Some(text) = read(&path)?.filter(|_| set_up.record.has(WORKFLOW)) {
        if set_up.record.is_as_written(WORKFLOW, &text) {
            set_up.changes.push(FileChange { path: WORKFLOW.to_owned(), before: Some(text), after: None });
        } else {
            set_up.by_hand.push(format!("{WORKFLOW} was changed since, and stays"));
        }
    }
    Ok(set_up)
}

impl SetUp {
    /// Writes the files.
    pub(crate) fn carry_out(mut self, project: &Path, is_undo: bool) -> Result<(), CommandError> {
        let failed = |error| CommandError::usage(format!("cannot write to {}: {error}", project.display()));
        for change in &self.changes {
            change.carry_out(project)?;
            if is_undo && change.after.is_none() {
                self.record.forget(&change.path);
            }
        }
        if is_undo {
            return self.record.write_if_there(project).map_err(failed);
        }
        own_folder::make(project).map_err(failed)?;
        self.record.write(project).map_err(failed)
    }
}

/// Adds `[hooks]` to the configuration, unless somebody has written it.
fn configuration(project: &Path, team: &Team) -> Result<FileChange, CommandError> {
    let path = project.join(config::FILE_NAME);
    let before = read(&path)?;
    // What is there must be sound: `baton hook` would say so in every session.
    if before.is_some() {
        config::read(Some(&path))?;
    }
    let text = before.clone().unwrap_or_default();
    let has_hooks = text.lines().any(|line| line.trim_start().starts_with("[hooks"));
    let after = if has_hooks { text } else { format!("{}{}", ended(&text), team.configuration()) };
    Ok(FileChange { path: config::FILE_NAME.to_owned(), before, after: Some(after) })
}

fn without_configuration(project: &Path, record: &InitRecord) -> Result<Option<FileChange>, CommandError> {
    let Some(before) = read(&project.join(config::FILE_NAME))? else { return Ok(None) };
    let Some(after) = team::without_block(&before) else { return Ok(None) };
    let is_ours = after.trim().is_empty() && record.has(config::FILE_NAME);
    let after = (!is_ours).then_some(after);
    Ok(Some(FileChange { path: config::FILE_NAME.to_owned(), before: Some(before), after }))
}

fn sample(project: &Path, text: String, by_hand: &mut Vec<String>) -> Result<FileChange, CommandError> {
    let before = read(&project.join(WORKFLOW))?;
    if before.as_ref().is_some_and(|before| *before != text) {
        by_hand.push(format!("{WORKFLOW} is there already, and stays as it is"));
    }
    let after = before.clone().unwrap_or(text);
    Ok(FileChange { path: WORKFLOW.to_owned(), before, after: Some(after) })
}

/// Ends a text with an empty line, unless it is empty.
fn ended(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.ends_with('\n') => format!("{text}\n"),
        text => format!("{text}\n\n"),
    }
}

/// Reads a file; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::usage(format!("cannot read {}: {error}", path.display()))),
    }
}

//! Sets a project up: with a small start or an example, or for the hooks of coding agents. Hooks are added to the settings that
//! are there, and exactly that is taken out again.
//!
//! Everything is worked out before the first file is written, so that a mistake in one file changes none of them.

mod agent_file;
mod change;
mod examples;
mod file_writing;
mod plugin;
mod record;
mod sample;
mod settings;
mod start;
mod team;

pub(crate) use change::FileChange;
pub(crate) use examples::Example;
pub(crate) use settings::CodingAgent;
pub(crate) use start::{next_command, plan_start};

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::command_error::CommandError;
use crate::{config, own_folder};
use file_writing::refused;
use record::InitRecord;
use team::Team;

/// The sample of a workflow.
const WORKFLOW: &str = "workflow.yaml";

/// Keeps the folder of Baton out of repositories.
const IGNORE: &str = ".baton/.gitignore";
const IGNORED: &str = "*\n";

/// What is done to a project.
#[derive(Debug, Default)]
pub(crate) struct SetUp {
    /// The files, in the order in which they are listed.
    pub changes: Vec<FileChange>,
    /// What people have to do themselves.
    pub by_hand: Vec<String>,
    /// Files of our own, which are not listed.
    own: Vec<FileChange>,
}

/// Works out how a project is set up for these coding agents.
pub(crate) fn plan(project: &Path, agents: &[CodingAgent]) -> Result<SetUp, CommandError> {
    let team = Team::of(project);
    let mut set_up = SetUp { by_hand: team.left_out.clone(), ..SetUp::default() };
    for agent in agents {
        set_up.changes.push(agent.add(project)?);
        set_up.by_hand.extend(agent.by_hand(project));
    }
    set_up.changes.push(configuration(project, &team)?);
    match team.workflow(agents) {
        Some(text) => set_up.changes.push(sample(project, text, &mut set_up.by_hand)?),
        None => set_up.by_hand.push(
            "there is no agent in .claude/agents that could be used: name yours under [hooks.agents] in baton.toml"
                .to_owned(),
        ),
    }
    let mut record = InitRecord::read(project);
    let mut changed = set_up.changes.iter().filter(|change| change.differs()).peekable();
    // Where nothing is done nothing is noted.
    if changed.peek().is_some() {
        changed.for_each(|change| record.note(change));
        let ignore = read(&project.join(IGNORE))?;
        let ignored = ignore.clone().unwrap_or_else(|| IGNORED.to_owned());
        set_up.own.push(made(project, IGNORE, ignore, ignored));
        set_up.own.push(made(project, record::PATH, read(&project.join(record::PATH))?, record.text()));
    }
    set_up.check(project)
}

/// Works out how what was added for these coding agents is taken out again; the rest goes with the last of them.
pub(crate) fn plan_undo(project: &Path, agents: &[CodingAgent]) -> Result<SetUp, CommandError> {
    let mut record = InitRecord::read(project);
    let mut set_up = SetUp::default();
    for agent in agents {
        set_up.changes.extend(agent.remove(project, &record)?);
    }
    let mut is_last = true;
    for agent in CodingAgent::ALL.into_iter().filter(|agent| !agents.contains(agent)) {
        is_last &= !agent.is_set_up(project)?;
    }
    if is_last {
        set_up.changes.extend(without_configuration(project, &record)?);
        set_up.changes.extend(without_sample(project, &record, &mut set_up.by_hand)?);
    }
    set_up.changes.iter().for_each(|change| record.forget(change));
    set_up.own = without_record(project, &record, is_last)?;
    set_up.check(project)
}

impl SetUp {
    /// Writes the files: all of them, or none.
    pub(crate) fn carry_out(&self, project: &Path) -> Result<(), CommandError> {
        file_writing::carry_out(project, &self.all())
    }

    /// Checks whether anything is in the way.
    fn check(self, project: &Path) -> Result<SetUp, CommandError> {
        file_writing::check(project, &self.all())?;
        Ok(self)
    }

    fn all(&self) -> Vec<&FileChange> {
        self.own.iter().chain(&self.changes).collect()
    }
}

/// Adds `[hooks]` to the configuration, unless somebody has written it.
fn configuration(project: &Path, team: &Team) -> Result<FileChange, CommandError> {
    let path = project.join(config::FILE_NAME);
    let before = read(&path)?;
    // What is there must be sound: `baton hook` would say so in every session.
    if before.is_some() {
        config::read(Some(&path)).map_err(|error| error.hint("nothing was changed"))?;
    }
    let text = before.clone().unwrap_or_default();
    let has_hooks = toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("hooks"));
    let is_there = has_hooks || team::has_block(&text);
    let after = if is_there { text } else { format!("{}{}", ended(&text), team.configuration()) };
    Ok(made(project, config::FILE_NAME, before, after))
}

fn without_configuration(project: &Path, record: &InitRecord) -> Result<Option<FileChange>, CommandError> {
    let path = config::FILE_NAME;
    let Some(now) = read(&project.join(path))? else { return Ok(None) };
    let Some(rest) = team::without_blocks(&now) else { return Ok(None) };
    // A text of before that has such a part is from another time.
    let before = record.text_before(path, &now).filter(|text| !team::has_block(text));
    let rest = before.map_or(rest, str::to_owned);
    let rest = (!rest.trim().is_empty() || stays(project, path, record)).then_some(rest);
    Ok(Some(without(path, now, rest, record)))
}

fn sample(project: &Path, text: String, by_hand: &mut Vec<String>) -> Result<FileChange, CommandError> {
    let before = read(&project.join(WORKFLOW))?;
    if before.as_ref().is_some_and(|before| *before != text) {
        by_hand.push(format!("{WORKFLOW} already exists and is kept"));
    }
    let after = before.clone().unwrap_or(text);
    Ok(made(project, WORKFLOW, before, after))
}

fn without_sample(
    project: &Path,
    record: &InitRecord,
    by_hand: &mut Vec<String>,
) -> Result<Option<FileChange>, CommandError> {
    let Some(now) = read(&project.join(WORKFLOW))? else { return Ok(None) };
    let team = Team::of(project);
    let is_sample = || CodingAgent::ALL.iter().any(|agent| team.workflow(&[*agent]).as_ref() == Some(&now));
    if record.is_as_written(WORKFLOW, &now) || !record.knows(WORKFLOW) && is_sample() {
        return Ok(Some(without(WORKFLOW, now, None, record)));
    }
    if record.knows(WORKFLOW) {
        by_hand.push(format!("{WORKFLOW} was changed since and is kept"));
    }
    Ok(None)
}

/// Returns what becomes of the record and of its folder, which goes if nothing else is in it.
fn without_record(project: &Path, record: &InitRecord, is_last: bool) -> Result<Vec<FileChange>, CommandError> {
    let mut changes = Vec::new();
    let is_over = is_last || record.is_empty();
    if let Some(now) = read(&project.join(record::PATH))? {
        let rest = (!is_over).then(|| record.text());
        changes.push(without(record::PATH, now, rest, record));
    }
    let own = [".gitignore", "init.json"];
    let entries = fs::read_dir(project.join(own_folder::NAME)).into_iter().flatten().filter_map(Result::ok);
    let is_alone = entries.into_iter().all(|entry| own.iter().any(|name| entry.file_name() == *name));
    match read(&project.join(IGNORE))? {
        Some(now) if is_over && is_alone && now == IGNORED => {
            let folders = vec![own_folder::NAME.to_owned()];
            changes.push(FileChange { path: IGNORE.to_owned(), before: Some(now), after: None, folders });
        }
        _ => {}
    }
    Ok(changes)
}

/// Returns the change that writes a file, with the folders that are missing.
fn made(project: &Path, path: &str, before: Option<String>, after: String) -> FileChange {
    let folders = folders_of(path).into_iter().filter(|folder| !project.join(folder).exists()).collect();
    FileChange { path: path.to_owned(), before, after: Some(after), folders }
}

/// Returns the change that leaves the rest of a file, or removes it with the folders that were made for it.
fn without(path: &str, now: String, rest: Option<String>, record: &InitRecord) -> FileChange {
    // If nobody has noted anything, an empty folder is taken for one that was made.
    let goes = |folder: &String| record.has_made(folder) || !record.knows(path);
    let folders = folders_of(path).into_iter().filter(goes).collect();
    FileChange { path: path.to_owned(), before: Some(now), after: rest, folders }
}

/// Returns whether a file stays although nothing is left in it: it was there, or it is behind a link, which would stay.
fn stays(project: &Path, path: &str, record: &InitRecord) -> bool {
    record.was_there(path) || project.join(path).is_symlink()
}

/// Returns the folders of a file, the outer ones first.
fn folders_of(path: &str) -> Vec<String> {
    let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut folders: Vec<String> = folders.map(|folder| folder.to_string_lossy().into_owned()).collect();
    folders.reverse();
    folders
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
    // Something like a pipe would never end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(refused(format!("{} is not a file", path.display())));
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(refused(format!("cannot read {}: {error}", path.display()))),
    }
}

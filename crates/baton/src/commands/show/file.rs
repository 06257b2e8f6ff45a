//! A file that a report names, as it was when it was looked at. Whoever decides on another machine has no workspace.

use std::path::Path;

use baton_agents::evidence::{ListedEntry, listed};
use baton_engine::engine::examined_of;
use baton_engine::evidence::{ExaminedClaim, SeenFile, seen_files};
use baton_engine::handoff::{Digest, WrittenDocument};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::{Handoff, HandoffId};
use baton_protocol::wire::closest;

use super::question;
use crate::briefer;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::Session;

/// Prints the file, if the store has kept it.
pub(super) fn show(session: &Session, handoff: &Handoff, path: &str, output: &Output) -> Result<Exit, CommandError> {
    let asked = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let mut files: Vec<SeenFile> = seen_files(&examined(session, handoff)?).collect();
    // Behind those of its own: a file that it has changed is shown as it left it.
    files.extend(session.run(briefer::of(session).files_handed_to(handoff))?);
    let kept = Kept { session, handoff };
    let bytes = if let Some(found) = files.iter().find(|file| file.path == asked) {
        kept.find(asked, found.sha256.as_deref())?
    } else if let Some((folder, inner)) = files.iter().find_map(|file| Some((file, inside(&file.path, asked)?))) {
        kept.find_in(folder, inner)?
    } else if let Some(report) = kept.report(asked)? {
        report.text.into_bytes()
    } else {
        return Err(kept.unknown(path, &files)?);
    };
    output.file(&bytes)?;
    Ok(Exit::Done)
}

/// Returns where a path lies in a folder.
fn inside<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder == "." { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// Returns what was seen of a report, or of what a person is asked about.
fn examined(session: &Session, handoff: &Handoff) -> Result<Vec<ExaminedClaim>, CommandError> {
    if let Some(question) = question(session, handoff)? {
        return Ok(question.examined);
    }
    Ok(examined_of(&session.run(session.store.history_of(&handoff.id))?))
}

/// What the store has kept for the run of a handoff.
struct Kept<'a> {
    session: &'a Session,
    handoff: &'a Handoff,
}

impl Kept<'_> {
    fn events(&self) -> Result<Vec<Event>, CommandError> {
        match self.session.run(self.session.engine.events_of_run(&self.handoff.run)) {
            Ok(events) => Ok(events),
            // An agent at a server reads the journal of its own handoffs only.
            Err(_) if self.session.remote.is_some() => {
                Ok(self.session.run(self.session.store.history_of(&self.handoff.id))?)
            }
            Err(problem) => Err(problem.into()),
        }
    }

    /// Finds a file by its hash; the error says why it is not there.
    fn find(&self, path: &str, sha256: Option<&str>) -> Result<Vec<u8>, CommandError> {
        let run = &self.handoff.run;
        let Some(sha256) = sha256 else {
            let is_there = examined(self.session, self.handoff)?
                .iter()
                .any(|seen| seen.path.as_deref() == Some(path) && seen.mark.is_some());
            return Err(CommandError::no(match is_there {
                true => format!("{path} was not kept: it was too large for a hash"),
                false => format!("{path} did not exist when it was examined"),
            }));
        };
        let digest = Digest(sha256.to_owned());
        match self.session.run(self.session.store.content(run, &digest))? {
            Some(bytes) if Digest::of(&bytes) == digest => Ok(bytes),
            Some(_) => Err(CommandError::no(format!("the store is damaged: its copy of {path} was changed"))
                .hint(format!("baton audit verify {run} names everything that was changed"))),
            None => Err(self.missing(path, &digest)?),
        }
    }

    /// Finds a file in a folder whose list was kept.
    fn find_in(&self, folder: &SeenFile, inner: &str) -> Result<Vec<u8>, CommandError> {
        let list = self.find(&folder.path, folder.sha256.as_deref())?;
        let path = if folder.path == "." { inner.to_owned() } else { format!("{}/{inner}", folder.path) };
        match listed(&String::from_utf8_lossy(&list), Path::new(inner)) {
            Some(ListedEntry::File(sha256)) => self.find(&path, Some(&sha256)),
            Some(ListedEntry::Other) => Err(CommandError::no(format!("{path} was a folder, or not a readable file"))
                .hint(format!("--file {} lists what was in the folder", folder.path))),
            None => Err(CommandError::no(format!("there was no {inner} in the folder {}", folder.path))
                .hint(format!("--file {} lists what was in it", folder.path))),
        }
    }

    /// Finds the report of the run that is in a file.
    fn report(&self, path: &str) -> Result<Option<WrittenDocument>, CommandError> {
        let report = |event: &Event| match event.fact() {
            Ok(Fact::Happened(Command::Report(report))) => {
                Some(report.document).filter(|document| document.path.as_deref() == Some(path))
            }
            Ok(_) | Err(_) => None,
        };
        Ok(self.events()?.iter().rev().find_map(report))
    }

    /// Returns why a file that was looked at is not in the store.
    fn missing(&self, path: &str, digest: &Digest) -> Result<CommandError, CommandError> {
        let run = &self.handoff.run;
        let mut kept = Vec::new();
        for event in self.events()? {
            if let Ok(Fact::Happened(Command::Verify(verify))) = event.fact() {
                kept.extend(verify.kept);
            }
        }
        if kept.contains(digest) {
            let message = format!("{path} was kept, and is not in the store any more");
            return Ok(CommandError::no(message).hint(format!("baton audit verify {run} names what is missing")));
        }
        kept.sort();
        kept.dedup();
        let mut bytes = 0;
        for digest in &kept {
            let content = self.session.run(self.session.store.content(run, digest))?;
            bytes += content.map_or(0, |content| content.len() as u64);
        }
        let limits = self.session.kept;
        let why = match bytes.saturating_add(limits.file) <= limits.run {
            true => format!("it is larger than the {} KiB that are kept of a file", limits.file / 1024),
            false => format!("its run already uses {} of {} KiB", bytes / 1024, limits.run / 1024),
        };
        let hint = "[artifacts] in baton.toml says how much is kept";
        Ok(CommandError::no(format!("{path} was not kept: {why}")).hint(hint))
    }

    /// The error when nobody has looked at a file here; it names where somebody has.
    fn unknown(&self, path: &str, files: &[SeenFile]) -> Result<CommandError, CommandError> {
        let id = &self.handoff.id;
        let elsewhere: Vec<String> = self.holders(path)?.iter().map(ToString::to_string).collect();
        let known: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let message = match self.handoff.is_run() {
            true => format!("{id} is a run: name the handoff whose file it is"),
            false => format!("{id}: no record of a file {path}"),
        };
        let hint = match (elsewhere.first(), closest(path, &known)) {
            (Some(_), _) => format!("it belongs to {}", elsewhere.join(", ")),
            (None, Some(close)) => format!("did you mean {close}?"),
            (None, None) if known.is_empty() => {
                "nothing was handed over to it, and its report names no files or has not been examined".to_owned()
            }
            (None, None) => format!("known here: {}", known.join(", ")),
        };
        Ok(CommandError::no(message).hint(hint))
    }

    /// Returns the handoffs of the run of which somebody has looked at a file.
    fn holders(&self, path: &str) -> Result<Vec<HandoffId>, CommandError> {
        let mut holders = Vec::new();
        for event in self.events()? {
            let Ok(Fact::Happened(Command::Verify(verify))) = event.fact() else { continue };
            let holds =
                seen_files(&verify.examined).any(|file| file.path == path || inside(&file.path, path).is_some());
            if holds && !holders.contains(&event.handoff) {
                holders.push(event.handoff);
            }
        }
        Ok(holders)
    }
}

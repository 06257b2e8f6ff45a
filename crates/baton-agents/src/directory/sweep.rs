//! Puts right what time and crashes left behind. Safe to run at any moment, from any number of processes.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
use jiff::Timestamp;
use serde_json::Value;

use super::files::{self, TEMPORARY};
use super::handoff::later;
use super::locate::PRIVATE_IN;
use super::settled::{Answers, Settled};
use super::{Directory, DirectoryError, Folder, FolderHandoff, id_of};

/// How long a script may take between moving a file and rewriting it. It takes milliseconds.
const REWRITE_MAX: Duration = Duration::from_secs(10);

/// How long a temporary file may lie untouched.
const TEMPORARY_MAX: Duration = Duration::from_secs(300);

/// How long ago an answer may have been moved to be looked into; older ones have been seen by many sweeps.
const ANSWER_AGE_MAX: Duration = Duration::from_secs(24 * 3600);

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SweepResult {
    /// Attempts whose time was up and that will be tried again.
    pub expired: Vec<HandoffId>,
    /// Handoffs whose time was up and that have failed for good.
    pub failed: Vec<HandoffId>,
    /// Failures of scripts that wait for their next attempt now.
    pub requeued: Vec<HandoffId>,
    /// What a process that died left half done.
    pub repaired: Vec<HandoffId>,
    /// How many temporary files were removed.
    pub removed: usize,
    /// What a person should look at.
    pub problems: Vec<SweepProblem>,
}

/// What a look at a file says about the next look.
enum Found {
    /// As long as nobody touches it, there is nothing to do.
    Settled,
    /// Time will tell.
    Unsettled,
}

/// What a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepProblem {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: String,
}

impl Directory {
    /// Looks at all folders.
    pub fn sweep(&self, now: Timestamp) -> Result<SweepResult, DirectoryError> {
        let mut swept = SweepResult::default();
        for folder in PRIVATE_IN {
            for private in self.private_files(folder)? {
                if self.put_back(folder, &private)? {
                    swept.repaired.push(private.id);
                }
            }
        }
        let handoffs = self.root.join("handoffs");
        let known = Settled::read(&handoffs, now);
        let mut settled = known.clone();
        let mut listed = Vec::new();
        for folder in Folder::ALL {
            let answers = Answers::begin(&self.folder(folder));
            listed.push((folder, answers, files::names(&self.folder(folder))?));
        }
        let elsewhere = |name: &String| listed[1..].iter().any(|(_, _, names)| names.binary_search(name).is_ok());
        for (folder, answers, names) in &listed {
            let (place, known, mut answers) = (self.folder(*folder), known.answers(*folder), answers.clone());
            for name in names {
                let path = place.join(name);
                let Some(id) = id_of(name) else {
                    if name.ends_with(".json") && !name.starts_with('.') {
                        let fault = "its name cannot be the id of a handoff".to_owned();
                        swept.problems.push(SweepProblem { path, fault });
                    } else {
                        swept.removed += usize::from(self.remove_old(&path, name, now)?);
                    }
                    continue;
                };
                let in_order = match folder {
                    Folder::Pending => !elsewhere(name),
                    Folder::InProgress => false,
                    Folder::Completed | Folder::Failed => known.has_settled(&path, name),
                };
                if in_order {
                    continue;
                }
                match self.sweep_file(*folder, &id, now, &mut swept) {
                    Ok(Found::Settled) => {}
                    Ok(Found::Unsettled) => answers.look_again(name),
                    // What cannot be read is a problem of this file, not of the others.
                    Err(error) => {
                        answers.look_again(name);
                        swept.problems.push(SweepProblem { path, fault: error.to_string() });
                    }
                }
            }
            if matches!(folder, Folder::Completed | Folder::Failed) {
                settled.set(*folder, answers);
            }
        }
        if settled != known {
            settled.write();
        }
        for name in files::names(&handoffs)? {
            swept.removed += usize::from(self.remove_old(&handoffs.join(&name), &name, now)?);
        }
        self.sweep_artifacts(&self.root.join("artifacts"), now, &mut swept)?;
        Ok(swept)
    }

    /// Looks at one handoff.
    pub(super) fn sweep_one(&self, id: &HandoffId, now: Timestamp) -> Result<SweepResult, DirectoryError> {
        let mut swept = SweepResult::default();
        for folder in PRIVATE_IN {
            for private in self.private_files(folder)?.into_iter().filter(|private| private.id == *id) {
                if self.put_back(folder, &private)? {
                    swept.repaired.push(private.id);
                }
            }
        }
        if let Some(folder) = self.folder_of(id)? {
            self.sweep_file(folder, id, now, &mut swept)?;
        }
        Ok(swept)
    }

    fn sweep_file(
        &self,
        folder: Folder,
        id: &HandoffId,
        now: Timestamp,
        swept: &mut SweepResult,
    ) -> Result<Found, DirectoryError> {
        match folder {
            Folder::Pending => self.sweep_pending(id, swept)?,
            Folder::InProgress => self.sweep_claimed(id, now, swept)?,
            Folder::Completed | Folder::Failed => return self.sweep_answer(folder, id, now, swept),
        }
        Ok(Found::Unsettled)
    }

    fn sweep_pending(&self, id: &HandoffId, swept: &mut SweepResult) -> Result<(), DirectoryError> {
        // Never removed: a script that makes one id per second may have asked twice.
        for folder in &Folder::ALL[1..] {
            if self.path(*folder, id).symlink_metadata().is_ok() && self.path(Folder::Pending, id).exists() {
                let fault = format!("another handoff of this id is {}: give it a new id", folder.as_str());
                swept.problems.push(SweepProblem { path: self.path(Folder::Pending, id), fault });
            }
        }
        Ok(())
    }

    fn sweep_claimed(&self, id: &HandoffId, now: Timestamp, swept: &mut SweepResult) -> Result<(), DirectoryError> {
        let path = self.path(Folder::InProgress, id);
        let Some(untouched) = untouched_since(&path)? else { return Ok(()) };
        let held = match self.try_hold_in(Folder::InProgress, id) {
            // A script rewrites a file in place, so for a moment it may be empty.
            Err(DirectoryError::Unreadable { .. }) if later(untouched, REWRITE_MAX) > now => return Ok(()),
            other => other?,
        };
        let Some(held) = held else { return Ok(()) };
        if self.is_left_over(id, &held.handoff)? {
            self.files.remove(&path)?;
            swept.repaired.push(id.clone());
            return Ok(());
        }
        if held.handoff.is_half_claimed() {
            if later(untouched, REWRITE_MAX) <= now {
                self.move_back(&path, Folder::Pending, id)?;
                swept.repaired.push(id.clone());
            }
            return Ok(());
        }
        let started = held.handoff.time("started_at").unwrap_or(untouched);
        let timeout = held.handoff.timeout();
        if later(started, timeout) > now {
            return Ok(());
        }
        let message = format!("attempt {} was not finished within {} s", held.handoff.attempt(), timeout.as_secs_f64());
        match self.fail_held(held, &Failure::new(Code::timeout(), message), now) {
            Ok(failed) if failed.again_at.is_some() => swept.expired.push(id.clone()),
            Ok(_) => swept.failed.push(id.clone()),
            // A script finished it at this moment.
            Err(DirectoryError::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns whether the attempt in progress has ended: its answer is there, or its retry.
    fn is_left_over(&self, id: &HandoffId, claimed: &FolderHandoff) -> Result<bool, DirectoryError> {
        let same = |other: &FolderHandoff, name: &str| other.members.get(name) == claimed.members.get(name);
        for folder in [Folder::Pending, Folder::Completed, Folder::Failed] {
            let Some((_, other)) = self.read(folder, id)? else { continue };
            let ended = match folder {
                Folder::Pending => other.retry_count() >= claimed.attempt(),
                _ => {
                    other.belongs_to(folder) && claimed.members.contains_key("started_at") && same(&other, "started_at")
                }
            };
            if ended && same(&other, "timestamp") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves back what was moved but never rewritten, and lets a failure that may pass wait for its next attempt.
    fn sweep_answer(
        &self,
        folder: Folder,
        id: &HandoffId,
        now: Timestamp,
        swept: &mut SweepResult,
    ) -> Result<Found, DirectoryError> {
        let path = self.path(folder, id);
        let Some(moved) = untouched_since(&path)? else { return Ok(Found::Settled) };
        if folder == Folder::Completed && later(moved, ANSWER_AGE_MAX) < now {
            return Ok(Found::Settled);
        }
        let Some(held) = self.try_hold_in(folder, id).or_else(|error| match error {
            DirectoryError::Unreadable { .. } if later(moved, REWRITE_MAX) > now => Ok(None),
            other => Err(other),
        })?
        else {
            return Ok(Found::Unsettled);
        };
        let unfinished = held.handoff.belongs_to(Folder::InProgress) || held.handoff.belongs_to(Folder::Pending);
        if unfinished {
            if later(moved, REWRITE_MAX) <= now {
                self.move_back(&path, Folder::InProgress, id)?;
                swept.repaired.push(id.clone());
            }
            return Ok(Found::Unsettled);
        }
        let has_failed = folder == Folder::Failed && held.handoff.belongs_to(folder);
        let due = if has_failed { held.handoff.next_attempt_at() } else { None };
        drop(held);
        match due {
            Some(due) if due <= now => self.requeue(id, now, swept).map(|()| Found::Unsettled),
            Some(_) => Ok(Found::Unsettled),
            None => Ok(Found::Settled),
        }
    }

    /// Lets a failure of a script wait for its next attempt.
    fn requeue(&self, id: &HandoffId, now: Timestamp, swept: &mut SweepResult) -> Result<(), DirectoryError> {
        let Some(held) = self.try_hold_in(Folder::Failed, id)? else { return Ok(()) };
        let Some(due) = held.handoff.next_attempt_at().filter(|due| *due <= now) else { return Ok(()) };
        let error = held.handoff.members.get("error").cloned().unwrap_or(Value::Null);
        let next = held.handoff.retried(error, due);
        self.finish(held, Folder::Pending, &next)?;
        swept.requeued.push(id.clone());
        Ok(())
    }

    fn move_back(&self, path: &Path, folder: Folder, id: &HandoffId) -> Result<(), DirectoryError> {
        let place = self.path(folder, id);
        match self.rename_back(path, &place) {
            Ok(()) => self.files.sync_folder(&self.folder(folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(DirectoryError::Exists { id: id.clone(), folder })
            }
            Err(error) => Err(DirectoryError::io("move", path, error)),
        }
    }

    fn sweep_artifacts(&self, folder: &Path, now: Timestamp, swept: &mut SweepResult) -> Result<(), DirectoryError> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|error| DirectoryError::io("list", folder, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| DirectoryError::io("list", folder, error))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // The listing tells which are folders; nothing else is asked about what was made.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.sweep_artifacts(&entry.path(), now, swept)?,
                _ => swept.removed += usize::from(self.remove_old(&entry.path(), &name, now)?),
            }
        }
        Ok(())
    }

    /// Removes a temporary file that nobody has touched for long.
    fn remove_old(&self, path: &Path, name: &str, now: Timestamp) -> Result<bool, DirectoryError> {
        if !name.starts_with('.') || !name.ends_with(TEMPORARY) {
            return Ok(false);
        }
        match untouched_since(path)? {
            Some(since) if later(since, TEMPORARY_MAX) <= now => self.files.remove(path).map(|()| true),
            _ => Ok(false),
        }
    }
}

/// Returns when a file was last moved or written; `None` if it is gone.
fn untouched_since(path: &Path) -> Result<Option<Timestamp>, DirectoryError> {
    let time = |found: Metadata| Timestamp::new(found.ctime(), i32::try_from(found.ctime_nsec()).unwrap_or(0)).ok();
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(time(found).unwrap_or(Timestamp::UNIX_EPOCH))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DirectoryError::io("look at", path, error)),
    }
}

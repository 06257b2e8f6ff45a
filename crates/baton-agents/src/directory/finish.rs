//! Ends an attempt: takes the handoff, so that nobody else can end it, and lets it appear in its next folder.
//!
//! 1. Lock the file (a sweep leaves alone what a living process holds) and read it.
//! 2. Write the next document beside its place.
//! 3. Rename the file to a private name. Exactly one process can: this is the moment at which the attempt is over.
//! 4. Rename the next document into its place, and sync the folder.
//! 5. Remove the private file.
//!
//! After a crash before 4 the private file goes back; after 4 it is superfluous. Both are found out by looking at
//! what the other folders hold.

use std::fs::{File, TryLockError};
use std::io;

use baton_engine::HandoffId;

use super::locate::Private;
use super::{Directory, DirectoryError, Folder, FolderHandoff, files};

/// How often to look again when others move what we want to hold.
const LOOKS: usize = 20;

/// A handoff that this process alone may move on. Dropping it lets go.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: HandoffId,
    pub(super) folder: Folder,
    pub(super) handoff: FolderHandoff,
    file: File,
}

/// A handoff whose attempt is over, but whose next document is not in its place yet.
#[derive(Debug)]
#[must_use]
pub(super) struct Taken<'d> {
    directory: &'d Directory,
    held: Held,
    private: Private,
}

impl Directory {
    /// Takes hold of a handoff in progress, for whoever made the attempt; without a number, whichever is current.
    pub(super) fn hold(&self, id: &HandoffId, attempt: Option<u32>) -> Result<Held, DirectoryError> {
        for _ in 0..LOOKS {
            match self.hold_in(Folder::InProgress, id)? {
                Some(held) => {
                    let current = held.handoff.attempt();
                    return match attempt {
                        Some(given) if given != current => {
                            Err(DirectoryError::AttemptOver { id: id.clone(), given, current })
                        }
                        _ => Ok(held),
                    };
                }
                None => {
                    // A finisher that died left it under a private name; one that lives still holds it.
                    let private = self.private_files(Folder::InProgress)?.into_iter().find(|file| file.id == *id);
                    match private {
                        Some(private) if self.put_back(Folder::InProgress, &private)? => continue,
                        Some(private) => wait_for_holder(&private)?,
                        None if self.path(Folder::InProgress, id).symlink_metadata().is_ok() => continue,
                        None => return Err(self.not_in_progress(id, attempt)?),
                    };
                }
            }
        }
        Err(DirectoryError::Busy { id: id.clone() })
    }

    fn not_in_progress(&self, id: &HandoffId, attempt: Option<u32>) -> Result<DirectoryError, DirectoryError> {
        let located = self.look(id)?;
        let next = located.handoff.as_ref().map(FolderHandoff::attempt);
        Ok(match (located.folder, attempt, next) {
            (Folder::Pending, Some(given), Some(current)) if given < current => {
                DirectoryError::AttemptOver { id: id.clone(), given, current }
            }
            (folder, ..) => DirectoryError::NotInProgress { id: id.clone(), folder },
        })
    }

    /// Locks and reads a file; waits for whoever holds it. `None` if it is gone.
    pub(super) fn hold_in(&self, folder: Folder, id: &HandoffId) -> Result<Option<Held>, DirectoryError> {
        let path = self.path(folder, id);
        let Some(file) = files::open(&path)? else { return Ok(None) };
        file.lock().map_err(|error| DirectoryError::io("lock", &path, error))?;
        self.held(folder, id, file)
    }

    /// Locks and reads a file; `None` if somebody else holds it, or it is gone.
    pub(super) fn try_hold_in(&self, folder: Folder, id: &HandoffId) -> Result<Option<Held>, DirectoryError> {
        let path = self.path(folder, id);
        let Some(file) = files::open(&path)? else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => self.held(folder, id, file),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(DirectoryError::io("lock", &path, error)),
        }
    }

    fn held(&self, folder: Folder, id: &HandoffId, file: File) -> Result<Option<Held>, DirectoryError> {
        let path = self.path(folder, id);
        // While we waited for the lock it may have been finished, or replaced by what its claimant wrote.
        if !files::leads_to(&path, &file) {
            return Ok(None);
        }
        let bytes = files::read(&file, &path)?;
        match FolderHandoff::parse(&bytes) {
            Ok(handoff) => Ok(Some(Held { id: id.clone(), folder, handoff, file })),
            Err(fault) => Err(DirectoryError::Unreadable { path, fault: fault.to_string() }),
        }
    }

    /// Puts a private file back, or removes it if the attempt has ended. Returns whether it did. A living finisher keeps it.
    pub(super) fn put_back(&self, folder: Folder, private: &Private) -> Result<bool, DirectoryError> {
        let Some(file) = files::open(&private.path)? else { return Ok(false) };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(DirectoryError::io("lock", &private.path, error)),
        }
        if !files::leads_to(&private.path, &file) {
            return Ok(false);
        }
        if self.has_ended(folder, private)? {
            self.files.remove(&private.path)?;
            return Ok(true);
        }
        let place = self.path(folder, &private.id);
        match self.rename_back(&private.path, &place) {
            Ok(()) => {
                self.files.sync_folder(&self.folder(folder))?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(DirectoryError::io("put back", &place, error)),
        }
    }

    /// Returns whether the attempt of a private file has ended: its next document is in its place.
    fn has_ended(&self, folder: Folder, private: &Private) -> Result<bool, DirectoryError> {
        for other in Folder::ALL {
            let Some((_, next)) = self.read(other, &private.id)? else { continue };
            let ended = match other {
                Folder::Pending => next.retry_count() >= private.attempt,
                Folder::InProgress => next.attempt() > private.attempt,
                Folder::Completed => next.belongs_to(other),
                Folder::Failed => folder != Folder::Failed && next.belongs_to(other),
            };
            if ended {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends the attempt: from here on nobody else can.
    pub(super) fn take(&self, held: Held) -> Result<Taken<'_>, DirectoryError> {
        let attempt = held.handoff.attempt();
        let (from, path) = (self.path(held.folder, &held.id), self.private_path(held.folder, &held.id, attempt));
        // What has this name is left over from an attempt of the same number that ended.
        self.files.replace(&from, &path).map_err(|error| match error.kind() {
            // A script that does not know locks was faster.
            io::ErrorKind::NotFound => DirectoryError::Busy { id: held.id.clone() },
            _ => DirectoryError::io("move", &from, error),
        })?;
        let private = Private { id: held.id.clone(), attempt, path };
        Ok(Taken { directory: self, held, private })
    }

    /// Ends the attempt and lets the next document appear in its folder.
    pub(super) fn finish(&self, held: Held, folder: Folder, next: &FolderHandoff) -> Result<(), DirectoryError> {
        let place = self.path(folder, &held.id);
        let written = self.files.write_beside(&place, &next.to_bytes())?;
        self.take(held)?.publish(folder, written)
    }
}

/// Waits until the process that finishes a handoff has done so, or has died. It takes milliseconds.
fn wait_for_holder(private: &Private) -> Result<(), DirectoryError> {
    match files::open(&private.path)? {
        Some(file) => file.lock().map_err(|error| DirectoryError::io("lock", &private.path, error)),
        None => Ok(()),
    }
}

impl Taken<'_> {
    /// Lets the next document appear in its folder. If it cannot, the attempt goes on.
    pub(super) fn publish(self, folder: Folder, next: files::Written<'_>) -> Result<(), DirectoryError> {
        let directory = self.directory;
        let place = directory.path(folder, &self.held.id);
        // Only a retry moves back.
        let placed = match folder {
            Folder::Pending => directory.both_ways().and_then(|_both| next.place_new(&place)),
            _ => next.place_new(&place),
        };
        if let Err(error) = placed {
            let id = self.held.id.clone();
            self.give_back();
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => DirectoryError::Exists { id, folder },
                _ => DirectoryError::io("write", &place, error),
            });
        }
        directory.files.sync_folder(&directory.folder(folder))?;
        // The answer is out; what stays behind is removed by a sweep.
        let _ = directory.files.remove(&self.private.path);
        Ok(())
    }

    /// Undoes the taking: the attempt goes on.
    pub(super) fn give_back(self) {
        let place = self.directory.path(self.held.folder, &self.held.id);
        // If even this fails, a sweep does it.
        let _ = self.directory.rename_back(&self.private.path, &place);
        drop(self.held.file);
    }
}

//! Decides whether an id is new, while handoffs move on but none moves back.
//!
//! Whoever looks through the folders in the order of a handoff's life meets every handoff that only moves on. One that
//! moves back (a retry, a repair, a step undone) could slip past; so whoever moves one back waits until nobody looks.
//! The lock is that of the folder `pending` itself, held for microseconds and never while anything is synced.
//!
//! ```text
//! creator of x, without the lock           whoever works on x
//! pending: no x                            in-progress/x
//!                                          the attempt fails: in-progress/x ──▶ pending/x
//! in-progress, completed, failed: no x
//!                                          claims it again: pending/x ──▶ in-progress/x
//! writes pending/x                         two handoffs are called x
//! ```

use std::fs::File;
use std::io;
use std::path::Path;

use baton_engine::HandoffId;

use super::{Directory, DirectoryError, Folder};

/// While it lives, no handoff moves back, or, if it is shared, nobody decides whether an id is new.
#[derive(Debug)]
#[must_use]
pub(super) struct IdCheckLock {
    _folder: File,
}

impl Directory {
    /// Refuses an id that is in use. Until the result is dropped, it comes into use only through its holder: other
    /// creators wait. A script does not; what it writes into `pending` is told by the rename.
    pub(super) fn refuse_known(&self, id: &HandoffId) -> Result<IdCheckLock, DirectoryError> {
        let path = self.folder(Folder::Pending);
        let locked = File::open(&path).and_then(|folder| folder.lock().map(|()| folder));
        let alone = IdCheckLock { _folder: locked.map_err(|error| DirectoryError::io("lock", &path, error))? };
        for folder in Folder::ALL {
            // A private file is removed only after what follows it has appeared, further on.
            let known = self.path(folder, id).symlink_metadata().is_ok()
                || (matches!(folder, Folder::InProgress | Folder::Failed)
                    && self.private_files(folder)?.iter().any(|private| private.id == *id));
            if known {
                return Err(DirectoryError::Exists { id: id.clone(), folder });
            }
        }
        Ok(alone)
    }

    /// Waits until nobody decides whether an id is new; until the result is dropped, a handoff may move back.
    pub(super) fn both_ways(&self) -> io::Result<IdCheckLock> {
        let folder = File::open(self.folder(Folder::Pending))?;
        folder.lock_shared()?;
        Ok(IdCheckLock { _folder: folder })
    }

    /// Renames a file towards the beginning of a handoff's life; what is there stays.
    pub(super) fn rename_back(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _both = self.both_ways()?;
        self.files.rename_new(from, to)
    }
}

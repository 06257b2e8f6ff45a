//! Every change on the disk: each is one step, so that tests can stop after any of them.
//!
//! A file is written beside its place, synced, and renamed into it; then the folder is synced. Reading opens plain files
//! only: a link or a pipe under the name of a handoff is not followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};

use baton_host::{atomic_file, folders};
use baton_protocol::read::BYTES_MAX;
use rustix::fs::OFlags;

use super::DirectoryError;

pub(super) use baton_host::atomic_file::TEMPORARY;

/// Carries out the changes.
#[derive(Debug, Default)]
pub(super) struct Files {
    #[cfg(test)]
    pub(super) steps: Steps,
}

/// Counts the changes, and fails one of them, or all after so many, as if the process had died.
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct Steps {
    done: AtomicU64,
    /// From which step on, and up to which, everything fails.
    refused: std::ops::Range<u64>,
}

#[cfg(test)]
impl Steps {
    pub(super) fn stopping_after(allowed: u64) -> Steps {
        Steps { done: AtomicU64::new(0), refused: allowed..u64::MAX }
    }

    pub(super) fn refusing(step: u64) -> Steps {
        Steps { done: AtomicU64::new(0), refused: step..step + 1 }
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// A file that was written beside its place and is on the disk. Dropping it removes it, unless it was put in place.
#[derive(Debug)]
pub(super) struct Written<'f> {
    files: &'f Files,
    path: Option<PathBuf>,
}

impl Files {
    #[cfg(test)]
    fn step(&self) -> io::Result<()> {
        let done = self.steps.done.fetch_add(1, Ordering::Relaxed);
        if self.steps.refused.contains(&done) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    #[cfg(not(test))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "tests stop here")]
    fn step(&self) -> io::Result<()> {
        Ok(())
    }

    /// Writes a file beside its later place and syncs it.
    pub(super) fn write_beside(&self, place: &Path, content: &[u8]) -> Result<Written<'_>, DirectoryError> {
        let (mut file, written) = self.create_beside(place)?;
        let path = written.path();
        self.step().and_then(|()| file.write_all(content)).map_err(|error| DirectoryError::io("write", path, error))?;
        self.sync(&file, path)?;
        Ok(written)
    }

    /// Makes an empty file beside its later place, with a name that nobody takes for a handoff.
    pub(super) fn create_beside(&self, place: &Path) -> Result<(File, Written<'_>), DirectoryError> {
        match self.step().and_then(|()| atomic_file::create_beside(place)) {
            Ok((file, path)) => Ok((file, Written { files: self, path: Some(path) })),
            Err(error) => Err(DirectoryError::io("write in", place.parent().unwrap_or(Path::new(".")), error)),
        }
    }

    /// Brings the content of a file to the disk.
    pub(super) fn sync(&self, file: &File, path: &Path) -> Result<(), DirectoryError> {
        self.step().and_then(|()| file.sync_all()).map_err(|error| DirectoryError::io("sync", path, error))
    }

    /// Brings the names in a folder to the disk.
    pub(super) fn sync_folder(&self, folder: &Path) -> Result<(), DirectoryError> {
        self.step()
            .and_then(|()| folders::sync_folder(folder))
            .map_err(|error| DirectoryError::io("sync", folder, error))
    }

    /// Renames a file, replacing what is there.
    pub(super) fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step().and_then(|()| fs::rename(from, to))
    }

    /// Renames a file; what is there stays, and is an error of the kind `AlreadyExists`.
    pub(super) fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step().and_then(|()| atomic_file::rename_new(from, to))
    }

    /// Removes a file; one that is gone already is as good.
    pub(super) fn remove(&self, path: &Path) -> Result<(), DirectoryError> {
        match self.step().and_then(|()| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(DirectoryError::io("remove", path, error)),
            _ => Ok(()),
        }
    }

    /// Makes a folder and those above it; their names are on the disk before anything refers to what is in them.
    pub(super) fn make_folder(&self, folder: &Path) -> Result<(), DirectoryError> {
        if folder.is_dir() {
            return Ok(());
        }
        self.step()
            .and_then(|()| folders::make_folders(folder))
            .map_err(|error| DirectoryError::io("make the folder", folder, error))
    }
}

impl Written<'_> {
    /// Returns where it lies for now.
    pub(super) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Puts it in its place, where nothing may be.
    pub(super) fn place_new(mut self, place: &Path) -> io::Result<()> {
        self.files.rename_new(self.path(), place)?;
        self.path = None;
        Ok(())
    }

    /// Puts it in its place, instead of what is there.
    pub(super) fn place_over(mut self, place: &Path) -> io::Result<()> {
        self.files.replace(self.path(), place)?;
        self.path = None;
        Ok(())
    }
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // A sweep removes what stays behind.
            let _ = self.files.remove(&path);
        }
    }
}

/// Opens a plain file for reading; `None` if there is none of this name.
pub(super) fn open(path: &Path) -> Result<Option<File>, DirectoryError> {
    // Without NONBLOCK a pipe would wait for a writer; on plain files it means nothing.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let found = opened.and_then(|file| {
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
    });
    match found {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Err(DirectoryError::io("read", path, io::Error::other("it is a link, and links are not followed")))
        }
        Err(error) => Err(DirectoryError::io("read", path, error)),
    }
}

/// Reads a file to its end, if it is not larger than a handoff may be.
pub(super) fn read(file: &File, path: &Path) -> Result<Vec<u8>, DirectoryError> {
    let mut bytes = Vec::with_capacity(4096);
    let read = file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| DirectoryError::io("read", path, error))?;
    if bytes.len() > BYTES_MAX {
        Err(DirectoryError::io("read", path, io::Error::other("it is larger than 8 MiB")))
    } else {
        Ok(bytes)
    }
}

/// Returns whether a path still leads to an open file.
pub(super) fn leads_to(path: &Path, file: &File) -> bool {
    let same = |left: &fs::Metadata, right: &fs::Metadata| (left.dev(), left.ino()) == (right.dev(), right.ino());
    matches!((fs::symlink_metadata(path), file.metadata()), (Ok(left), Ok(right)) if same(&left, &right))
}

/// Lists the names in a folder; one that is not there has none.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, DirectoryError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(DirectoryError::io("list", folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| DirectoryError::io("list", folder, error))?;
        // A file that is not UTF-8 is not a handoff.
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

//! Which answers a sweep need not look into again: those that it found in order and that were not touched since.
//!
//! Whatever is moved or written gets the time of the file system. The time of a folder, taken before it is listed, is
//! therefore not later than that of anything that comes or changes afterwards: what is older was there and was looked
//! into. No other clock is asked. In case the clock of the file system was set back, everything is looked into now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::handoff::later;
use super::{Folder, hint};

/// How long answers are not looked into again.
const TRUSTED: Duration = Duration::from_secs(3600);

const NAME: &str = ".settled";

/// A time of the file system.
pub(super) type FileTime = (i64, i64);

/// What is known of all folders of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settled {
    /// When everything was looked into, in seconds.
    since: i64,
    folders: BTreeMap<String, Answers>,
    #[serde(skip)]
    place: PathBuf,
}

/// What is known of a folder of answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Answers {
    /// What is older was looked into.
    before: Option<FileTime>,
    /// What is older, but must be looked into again.
    again: BTreeSet<String>,
}

impl Settled {
    /// Reads what is known; nothing if that is too long ago.
    pub(super) fn read(handoffs: &Path, now: Timestamp) -> Settled {
        let trusted = |known: &Settled| {
            let since = Timestamp::from_second(known.since).unwrap_or(Timestamp::MAX);
            since <= now && now < later(since, TRUSTED)
        };
        let known = hint::read(handoffs, NAME).filter(trusted);
        let known = known.unwrap_or_else(|| Settled {
            since: now.as_second(),
            folders: BTreeMap::new(),
            place: PathBuf::new(),
        });
        Settled { place: handoffs.to_owned(), ..known }
    }

    /// Returns what is known of a folder.
    pub(super) fn answers(&self, folder: Folder) -> Answers {
        self.folders.get(folder.as_str()).cloned().unwrap_or_default()
    }

    /// Replaces what is known of a folder.
    pub(super) fn set(&mut self, folder: Folder, answers: Answers) {
        self.folders.insert(folder.as_str().to_owned(), answers);
    }

    /// Writes down what is known.
    pub(super) fn write(&self) {
        hint::write(&self.place, NAME, self);
    }
}

impl Answers {
    /// Begins to look through a folder; call it before listing the folder.
    ///
    /// ```text
    /// sweep that lists first                   scripts
    /// lists the folder: a
    ///                                          move b into it at 10.2, c at 10.3
    /// takes the time of the folder: 10.3
    /// later: b is older than 10.3, so it was looked into — and it never was
    /// ```
    pub(super) fn begin(folder: &Path) -> Answers {
        let before = fs::metadata(folder).ok().map(|found| (found.mtime(), found.mtime_nsec()));
        Answers { before, again: BTreeSet::new() }
    }

    /// Returns whether a file need not be looked into.
    pub(super) fn has_settled(&self, path: &Path, name: &str) -> bool {
        let touched = || fs::symlink_metadata(path).ok().map(|found| (found.ctime(), found.ctime_nsec()));
        self.before.is_some_and(|before| touched().is_some_and(|touched| touched < before))
            && !self.again.contains(name)
    }

    /// Remembers a file that must be looked into again.
    pub(super) fn look_again(&mut self, name: &str) {
        self.again.insert(name.to_owned());
    }
}

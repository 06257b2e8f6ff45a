//! The small file in each folder of the state folder that says to which project or workspace it belongs.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use baton_host::atomic_file;
use baton_store::Location;
use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;

/// The name of the file.
const FILE: &str = "project.json";

/// To which project or workspace a folder belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    version: u32,
    place: PathText,
    /// Distinguishes a folder that was moved or renamed from another one; `None` where the file system does not know
    /// when a folder was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Where the runs of a workspace are kept, unless it has a store of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<KeptIn>,
}

/// Where the runs of a workspace are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeptIn {
    /// A file.
    File(PathText),
    /// The address of a server, without its password.
    Server(String),
}

/// A path; one that is not text is a list of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

impl Entry {
    /// Makes the entry of this project or workspace.
    pub(crate) fn of(place: &Path) -> Entry {
        Entry { version: 1, place: PathText::of(place), identity: identity(place), kept_in: None }
    }

    /// Returns the project or workspace.
    pub(crate) fn place(&self) -> PathBuf {
        self.place.path()
    }

    /// Returns the store of the runs of a workspace, if it is another one's.
    pub(crate) fn store(&self) -> Option<Location> {
        self.kept_in.as_ref().map(|kept| match kept {
            KeptIn::File(path) => Location::Sqlite(path.path()),
            KeptIn::Server(url) => Location::parse(url).unwrap_or_else(|_| Location::Postgres(url.clone())),
        })
    }

    /// Reads the file of a folder; `None` if there is none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Entry>, CommandError> {
        let path = folder.join(FILE);
        let wrong = |why: String| CommandError::usage(format!("cannot read {}: {why}", path.display()));
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| wrong(error.to_string())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Writes the file of a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        atomic_file::write(&folder.join(FILE), &[&text[..], b"\n"].concat())
    }
}

impl KeptIn {
    /// Takes note of a store; a password stays with whoever gave it.
    pub(super) fn of(store: &Location) -> KeptIn {
        match store {
            Location::Sqlite(path) => KeptIn::File(PathText::of(&std::path::absolute(path).unwrap_or(path.clone()))),
            Location::Postgres(_) | Location::Server(_) => KeptIn::Server(store.to_string()),
        }
    }
}

impl PathText {
    fn of(path: &Path) -> PathText {
        match path.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => PathText::Bytes(path.as_os_str().as_bytes().to_owned()),
        }
    }

    fn path(&self) -> PathBuf {
        match self {
            PathText::Text(text) => PathBuf::from(text),
            PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
        }
    }
}

/// Returns what stays when a folder is moved or renamed, and what no other folder has: its number, and when it was made.
pub(super) fn identity(folder: &Path) -> Option<String> {
    let found = fs::metadata(folder).ok()?;
    let made = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}-{}", found.ino(), made.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(entry: &Entry) -> Entry {
        serde_json::from_str(&serde_json::to_string(entry).expect("written")).expect("read")
    }

    #[test]
    fn path_that_is_no_text_is_kept_to_the_byte() {
        for path in ["/home/ana/shop".into(), OsString::from_vec(b"/tmp/\xff\n".to_vec())] {
            assert_eq!(again(&Entry::of(Path::new(&path))).place(), Path::new(&path));
        }
    }

    #[test]
    fn password_of_a_server_is_not_kept() {
        let store = Location::Postgres("postgres://baton:secret@db.example/baton".to_owned());
        let entry = Entry { kept_in: Some(KeptIn::of(&store)), ..Entry::of(Path::new("/w")) };
        assert!(!format!("{:?}", again(&entry)).contains("secret"));
        assert_eq!(entry.store(), Some(Location::Postgres("postgres://baton@db.example/baton".to_owned())));
    }
}

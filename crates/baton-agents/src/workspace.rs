//! Looks into a workspace: what is at a path, without being led outside by links or `..`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use baton_engine::evidence::WorkspaceFault;
use baton_host::open_regular;
use baton_protocol::surroundings::{PathState, Workspace};
use serde_json::Value;

/// Lines of a longer file are not counted: one that is all holes costs its agent nothing.
const COUNTED_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// A folder that the claims of a document are about.
#[derive(Debug, Clone)]
pub struct WorkspaceFolder {
    root: PathBuf,
}

impl WorkspaceFolder {
    /// Opens a workspace; links in its own path are followed once.
    pub fn open(path: &Path) -> Result<Self, WorkspaceFault> {
        let unreachable = |source| WorkspaceFault::Unreachable { path: path.to_owned(), source };
        let root = fs::canonicalize(path).map_err(unreachable)?;
        if root.is_dir() { Ok(WorkspaceFolder { root }) } else { Err(WorkspaceFault::NoFolder(path.to_owned())) }
    }

    /// Returns the folder, without links in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens a regular file of the workspace.
    pub(crate) fn open_file(&self, path: &str) -> Option<fs::File> {
        let real = self.resolve(path).ok()?;
        open_regular(&real).ok()
    }

    /// Finds the real place of a path, if it exists.
    fn resolve(&self, path: &str) -> Result<PathBuf, PathState> {
        let full = self.root.join(path);
        match fs::canonicalize(&full) {
            Ok(real) if real.starts_with(&self.root) => Ok(real),
            Ok(_) => Err(PathState::Outside),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Err(PathState::Unreadable),
            // What does not exist can still point outside.
            Err(_) if escapes(Path::new(path), &self.root) => Err(PathState::Outside),
            Err(_) => Err(PathState::Missing),
        }
    }
}

/// Returns whether a path leaves the workspace by its words alone.
fn escapes(path: &Path, root: &Path) -> bool {
    use std::path::Component;
    let inner = match path.strip_prefix(root) {
        Ok(inner) => inner,
        Err(_) if path.is_absolute() => return true,
        Err(_) => path,
    };
    let mut depth = 0_i64;
    inner.components().any(|component| {
        depth += match component {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        depth < 0
    })
}

impl Workspace for WorkspaceFolder {
    fn look(&self, path: &str) -> PathState {
        let real = match self.resolve(path) {
            Ok(real) => real,
            Err(sight) => return sight,
        };
        match fs::metadata(&real) {
            Ok(found) if found.is_dir() => match fs::read_dir(&real) {
                Ok(mut entries) => PathState::Folder { empty: entries.next().is_none() },
                Err(_) => PathState::Unreadable,
            },
            Ok(found) if found.is_file() => PathState::File { bytes: found.len() },
            // Opening a pipe or a device could wait for ever.
            Ok(_) | Err(_) => PathState::Unreadable,
        }
    }

    fn count_lines(&self, path: &str) -> Option<usize> {
        let file = self.open_file(path)?;
        if file.metadata().ok()?.len() > COUNTED_BYTES_MAX {
            return None;
        }
        let mut reader = BufReader::new(file.take(COUNTED_BYTES_MAX));
        let (mut lines, mut last) = (0, b'\n');
        loop {
            let chunk = reader.fill_buf().ok()?;
            let Some(end) = chunk.last() else { break };
            last = *end;
            lines += chunk.iter().filter(|byte| **byte == b'\n').count();
            let length = chunk.len();
            reader.consume(length);
        }
        // A last line without a line end is a line, too.
        Some(lines + usize::from(last != b'\n'))
    }

    fn read_json(&self, path: &str) -> Option<Value> {
        let file = self.open_file(path)?;
        let mut bytes = Vec::new();
        file.take(64 * 1024 * 1024).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("baton-workspace-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("inside/empty")).expect("created");
        fs::write(path.join("inside/two.txt"), "a\nb").expect("written");
        path
    }

    #[test]
    fn sees_what_is_there_and_what_is_not() {
        let path = folder("sees");
        let workspace = WorkspaceFolder::open(&path.join("inside")).expect("open");
        assert_eq!(workspace.look("two.txt"), PathState::File { bytes: 3 });
        assert_eq!(workspace.look("empty"), PathState::Folder { empty: true });
        assert_eq!(workspace.look("none.txt"), PathState::Missing);
        assert_eq!(workspace.look("../none.txt"), PathState::Outside);
        assert_eq!(workspace.look("empty/../two.txt"), PathState::File { bytes: 3 });
        assert_eq!(workspace.look("/etc/hostname-that-is-not-there"), PathState::Outside);
        assert_eq!(workspace.count_lines("two.txt"), Some(2));
        fs::remove_dir_all(path).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_outside() {
        let path = folder("links");
        fs::write(path.join("secret.txt"), "x").expect("written");
        std::os::unix::fs::symlink(path.join("secret.txt"), path.join("inside/link.txt")).expect("linked");
        let workspace = WorkspaceFolder::open(&path.join("inside")).expect("open");
        assert_eq!(workspace.look("link.txt"), PathState::Outside);
        assert_eq!(workspace.count_lines("link.txt"), None);
        fs::remove_dir_all(path).expect("removed");
    }
}

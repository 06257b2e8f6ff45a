//! Shared memory that a killed server leaves behind. The next start removes it; if there is none, we do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::children::children;

/// What belonged to a server when it was killed.
#[derive(Debug)]
pub(super) struct Remains {
    files: BTreeSet<PathBuf>,
    /// The number of its System V segment.
    segment: Option<String>,
}

impl Remains {
    /// Notes what a running server holds.
    pub(super) fn of(postmaster: u32, folder: &Path) -> Self {
        // Some memory is shared by the other processes alone.
        let processes = children(postmaster).into_iter().chain([postmaster]);
        let maps = processes.filter_map(|process| fs::read_to_string(format!("/proc/{process}/maps")).ok());
        let lock = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
        Remains { files: maps.flat_map(|maps| shared_files(&maps)).collect(), segment: segment(&lock) }
    }

    pub(super) fn remove(self) {
        // What is gone already need not be removed.
        for file in self.files {
            let _ = fs::remove_file(file);
        }
        if let Some(segment) = self.segment {
            let mut ipcrm = Command::new("ipcrm");
            let _ = ipcrm.args(["-m", &segment]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

fn shared_files(maps: &str) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    paths.filter(|path| path.starts_with("/dev/shm/PostgreSQL.")).map(PathBuf::from).collect()
}

/// Reads the number from the lock file: its seventh line is the key and the number of the segment.
fn segment(lock: &str) -> Option<String> {
    lock.lines().nth(6)?.split_whitespace().nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_segment_are_found() {
        let maps = "7f00-7f01 rw-s 00000000 00:1a 12 /dev/shm/PostgreSQL.123\n\
                    7f02-7f03 r-xp 00000000 fe:00 7 /lib/x.so\n\
                    7f04-7f05 rw-p 00000000 00:00 0\n";
        assert_eq!(shared_files(maps), [PathBuf::from("/dev/shm/PostgreSQL.123")]);
        let lock = "42\n/tmp/x/data\n1700000000\n20000\n/tmp/x\n127.0.0.1\n  1234567   98\nready   \n";
        assert_eq!(segment(lock).as_deref(), Some("98"));
        assert_eq!(segment("42\n"), None);
    }
}

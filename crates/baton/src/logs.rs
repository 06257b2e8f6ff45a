//! Logs of an attempt, while they grow. They lie where its agent can write: what is not an ordinary file is not opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use baton_agents::without_colours;
use rustix::fs::OFlags;

/// So much of the end of a log is searched for its last line.
const TAIL_BYTES: u64 = 4 * 1024;

/// Returns the logs that are there.
pub(crate) fn of_attempt(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_log).collect();
    logs.sort();
    logs
}

/// Opens a log. A pipe that somebody has put in its place does not hold us up.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Returns the last line that was written to one of the logs of an attempt, without what only a terminal understands.
pub(crate) fn last_line(folder: &Path) -> Option<String> {
    let changed = |path: &PathBuf| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let latest = of_attempt(folder).into_iter().max_by_key(changed)?;
    let mut file = open(&latest).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let tail = without_colours(&String::from_utf8_lossy(&tail));
    tail.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

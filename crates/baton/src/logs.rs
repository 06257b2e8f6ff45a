//! Logs of an attempt, while they grow. They lie where its agent can write: what is not an ordinary file is not opened.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use baton_agents::without_colours;
use baton_host::SharedFolder;
use baton_protocol::printable;

use crate::own_folder;

/// How much of the end of a log is searched for its last line.
const TAIL_BYTES: u64 = 4 * 1024;

/// How much of the end of a log, or of the beginning of a prompt, is shown elsewhere.
const END_BYTES: u64 = 64 * 1024;

/// How much of a log or a prompt is given as a whole.
const WHOLE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Returns the logs that are there.
pub(crate) fn of_attempt(folder: &Path) -> Vec<PathBuf> {
    if SharedFolder::open(own_folder::workspace_of(folder), folder).is_err() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_log).collect();
    logs.sort();
    logs
}

/// Opens a log. No link on the way is followed, and a pipe that somebody has put in its place does not hold us up.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let folder = SharedFolder::open(own_folder::workspace_of(folder), folder)?;
    folder.open_file(path.file_name().unwrap_or_default())?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns what is at the end of the logs of an attempt, without what only a terminal understands; `None` if nothing
/// was written. More than one log has its name above it.
pub(crate) fn ends(folder: &Path) -> Option<String> {
    read_all(folder, |path| end(path, END_BYTES))
}

/// Returns the logs of an attempt from their first line, in the same form.
pub(crate) fn whole(folder: &Path) -> Option<String> {
    read_all(folder, |path| Some(printable(&without_colours(&whole_file(path)?))))
}

fn read_all(folder: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<String> {
    let told = |path: PathBuf| {
        let text = read(&path)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        (!text.trim().is_empty()).then_some((name, text))
    };
    let mut told: Vec<(String, String)> = of_attempt(folder).into_iter().filter_map(told).collect();
    match told.len() {
        0 => None,
        1 => told.pop().map(|(_, text)| text),
        _ => Some(told.iter().map(|(name, text)| format!("━━ {name}\n{}\n", text.trim_end())).collect()),
    }
}

/// Returns the beginning of a file of an attempt.
pub(crate) fn beginning(path: &Path) -> Option<String> {
    first(path, END_BYTES)
}

/// Returns all of a file of an attempt. What is too large for one answer ends with where the rest is.
pub(crate) fn whole_file(path: &Path) -> Option<String> {
    let text = first(path, WHOLE_BYTES_MAX)?;
    let length = fs::symlink_metadata(path).ok()?.len();
    match length > WHOLE_BYTES_MAX {
        true => Some(format!(
            "{text}\n… the first {WHOLE_BYTES_MAX} of {length} bytes; the rest is in {}\n",
            path.display()
        )),
        false => Some(text),
    }
}

fn first(path: &Path, bytes_max: u64) -> Option<String> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn end(path: &Path, bytes_max: u64) -> Option<String> {
    let mut file = open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes_max))).ok()?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(without_colours(&String::from_utf8_lossy(&bytes)))
}

/// Returns the last line that was written to one of the logs of an attempt, without what only a terminal understands.
pub(crate) fn last_line(folder: &Path) -> Option<String> {
    let changed = |path: &PathBuf| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let latest = of_attempt(folder).into_iter().max_by_key(changed)?;
    let tail = end(&latest, TAIL_BYTES)?;
    tail.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

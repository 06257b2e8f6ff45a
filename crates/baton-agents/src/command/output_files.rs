//! The output directory of an attempt: finds the file that ends with the agent's handoff block.
//!
//! Agents that persist their output write a document for people and end it with the block. Only what was written in this
//! attempt and names this agent counts, because all agents of a run may share the directory. Links are not followed.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use baton_engine::agent::Job;
use baton_host::SharedFolder;
use baton_protocol::read::{BYTES_MAX, Format};
use baton_protocol::{Document, Hints};

/// How many files are listed; an output directory with more is not looked through to its end.
const LISTED_MAX: usize = 10_000;

/// How many files that are new or changed are read.
pub(super) const READ_MAX: usize = 1_000;

/// Folders that hold no output, should the output directory be the whole workspace.
const LEFT_OUT: [&str; 4] = [".git", ".baton", "node_modules", "target"];

/// How a file was: its inode, size, and the times of its content and of any change.
type Mark = (u64, u64, (i64, i64), (i64, i64));

/// The files of an output directory as they were before an attempt.
#[derive(Debug)]
pub(super) struct OutputFiles {
    workspace: PathBuf,
    folder: PathBuf,
    before: HashMap<PathBuf, Mark>,
}

/// A file that may be the report.
#[derive(Debug, PartialEq)]
pub(super) struct OutputFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// What was written into an output directory.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Files with a report of the agent.
    pub(super) reports: Vec<OutputFile>,
    /// Markdown files with a block that cannot be read.
    pub(super) broken: Vec<OutputFile>,
}

impl OutputFiles {
    /// Remembers the files of a folder, which need not exist.
    pub(super) fn remember(job: &Job) -> OutputFiles {
        let (workspace, folder) = (job.workspace.clone(), job.output_directory.clone());
        let mut before = HashMap::new();
        list(&workspace, &folder, &mut |path, found| {
            before.insert(path, mark(found)).is_none() && before.len() < LISTED_MAX
        });
        OutputFiles { workspace, folder, before }
    }

    /// Looks at what was written since.
    pub(super) fn written_for(&self, job: &Job) -> Written {
        let mut changed = Vec::new();
        let mut listed = 0;
        list(&self.workspace, &self.folder, &mut |path, found| {
            listed += 1;
            if self.before.get(&path) != Some(&mark(found)) && found.len() <= BYTES_MAX as u64 {
                changed.push(path);
            }
            listed < LISTED_MAX && changed.len() < READ_MAX
        });
        changed.sort();
        let mut written = Written::default();
        for path in changed {
            let Some(text) = read(&self.workspace, &path) else { continue };
            let format = Format::of_path(&path.to_string_lossy());
            let reading = baton_protocol::read(text.as_bytes(), Hints { format, dialect: None });
            let unreadable = reading.document.is_none() && !reading.unmarked && format == Some(Format::Markdown);
            if reading.document.is_some_and(|document| is_of(&document, job)) {
                written.reports.push(OutputFile { path, text });
            } else if unreadable {
                written.broken.push(OutputFile { path, text });
            }
        }
        written
    }
}

/// Returns whether a report or a package is of the agent of a job. One that names nobody must name the handoff.
fn is_of(document: &Document, job: &Job) -> bool {
    let (id, from) = match document {
        Document::Report(report) => (&report.id, &report.from),
        Document::Request(package) => (&package.id, &package.from),
        Document::Acknowledgment(_) => return false,
    };
    match from.as_ref().and_then(|from| from.agent.as_deref()) {
        Some(agent) => plain(agent) == plain(&job.agent),
        // Tasks keep the identifier of the run through all of their phases.
        None => id.as_deref().is_some_and(|id| id == job.handoff.as_str() || id == job.run.as_str()),
    }
}

/// Returns a name without what people spell in several ways.
fn plain(name: &str) -> String {
    name.trim_start_matches('@')
        .chars()
        .filter(|letter| !"-_ ".contains(*letter))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Calls for every plain file in a folder and below, until told to stop. Where a link leads to it, there are none.
fn list(workspace: &Path, folder: &Path, visit: &mut dyn FnMut(PathBuf, &Metadata) -> bool) {
    if SharedFolder::open(workspace, folder).is_err() {
        return;
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            // Neither this nor what a listing tells follows links.
            let Ok(found) = entry.metadata() else { continue };
            let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
            if found.is_dir() && !left_out {
                folders.push(entry.path());
            } else if found.is_file() && !visit(entry.path(), &found) {
                return;
            }
        }
    }
}

fn mark(found: &Metadata) -> Mark {
    (found.ino(), found.len(), (found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()))
}

/// Reads a text file; nothing else is a report. It, or a folder on the way, may have become a pipe or a link by now.
fn read(workspace: &Path, path: &Path) -> Option<String> {
    let folder = SharedFolder::open(workspace, path.parent()?).ok()?;
    String::from_utf8(folder.read(path.file_name()?, BYTES_MAX as u64).ok()??).ok()
}

//! Keeps what agents do, so that others can follow it: a file for each attempt in the state folder, where an agent in a cage
//! cannot change it. It is for people to look at, and nothing follows from it.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::run::Run;
use baton_engine::{Clock, StateFolder};
use baton_views::activity;
use jiff::Timestamp;
use serde_json::Value;

/// A file grows up to here; whoever wants more has the logs.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Stands between a driver and its audience.
pub(super) struct Activities {
    audience: Arc<dyn Audience>,
    clock: Arc<dyn Clock>,
    state: StateFolder,
}

impl Activities {
    /// Passes everything on to an audience.
    pub(super) fn before(audience: Arc<dyn Audience>, clock: Arc<dyn Clock>, state: StateFolder) -> Activities {
        Activities { audience, clock, state }
    }

    fn keep(&self, job: &Job, seen: &Seen) -> io::Result<()> {
        let folder = self.state.activities(&job.workspace, &job.run);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = self.state.activity(&job.workspace, &job.run, &job.handoff, job.fence);
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() < BYTES_MAX {
            file.write_all(format!("{}\n", activity::json(job, seen, self.clock.now())).as_bytes())?;
        }
        Ok(())
    }
}

impl Audience for Activities {
    fn hear(&self, run: &Run, news: &News<'_>) {
        self.audience.hear(run, news);
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.audience.see(job, seen);
        // It is there to be looked at; nothing depends on it.
        let _ = self.keep(job, seen);
    }
}

/// Reads what agents have done, as it comes.
#[derive(Default)]
pub(crate) struct ActivityReader {
    files: Vec<GrowingFile>,
}

/// A file that is read up to its last whole line.
struct GrowingFile {
    path: PathBuf,
    read: u64,
    /// What was read and belongs to a later time.
    ahead: VecDeque<Value>,
}

impl ActivityReader {
    /// Reads the file of an attempt, too.
    pub(crate) fn add(&mut self, path: PathBuf) {
        self.files.push(GrowingFile { path, read: 0, ahead: VecDeque::new() });
    }

    /// Returns what was done since, up to a time, in its order. A line that cannot be read is left out.
    pub(crate) fn next(&mut self, until: Option<Timestamp>) -> Vec<Value> {
        let time = |activity: &Value| activity["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let mut found = Vec::new();
        for file in &mut self.files {
            let _ = file.read_on();
            while let Some(next) = file.ahead.front() {
                if until.is_some_and(|until| time(next).is_some_and(|at| at > until)) {
                    break;
                }
                found.extend(file.ahead.pop_front());
            }
        }
        found.sort_by_key(time);
        found
    }
}

impl GrowingFile {
    fn read_on(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut text = Vec::new();
        file.take(BYTES_MAX * 2).read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        let lines = text[..whole].split(|byte| *byte == b'\n');
        self.ahead.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        Ok(())
    }
}

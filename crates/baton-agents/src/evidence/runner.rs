//! Runs a command until it ends or its time is up; nothing that it started goes on.
//!
//! What it writes goes to a log that does not grow without bound; the last of it is kept for people.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_engine::evidence::Outcome;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::process::SECOND_LOOK;

/// How much of the output is kept in the log.
const LOG_BYTES: usize = 4 * 1024 * 1024;
/// How much of the end is shown to people.
const TAIL_BYTES: usize = 2 * 1024;
/// How long a pipe is read after the command has ended: a child in another group may keep it open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// A command that is to be run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The program and its arguments.
    pub(super) words: &'a [String],
    /// Where it runs.
    pub(super) workspace: &'a Path,
    /// All variables that it sees.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Where its output goes.
    pub(super) log: PathBuf,
}

impl Run<'_> {
    /// Runs the command.
    pub(super) async fn outcome(self) -> Outcome {
        let Some((program, arguments)) = self.words.split_first().filter(|(program, _)| !program.is_empty()) else {
            return failed("there is nothing to run".to_owned(), String::new());
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.workspace).env_clear().envs(self.environment);
        command.process_group(0).kill_on_drop(true).stdin(Stdio::null());
        let started = connect(&mut command).and_then(|receiver| Ok((command.spawn()?, receiver)));
        // The pipe ends when its last writer is gone, and the command still holds two.
        drop(command);
        match started {
            Ok((child, receiver)) => watch(child, receiver, self.timeout, &self.log).await,
            Err(error) => failed(format!("`{program}` cannot be started: {error}"), String::new()),
        }
    }
}

/// Leads both outputs of a command into one pipe, so that their lines stay in order.
fn connect(command: &mut Command) -> io::Result<Receiver> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    Receiver::from_owned_fd(OwnedFd::from(reader))
}

/// The process group of a command; killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Most groups are empty by now, which is as good.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Waits for the end of a command and reads what it writes.
async fn watch(mut child: Child, receiver: Receiver, limit: Duration, log: &Path) -> Outcome {
    let group = Group::of(&child);
    let output = Arc::new(Mutex::new(Output::new(log)));
    let mut reading = tokio::spawn(read(receiver, Arc::clone(&output)));
    let mut ended = timeout(limit, child.wait()).await;
    if ended.is_err() {
        // If we were asleep ourselves it may have ended long ago, and we have only not heard of it.
        ended = timeout(SECOND_LOOK, child.wait()).await;
    }
    drop(group);
    if timeout(DRAIN, &mut reading).await.is_err() {
        reading.abort();
    }
    let tail = lock(&output).tail();
    match ended {
        Err(_) => failed(format!("killed after {} seconds", limit.as_secs_f64()), tail),
        Ok(Err(error)) => failed(format!("cannot be waited for: {error}"), tail),
        Ok(Ok(status)) => Outcome { passed: status.success(), ended: describe(status), tail },
    }
}

async fn read(mut receiver: Receiver, output: Arc<Mutex<Output>>) {
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = receiver.read(&mut chunk).await {
        lock(&output).take(&chunk[..count]);
    }
}

fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a command has written: the beginning in a file, the end in memory.
struct Output {
    log: Option<File>,
    room: usize,
    end: Vec<u8>,
}

impl Output {
    fn new(log: &Path) -> Self {
        // Without a log the outcome is still worth knowing.
        Output { log: File::create(log).ok(), room: LOG_BYTES, end: Vec::new() }
    }

    fn take(&mut self, chunk: &[u8]) {
        let kept = &chunk[..chunk.len().min(self.room)];
        if let Some(log) = self.log.as_mut().filter(|_| !kept.is_empty()) {
            let _ = log.write_all(kept);
            if kept.len() == self.room {
                let _ = log.write_all(b"\n(the rest is left out)\n");
            }
        }
        self.room -= kept.len();
        self.end.extend_from_slice(&chunk[chunk.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.end.len().saturating_sub(TAIL_BYTES);
        self.end.drain(..surplus);
    }

    fn tail(&self) -> String {
        String::from_utf8_lossy(&self.end).trim().to_owned()
    }
}

fn failed(ended: String, tail: String) -> Outcome {
    Outcome { passed: false, ended, tail }
}

/// Says how a process ended, in a few words.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}

//! A command in a process group of its own: fed, read within bounds, and killed with everything it has started.
//!
//! What leaves the group (setsid) is not killed; it loses its pipes, and its late report is refused by the fence. The
//! same holds for the whole group when the worker itself is killed with SIGKILL.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::Instant;

use super::voice::Voice;

/// The most that a command may write to stdout.
pub(super) const STDOUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How much of the end of stderr is kept.
const TAIL_BYTES: usize = 4 * 1024;

/// How long the pipes of a command that has ended are read on, if something that left its group holds them.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// What to run.
pub(super) struct Job<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// What is added to its environment.
    pub variables: Vec<(&'static str, String)>,
    /// What it reads from stdin.
    pub input: Vec<u8>,
    /// Where its stderr goes.
    pub sink: Sink,
}

/// Where stderr of a command goes.
pub(super) enum Sink {
    /// To a file.
    File(File),
    /// To our own stderr.
    Voice(Voice),
}

/// How a command ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// By itself or by somebody's signal.
    Exited {
        /// How.
        status: ExitStatus,
        /// What it wrote to stdout.
        stdout: Vec<u8>,
        /// The last that it wrote to stderr.
        tail: String,
    },
    /// It wrote too much to stdout, and was killed.
    Flooded,
    /// It could not be waited for.
    Lost(io::Error),
}

/// A command that runs. Its group is killed when this is dropped.
pub(super) struct Running {
    child: Child,
    group: Option<Pid>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    sink: Sink,
    tail: VecDeque<u8>,
}

impl Running {
    /// Starts a command.
    pub(super) fn start(job: Job<'_>) -> io::Result<Running> {
        let mut child = Command::new(job.program)
            .args(job.arguments)
            .envs(job.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = job.input;
        tokio::spawn(async move {
            if let Some(mut stdin) = stdin {
                // A command that has read enough closes its end; what it answers is what counts.
                let _ = stdin.write_all(&input).await;
            }
        });
        Ok(Running { child, group, stdout, stderr, sink: job.sink, tail: VecDeque::new() })
    }

    /// Reads what it writes until it has ended. May be dropped at any moment.
    pub(super) async fn end(&mut self) -> Ended {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            let over = ended.map_or_else(|| Instant::now() + AFTERWARDS, |(_, at)| at + AFTERWARDS);
            tokio::select! {
                read = chunk(&mut self.stdout, &mut out) => match read {
                    Ok(count) if count > 0 => {}
                    _ => self.stdout = None,
                },
                read = chunk(&mut self.stderr, &mut err) => match read {
                    Ok(count) if count > 0 => self.pass_on(&mut err),
                    _ => self.stderr = None,
                },
                status = self.child.wait(), if ended.is_none() => match status {
                    Ok(status) => {
                        ended = Some((status, Instant::now()));
                        // What it left behind in its group would hold the pipes, or go on without anybody.
                        self.kill();
                    }
                    Err(error) => return Ended::Lost(error),
                },
                () = tokio::time::sleep_until(over), if ended.is_some() => (self.stdout, self.stderr) = (None, None),
            }
            if out.len() > STDOUT_BYTES_MAX {
                self.kill();
                return Ended::Flooded;
            }
            if let (Some((status, _)), None, None) = (ended, &self.stdout, &self.stderr) {
                return Ended::Exited { status, stdout: out, tail: self.tail() };
            }
        }
    }

    /// Kills the whole group.
    pub(super) fn kill(&self) {
        if let Some(group) = self.group {
            // A group without members is as dead as we want it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills the whole group, and waits until the command has ended.
    pub(super) async fn finish_off(&mut self) {
        self.kill();
        let _ = self.child.wait().await;
        self.group = None;
    }

    fn pass_on(&mut self, bytes: &mut Vec<u8>) {
        match &mut self.sink {
            // A log that cannot be written is no reason to stop the work; the tail is kept anyway.
            Sink::File(file) => drop(file.write_all(bytes)),
            Sink::Voice(voice) => voice.pass_on(bytes),
        }
        self.tail.extend(bytes.drain(..));
        let superfluous = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..superfluous);
    }

    fn tail(&mut self) -> String {
        String::from_utf8_lossy(self.tail.make_contiguous()).trim().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads what is there; waits for ever where there is nothing more to read.
async fn chunk(source: &mut Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> io::Result<usize> {
    match source {
        Some(source) => {
            into.reserve(16 * 1024);
            source.read_buf(into).await
        }
        None => std::future::pending().await,
    }
}

//! A program in a session of its own: fed, read within bounds, and killed with everything it has started.
//!
//! The [`Launcher`] starts it. In a cage the kernel ends what it has started. Elsewhere its group is killed first; what has
//! left the group is found by the variables that it was started with (`sweep.rs`). Dropping a [`Running`] does both, so an
//! attempt that is called off leaves nothing behind.

mod bubblewrap;
mod cage;
mod environment;
mod landlock;
mod launcher;
mod limits;
mod mounts;
mod refused_calls;
mod sink;
mod sweep;
mod telling;
mod threshold;
mod user_namespace;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group, pidfd_send_signal};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub use cage::Cage;
pub use environment::Environment;
pub(crate) use environment::ssh_agent;
pub use launcher::Launcher;
pub use limits::ResourceLimits;
pub use sink::{LOG_BYTES_MAX, Listener, Log, Sink};
pub use sweep::{FENCE, HANDOFF, Mark, RUN, WORKSPACE, attempt_above, sweep_run};
pub use telling::{ended_badly, not_started};
pub(crate) use telling::{how_it_ended, length, permanent, size, too_late, without_script};
pub use user_namespace::UserNamespace;

use launcher::Apart;
use sweep::{Below, Scope};
use threshold::Threshold;

/// The most that a program may write to stdout, unless it is allowed more.
pub const STDOUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a program that is asked to end may take for it.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long to look once more when the time is up.
pub const SECOND_LOOK: Duration = Duration::from_millis(200);

/// How much of the end of stderr is kept.
const TAIL_BYTES: usize = 4 * 1024;

/// How long the pipes of a program that has ended are read on, if something that got away holds them.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// How long to wait until what was killed in a cage is gone. Usually it is gone at once.
const CAGE_EMPTY: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// How much is read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// What to run.
#[derive(Debug)]
pub struct Launch {
    /// The program: a path, or a name that is looked for in the `PATH` of the environment.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it works; where we work if it does not say.
    pub folder: Option<PathBuf>,
    /// What it sees; the variables of the mark are added.
    pub environment: Environment,
    /// What tells it and its children from all others.
    pub mark: Mark,
    /// What it reads from stdin.
    pub input: Vec<u8>,
    /// Where its stdout goes, beside being kept.
    pub stdout: Sink,
    /// Where its stderr goes.
    pub stderr: Sink,
    /// Whether stdout goes where stderr goes, so that their lines stay in order. Then nothing of it is kept but the end.
    pub together: bool,
    /// The most that it may write to stdout.
    pub stdout_bytes_max: usize,
    /// Whether stdout is read by its sink as it comes. Then nothing of it is kept, and there is no most.
    pub streams: bool,
    /// What it may see and change; everything if there is no cage.
    pub cage: Option<Cage>,
    /// What it may use up.
    pub limits: ResourceLimits,
    /// Whether programs such as `sudo` work outside of a cage. Whoever may not gain privileges can never decide, whatever
    /// it hides; in a cage nobody gains any.
    pub may_gain_privileges: bool,
}

impl Launch {
    /// Runs a program with the reduced environment, without input, logs and cage.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            arguments: Vec::new(),
            folder: None,
            environment: Environment::reduced([]),
            mark: Mark::default(),
            input: Vec::new(),
            stdout: Sink::Nothing,
            stderr: Sink::Nothing,
            together: false,
            stdout_bytes_max: STDOUT_BYTES_MAX,
            streams: false,
            cage: None,
            limits: ResourceLimits::default(),
            may_gain_privileges: false,
        }
    }
}

/// How a program ended.
#[derive(Debug)]
pub enum ProcessEnd {
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
    Flooded {
        /// How much it might have written.
        most: usize,
    },
    /// It took too long, and was killed.
    TimedOut {
        /// How long it might have taken.
        limit: Duration,
        /// The last that it wrote to stderr.
        tail: String,
    },
    /// It wrote nothing for too long, and was killed.
    Silent {
        /// How long it might have been silent.
        limit: Duration,
        /// The last that it wrote to stderr.
        tail: String,
    },
    /// It could not be waited for.
    Lost(io::Error),
}

/// How long a program may take.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeLimits {
    /// As a whole.
    pub whole: Option<Duration>,
    /// Without writing anything.
    pub silence: Option<Duration>,
    /// To end by itself when it is asked to.
    pub grace: Duration,
}

/// A program that runs. Everything it has started is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Option<Pid>,
    apart: Apart,
    /// The first process in its cage, if it has one: everything in there dies with it.
    first_inside: Arc<OnceLock<OwnedFd>>,
    mark: Mark,
    started: Instant,
    feeder: JoinHandle<()>,
    stdout: Option<ChildStdout>,
    stderr: Option<Receiver>,
    stdout_sink: Sink,
    stderr_sink: Sink,
    stdout_bytes_max: usize,
    streams: bool,
    /// When it wrote something last.
    heard_at: Instant,
    tail: VecDeque<u8>,
}

impl Running {
    /// Starts a program by these words, which begin with whatever keeps it apart, and leads it over the threshold.
    fn start(
        launch: Launch,
        words: Vec<OsString>,
        apart: Apart,
        threshold: Option<Threshold>,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Running> {
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .env_clear()
            .envs(launch.environment.iter())
            .envs(launch.mark.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Whoever leads a group cannot begin a session, and begins it in another process.
        if apart != Apart::Session {
            command.process_group(0);
        }
        if let Some(folder) = launch.folder {
            command.current_dir(folder);
        }
        let joined = if launch.together { Some(join_outputs(&mut command)?) } else { None };
        let mut child = spawn(&mut command)?;
        // The pipe ends when its last writer is gone, and the command still holds two.
        drop(command);
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = match (joined, child.stderr.take()) {
            (Some(joined), _) => Some(joined),
            (None, Some(stderr)) => Some(Receiver::from_owned_fd(stderr.into_owned_fd()?)?),
            (None, None) => None,
        };
        let (input, first_inside) = (launch.input, Arc::new(OnceLock::new()));
        let held = Arc::clone(&first_inside);
        let feeder = tokio::spawn(async move {
            let crossed = match threshold {
                Some(threshold) => threshold.cross(&held).await,
                None => Ok(()),
            };
            if let (Err(_), Some(group)) = (crossed, group) {
                // Nothing begins without its limits.
                let _ = kill_process_group(group, Signal::KILL);
            }
            if let Some(mut stdin) = stdin {
                // A program that has read enough closes its end; what it answers is what counts.
                let _ = stdin.write_all(&input).await;
            }
        });
        Ok(Running {
            child,
            group,
            apart,
            first_inside,
            mark: launch.mark,
            started: Instant::now(),
            feeder,
            stdout,
            stderr,
            stdout_sink: launch.stdout,
            stderr_sink: launch.stderr,
            stdout_bytes_max: launch.stdout_bytes_max,
            streams: launch.streams,
            heard_at: Instant::now(),
            tail: VecDeque::new(),
        })
    }

    /// Reads what it writes until it has ended. May be dropped at any moment.
    pub async fn end(&mut self) -> ProcessEnd {
        self.read_to_end(None).await.unwrap_or_else(|_| ProcessEnd::Lost(io::ErrorKind::TimedOut.into()))
    }

    /// Reads what it writes until it has ended, or has been silent for too long.
    async fn read_to_end(&mut self, silence: Option<Duration>) -> Result<ProcessEnd, Over> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            let over = ended.map_or_else(|| Instant::now() + AFTERWARDS, |(_, at)| at + AFTERWARDS);
            tokio::select! {
                read = chunk(&mut self.stdout, &mut out) => match read {
                    Ok(count) if count > 0 => self.take_output(&mut out, count),
                    _ => self.stdout = None,
                },
                read = chunk(&mut self.stderr, &mut err) => match read {
                    Ok(count) if count > 0 => self.take_error(&mut err),
                    _ => self.stderr = None,
                },
                status = self.child.wait(), if ended.is_none() => match status {
                    Ok(status) => {
                        ended = Some((self.seen_through_cage(status), Instant::now()));
                        // What it left behind would hold the pipes, or go on without anybody.
                        self.kill_remains();
                    }
                    Err(error) => return Ok(ProcessEnd::Lost(error)),
                },
                over = silent_since(self.heard_at, silence), if ended.is_none() => return Err(over),
                () = tokio::time::sleep_until(over), if ended.is_some() => (self.stdout, self.stderr) = (None, None),
            }
            if out.len() > self.stdout_bytes_max {
                self.finish_off().await;
                return Ok(ProcessEnd::Flooded { most: self.stdout_bytes_max });
            }
            if let (Some((status, _)), None, None) = (ended, &self.stdout, &self.stderr) {
                return Ok(ProcessEnd::Exited { status, stdout: out, tail: self.tail() });
            }
        }
    }

    /// Returns how the program itself ended: around a cage a signal looks like a shell tells it.
    fn seen_through_cage(&self, status: ExitStatus) -> ExitStatus {
        match (self.apart, status.code()) {
            (Apart::Caged, Some(code @ 129..=192)) => ExitStatus::from_raw(code - 128),
            _ => status,
        }
    }

    /// Does the same, but when the time is up asks everything in its group to end, and kills what has not after the grace.
    pub async fn end_within(&mut self, limits: TimeLimits) -> ProcessEnd {
        let over = match self.end_or_over(limits).await {
            Ok(ended) => return ended,
            Err(over) => over,
        };
        let below = self.group.map(|group| {
            let below = Below::of(number(group));
            match self.apart {
                // The cage itself would end at once, and everybody inside without a warning.
                Apart::Caged => below.signal(Signal::TERM),
                Apart::Session | Apart::Group => drop(kill_process_group(group, Signal::TERM)),
            }
            below
        });
        // What it says while it ends goes to the logs; it is too late to be an answer.
        let _ = tokio::time::timeout(limits.grace, self.end()).await;
        self.finish_off().await;
        if let Some(below) = below {
            below.signal(Signal::KILL);
        }
        match over {
            Over::Whole(limit) => ProcessEnd::TimedOut { limit, tail: self.tail() },
            Over::Silence(limit) => ProcessEnd::Silent { limit, tail: self.tail() },
        }
    }

    /// Waits for its end, or until its time is over.
    async fn end_or_over(&mut self, limits: TimeLimits) -> Result<ProcessEnd, Over> {
        let mut ending = std::pin::pin!(self.read_to_end(limits.silence));
        let Some(limit) = limits.whole else { return ending.await };
        if let Ok(ended) = tokio::time::timeout(limit, &mut ending).await {
            return ended;
        }
        // If we were asleep ourselves it may have ended long ago, and we have only not heard of it.
        tokio::time::timeout(SECOND_LOOK, &mut ending).await.unwrap_or(Err(Over::Whole(limit)))
    }

    /// Kills everything, and waits until the program has ended.
    pub async fn finish_off(&mut self) {
        self.kill();
        let _ = self.child.wait().await;
    }

    /// Kills everything: the group, what carries the mark, and what is below the program.
    fn kill(&mut self) {
        let Some(group) = self.group.take() else { return };
        // Before the group: what lives below a parent is not found any more when that is dead.
        sweep::kill_marked(&self.mark, Some(number(group)), Scope::All);
        // A group without members is as dead as we want it.
        let _ = kill_process_group(group, Signal::KILL);
        self.empty_cage();
        self.feeder.abort();
    }

    /// Kills what a program that has ended left behind. That is rare, so nothing is looked at that cannot be it.
    fn kill_remains(&mut self) {
        let Some(group) = self.group.take() else { return };
        self.feeder.abort();
        let _ = kill_process_group(group, Signal::KILL);
        self.empty_cage();
        // The kernel ends everything in a cage with its first process.
        if self.apart != Apart::Caged {
            let young = self.started.elapsed() < sweep::NUMBERS_LAST && sweep::has_many_numbers();
            let scope = if young { Scope::Since(number(group)) } else { Scope::All };
            sweep::kill_marked(&self.mark, None, scope);
        }
    }

    /// Kills what is in the cage, and waits until it is gone. It should die with whoever made the cage, but an agent can attach to
    /// the first process in there and let it forget that.
    fn empty_cage(&self) {
        let Some(first) = self.first_inside.get() else { return };
        if pidfd_send_signal(first, Signal::KILL).is_ok() {
            // It ends after all others.
            let _ = poll(&mut [PollFd::new(first, PollFlags::IN)], Some(&CAGE_EMPTY));
        }
    }

    /// Takes what was read last from stdout.
    fn take_output(&mut self, bytes: &mut Vec<u8>, count: usize) {
        self.heard_at = Instant::now();
        self.stdout_sink.take(&bytes[bytes.len() - count..]);
        if self.streams {
            bytes.clear();
        }
    }

    fn take_error(&mut self, bytes: &mut Vec<u8>) {
        self.heard_at = Instant::now();
        self.stderr_sink.take(bytes);
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

/// Which time of a program is over.
enum Over {
    Whole(Duration),
    Silence(Duration),
}

/// Waits until a program has been silent for too long; for ever if it may be.
async fn silent_since(heard_at: Instant, most: Option<Duration>) -> Over {
    match most {
        Some(most) => {
            tokio::time::sleep_until(heard_at + most).await;
            Over::Silence(most)
        }
        None => std::future::pending().await,
    }
}

fn number(process: Pid) -> u32 {
    process.as_raw_pid().unsigned_abs()
}

/// Leads both outputs of a command into one pipe.
fn join_outputs(command: &mut Command) -> io::Result<Receiver> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    Receiver::from_owned_fd(OwnedFd::from(reader))
}

/// Reads what is there; waits for ever where there is nothing more to read.
async fn chunk(source: &mut Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> io::Result<usize> {
    match source {
        Some(source) => {
            into.reserve(CHUNK_BYTES);
            source.read_buf(into).await
        }
        None => std::future::pending().await,
    }
}

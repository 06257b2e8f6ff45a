//! The processes of one running server.
//!
//! Each of them writes to the same pipe, so the pipe ends when the last of them has ended, and nobody needs to look
//! again and again.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::installation::Installation;
use crate::children::children;

/// Recovery after a kill is part of it.
const START_TIME_MAX: Duration = Duration::from_secs(120);
const END_TIME_MAX: Duration = Duration::from_secs(60);

/// A standby says `read-only connections`.
const READY: &str = "database system is ready to accept";

/// The postmaster, a child of this process; the other processes are its children.
#[derive(Debug)]
pub(super) struct Server {
    postmaster: Child,
    /// Gets a message when the server is ready; closed when its last process has ended.
    log: Receiver<()>,
}

impl Server {
    /// Starts the server and waits until it accepts connections, or returns what it said when it ended instead.
    pub(super) fn start(installation: &Installation, folder: &Path, arguments: &[String]) -> Result<Self, String> {
        let mut command = installation.command("postgres", folder);
        // Away from our group, so that Ctrl-C at the terminal leaves the order of things to us.
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let spawned = command.spawn();
        let mut postmaster = spawned.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let stderr = postmaster.stderr.take().expect("stderr is a pipe");
        let path = folder.join("server.log");
        let file = File::create(&path).expect("the folder of the server can be written to");
        let (sender, log) = channel();
        std::thread::spawn(move || keep_log(stderr, file, &sender));
        let server = Server { postmaster, log };
        if server.log.recv_timeout(START_TIME_MAX).is_ok() {
            return Ok(server);
        }
        server.kill();
        Err(fs::read_to_string(path).unwrap_or_default())
    }

    pub(super) fn id(&self) -> u32 {
        self.postmaster.id()
    }

    /// Kills all processes before any of them can notice that another one is gone.
    pub(super) fn kill(mut self) {
        // One that is stopped starts no more processes and sees none of them end.
        self.signal(Signal::STOP);
        let stopped_or_ended = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waited = retry_on_intr(|| waitid(WaitId::Pid(self.pid()), stopped_or_ended));
        waited.expect("our own child can be waited for");
        for process in children(self.id()) {
            let process = Pid::from_raw(process.try_into().expect("a process number")).expect("nobody's number is 0");
            // It may have ended by itself.
            let _ = kill_process(process, Signal::KILL);
        }
        self.signal(Signal::KILL);
        assert!(self.has_ended(), "PostgreSQL does not die within {END_TIME_MAX:?}");
    }

    /// Ends all connections and writes everything to the disk ("fast").
    pub(super) fn stop(mut self) {
        self.signal(Signal::INT);
        assert!(self.has_ended(), "PostgreSQL does not stop within {END_TIME_MAX:?}");
    }

    /// Ends without writing anything more ("immediate"), but tidies up.
    pub(super) fn stop_immediately(mut self) {
        self.signal(Signal::QUIT);
        if !self.has_ended() {
            self.kill();
        }
    }

    fn signal(&self, signal: Signal) {
        // It is not reaped before `has_ended`, so the number is its own; only a dead one would refuse.
        let _ = kill_process(self.pid(), signal);
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.postmaster)
    }

    fn has_ended(&mut self) -> bool {
        let end = loop {
            match self.log.recv_timeout(END_TIME_MAX) {
                Ok(()) => {}
                Err(end) => break end,
            }
        };
        end == RecvTimeoutError::Disconnected && self.postmaster.wait().is_ok()
    }
}

/// Copies the log to a file until the last writer has gone; says when the server is ready.
fn keep_log(stderr: ChildStderr, mut file: File, sender: &Sender<()>) {
    let mut source = BufReader::new(stderr);
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        // The log is for people; a server whose log cannot be kept is still a server.
        let _ = file.write_all(&line);
        if String::from_utf8_lossy(&line).contains(READY) {
            let _ = sender.send(());
        }
        line.clear();
    }
}

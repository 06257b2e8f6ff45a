//! A child that cannot outlive its test, read line by line and waited for with a time limit.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process, waitid,
};

use crate::lines::ChildLines;

/// A running child in a process group of its own; the whole group is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    ended: Receiver<()>,
    status: Option<ExitStatus>,
    /// What it writes to stdout.
    pub stdout: ChildLines,
    /// What it writes to stderr, if the command was given a pipe for that.
    pub stderr: Option<ChildLines>,
}

impl Process {
    /// Starts the command with pipes for stdin and stdout.
    pub fn spawn(command: &mut Command) -> Self {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let input = child.stdin.take();
        let stdout = ChildLines::of(child.stdout.take().expect("stdout is a pipe"));
        let stderr = child.stderr.take().map(ChildLines::of);
        let ended = watch(&child);
        Process { child, input, ended, status: None, stdout, stderr }
    }

    /// Returns the number of the process, which is that of its group too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its stdin.
    pub fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("stdin has not been closed");
        writeln!(input, "{line}").expect("the process reads its stdin");
    }

    /// Closes its stdin.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Kills the process, as `kill -9` does, and waits for its end. What it has started goes on.
    pub fn kill(&mut self) -> ExitStatus {
        self.child.kill().expect("our own child may be killed");
        self.reap()
    }

    /// Kills the process and everything it has started that stayed in its group, and waits for its end.
    pub fn kill_group(&mut self) -> ExitStatus {
        // A group that has no members any more is as dead as we want it.
        let _ = kill_process_group(self.pid(), Signal::KILL);
        self.reap()
    }

    /// Asks the process to end (SIGTERM).
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Sends any signal, unless the process is known to have ended.
    pub fn signal(&mut self, signal: Signal) {
        if self.status.is_none() {
            kill_process(self.pid(), signal).expect("a child that was not reaped can be signalled");
        }
    }

    /// Waits for the end of the process, or returns nothing if that takes longer.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        match self.ended.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => None,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Some(self.reap()),
        }
    }

    fn reap(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("our own child can be waited for");
        self.status = Some(status);
        status
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Kills a process that is not our child, as `kill -9` does.
pub fn kill(number: &str) {
    // One that is gone is as dead as we want it.
    let _ = kill_process(stranger(number), Signal::KILL);
}

/// Returns whether a process that is not our child lives.
pub fn lives(number: &str) -> bool {
    test_kill_process(stranger(number)).is_ok()
}

fn stranger(number: &str) -> Pid {
    let number = number.trim().parse().ok().and_then(Pid::from_raw);
    number.expect("a process said its number")
}

/// Notifies when the child has ended. It is left to be reaped, so that nobody else gets its number meanwhile.
fn watch(child: &Child) -> Receiver<()> {
    let pid = Pid::from_child(child);
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // An error means that it was reaped, so it has ended too. Whoever has dropped the process does not want to know.
        let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        let _ = sender.send(());
    });
    receiver
}

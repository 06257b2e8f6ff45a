//! A store whose lock somebody else holds: readers do not notice, and writers are told who it is.

use std::process::{Command, Stdio};
use std::time::Duration;

use baton_engine::retry;
use baton_testbed::Process;
use rustix::process::Signal;

use crate::queue_life::with_one_sent;
use crate::sandbox::{BATON, Sandbox};
use crate::stocked::Stocked;

const LIMIT: Duration = Duration::from_secs(60);

/// Takes the lock, or begins to write like a program that does not know the lock, and stops.
const HOLDER: &str = "\
import fcntl, os, signal, sqlite3, sys
if sys.argv[1] == 'lock':
    held = open(sys.argv[2].replace('.db', '.lock'), 'a')
    fcntl.flock(held, fcntl.LOCK_EX)
else:
    held = sqlite3.connect(sys.argv[2], isolation_level=None)
    held.execute('BEGIN IMMEDIATE')
print('held', flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
";

/// Starts a process that holds the store and is stopped while it does.
pub(crate) fn stopped_while_holding(sandbox: &Sandbox, what: &str) -> Process {
    let mut command = Command::new("python3");
    let holder = Process::spawn(command.args(["-c", HOLDER, what]).arg(sandbox.store()));
    holder.stdout.find("held", LIMIT).expect("it holds the store");
    holder
}

const SEND: [&str; 6] = ["send", "--to", "finder", "--id", "second", "request.json"];

#[test]
fn whoever_only_looks_does_not_wait_for_the_lock_and_whoever_writes_is_told_who_holds_it() {
    let sandbox = with_one_sent(&[]);
    let mut holder = stopped_while_holding(&sandbox, "lock");
    for looking in [
        &["list"][..],
        &["show", "csv-07.research"],
        &["runs"],
        &["inbox"],
        &["queue"],
        &["doctor"],
        &["audit", "verify", "--all"],
    ] {
        let looked = sandbox.baton(looking);
        assert_eq!(looked.code, Some(0), "{looking:?}: {looked}");
    }
    let sent = sandbox.baton(&SEND);
    assert_eq!(sent.code, Some(75), "{sent}");
    let named = format!("process {} (python3", holder.id());
    assert!(sent.stderr.contains("the store cannot be reached") && sent.stderr.contains(&named), "{sent}");
    assert!(sent.stderr.contains("which is stopped") && sent.stderr.contains("baton.lock"), "{sent}");
    holder.signal(Signal::KILL);
    let sent = sandbox.baton(&SEND);
    assert_eq!(sent.code, Some(0), "a dead process holds nothing: {sent}");
}

#[test]
fn program_that_writes_without_the_lock_is_named_as_well() {
    let sandbox = with_one_sent(&[]);
    let mut holder = stopped_while_holding(&sandbox, "database");
    assert_eq!(sandbox.baton(&["list"]).code, Some(0));
    let sent = sandbox.baton(&SEND);
    assert_eq!(sent.code, Some(75), "{sent}");
    assert!(sent.stderr.contains(&format!("process {} (python3", holder.id())), "{sent}");
    holder.signal(Signal::KILL);
    assert_eq!(sandbox.baton(&SEND).code, Some(0));
}

/// Starts to wait for a handoff whose lease is over, which must be written before it is seen.
fn wait_for_what_has_expired(more: &[&str]) -> (Stocked, Process, Process) {
    let stocked = Stocked::new();
    stocked.accept_with("h", "h", |terms| terms.retry = retry::Policy::NEVER);
    stocked.claim(1);
    let holder = stopped_while_holding(&stocked.sandbox, "lock");
    let mut command = stocked.sandbox.command(BATON);
    command.args(["wait", "h"]).args(more);
    let waiting = Process::spawn(command.stderr(Stdio::piped()));
    (stocked, holder, waiting)
}

#[test]
fn whoever_waits_for_a_handoff_waits_through_an_outage() {
    let (stocked, mut holder, mut waiting) = wait_for_what_has_expired(&[]);
    waiting.stderr.as_ref().expect("a pipe").find("trying again", LIMIT).expect("it says so");
    holder.signal(Signal::KILL);
    assert_eq!(waiting.wait(LIMIT).expect("it ends").code(), Some(1), "the handoff has failed");
    drop(stocked);
}

#[test]
fn whoever_waits_for_a_handoff_gives_up_when_the_time_is_over_and_may_try_again() {
    let (stocked, mut holder, mut waiting) = wait_for_what_has_expired(&["--timeout", "1s"]);
    assert_eq!(waiting.wait(LIMIT).expect("it ends").code(), Some(75), "nobody knows how it stands");
    holder.signal(Signal::KILL);
    drop(stocked);
}

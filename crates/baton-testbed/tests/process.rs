//! Children are read, signalled, waited for and never left behind.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_testbed::{Process, Silence};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);

fn shell(script: &str) -> Process {
    Process::spawn(Command::new("sh").args(["-c", script]))
}

#[test]
fn lines_are_read_and_the_status_is_returned() {
    let mut process = shell("echo one; echo two; exit 3");
    assert_eq!(process.stdout.next(LONG).unwrap(), "one");
    assert_eq!(process.stdout.next(LONG).unwrap(), "two");
    assert_eq!(process.stdout.next(LONG), Err(Silence::Ended));
    assert_eq!(process.wait(LONG).unwrap().code(), Some(3));
    assert_eq!(process.wait(SHORT).unwrap().code(), Some(3));
}

#[test]
fn input_is_answered_until_it_is_closed() {
    let mut process = shell("cat; echo end");
    process.send_line("hello");
    assert_eq!(process.stdout.next(LONG).unwrap(), "hello");
    assert_eq!(process.stdout.next(SHORT), Err(Silence::Late));
    process.close_input();
    assert_eq!(process.stdout.rest(LONG).unwrap(), ["end"]);
}

#[test]
fn stderr_is_read_if_it_is_a_pipe() {
    let process = Process::spawn(Command::new("sh").args(["-c", "echo oops >&2"]).stderr(Stdio::piped()));
    assert_eq!(process.stderr.as_ref().unwrap().next(LONG).unwrap(), "oops");
}

#[test]
fn running_process_is_waited_for_no_longer_than_asked() {
    let mut process = shell("cat");
    assert_eq!(process.wait(SHORT), None);
    assert_eq!(process.kill().signal(), Some(9));
    process.terminate();
    assert_eq!(process.wait(SHORT).unwrap().signal(), Some(9));
}

#[test]
fn terminated_process_may_end_in_its_own_way() {
    let mut process = shell("trap 'echo bye; exit 7' TERM; echo ready; while :; do read line; done");
    process.stdout.find("ready", LONG).unwrap();
    process.terminate();
    assert_eq!(process.stdout.next(LONG).unwrap(), "bye");
    assert_eq!(process.wait(LONG).unwrap().code(), Some(7));
}

#[test]
fn killing_spares_what_it_started_and_killing_the_group_does_not() {
    let mut process = shell("sleep 1000 & echo ready; wait");
    process.stdout.find("ready", LONG).unwrap();
    process.kill();
    assert_eq!(process.stdout.next(SHORT), Err(Silence::Late));
    process.kill_group();
    assert_eq!(process.stdout.next(LONG), Err(Silence::Ended));
}

#[test]
fn dropping_kills_the_whole_group() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & sleep 1000"]).stderr(writer);
    let process = Process::spawn(&mut command);
    // The command holds our copy of the pipe.
    drop(command);
    drop(process);
    assert_eq!(baton_testbed::ChildLines::of(reader).next(LONG), Err(Silence::Ended));
}

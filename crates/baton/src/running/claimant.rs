//! The name under which a process drives runs, and whether whoever has such a name is dead.
//!
//! `user@host:pid [start boot namespace]`: people read what stands before the brackets. The number of a process means
//! something only within one boot of one machine and within one namespace of process numbers. Two containers may share a
//! host name, a machine may have been cloned, and a number is given again after a reboot.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

use baton_host::ProcessStat;
use rustix::process::{Pid, test_kill_process};

use crate::user;

/// How long a process that was killed may take until it is gone.
const END_MAX: Duration = Duration::from_secs(5);

/// How soon to look whether it is.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Returns the name under which this process claims.
pub(crate) fn claimant() -> String {
    let mark = Place::here().zip(started_at(std::process::id()));
    match mark {
        Some((Place { boot, namespace }, start)) => format!("{} [{start} {boot} {namespace}]", user::claimant()),
        // Nobody will ever be certain that it is dead: the lease decides.
        None => user::claimant(),
    }
}

/// Returns whether a claimant is certainly dead: a process that we could see is gone, or another one by now. Names without
/// a mark, as earlier versions gave them, do not tell.
pub(crate) fn is_dead(claimant: &str) -> bool {
    let Some(process) = Process::of(claimant) else { return false };
    Place::here() == Some(process.place) && !process.id.is_alive(process.start)
}

/// A process that a claimant's name tells about.
struct Process {
    id: ProcessId,
    start: u64,
    place: Place,
}

/// Where process numbers mean the same.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// Changes whenever a machine starts.
    boot: String,
    /// The namespace of process numbers, by its file's number.
    namespace: u64,
}

struct ProcessId(u32);

impl Process {
    fn of(claimant: &str) -> Option<Process> {
        let (name, mark) = claimant.strip_suffix(']')?.rsplit_once(" [")?;
        let (_, id) = name.rsplit_once(':')?;
        let mut words = mark.split(' ');
        let (start, boot, namespace) = (words.next()?, words.next()?, words.next()?);
        Some(Process {
            id: ProcessId(id.parse().ok()?),
            start: start.parse().ok()?,
            place: Place { boot: boot.to_owned(), namespace: namespace.parse().ok()? },
        })
    }
}

impl Place {
    /// Returns where this process is; `None` where the system does not tell.
    fn here() -> Option<Place> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = fs::metadata("/proc/self/ns/pid").ok()?.ino();
        Some(Place { boot: boot.trim().to_owned(), namespace })
    }
}

impl ProcessId {
    /// Returns whether the process that began then may still live.
    fn is_alive(&self, start: u64) -> bool {
        self.await_end();
        match started_at(self.0) {
            Some(found) => found == start,
            // Processes of other users may be hidden; then the system still knows the number.
            None => !is_in_sight(self.0) && self.is_known(),
        }
    }

    /// Waits for the end of a process that was killed. Its memory is taken from it first, and only then what it holds is free.
    fn await_end(&self) {
        let is_ending = || ProcessStat::of(self.0).is_some_and(|stat| stat.is_ending && !stat.has_ended());
        let begun = Instant::now();
        while is_ending() && begun.elapsed() < END_MAX {
            thread::sleep(LOOK_AGAIN);
        }
    }

    fn is_known(&self) -> bool {
        let id = i32::try_from(self.0).ok().and_then(Pid::from_raw);
        id.is_some_and(|id| test_kill_process(id) != Err(rustix::io::Errno::SRCH))
    }
}

fn is_in_sight(id: u32) -> bool {
    fs::exists(format!("/proc/{id}")).unwrap_or(false)
}

/// Returns when a process was started, in the kernel's ticks; `None` if it is dead or cannot be seen.
fn started_at(id: u32) -> Option<u64> {
    // One that is dead but not buried by whoever started it does nothing any more.
    ProcessStat::of(id).filter(|stat| !stat.has_ended()).map(|stat| stat.start_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_died_is_dead_before_it_is_buried() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("a process");
        let ours = claimant();
        let (_, mark) = ours.split_once(" [").expect("a mark");
        let (_, place) = mark.split_once(' ').expect("a place");
        let start = started_at(child.id()).expect("it lives");
        let claimant = format!("ana@anywhere:{} [{start} {place}", child.id());
        assert!(!is_dead(&claimant), "{claimant}");
        child.kill().expect("it can be killed");
        // It stays in the table of processes until somebody waits for it, which this does not.
        let id = Pid::from_child(&child);
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(id), options).expect("it dies");
        assert!(is_dead(&claimant), "{claimant}");
        child.wait().expect("it is dead");
        assert!(is_dead(&claimant), "{claimant}");
    }

    /// The kernel takes its time with a large process, and whoever goes on with its work comes at once.
    #[test]
    fn whoever_was_killed_is_dead_at_once_however_much_there_is_to_free() {
        use std::io::Read as _;
        let hog = "import os, sys, time\nheld = bytearray(os.urandom(4096)) * 100000\nprint('ready', flush=True)\ntime.sleep(600)";
        let mut command = std::process::Command::new("python3");
        let mut child = command.args(["-c", hog]).stdout(std::process::Stdio::piped()).spawn().expect("a process");
        child.stdout.take().expect("a pipe").read_exact(&mut [0; 5]).expect("it is ready");
        let ours = claimant();
        let (_, place) = ours.split_once(" [").and_then(|(_, mark)| mark.split_once(' ')).expect("a place");
        let claimant = format!("ana@anywhere:{} [{} {place}", child.id(), started_at(child.id()).expect("it lives"));
        assert!(!is_dead(&claimant), "{claimant}");
        child.kill().expect("it can be killed");
        assert!(is_dead(&claimant), "{claimant}");
        child.wait().expect("it is dead");
    }

    #[test]
    fn only_a_process_that_we_could_see_and_that_is_gone_is_dead() {
        let Place { boot, namespace } = Place::here().expect("the system tells");
        let (id, start) = (std::process::id(), started_at(std::process::id()).expect("we live"));
        let named = |start: u64, boot: &str, namespace: u64| format!("ana@host:{id} [{start} {boot} {namespace}]");
        assert!(!is_dead(&claimant()) && !is_dead(&named(start, &boot, namespace)), "we live");
        assert!(is_dead(&named(start + 1, &boot, namespace)), "the number belongs to another process");
        assert!(!is_dead(&named(start + 1, "another-boot", namespace)), "another machine, or before it was restarted");
        assert!(!is_dead(&named(start + 1, &boot, namespace + 1)), "another container");
        assert!(!is_dead(&format!("{}:{}", user::claimant(), start + 1)), "an earlier version does not tell");
        assert!(!is_dead("worker-7") && !is_dead("ana@host:1 [5]") && !is_dead("[a b c]"));
    }
}

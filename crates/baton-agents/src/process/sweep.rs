//! Finds and kills what a program has started and left behind, wherever that went.
//!
//! A process may leave its group (setsid) and its parent (fork twice), but what it was started with stays readable in
//! `/proc`: the variables of the attempt. Children that were given other variables are found below their parents, as
//! long as those live. Only a process that does both, and whose parent is gone, gets away.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use baton_engine::RunId;
use baton_host::ProcessStat;
use memchr::memmem;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often to look again, in case something was started while we looked.
const ROUNDS_MAX: usize = 10;

/// How often to look at a process that changes into another program.
const LOOKS_MAX: usize = 50;

/// How long to wait in between.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// The process that all of the kernel's are below.
const KERNEL: u32 = 2;

/// How many process numbers are tried one by one rather than listing all processes.
const NUMBERS_MAX: u32 = 128;

/// How long the system is trusted not to have given out all process numbers once.
pub(super) const NUMBERS_LAST: Duration = Duration::from_secs(60);

/// More numbers than anybody uses up in that time.
const NUMBERS_MANY: u32 = 1 << 22;

/// The variable that names the run.
pub const RUN: &str = "BATON_RUN";

/// The variable that names the handoff.
pub const HANDOFF: &str = "BATON_HANDOFF_ID";

/// The variable with the fence of the claim.
pub const FENCE: &str = "BATON_FENCE";

/// The variable that names the folder to work in.
pub const WORKSPACE: &str = "BATON_WORKSPACE";

/// Variables that together no other attempt has. A mark without variables fits nobody.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark(Vec<(String, String)>);

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everywhere.
    All,
    /// Among what was started after a process.
    Since(u32),
}

impl Mark {
    /// Makes a mark of variables.
    pub fn new(variables: impl IntoIterator<Item = (&'static str, String)>) -> Mark {
        Mark(variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns the variables.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns whether a process was started with the mark. What is gone, or belongs to others, was not.
    fn is_on(&self, process: u32) -> bool {
        (0..LOOKS_MAX).find_map(|_| self.look(process)).unwrap_or(false)
    }

    /// Looks once; `None` while the process changes into another program and shows nothing.
    fn look(&self, process: u32) -> Option<bool> {
        let Some((first, _)) = self.0.first() else { return Some(false) };
        let Ok(environment) = fs::read(format!("/proc/{process}/environ")) else { return Some(false) };
        if environment.is_empty() && is_changing(process) {
            std::thread::sleep(LOOK_AGAIN);
            return None;
        }
        if memmem::find(&environment, first.as_bytes()).is_none() {
            return Some(false);
        }
        let has = |(name, value): &(String, String)| {
            let wanted = format!("{name}={value}");
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        };
        Some(self.0.iter().all(has))
    }
}

/// Returns whether a process shows nothing at all, although it has not ended and does not belong to the kernel.
fn is_changing(process: u32) -> bool {
    let silent = fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| words.is_empty());
    silent && parent_of(process).is_some_and(|parent| parent != 0 && parent != KERNEL)
}

/// Kills everything that was started for a run and is still there; says how many processes that were.
///
/// Runs of other workspaces may have the same name, because people can choose it: they are left alone.
/// For a driver that takes over a run whose last driver was killed. We ourselves and those above us are spared.
pub fn sweep_run(run: &RunId, workspace: &Path) -> usize {
    let workspace = workspace.to_string_lossy().into_owned();
    kill_marked(&Mark::new([(RUN, run.to_string()), (WORKSPACE, workspace)]), None, Scope::All)
}

/// Kills what carries a mark, and what is below a process; says how many that were.
pub(super) fn kill_marked(mark: &Mark, root: Option<u32>, scope: Scope) -> usize {
    let spared = ourselves();
    let mut killed = HashSet::new();
    for _ in 0..ROUNDS_MAX {
        let processes = processes(scope);
        // One that dies shows nothing, like one that changes; there is no need to wait for that.
        let alive = processes.iter().copied().filter(|process| !killed.contains(process));
        let mut found: HashSet<u32> = alive.filter(|process| mark.is_on(*process)).collect();
        if let Some(root) = root {
            found.insert(root);
            found.extend(below(&processes, &found));
        }
        // All are held before the first is killed: what loses its parent is not found below it any more. Each is looked
        // at again once it is held, because then nobody else can have its number; it may have dropped its mark meanwhile.
        let is_child = |process| root.is_some() && parent_of(process).is_some_and(|parent| found.contains(&parent));
        let new = found.iter().copied().filter(|process| !spared.contains(process) && !killed.contains(process));
        let held = new.filter_map(|process| {
            let held = hold(process)?;
            (Some(process) == root || mark.is_on(process) || is_child(process)).then_some((process, held))
        });
        let held: Vec<(u32, OwnedFd)> = held.collect();
        let before = killed.len();
        killed.extend(held.into_iter().filter(|(_, held)| is_killed(held)).map(|(process, _)| process));
        if killed.len() == before {
            break;
        }
    }
    killed.len()
}

/// What was below a process at some moment; it can be killed later, wherever it has gone.
#[derive(Debug)]
pub(super) struct Below(Vec<OwnedFd>);

impl Below {
    /// Holds what is below a process now, parents before their children: a shell that is told to end must hear of it before
    /// whatever it waits for has ended, or it ends as if nothing was said.
    pub(super) fn of(root: u32) -> Below {
        let found = below(&listed(), &HashSet::from([root]));
        let held = found.iter().filter_map(|process| {
            let held = hold(*process)?;
            let is_below = |parent| parent == root || found.contains(&parent);
            parent_of(*process).is_some_and(is_below).then_some(held)
        });
        Below(held.collect())
    }

    /// Sends a signal to what is left of it.
    pub(super) fn signal(&self, signal: Signal) {
        for process in &self.0 {
            // One that has ended needs none.
            let _ = pidfd_send_signal(process, signal);
        }
    }
}

fn is_killed(held: &OwnedFd) -> bool {
    pidfd_send_signal(held, Signal::KILL).is_ok()
}

fn hold(process: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(i32::try_from(process).ok()?)?, PidfdFlags::empty()).ok()
}

/// Returns the processes to look at.
fn processes(scope: Scope) -> Vec<u32> {
    if let Scope::Since(first) = scope
        && let Some(last) = last_number()
        && last >= first
    {
        if last - first <= NUMBERS_MAX {
            return (first..=last).collect();
        }
        return listed().into_iter().filter(|process| *process >= first).collect();
    }
    listed()
}

fn listed() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Returns whether nobody can use up all process numbers while they are trusted. With few, seconds are enough.
pub(super) fn has_many_numbers() -> bool {
    static MANY: LazyLock<bool> = LazyLock::new(|| {
        let most = fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        most.and_then(|most| most.trim().parse::<u32>().ok()).is_some_and(|most| most >= NUMBERS_MANY)
    });
    *MANY
}

/// Returns the number that the system gave out last.
fn last_number() -> Option<u32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next_back()?.parse().ok()
}

/// Returns everything below some processes.
fn below(processes: &[u32], roots: &HashSet<u32>) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in processes {
        if let Some(parent) = parent_of(*process) {
            children.entry(parent).or_default().push(*process);
        }
    }
    let mut open: Vec<u32> = roots.iter().copied().collect();
    let mut seen = roots.clone();
    let mut found = Vec::new();
    while let Some(process) = open.pop() {
        for child in children.get(&process).into_iter().flatten().filter(|child| seen.insert(**child)) {
            found.push(*child);
            open.push(*child);
        }
    }
    found
}

/// Returns the parent of a process that has not ended.
fn parent_of(process: u32) -> Option<u32> {
    ProcessStat::of(process).filter(|stat| !stat.has_ended()).map(|stat| stat.parent)
}

/// Returns the handoff that we work on: the mark of an attempt, on ourselves or on a process above us.
///
/// Of processes of other users nothing can be read; what they start for others has a mark of its own. Fails where nobody
/// can tell which process we are.
pub fn attempt_above() -> io::Result<Option<String>> {
    let own = std::env::var_os(HANDOFF).map(|value| value.to_string_lossy().into_owned());
    let found = match own {
        Some(own) => Some(own),
        None => above(own_number()?).into_iter().find_map(handoff_of),
    };
    Ok(found.map(|handoff| handoff.escape_debug().to_string()))
}

/// Returns our number as `/proc` has it. In a namespace of processes it is another one than we know ourselves by, if `/proc`
/// is that of the namespace above.
fn own_number() -> io::Result<u32> {
    let number = fs::read_link("/proc/self")?;
    number.to_str().and_then(|number| number.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn handoff_of(process: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut entries = environment.split(|byte| *byte == 0);
    let value = entries.find_map(|entry| entry.strip_prefix(HANDOFF.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Returns ourselves and those above us.
fn ourselves() -> Vec<u32> {
    above(std::process::id())
}

/// Returns a process and those above it.
fn above(process: u32) -> Vec<u32> {
    let above = std::iter::successors(Some(process), |process| parent_of(*process));
    above.take_while(|process| *process > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_needs_all_its_variables() {
        let path = std::env::var("PATH").expect("cargo sets it");
        let ours = std::process::id();
        assert!(Mark::new([("PATH", path.clone())]).is_on(ours));
        assert!(!Mark::new([("PATH", path.clone()), ("BATON_RUN", "none".to_owned())]).is_on(ours));
        assert!(!Mark::new([("PATH", path[1..].to_owned())]).is_on(ours));
        assert!(!Mark::default().is_on(ours));
    }

    #[test]
    fn those_above_us_are_spared() {
        let spared = ourselves();
        assert!(spared.contains(&std::process::id()) && spared.contains(&1), "{spared:?}");
    }
}

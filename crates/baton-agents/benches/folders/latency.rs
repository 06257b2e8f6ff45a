//! How fast a waiting process gets a new request, and what waiting costs.
#![expect(clippy::disallowed_methods, reason = "two processes compare the clock of the machine")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_agents::directory::{Directory, NewFolderHandoff};
use jiff::Timestamp;

const TRIES: usize = 200;

/// How long the waiting process is watched while nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// The other process: claims, and tells when it has what.
pub(crate) fn claimant(root: &Path) {
    let directory = Directory::open(root).expect("the folders are there");
    loop {
        let claim = directory.claim_within("@writer", None, &Timestamp::now).expect("claiming works").result;
        let claimed = Timestamp::now().as_nanosecond();
        println!("{claimed}");
        if claim.is_some_and(|claim| claim.handoff.text(&["input", "data"]) == Some("last")) {
            return;
        }
    }
}

/// Measures from when the creator's request is on the disk to when the other process has claimed it.
pub(crate) fn measure() {
    let root = super::folder("latency");
    let directory = Directory::open(&root).expect("the folders are there");
    let program = std::env::current_exe().expect("the program has a path");
    let mut child = Command::new(program)
        .args([Path::new("--claimant"), &root])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut waits: Vec<f64> = Vec::new();
    for number in 0..TRIES {
        // The other process must be asleep again.
        std::thread::sleep(Duration::from_millis(25));
        let input = if number + 1 == TRIES { idle(child.id()) } else { "next" };
        directory
            .create(&NewFolderHandoff::new("@lead", "@writer", input.into()), Timestamp::now())
            .expect("it can be created");
        let committed = Timestamp::now().as_nanosecond();
        let claimed: i128 = lines.next().expect("a line").expect("text").parse().expect("a number");
        waits.push((claimed - committed) as f64 / 1e6);
    }
    child.wait().expect("it ends");
    waits.sort_by(f64::total_cmp);
    let at = |part: f64| waits[((waits.len() - 1) as f64 * part) as usize];
    println!(
        "pick-up by another process     p50 {:.2} ms, p99 {:.2} ms (from committed to claimed)",
        at(0.5),
        at(0.99)
    );
    let _ = fs::remove_dir_all(&root);
}

/// Returns how much of a processor the waiting process uses.
fn idle(process: u32) -> &'static str {
    let before = ticks(process);
    std::thread::sleep(IDLE);
    // Linux counts a hundred ticks per second.
    let share = ticks(process).saturating_sub(before) as f64 / 100.0 / IDLE.as_secs_f64();
    println!("waiting claimant, idle         {:.2} % of one processor", share * 100.0);
    "last"
}

fn ticks(process: u32) -> u64 {
    baton_host::ProcessStat::of(process).map_or(0, |stat| stat.cpu_ticks)
}

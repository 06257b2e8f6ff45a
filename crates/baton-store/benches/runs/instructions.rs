//! How many instructions a step takes. Unlike times, they are nearly the same however busy the machine is.

use std::process::Command;

use baton_testbed::Scratch;

use super::{PHASES, steps_per_second};

/// The word that makes this program drive so many runs, one after the other, and measure nothing.
pub(crate) const REPEAT: &str = "repeat";

/// Counts the instructions of a step, without those of starting the process and of what is only done once.
pub(crate) fn count() {
    let (few, many) = (5, 25);
    let each = (instructions(many) - instructions(few)) / ((many - few) * PHASES) as u64;
    println!("  {each} instructions per step, one run after the other (valgrind --tool=callgrind)");
}

/// Drives so many runs, one after the other.
pub(crate) fn repeat(runs: &str) {
    let folder = Scratch::new();
    steps_per_second(&folder.path("baton.db"), 1, runs.parse().expect("a number"));
}

/// Runs this program again under callgrind and returns what it counted.
fn instructions(runs: usize) -> u64 {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args([REPEAT, &runs.to_string()])
        .output()
        .expect("valgrind is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the runs ended too early, so nothing can be counted:\n{text}");
    let counted =
        text.lines().find_map(|line| line.split_once("Collected :")).expect("callgrind tells what it counted");
    counted.1.trim().parse().expect("a number")
}

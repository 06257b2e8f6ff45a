//! Handoffs through folders beside the bare system calls that they need, on the same disk, in the same run.
//!
//! Both take turns in short rounds, so that whatever else the machine does hits both; the ratio is the median of the
//! rounds' ratios. Then the same with many requests waiting, what grows with what was done already, and how fast a
//! waiting process gets a new request.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "folders/bare.rs"]
mod bare;
#[path = "folders/latency.rs"]
mod latency;
#[path = "folders/upkeep.rs"]
mod upkeep;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bare::Bare;
use baton_agents::directory::{ArtifactFile, Completion, Directory, NewFolderHandoff};
use jiff::Timestamp;
use serde_json::{Value, json};

/// How many rounds each side gets.
const ROUNDS: usize = 15;

/// How many cycles make a round.
const CYCLES: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--claimant") {
        return latency::claimant(Path::new(&arguments[at + 1]));
    }
    // `-- latency` measures only this.
    let only = |part: &str| arguments.iter().any(|argument| argument == part);
    if !only("latency") {
        throughput();
        upkeep::measure();
    }
    latency::measure();
}

fn throughput() {
    println!("create, claim, complete        ours/s   bare/s   ratio (median of {ROUNDS} rounds of {CYCLES})");
    for waiting in [0, 1_000, 10_000] {
        compare(&format!("{waiting:>6} waiting"), waiting, false, false);
    }
    compare("with an artifact", 0, true, false);
    compare(" 1000 waiting, opened anew", 1_000, false, true);
    compare("10000 waiting, opened anew", 10_000, false, true);
}

/// Makes a folder for one measurement, on the disk of the build.
fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("folders-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    Directory::init(&root).expect("the folders can be made");
    root
}

fn input() -> Value {
    json!({ "component_requirements": [{ "name": "UserProfile", "type": "functional", "props": {} }], "text": "x".repeat(800) })
}

/// The time of all requests; the order among them is that of their names.
fn now() -> Timestamp {
    Timestamp::from_second(1_770_000_000).expect("a time")
}

fn compare(name: &str, waiting: usize, artifact: bool, anew: bool) {
    let root = folder("ours");
    let mut directory = Directory::open(&root).expect("the folders are there");
    wait_in(&directory, waiting);
    let made = root.join("made.json");
    fs::write(&made, input().to_string()).expect("it can be written");
    let artifact = artifact.then(|| ArtifactFile { file: made.clone(), kind: None });
    let mut bare = Bare::new(&folder("bare"), &input().to_string());
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..CYCLES {
            if anew {
                directory = Directory::open(&root).expect("the folders are there");
            }
            cycle(&directory, artifact.as_ref());
        }
        let ours = began.elapsed();
        let began = Instant::now();
        for _ in 0..CYCLES {
            bare.cycle(artifact.is_some());
        }
        rounds.push((ours, began.elapsed()));
    }
    report(name, &rounds);
    let _ = fs::remove_dir_all(&root);
}

/// One handoff there and back; it is more urgent than what waits.
fn cycle(directory: &Directory, artifact: Option<&ArtifactFile>) {
    let new = NewFolderHandoff {
        priority: baton_agents::directory::Priority::High,
        ..NewFolderHandoff::new("@lead", "@writer", input())
    };
    directory.create(&new, now()).expect("it can be created");
    let claim = directory.claim("@writer", now()).expect("claiming works").result.expect("one waits");
    let completion = Completion { attempt: Some(claim.attempt), artifact: artifact.cloned(), ..Completion::default() };
    directory.complete(&claim.id, &completion, now()).expect("it is ours");
}

/// Lets so many requests wait; they need not be on the disk.
fn wait_in(directory: &Directory, count: usize) {
    let pending = directory.folder(baton_agents::directory::Folder::Pending);
    for number in 0..count {
        let document = json!({
            "handoff_id": format!("wait-{number}"), "timestamp": "2026-01-13T10:00:00Z", "status": "pending",
            "source": {"agent_id": "@lead"}, "target": {"agent_id": "@writer"}, "input": {"data": input()},
        });
        fs::write(pending.join(format!("wait-{number}.json")), document.to_string()).expect("it can be written");
    }
}

fn report(name: &str, rounds: &[(Duration, Duration)]) {
    let rate = |total: Duration| (ROUNDS * CYCLES) as f64 / total.as_secs_f64();
    let mut ratios: Vec<f64> = rounds.iter().map(|(ours, bare)| bare.as_secs_f64() / ours.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let ours: Duration = rounds.iter().map(|(ours, _)| ours).sum();
    let bare: Duration = rounds.iter().map(|(_, bare)| bare).sum();
    println!("{name:<28} {:>8.0} {:>8.0} {:>6.0} %", rate(ours), rate(bare), ratios[ratios.len() / 2] * 100.0);
}

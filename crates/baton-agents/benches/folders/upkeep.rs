//! What grows with what was done already: a sweep beside thousands of answers, a list of thousands of artifacts.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_agents::directory::{ArtifactFile, Completion, Directory, Folder, NewFolderHandoff};
use serde_json::json;

use super::{folder, input, now};

/// How often each is measured.
const TRIES: usize = 15;

/// Measures both, as they grow.
pub(crate) fn measure() {
    for answers in [1_000, 10_000] {
        sweep(answers);
    }
    for listed in [0, 1_000, 10_000] {
        registry(listed);
    }
}

/// Measures sweeps by a process that lives on, and by one that opens the folders for each.
fn sweep(answers: usize) {
    let root = folder("sweep");
    let directory = Directory::open(&root).expect("the folders are there");
    for number in 0..answers {
        let document = json!({
            "handoff_id": format!("done-{number}"), "timestamp": "2026-01-13T10:00:00Z", "status": "completed",
            "source": {"agent_id": "@lead"}, "target": {"agent_id": "@writer"}, "input": {"data": input()},
            "started_at": "2026-01-13T10:00:01Z", "completed_at": "2026-01-13T10:00:02Z", "output": {},
        });
        let path = directory.folder(Folder::Completed).join(format!("done-{number}.json"));
        fs::write(path, document.to_string()).expect("it can be written");
    }
    let mut first = true;
    let mut timed = |anew: bool| {
        let began = Instant::now();
        let swept = if anew {
            Directory::open(&root).and_then(|directory| directory.sweep(now()))
        } else {
            directory.sweep(now())
        };
        assert!(swept.expect("a sweep works").problems.is_empty());
        let took = began.elapsed();
        if first {
            println!("first sweep, {answers:>6} answers    {:>8.2} ms", milliseconds(took));
            first = false;
        }
        took
    };
    timed(false);
    let again = median((0..TRIES).map(|_| timed(false)).collect());
    let anew = median((0..TRIES).map(|_| timed(true)).collect());
    println!("next sweeps, {answers:>6} answers    {again:>8.2} ms, opened anew {anew:.2} ms (median of {TRIES})");
    let _ = fs::remove_dir_all(&root);
}

/// Measures completing with an artifact where so many are listed.
fn registry(listed: usize) {
    let root = folder("registry");
    let directory = Directory::open(&root).expect("the folders are there");
    let lines: Vec<String> = (0..listed).map(line).collect();
    let list = format!("{{\"version\": 1, \"artifacts\": [\n{}\n]}}\n", lines.join(",\n"));
    if listed > 0 {
        fs::write(root.join("artifacts/registry.json"), list).expect("it can be written");
    }
    let made = root.join("made.json");
    fs::write(&made, "{}").expect("it can be written");
    let median = median((0..TRIES).map(|_| complete(&directory, &made)).collect());
    println!("complete, {listed:>6} artifacts      {median:>8.2} ms (median of {TRIES})");
    let _ = fs::remove_dir_all(&root);
}

fn line(number: usize) -> String {
    let id = format!("hoff-0198c2f0-0000-7000-8000-{number:012}");
    json!({
        "artifact_id": format!("artifact-{id}-1"), "path": format!("artifacts/writer/artifact-{id}-1.json"),
        "type": "web-page", "handoff_id": id, "sha256": "0".repeat(64), "bytes": 1234,
        "created_at": "2026-01-13T10:00:00.000Z",
    })
    .to_string()
}

fn complete(directory: &Directory, made: &Path) -> Duration {
    directory.create(&NewFolderHandoff::new("@lead", "@writer", input()), now()).expect("it can be created");
    let claim = directory.claim("@writer", now()).expect("claiming works").result.expect("one waits");
    let artifact = Some(ArtifactFile { file: made.to_owned(), kind: None });
    let began = Instant::now();
    directory.complete(&claim.id, &Completion { artifact, ..Completion::default() }, now()).expect("it is ours");
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    milliseconds(times[times.len() / 2])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

//! What is not looked into again is looked into when it matters: answers by sweeps, the order by claims, the list of
//! artifacts by completions.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use baton_agents::directory::{
    ArtifactFile, Completion, Directory, DirectoryError, Folder, NewFolderHandoff, Priority, SweepResult,
};
use baton_engine::HandoffId;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

struct Sandbox {
    root: PathBuf,
    start: Timestamp,
}

impl Sandbox {
    fn new() -> Sandbox {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("baton-upkeep-{}-{number}", std::process::id()));
        Directory::init(&root).expect("the folders can be made");
        let made = root.metadata().and_then(|found| found.modified()).expect("a folder has a time");
        Sandbox { root, start: Timestamp::try_from(made).expect("a time") }
    }

    fn open(&self) -> Directory {
        Directory::open(&self.root).expect("the folders are there")
    }

    fn write(&self, path: &str, content: &str) {
        fs::write(self.root.join(path), content).expect("it can be written");
    }

    fn sweep(&self, seconds: i64) -> SweepResult {
        self.open().sweep(self.start + SignedDuration::from_secs(seconds)).expect("a sweep works")
    }

    /// Creates and claims one; returns its id.
    fn claimed(&self) -> HandoffId {
        self.open()
            .create(&NewFolderHandoff::new("@lead", "@writer", json!(1)), self.start)
            .expect("it can be created");
        self.open().claim("@writer", self.start).expect("claiming works").result.expect("one waits").id
    }

    fn complete(&self, id: &HandoffId) -> Result<(), DirectoryError> {
        self.write("page.json", "{}");
        let artifact = Some(ArtifactFile { file: self.root.join("page.json"), kind: None });
        self.open().complete(id, &Completion { artifact, ..Completion::default() }, self.start).map(drop)
    }

    fn listed(&self) -> Vec<String> {
        let entries = self.open().artifacts().expect("the list can be read");
        entries.into_iter().map(|entry| entry.handoff_id).collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn answer(id: &str, status: &str) -> String {
    json!({ "handoff_id": id, "status": status, "target": {"agent_id": "@writer"} }).to_string()
}

#[test]
fn settled_answers_are_not_hidden_from_later_sweeps() {
    let sandbox = Sandbox::new();
    for id in ["a", "b", "c"] {
        sandbox.write(&format!("handoffs/completed/{id}.json"), &answer(id, "completed"));
    }
    assert_eq!((sandbox.sweep(60), sandbox.sweep(61)), (SweepResult::default(), SweepResult::default()));
    assert!(sandbox.root.join("handoffs/.settled").exists());

    // One is cut off afterwards; it is named as long as it is so.
    sandbox.write("handoffs/completed/b.json", "{\"handoff_id\":");
    for seconds in [62, 63, 64] {
        let problems = sandbox.sweep(seconds).problems;
        assert!(problems.len() == 1 && problems[0].path.ends_with("b.json"), "{problems:?}");
    }
    sandbox.write("handoffs/completed/b.json", &answer("b", "completed"));
    assert_eq!(sandbox.sweep(65), SweepResult::default());

    // One is moved there and never rewritten.
    sandbox.write("handoffs/in-progress/d.json", &answer("d", "in_progress"));
    let (from, to) = ("handoffs/in-progress/d.json", "handoffs/completed/d.json");
    fs::rename(sandbox.root.join(from), sandbox.root.join(to)).expect("as a script does");
    assert_eq!(sandbox.sweep(2), SweepResult::default(), "it may still be rewritten");
    assert_eq!(sandbox.sweep(66).repaired, [HandoffId::parse("d").expect("a safe id")]);
}

#[test]
fn failure_is_tried_again_at_its_time_after_any_number_of_sweeps() {
    let sandbox = Sandbox::new();
    let failed = json!({
        "handoff_id": "a", "status": "failed", "failed_at": sandbox.start.to_string(), "retry_available": true,
        "target": {"agent_id": "@writer"}, "error": {"code": "PROCESSING_ERROR", "message": "no paper"},
        "retry_policy": {"max_retries": 1, "retry_delay_seconds": 30},
    });
    sandbox.write("handoffs/failed/a.json", &failed.to_string());
    sandbox.write("handoffs/failed/b.json", &answer("b", "failed"));
    for seconds in [10, 20, 29] {
        assert_eq!(sandbox.sweep(seconds), SweepResult::default());
    }
    assert_eq!(sandbox.sweep(31).requeued, [HandoffId::parse("a").expect("a safe id")]);
}

#[test]
fn wrong_hints_are_trusted_for_an_hour_at_most() {
    let sandbox = Sandbox::new();
    sandbox.write("handoffs/completed/a.json", "{\"handoff_id\":");
    let hint = |since: Timestamp| {
        let far = json!({"before": [i64::MAX, 0], "again": []});
        json!({"since": since.as_second(), "folders": {"completed": far}}).to_string()
    };
    sandbox.write("handoffs/.settled", &hint(sandbox.start));
    assert_eq!(sandbox.sweep(60).problems, []);
    sandbox.write("handoffs/.settled", &hint(sandbox.start));
    assert_eq!(sandbox.sweep(3700).problems.len(), 1);
    sandbox.write("handoffs/.settled", "garbage");
    assert_eq!(sandbox.sweep(60).problems.len(), 1);
}

#[test]
fn head_of_another_process_hides_nothing() {
    let sandbox = Sandbox::new();
    for number in 0..400 {
        let request = json!({"target": {"agent_id": "@writer"}, "timestamp": "2026-01-13T10:00:00Z"});
        sandbox.write(&format!("handoffs/pending/h{number:03}.json"), &request.to_string());
    }
    let claim = |directory: &Directory| directory.claim("@writer", sandbox.start).expect("claiming works").result;
    assert_eq!(claim(&sandbox.open()).expect("one waits").id.as_str(), "h000");
    // However long that took, pretend that it took a second.
    let path = sandbox.root.join("handoffs/.head");
    let mut head: Value = serde_json::from_slice(&fs::read(&path).expect("it is written")).expect("it is JSON");
    head["took"] = 1_000_000.into();
    fs::write(&path, head.to_string()).expect("it can be written");

    // What a process created itself comes first; then what the head says, without what is gone.
    let directory = sandbox.open();
    let urgent = NewFolderHandoff { priority: Priority::High, ..NewFolderHandoff::new("@lead", "@writer", json!(1)) };
    let created = directory.create(&urgent, sandbox.start).expect("it can be created").result;
    assert_eq!(claim(&directory).map(|claim| claim.id.to_string()).as_deref(), created.id());
    fs::remove_file(sandbox.root.join("handoffs/pending/h001.json")).expect("it is there");
    assert_eq!(claim(&sandbox.open()).expect("one waits").id.as_str(), "h002");

    // An agent that is not in the head, and one whose part of it is used up.
    sandbox.write("handoffs/pending/other.json", &json!({"target": {"agent_id": "@other"}}).to_string());
    assert!(sandbox.open().claim("@other", sandbox.start).expect("claiming works").result.is_some());
    for number in 0..200 {
        let _ = fs::remove_file(sandbox.root.join(format!("handoffs/pending/h{number:03}.json")));
    }
    fs::write(&path, head.to_string()).expect("it can be written");
    assert_eq!(claim(&sandbox.open()).expect("one waits").id.as_str(), "h200");
}

#[test]
fn list_of_artifacts_is_extended_as_it_is() {
    let sandbox = Sandbox::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = sandbox.claimed();
        sandbox.complete(&id).expect("it is ours");
        ids.push(id.to_string());
    }
    assert_eq!(sandbox.listed(), ids);
    let path = sandbox.root.join("artifacts/registry.json");
    let text = fs::read_to_string(&path).expect("it is there");
    assert_eq!(text.lines().count(), 5, "one line each: {text}");

    // Another side writes it in its own way, with members of its own.
    let mut list: Value = serde_json::from_str(&text).expect("it is JSON");
    list["artifacts"][0]["note"] = "a \"quoted\" word".into();
    fs::write(&path, serde_json::to_string_pretty(&list).expect("JSON")).expect("it can be written");
    for _ in 0..2 {
        let id = sandbox.claimed();
        sandbox.complete(&id).expect("it is ours");
        ids.push(id.to_string());
    }
    assert_eq!(sandbox.listed(), ids);
    assert!(fs::read_to_string(&path).expect("it is there").contains("a \\\"quoted\\\" word"));

    // What is broken is refused before anything changes, however it is broken.
    let whole = fs::read_to_string(&path).expect("it is there");
    for broken in [whole.replacen("},\n", "}\n", 1), whole[..whole.len() - 9].to_owned(), String::new()] {
        fs::write(&path, &broken).expect("it can be written");
        let id = sandbox.claimed();
        let refused = sandbox.complete(&id);
        assert!(matches!(refused, Err(DirectoryError::Unreadable { .. })), "{refused:?} with {broken}");
        assert_eq!(sandbox.open().look(&id).expect("it is there").folder, Folder::InProgress);
    }
}

#[test]
fn artifact_of_another_handoff_is_not_replaced() {
    let sandbox = Sandbox::new();
    let ask = || {
        let destination = Some("artifacts/page.json".to_owned());
        let new = NewFolderHandoff { destination, ..NewFolderHandoff::new("@lead", "@writer", json!(1)) };
        sandbox.open().create(&new, sandbox.start).expect("it can be created");
        sandbox.open().claim("@writer", sandbox.start).expect("claiming works").result.expect("one waits").id
    };
    let first = ask();
    sandbox.complete(&first).expect("it is ours");
    let refused = sandbox.complete(&ask());
    assert!(matches!(refused, Err(DirectoryError::Destination { .. })), "{refused:?}");
    assert_eq!(sandbox.listed(), [first.to_string()]);
}

//! The folders over time: backoff, timeouts, repairs after other sides, waiting. The test moves the clock.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use baton_agents::directory::{Completion, Directory, DirectoryError, Folder, NewFolderHandoff, WaitEnd};
use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
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
        let root = std::env::temp_dir().join(format!("baton-agents-{}-{number}", std::process::id()));
        Directory::init(&root).expect("the folders can be made");
        let made = root.metadata().and_then(|found| found.modified()).expect("a folder has a time");
        Sandbox { root, start: Timestamp::try_from(made).expect("a time") }
    }

    fn open(&self) -> Directory {
        Directory::open(&self.root).expect("the folders are there")
    }

    fn after(&self, seconds: i64) -> Timestamp {
        self.start + SignedDuration::from_secs(seconds)
    }

    fn create(&self, id: &str) -> HandoffId {
        let id = HandoffId::parse(id).expect("a safe id");
        let new = NewFolderHandoff { id: Some(id.clone()), ..NewFolderHandoff::new("@lead", "@writer", json!(1)) };
        self.open().create(&new, self.start).expect("it can be created");
        id
    }

    fn write(&self, path: &str, document: Value) {
        fs::write(self.root.join("handoffs").join(path), document.to_string()).expect("it can be written");
    }

    fn claim(&self, seconds: i64) -> Option<(String, u32)> {
        let claim = self.open().claim("writer", self.after(seconds)).expect("claiming works").result;
        claim.map(|claim| (claim.id.to_string(), claim.attempt))
    }

    fn folder(&self, id: &HandoffId) -> Folder {
        self.open().look(id).expect("it is there").folder
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn failure() -> Failure {
    Failure::new(Code::processing_error(), "no paper")
}

#[test]
fn retries_wait_30_60_and_120_seconds() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    let mut now = 0;
    for (attempt, wait) in [(1, 30), (2, 60), (3, 120)] {
        assert_eq!(sandbox.claim(now), Some(("a".to_owned(), attempt)));
        let failed = sandbox.open().fail(&id, Some(attempt), &failure(), sandbox.after(now)).expect("it is ours");
        assert_eq!(failed.again_at, Some(sandbox.after(now + wait)));
        assert_eq!(sandbox.claim(now + wait - 1), None);
        now += wait;
    }
    assert_eq!(sandbox.claim(now), Some(("a".to_owned(), 4)));
    let failed = sandbox.open().fail(&id, Some(4), &failure(), sandbox.after(now)).expect("it is ours");
    assert_eq!((failed.again_at, sandbox.folder(&id)), (None, Folder::Failed));
    assert_eq!(sandbox.open().sweep(sandbox.after(now + 10_000)).expect("a sweep works").requeued, []);
}

#[test]
fn attempt_that_takes_too_long_is_taken_back() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    sandbox.claim(0);
    assert_eq!(sandbox.open().sweep(sandbox.after(299)).expect("a sweep works").expired, []);
    assert_eq!(sandbox.open().sweep(sandbox.after(301)).expect("a sweep works").expired, std::slice::from_ref(&id));
    let late =
        sandbox.open().complete(&id, &Completion { attempt: Some(1), ..Completion::default() }, sandbox.after(302));
    assert!(matches!(late, Err(DirectoryError::AttemptOver { given: 1, current: 2, .. })), "{late:?}");
    assert_eq!(sandbox.claim(400), Some(("a".to_owned(), 2)));
}

#[test]
fn claim_that_was_never_written_down_goes_back() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    let (from, to) = (sandbox.open().path(Folder::Pending, &id), sandbox.open().path(Folder::InProgress, &id));
    fs::rename(from, &to).expect("as a claimant that died at once");
    assert_eq!(sandbox.open().sweep(sandbox.after(5)).expect("a sweep works").repaired, [], "it may live");
    assert_eq!(sandbox.open().sweep(sandbox.after(60)).expect("a sweep works").repaired, std::slice::from_ref(&id));
    assert_eq!(sandbox.claim(60), Some(("a".to_owned(), 1)));
}

#[test]
fn claimant_that_lives_is_left_alone() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    let (from, to) = (sandbox.open().path(Folder::Pending, &id), sandbox.open().path(Folder::InProgress, &id));
    let held = fs::File::open(&from).expect("it is there");
    held.lock().expect("nobody else has it");
    assert_eq!(sandbox.claim(0), None, "somebody is claiming it");
    fs::rename(from, to).expect("the claimant goes on");
    assert_eq!(sandbox.open().sweep(sandbox.after(60)).expect("a sweep works").repaired, []);
    drop(held);
    assert_eq!(sandbox.open().sweep(sandbox.after(60)).expect("a sweep works").repaired, [id]);
}

#[test]
fn answer_that_was_moved_but_not_written_is_none() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    sandbox.claim(0);
    let (from, to) = (sandbox.open().path(Folder::InProgress, &id), sandbox.open().path(Folder::Completed, &id));
    fs::rename(from, to).expect("as a script does");
    let now = || sandbox.after(1);
    let waited = sandbox.open().wait(&id, Some(Duration::ZERO), &now).expect("waiting works");
    assert_eq!(waited, WaitEnd::TimedOut(Folder::Completed));
    assert_eq!(sandbox.open().sweep(sandbox.after(60)).expect("a sweep works").repaired, std::slice::from_ref(&id));
    assert_eq!(sandbox.folder(&id), Folder::InProgress);
}

#[test]
fn half_written_files_are_looked_at_again() {
    let sandbox = Sandbox::new();
    let (directory, now) = (sandbox.open(), sandbox.after(1));
    for folder in ["pending", "in-progress", "completed", "failed"] {
        fs::write(sandbox.root.join("handoffs").join(folder).join(format!("{folder}.json")), "{\"a\":").expect("ok");
    }
    assert_eq!(directory.sweep(now).expect("a sweep works").problems, []);
    // After a while nobody is writing any more; then a person should look.
    let later = directory.sweep(sandbox.after(60)).expect("a sweep works");
    assert_eq!(later.problems.len(), 3, "{later:?}");
    let status = directory.status(&Folder::ALL).expect("it can be told");
    assert_eq!((status.counts, status.problems.len()), ([1, 1, 1, 1], 4));
}

#[test]
fn another_handoff_of_the_same_id_overwrites_nothing() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    sandbox.claim(0);
    // A script that makes one id per second asks again.
    sandbox.write("pending/a.json", json!({"handoff_id": "a", "target": {"agent_id": "@writer"}, "note": 2}));
    assert_eq!(sandbox.claim(1), None);
    sandbox.open().complete(&id, &Completion::default(), sandbox.after(2)).expect("it is in progress");
    assert_eq!(sandbox.claim(3), None);
    let swept = sandbox.open().sweep(sandbox.after(1000)).expect("a sweep works");
    assert_eq!((swept.problems.len(), swept.repaired), (1, vec![]));
    assert!(sandbox.open().path(Folder::Pending, &id).exists(), "it is not lost");
}

#[test]
fn rewritten_request_for_another_agent_is_noticed() {
    let sandbox = Sandbox::new();
    let directory = sandbox.open();
    let request = |agent: &str| json!({"handoff_id": "a", "target": {"agent_id": agent}});
    sandbox.write("pending/a.json", request("@other-agent"));
    assert!(directory.claim("writer", sandbox.start).expect("claiming works").result.is_none());
    sandbox.write("pending/a.json", request("@writer"));
    assert!(directory.claim("writer", sandbox.start).expect("claiming works").result.is_some());
}

#[test]
fn old_temporary_files_are_removed() {
    let sandbox = Sandbox::new();
    let paths = ["handoffs/pending/.a.json.9-0.tmp", "artifacts/writer/.x.9-1.tmp"].map(|path| sandbox.root.join(path));
    fs::create_dir(sandbox.root.join("artifacts/writer")).expect("a folder");
    paths.iter().for_each(|path| fs::write(path, "x").expect("it can be written"));
    assert_eq!(sandbox.open().sweep(sandbox.after(60)).expect("a sweep works").removed, 0);
    assert_eq!(sandbox.open().sweep(sandbox.after(600)).expect("a sweep works").removed, 2);
    assert!(paths.iter().all(|path| !path.exists()));
}

#[test]
fn unknown_members_survive_the_whole_way() {
    let sandbox = Sandbox::new();
    let request = json!({
        "handoff_id": "a", "zeta": [1, {"y": null}], "target": {"agent_id": "@writer", "mood": "calm"}, "alpha": 0.1,
    });
    sandbox.write("pending/a.json", request);
    sandbox.claim(0);
    let id = HandoffId::parse("a").expect("a safe id");
    let done = sandbox.open().complete(&id, &Completion::default(), sandbox.after(1)).expect("it is ours").result;
    assert_eq!((&done.members["zeta"], &done.members["alpha"]), (&json!([1, {"y": null}]), &json!(0.1)));
    assert_eq!(done.members["target"]["mood"], "calm");
    assert!(done.members.keys().take(4).eq(["handoff_id", "zeta", "target", "alpha"]));
}

#[test]
fn whoever_waits_sees_time_outs_and_retries() {
    let sandbox = Sandbox::new();
    let id = sandbox.create("a");
    sandbox.claim(0);
    // Each look at the clock is a minute later: timeout after five, then the wait is over.
    let minutes = Cell::new(0);
    let clock = || {
        minutes.set(minutes.get() + 1);
        sandbox.after(minutes.get() * 60)
    };
    let directory = sandbox.open();
    let waited = directory.wait(&id, Some(Duration::from_secs(360)), &clock).expect("waiting works");
    assert_eq!(waited, WaitEnd::TimedOut(Folder::Pending));
    assert_eq!(directory.look(&id).expect("it is there").handoff.expect("readable").attempt(), 2);
}

#[test]
fn claimant_in_another_thread_is_woken() {
    let sandbox = Sandbox::new();
    let (directory, now) = (sandbox.open(), sandbox.after(0));
    std::thread::scope(|scope| {
        let waiting = sandbox.open();
        let claimed = scope.spawn(move || waiting.claim_within("writer", None, &|| now).expect("claiming works"));
        directory.create(&NewFolderHandoff::new("a", "writer", json!(1)), now).expect("it can be created");
        assert!(claimed.join().expect("the thread ends").result.is_some());
    });
}

#[test]
fn where_thousands_wait_the_order_is_kept_and_written_down() {
    let sandbox = Sandbox::new();
    for number in 0..400 {
        let priority = if number == 250 { "critical" } else { "normal" };
        let time = format!("2026-01-13T10:{:02}:{:02}Z", number / 60, number % 60);
        let request = json!({"target": {"agent_id": "@writer"}, "timestamp": time, "priority": priority});
        sandbox.write(&format!("pending/h{number}.json"), request);
    }
    let claimed: Vec<_> = (0..3).filter_map(|_| sandbox.claim(0)).map(|(id, _)| id).collect();
    assert_eq!(claimed, ["h250", "h0", "h1"]);
    let index = sandbox.root.join("handoffs/pending/.order");
    assert!(index.exists());
    // What it says is a hint only.
    sandbox.write("pending/h2.json", json!({"target": {"agent_id": "@somebody-else"}}));
    assert_eq!(sandbox.claim(0).map(|(id, _)| id).as_deref(), Some("h3"));
    fs::write(index, "garbage").expect("it can be written");
    assert_eq!(sandbox.claim(0).map(|(id, _)| id).as_deref(), Some("h4"));
    assert_eq!(sandbox.open().sweep(sandbox.after(0)).expect("a sweep works").problems, []);
}

#[test]
fn request_that_nobody_picks_up_is_given_up_in_time_unless_its_agent_is_busy() {
    let sandbox = Sandbox::new();
    let (first, second) = (sandbox.create("a"), sandbox.create("b"));
    let give_up = |id: &HandoffId, seconds: i64| {
        let longest = Duration::from_secs(10);
        let given_up = sandbox.open().give_up_unclaimed(id, sandbox.start, longest, sandbox.after(seconds));
        given_up.expect("looking works").map(|failed| failed.handoff.text(&["error", "message"]).map(str::to_owned))
    };
    assert_eq!(give_up(&second, 9), None, "there is time");
    assert_eq!(sandbox.claim(9), Some(("a".to_owned(), 1)));
    assert_eq!((give_up(&second, 20), give_up(&first, 20)), (None, None), "somebody is there");
    let failure = Failure::new(Code::processing_error(), "no paper");
    sandbox.open().fail(&first, None, &failure, sandbox.after(20)).expect("it can fail");
    assert_eq!(give_up(&first, 59), None, "it may not be claimed before 50");
    assert_eq!(give_up(&second, 20), Some(Some("@writer did not pick it up within 10 s".to_owned())));
    assert_eq!((sandbox.folder(&second), sandbox.claim(20)), (Folder::Failed, None));
    assert!(give_up(&first, 60).is_some());
}

#[test]
fn failure_without_a_policy_is_final() {
    let sandbox = Sandbox::new();
    let id = HandoffId::parse("a").expect("a safe id");
    let request = json!({
        "handoff_id": "a", "status": "pending", "timestamp": "2026-01-13T10:00:00Z", "timeout_seconds": 10,
        "source": {"agent_id": "@lead"}, "target": {"agent_id": "@writer"}, "input": {"data": {}},
    });
    for ending in ["failure", "timeout"] {
        sandbox.write("pending/a.json", request.clone());
        assert_eq!(sandbox.claim(0), Some(("a".to_owned(), 1)));
        match ending {
            "failure" => {
                let failure = Failure::new(Code::processing_error(), "no paper");
                let failed = sandbox.open().fail(&id, None, &failure, sandbox.after(1)).expect("it can fail");
                assert_eq!(failed.again_at, None);
            }
            _ => {
                assert_eq!(sandbox.open().sweep(sandbox.after(11)).expect("a sweep").failed, std::slice::from_ref(&id))
            }
        }
        assert_eq!(sandbox.folder(&id), Folder::Failed, "{ending}");
        fs::remove_file(sandbox.root.join("handoffs/failed/a.json")).expect("it is there");
    }
}

//! Stops each operation after each of its steps, as if the process had died, and checks what the others find: nothing is
//! lost, nothing happens twice, and a sweep leaves nothing half done.

use std::path::PathBuf;
use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
use jiff::Timestamp;

use super::files::Steps;
use super::sandbox::{Sandbox, new};
use super::{ArtifactFile, Completion, Directory, DirectoryError, Folder};

/// More steps than any operation has.
const STEPS_MAX: u64 = 60;

/// Long enough for every leftover to be old, and not long enough for an attempt to be late.
const LATER: u64 = 3600;

/// Prepares, then runs an operation that dies after each number of steps; returns how many steps it had.
fn at_every_step(
    prepare: impl Fn(&Sandbox),
    operation: impl Fn(&Directory, &HandoffId, Timestamp) -> Result<(), DirectoryError>,
    from: Option<Folder>,
    to: Folder,
) -> u64 {
    let id = HandoffId::parse("hoff-1").expect("a safe id");
    for steps in 0..STEPS_MAX {
        let sandbox = Sandbox::new();
        prepare(&sandbox);
        let (before, done) = {
            let dying = sandbox.open_dying_after(steps);
            let ended = operation(&dying, &id, sandbox.after(60));
            (sandbox.folders_of(&id), ended.is_ok().then(|| dying.files.steps.done()))
        };
        assert!(before.len() <= 1, "after {steps} steps it is in {before:?}");
        sandbox.open().sweep(sandbox.after(LATER)).expect("a sweep works");
        assert_eq!(sandbox.leftovers(), [""; 0], "after {steps} steps");
        let found = sandbox.folders_of(&id);
        assert!(found == [to] || found == from.into_iter().collect::<Vec<_>>(), "after {steps} steps: {found:?}");
        if done.is_some() {
            assert_eq!(found, [to], "after {steps} steps it said that it had worked");
        }
        bring_to_its_end(&sandbox, &id, to);
        // Removing what is superfluous may fail without anybody being told.
        if let Some(done) = done.filter(|done| steps >= *done) {
            return done;
        }
    }
    panic!("the operation has more than {STEPS_MAX} steps");
}

/// Runs an operation in which one step after the other is refused, as by a full disk: nothing changes.
fn with_every_step_refused(
    prepare: impl Fn(&Sandbox),
    operation: impl Fn(&Directory, &HandoffId, Timestamp) -> Result<(), DirectoryError>,
    from: Option<Folder>,
    to: Folder,
) {
    let id = HandoffId::parse("hoff-1").expect("a safe id");
    for step in 0..STEPS_MAX {
        let sandbox = Sandbox::new();
        prepare(&sandbox);
        let mut directory = sandbox.open();
        directory.files.steps = Steps::refusing(step);
        let ended = operation(&directory, &id, sandbox.after(60));
        let found = sandbox.folders_of(&id);
        if directory.files.steps.done() <= step {
            assert!(ended.is_ok() && found == [to]);
            return;
        }
        // Only what appeared already and could not be synced stays.
        if found != [to] {
            assert!(ended.is_err(), "without step {step}");
            assert_eq!((found, sandbox.leftovers()), (from.into_iter().collect(), Vec::new()), "without step {step}");
        }
    }
}

/// Whatever a crash left, the handoff can still be done, once.
fn bring_to_its_end(sandbox: &Sandbox, id: &HandoffId, to: Folder) {
    let (directory, now) = (sandbox.open(), sandbox.after(100_000));
    if sandbox.folders_of(id).is_empty() {
        directory.create(&new(id), now).expect("it can be asked for again");
    }
    let claimed = directory.claim("@writer", now).expect("claiming works").result;
    match sandbox.folders_of(id)[..] {
        [Folder::InProgress] => {
            let completion = Completion {
                attempt: claimed.map(|claim| claim.attempt),
                artifact: Some(artifact(sandbox)),
                ..Completion::default()
            };
            directory.complete(id, &completion, now).expect("it can be completed");
            assert_eq!(sandbox.folders_of(id), [Folder::Completed]);
        }
        [folder] => assert!(folder == to && claimed.is_none(), "{folder:?}"),
        _ => panic!("it is in several folders"),
    }
    assert!(directory.artifacts().expect("the list can be read").len() <= 1);
}

fn artifact(sandbox: &Sandbox) -> ArtifactFile {
    ArtifactFile { file: page(sandbox.root()), kind: None }
}

fn page(root: &std::path::Path) -> PathBuf {
    root.join("page.json")
}

fn requested(sandbox: &Sandbox) {
    sandbox.write("page.json", "{}");
    sandbox.request("hoff-1");
}

fn claimed(sandbox: &Sandbox) {
    requested(sandbox);
    sandbox.open().claim("@writer", sandbox.start).expect("claiming works").result.expect("one waits");
}

fn failure() -> Failure {
    Failure::new(Code::processing_error(), "no paper")
}

#[test]
fn creating_is_all_or_nothing() {
    let steps = at_every_step(
        |sandbox| drop(sandbox.write("page.json", "{}")),
        |directory, id, now| directory.create(&new(id), now).map(drop),
        None,
        Folder::Pending,
    );
    assert_eq!(steps, 5, "create, write, sync, rename, sync the folder");
}

#[test]
fn claiming_is_all_or_nothing() {
    let steps = at_every_step(
        requested,
        |directory, _, now| directory.claim("@writer", now).map(|noted| assert!(noted.result.is_some())),
        Some(Folder::Pending),
        Folder::InProgress,
    );
    assert_eq!(steps, 6, "create, write, sync, two renames, sync the folder");
}

#[test]
fn completing_is_all_or_nothing() {
    let steps = at_every_step(
        claimed,
        |directory, id, now| {
            let artifact = ArtifactFile { file: page(directory.root()), kind: None };
            let completion = Completion { attempt: Some(1), artifact: Some(artifact), ..Completion::default() };
            directory.complete(id, &completion, now).map(drop)
        },
        Some(Folder::InProgress),
        Folder::Completed,
    );
    assert_eq!(steps, 17, "artifact 5 with its folder, list 5, answer 3 and two renames, sync, remove");
}

#[test]
fn failing_for_now_is_all_or_nothing() {
    let steps = at_every_step(
        claimed,
        |directory, id, now| directory.fail(id, Some(1), &failure(), now).map(drop),
        Some(Folder::InProgress),
        Folder::Pending,
    );
    assert_eq!(steps, 7, "create, write, sync, two renames, sync the folder, remove");
}

#[test]
fn giving_up_what_nobody_picked_up_is_all_or_nothing() {
    at_every_step(
        requested,
        |directory, id, now| {
            directory.give_up_unclaimed(id, Timestamp::UNIX_EPOCH, Duration::from_secs(1), now).map(drop)
        },
        Some(Folder::Pending),
        Folder::Failed,
    );
}

#[test]
fn failing_for_good_is_all_or_nothing() {
    let permanent = Failure::new(Code::schema_validation_failed(), "no");
    at_every_step(
        claimed,
        |directory, id, now| directory.fail(id, Some(1), &permanent, now).map(drop),
        Some(Folder::InProgress),
        Folder::Failed,
    );
}

#[test]
fn requeueing_the_failure_of_a_script_is_all_or_nothing() {
    let failed = r#"{"handoff_id": "hoff-1", "status": "failed", "failed_at": "2026-01-13T10:00:00Z",
        "target": {"agent_id": "@writer"}, "error": {"code": "PROCESSING_ERROR", "message": "no paper"},
        "retry_available": true, "retry_count": 0, "retry_policy": {"max_retries": 1}}"#;
    let id = HandoffId::parse("hoff-1").expect("a safe id");
    for steps in 0..STEPS_MAX {
        let sandbox = Sandbox::new();
        sandbox.write("page.json", "{}");
        sandbox.write("handoffs/failed/hoff-1.json", failed);
        let swept = sandbox.open_dying_after(steps).sweep(sandbox.after(60));
        assert!(sandbox.folders_of(&id).len() <= 1);
        sandbox.open().sweep(sandbox.after(LATER)).expect("a sweep works");
        assert_eq!((sandbox.folders_of(&id), sandbox.leftovers()), (vec![Folder::Pending], Vec::new()));
        bring_to_its_end(&sandbox, &id, Folder::Pending);
        if swept.is_ok_and(|swept| swept.requeued == [id.clone()]) {
            return;
        }
    }
    panic!("a sweep has more than {STEPS_MAX} steps");
}

#[test]
fn expiring_is_all_or_nothing() {
    let late = 2_000_000;
    let id = HandoffId::parse("hoff-1").expect("a safe id");
    for steps in 0..STEPS_MAX {
        let sandbox = Sandbox::new();
        claimed(&sandbox);
        let swept = sandbox.open_dying_after(steps).sweep(sandbox.after(late));
        sandbox.open().sweep(sandbox.after(late)).expect("a sweep works");
        let again = sandbox.open().look(&id).expect("it is there");
        assert_eq!((again.folder, again.handoff.expect("readable").retry_count()), (Folder::Pending, 1), "{steps}");
        assert_eq!(sandbox.leftovers(), [""; 0]);
        if swept.is_ok_and(|swept| swept.expired == [id.clone()]) {
            return;
        }
    }
    panic!("a sweep has more than {STEPS_MAX} steps");
}

#[test]
fn finishing_again_after_a_crash_needs_no_sweep() {
    for steps in 0..STEPS_MAX {
        let sandbox = Sandbox::new();
        claimed(&sandbox);
        let id = HandoffId::parse("hoff-1").expect("a safe id");
        let completion = Completion { attempt: Some(1), artifact: Some(artifact(&sandbox)), ..Completion::default() };
        let first = sandbox.open_dying_after(steps).complete(&id, &completion, sandbox.after(60));
        let second = sandbox.open().complete(&id, &completion, sandbox.after(60));
        assert_eq!(sandbox.folders_of(&id), [Folder::Completed], "after {steps} steps");
        assert_eq!(sandbox.open().artifacts().expect("the list can be read").len(), 1);
        if first.is_ok() {
            assert!(
                matches!(second, Err(DirectoryError::NotInProgress { folder: Folder::Completed, .. })),
                "{second:?}"
            );
            return;
        }
    }
}

#[test]
fn what_the_disk_refuses_changes_nothing() {
    let completion = |directory: &Directory| {
        let artifact = ArtifactFile { file: page(directory.root()), kind: None };
        Completion { attempt: Some(1), artifact: Some(artifact), ..Completion::default() }
    };
    let create = |directory: &Directory, id: &HandoffId, now| directory.create(&new(id), now).map(drop);
    let claim = |directory: &Directory, _: &HandoffId, now| directory.claim("@writer", now).map(drop);
    let complete =
        |directory: &Directory, id: &HandoffId, now| directory.complete(id, &completion(directory), now).map(drop);
    let fail = |directory: &Directory, id: &HandoffId, now| directory.fail(id, None, &failure(), now).map(drop);
    with_every_step_refused(|_| {}, create, None, Folder::Pending);
    with_every_step_refused(requested, claim, Some(Folder::Pending), Folder::InProgress);
    with_every_step_refused(claimed, complete, Some(Folder::InProgress), Folder::Completed);
    with_every_step_refused(claimed, fail, Some(Folder::InProgress), Folder::Pending);
}

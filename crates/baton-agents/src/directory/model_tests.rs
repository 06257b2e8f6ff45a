//! Random operations in random order, beside a model that only knows the rules.

use std::collections::BTreeMap;

use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure, Transience};
use proptest::prelude::*;

use super::sandbox::Sandbox;
use super::{Completion, DirectoryError, Folder, NewFolderHandoff, Priority};

#[derive(Debug, Clone)]
enum Operation {
    Create { id: u8, urgent: bool },
    Claim,
    Complete { id: u8, late: bool },
    Fail { id: u8, late: bool, permanent: bool },
    Wait { seconds: u16 },
    Sweep,
}

/// What the model knows of a handoff.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    folder: Folder,
    /// The current, next or last attempt.
    attempt: u32,
    /// When it may be claimed, or when its attempt began.
    time: u64,
    urgent: bool,
    created: u64,
}

const TIMEOUT: u64 = 100;
const RETRIES: u32 = 3;

fn operation() -> impl Strategy<Value = Operation> {
    let id = 0..4u8;
    prop_oneof![
        3 => (id.clone(), any::<bool>()).prop_map(|(id, urgent)| Operation::Create { id, urgent }),
        4 => Just(Operation::Claim),
        2 => (id.clone(), prop::bool::weighted(0.2)).prop_map(|(id, late)| Operation::Complete { id, late }),
        4 => (id, prop::bool::weighted(0.2), prop::bool::weighted(0.2))
            .prop_map(|(id, late, permanent)| Operation::Fail { id, late, permanent }),
        4 => (1..200u16).prop_map(|seconds| Operation::Wait { seconds }),
        3 => Just(Operation::Sweep),
    ]
}

fn name(id: u8) -> HandoffId {
    HandoffId::parse(format!("hoff-{id}")).expect("a safe id")
}

/// What a failure does to a handoff.
fn fail(expected: &mut Expected, now: u64, permanent: bool) {
    if permanent || expected.attempt > RETRIES {
        expected.folder = Folder::Failed;
    } else {
        expected.time = now + 30 * 2u64.pow(expected.attempt - 1);
        expected.folder = Folder::Pending;
        expected.attempt += 1;
    }
}

/// Which handoff the model claims next.
fn next(model: &BTreeMap<u8, Expected>, now: u64) -> Option<u8> {
    let ready = model.iter().filter(|(_, expected)| expected.folder == Folder::Pending && expected.time <= now);
    ready.min_by_key(|(id, expected)| (!expected.urgent, expected.created, **id)).map(|(id, _)| *id)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folders_do_what_the_rules_say(operations in prop::collection::vec(operation(), 1..40)) {
        let sandbox = Sandbox::new();
        let directory = sandbox.open();
        let (mut model, mut now) = (BTreeMap::<u8, Expected>::new(), 0u64);
        for operation in operations {
            let time = sandbox.after(now);
            match operation {
                Operation::Create { id, urgent } => {
                    let mut new = NewFolderHandoff::new("@lead", "@writer", serde_json::json!(1));
                    (new.id, new.timeout) = (Some(name(id)), std::time::Duration::from_secs(TIMEOUT));
                    new.priority = if urgent { Priority::High } else { Priority::Low };
                    let created = directory.create(&new, time);
                    prop_assert_eq!(created.is_ok(), !model.contains_key(&id));
                    model.entry(id).or_insert(
                        Expected { folder: Folder::Pending, attempt: 1, time: now, urgent, created: now });
                }
                Operation::Claim => {
                    let claim = directory.claim("writer", time).expect("claiming works").result;
                    let wanted = next(&model, now);
                    prop_assert_eq!(claim.as_ref().map(|claim| claim.id.clone()), wanted.map(name));
                    if let (Some(id), Some(claim)) = (wanted, claim) {
                        let expected = model.get_mut(&id).expect("the model chose it");
                        prop_assert_eq!(claim.attempt, expected.attempt);
                        (expected.folder, expected.time) = (Folder::InProgress, now);
                    }
                }
                Operation::Complete { id, late } => {
                    let expected = model.get(&id).cloned();
                    let attempt = expected.as_ref().map(|expected| expected.attempt - u32::from(late));
                    let done = directory.complete(&name(id), &Completion { attempt, ..Completion::default() }, time);
                    let may = expected.is_some_and(|expected| expected.folder == Folder::InProgress) && !late;
                    prop_assert_eq!(done.is_ok(), may, "{:?}", done);
                    if may {
                        model.get_mut(&id).expect("known").folder = Folder::Completed;
                    }
                }
                Operation::Fail { id, late, permanent } => {
                    let expected = model.get(&id).cloned();
                    let attempt = expected.as_ref().map(|expected| expected.attempt - u32::from(late));
                    let chance = if permanent { Transience::Permanent } else { Transience::Transient };
                    let failure = Failure { chance, ..Failure::new(Code::processing_error(), "no") };
                    let failed = directory.fail(&name(id), attempt, &failure, time);
                    let may = expected.is_some_and(|expected| expected.folder == Folder::InProgress) && !late;
                    prop_assert_eq!(failed.is_ok(), may, "{:?}", failed);
                    if may {
                        fail(model.get_mut(&id).expect("known"), now, permanent);
                    }
                }
                Operation::Wait { seconds } => now += u64::from(seconds),
                Operation::Sweep => {
                    directory.sweep(time).expect("a sweep works");
                    for expected in model.values_mut() {
                        if expected.folder == Folder::InProgress && expected.time + TIMEOUT <= now {
                            fail(expected, now, false);
                        }
                    }
                }
            }
            for id in 0..4 {
                let found = directory.look(&name(id));
                match model.get(&id) {
                    Some(expected) => {
                        let found = found.expect("it is there");
                        prop_assert_eq!(found.folder, expected.folder);
                        prop_assert_eq!(found.handoff.expect("it is readable").attempt(), expected.attempt);
                        prop_assert_eq!(sandbox.folders_of(&name(id)).len(), 1);
                    }
                    None => prop_assert!(matches!(found, Err(DirectoryError::UnknownId { .. })), "{:?}", found),
                }
            }
            prop_assert_eq!(sandbox.leftovers(), Vec::<String>::new());
        }
    }
}

//! Creators in a hurry: of all that ask under the same id one is told that it did, however fast the handoff moves on.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use baton_agents::directory::{Completion, Directory, DirectoryError, Folder, NewFolderHandoff};
use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
use baton_engine::retry::Policy;
use jiff::Timestamp;
use serde_json::json;

const CREATORS: usize = 3;
const HANDOFFS: usize = 120;

struct Scratch {
    root: PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Scratch {
        let root = std::env::temp_dir().join(format!("baton-creators-{name}-{}", std::process::id()));
        Directory::init(&root).expect("the folders can be made");
        Scratch { root }
    }

    fn open(&self) -> Directory {
        Directory::open(&self.root).expect("the folders are there")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// All attempts begin and end at the same time.
fn now() -> Timestamp {
    Timestamp::from_second(1_770_000_000).expect("a time")
}

fn new(number: usize) -> NewFolderHandoff {
    let id = HandoffId::parse(format!("hasty-{number}")).expect("a safe id");
    let policy = Policy { max_retries: 2, delay_ms: 0, ..Policy::default() };
    NewFolderHandoff {
        id: Some(id),
        policy,
        timeout: Duration::from_secs(60),
        ..NewFolderHandoff::new("lead", "ada", json!({}))
    }
}

/// Lets several create the same handoffs while something happens to them; returns how often each was created.
fn created(scratch: &Scratch, happens: impl Fn(&Directory) + Sync) -> Vec<usize> {
    let (over, created) = (AtomicBool::new(false), [const { AtomicUsize::new(0) }; HANDOFFS]);
    let create = || {
        let directory = scratch.open();
        for (number, created) in created.iter().enumerate() {
            match directory.create(&new(number), now()) {
                Ok(_) => drop(created.fetch_add(1, Ordering::Relaxed)),
                Err(DirectoryError::Exists { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let directory = scratch.open();
                while !over.load(Ordering::Relaxed) {
                    happens(&directory);
                }
            });
        }
        let creators: Vec<_> = (0..CREATORS).map(|_| scope.spawn(create)).collect();
        let ended: Vec<_> = creators.into_iter().map(|creator| creator.join()).collect();
        over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok), "a creator failed");
    });
    created.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

#[test]
fn one_creator_wins_while_a_script_moves_what_it_sees() {
    let scratch = Scratch::new("script");
    let counts = created(&scratch, |directory| {
        for entry in fs::read_dir(directory.folder(Folder::Pending)).expect("a folder").flatten() {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                // Another one may have been faster.
                let _ = fs::rename(entry.path(), directory.folder(Folder::InProgress).join(entry.file_name()));
            }
        }
    });
    assert_eq!(counts, [1; HANDOFFS]);
}

#[test]
fn one_creator_wins_while_attempts_fail_and_succeed() {
    let scratch = Scratch::new("attempts");
    let work = |directory: &Directory| {
        let Some(claim) = directory.claim("ada", now()).expect("claiming works").result else { return };
        let attempt = Some(claim.attempt);
        if claim.attempt < 3 {
            let failure = Failure::new(Code::processing_error(), "no paper");
            directory.fail(&claim.id, attempt, &failure, now()).expect("it is ours");
        } else {
            directory.complete(&claim.id, &Completion { attempt, ..Completion::default() }, now()).expect("it is ours");
        }
    };
    let counts = created(&scratch, work);
    assert_eq!(counts, [1; HANDOFFS]);
    while scratch.open().status(&[]).expect("it can be read").counts[0] > 0 {
        work(&scratch.open());
    }
    let completed = fs::read_dir(scratch.open().folder(Folder::Completed)).expect("a folder").count();
    assert_eq!(completed, HANDOFFS);
}

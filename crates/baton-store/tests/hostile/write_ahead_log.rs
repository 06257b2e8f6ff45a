//! The write-ahead log, cut off or damaged as a bad disk leaves it: what is there is the beginning of what was accepted,
//! whole and in order.

use std::fs;
use std::path::Path;

use baton_engine::Store;
use baton_testbed::{Dice, Scratch};

use crate::bed::{fill, id, open, replay, request, run, time};

const HANDOFFS: usize = 40;

#[test]
fn log_that_was_cut_off_leaves_the_beginning_of_what_was_accepted() {
    let scratch = Scratch::new();
    let (database, log) = crashed(&scratch);
    let mut dice = Dice::new(11);
    let mut cuts: Vec<usize> = (0..25).map(|_| below(&mut dice, log.len())).collect();
    cuts.extend([0, 1, 31, 32, 33, log.len() - 1, log.len()]);
    cuts.sort_unstable();
    let mut before = 0;
    for (number, cut) in cuts.into_iter().enumerate() {
        let path = scratch.path(format!("cut{number}/baton.db"));
        let left = reopened(&path, &database, &log[..cut]);
        assert!(left >= before, "with {cut} bytes there are {left} handoffs, with fewer {before}");
        before = left;
    }
    assert_eq!(before, HANDOFFS, "the whole log has everything");
}

#[test]
fn damaged_log_leaves_the_beginning_of_what_was_accepted() {
    let scratch = Scratch::new();
    let (database, log) = crashed(&scratch);
    let mut dice = Dice::new(12);
    for number in 0..25 {
        let mut damaged = log.clone();
        let at = below(&mut dice, log.len());
        damaged[at] ^= 1 + dice.below(255) as u8;
        reopened(&scratch.path(format!("damaged{number}/baton.db")), &database, &damaged);
    }
}

/// Returns the files that a machine leaves which lost its power: the database, and the log that was not yet brought in.
fn crashed(scratch: &Scratch) -> (Vec<u8>, Vec<u8>) {
    let path = scratch.path("live/baton.db");
    run(async {
        let store = open(&path).await.unwrap();
        fill(&*store, HANDOFFS).await;
        let log = fs::read(path.with_extension("db-wal")).unwrap();
        assert!(log.len() > 50_000, "the log is still there");
        (fs::read(&path).unwrap(), log)
    })
}

/// Opens what was left behind; returns how many handoffs there are, after looking whether they are the first ones.
fn reopened(path: &Path, database: &[u8], log: &[u8]) -> usize {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, database).unwrap();
    fs::write(path.with_extension("db-wal"), log).unwrap();
    run(async {
        let store = open(path).await.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let count = store.ids_beginning_with("h", 1000).await.unwrap().len();
        for number in 0..count {
            let handoff = store.find(&id(&format!("h{number}"))).await.unwrap();
            let handoff = handoff.unwrap_or_else(|| panic!("{}: {count} are there, but not h{number}", path.display()));
            assert_eq!(replay(&*store, &handoff.run).await, Ok(Some(handoff)));
        }
        goes_on(&*store).await;
        count
    })
}

async fn goes_on(store: &dyn Store) {
    store.accept(vec![request("new", 100)], time(1)).await.expect("it goes on");
    assert_eq!(store.checkup().await.map(|checkup| checkup.faults), Ok(Vec::new()));
}

fn below(dice: &mut Dice, limit: usize) -> usize {
    usize::try_from(dice.below(limit as u64)).expect("an index")
}

//! Damage: a page that is not what was written gives an error or plays no part, never a wrong answer, and is named by a
//! checkup.

use std::fs;
use std::path::Path;

use baton_engine::journal::{Event, Head};
use baton_engine::store::{ClaimedHandoff, StoreError};
use baton_engine::{Handoff, Store};
use baton_testbed::{Dice, Scratch};

use crate::bed::{fill, id, open, request, run, settle, time, wish};

const HANDOFFS: usize = 100;

/// What stands where a page was.
#[derive(Debug, Clone, Copy)]
enum Filling {
    Zeros,
    Ones,
    Random,
}

#[test]
fn damaged_page_is_an_error_and_never_a_wrong_answer() {
    let scratch = Scratch::new();
    let whole = scratch.path("whole/baton.db");
    let handoffs = run(async { fill(&*open(&whole).await.unwrap(), HANDOFFS).await });
    settle(&whole);
    let bytes = fs::read(&whole).unwrap();
    let page_bytes = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let pages = bytes.len() / page_bytes;
    assert!(pages > 30, "{pages} pages are too few to mean anything");
    let mut dice = Dice::new(7);
    let mut damaged_answers = 0;
    // The first pages are the roots of everything.
    let chosen: Vec<usize> = (1..13).chain((0..12).map(|_| below(&mut dice, pages - 1) + 1)).collect();
    for (number, page) in chosen.into_iter().enumerate() {
        for filling in [Filling::Zeros, Filling::Ones, Filling::Random] {
            let path = scratch.path(format!("damaged{number}-{filling:?}/baton.db"));
            let mut copy = bytes.clone();
            for byte in &mut copy[page * page_bytes..(page + 1) * page_bytes] {
                *byte = match filling {
                    Filling::Zeros => 0,
                    Filling::Ones => 0xff,
                    Filling::Random => dice.number() as u8,
                };
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, copy).unwrap();
            let place = format!("page {} of {pages} filled with {filling:?}", page + 1);
            damaged_answers += run(look(&path, &handoffs, &place));
        }
    }
    assert!(damaged_answers > 100, "{damaged_answers} errors are too few to mean anything");
}

#[test]
fn database_that_was_cut_off_is_an_error_and_never_a_wrong_answer() {
    let scratch = Scratch::new();
    let whole = scratch.path("whole/baton.db");
    let handoffs = run(async { fill(&*open(&whole).await.unwrap(), HANDOFFS).await });
    settle(&whole);
    let bytes = fs::read(&whole).unwrap();
    for (number, part) in [50, 90, 99].into_iter().enumerate() {
        let path = scratch.path(format!("cut{number}/baton.db"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes[..bytes.len() * part / 100]).unwrap();
        assert!(run(look(&path, &handoffs, &format!("{part} % of the file"))) > 0);
    }
}

#[test]
fn broken_header_is_damage_and_the_file_is_named() {
    let scratch = Scratch::new();
    let path = scratch.path("baton.db");
    run(async { fill(&*open(&path).await.unwrap(), 3).await });
    settle(&path);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..16].fill(b'?');
    fs::write(&path, &bytes).unwrap();
    let error = run(open(&path)).err();
    let Some(StoreError::Damaged(why)) = error else { panic!("{error:?}") };
    assert!(why.contains("baton.db"), "{why}");
    assert!(fs::read(&path).unwrap() == bytes, "what is damaged is not touched");
}

/// Asks a damaged store for everything. Returns how often it said that it is damaged.
async fn look(path: &Path, handoffs: &[Handoff], place: &str) -> usize {
    let store = match open(path).await {
        Ok(store) => store,
        Err(error) => return damaged::<()>(Err(error), place).1,
    };
    let mut count = 0;
    for handoff in handoffs {
        let (found, damage) = damaged(store.find(&handoff.id).await, place);
        count += damage;
        if let Some(found) = found {
            assert_eq!(found.as_ref(), Some(handoff), "{place}");
        }
        let (events, damage) = damaged(store.history(&handoff.run, 0, 100).await, place);
        count += damage;
        // What cannot be seen by the database is seen by whoever follows the hashes.
        let chained = |event: &Event| event.hash == event.hash_after(&Head::START.hash);
        if let Some(events) = events {
            assert_eq!(events.len(), 1, "{place}: the journal of {} is lost", handoff.id);
            count += usize::from(!events.iter().all(chained));
        }
    }
    count += claim(&*store, handoffs.len(), place).await;
    let (accepted, damage) = damaged(store.accept(vec![request("new", 100)], time(1)).await, place);
    count += damage;
    if accepted.is_some() {
        assert!(matches!(store.find(&id("new")).await, Ok(Some(_))), "{place}: what was accepted is lost");
    }
    let (checkup, damage) = damaged(store.checkup().await, place);
    count += damage;
    if let Some(checkup) = checkup {
        // A checkup follows the structure. What is wrong inside of a long text is found by whoever reads it.
        assert!(!checkup.faults.is_empty() || count > 0, "{place}: nobody finds it");
    }
    count
}

/// Claims everything, as far as that is possible; what is handed out is what was asked.
async fn claim(store: &dyn Store, handoffs: usize, place: &str) -> usize {
    for _ in 0..handoffs {
        let (claimed, damage) = damaged(store.claim(&wish(10), time(1)).await, place);
        let Some(claimed) = claimed else { return damage };
        if claimed.is_empty() {
            break;
        }
        for ClaimedHandoff { handoff, request } in claimed {
            let name = format!("\"name\": \"{}\"", handoff.id);
            assert!(request.text.contains(&name), "{place}: {} is asked for something else", handoff.id);
        }
    }
    0
}

/// Returns the answer, or 1 if the store said that it is damaged. No other error is right.
fn damaged<T>(answer: Result<T, StoreError>, place: &str) -> (Option<T>, usize) {
    match answer {
        Ok(value) => (Some(value), 0),
        Err(StoreError::Damaged(why)) => {
            assert!(why.contains("baton.db"), "{place}: the file is not named: {why}");
            (None, 1)
        }
        Err(other) => panic!("{place}: {other:?}"),
    }
}

fn below(dice: &mut Dice, limit: usize) -> usize {
    usize::try_from(dice.below(limit as u64)).expect("an index")
}

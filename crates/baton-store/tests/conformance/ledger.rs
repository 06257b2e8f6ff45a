//! The ledger: one chain over the heads of all runs, whoever enters them.

use std::collections::BTreeSet;

use baton_engine::journal::Hash;
use baton_engine::ledger::{LedgerEnd, LedgerEntry, Occasion};
use baton_engine::store::AnchoredEntry;

use super::bed::Bed;
use super::requests::{cancel, request, request_in, run, time};

on_every_store! {
    entry_says_how_far_the_journal_of_a_run_has_come,
    same_head_is_entered_once,
    run_without_a_journal_is_not_entered,
    ledger_is_read_in_pages,
    removed_run_stays_in_the_ledger_and_its_name_can_be_entered_again,
    run_that_is_not_removed_leaves_no_entry,
    ledger_survives_its_process,
    processes_that_enter_at_once_make_one_chain,
    each_place_knows_what_was_delivered_to_it,
}

/// Checks the chain and returns its entries.
async fn chain(bed: &Bed) -> Vec<LedgerEntry> {
    let entries = bed.store.ledger(0, 10_000).await.unwrap();
    let mut end = LedgerEnd::START;
    for entry in &entries {
        assert_eq!((entry.number, entry.digest), (end.number + 1, entry.digest_after(&end.digest)));
        end = entry.end();
    }
    entries
}

async fn entry_says_how_far_the_journal_of_a_run_has_come(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("r", "b"), request("c")], time(0)).await;
    let first = bed.store.enter(&[run("r"), run("c")], time(1)).await.unwrap();
    bed.apply("a", cancel(), time(2)).await.unwrap();
    let second = bed.store.enter(&[run("r")], time(3)).await.unwrap();
    let entries = chain(&bed).await;
    assert_eq!(entries, [first, second].concat());
    let events = bed.events("r").await;
    let told: Vec<_> = entries.iter().map(|entry| (entry.run.as_str(), entry.head.seq, entry.at)).collect();
    assert_eq!(told, [("r", 2, time(1)), ("c", 1, time(1)), ("r", 3, time(3))]);
    assert_eq!((entries[0].head, entries[2].head), (events[1].head(), events[2].head()));
    assert!(entries.iter().all(|entry| entry.occasion == Occasion::Reached));
    assert_eq!(bed.store.ledger_of(&run("r")).await.unwrap(), [entries[0].clone(), entries[2].clone()]);
}

async fn same_head_is_entered_once(bed: Bed) {
    bed.send_one("a").await;
    assert_eq!(bed.store.enter(&[run("a"), run("a")], time(1)).await.unwrap().len(), 1);
    assert!(bed.store.enter(&[run("a")], time(2)).await.unwrap().is_empty());
    assert_eq!(chain(&bed).await.len(), 1);
}

async fn run_without_a_journal_is_not_entered(bed: Bed) {
    bed.send_one("a").await;
    assert!(bed.store.enter(&[run("nobody")], time(1)).await.unwrap().is_empty());
    assert!(bed.store.enter(&[], time(1)).await.unwrap().is_empty());
    assert!(chain(&bed).await.is_empty());
    assert!(bed.store.ledger_of(&run("a")).await.unwrap().is_empty());
}

async fn ledger_is_read_in_pages(bed: Bed) {
    bed.send(["a", "b", "c", "d", "e"].map(request), time(0)).await;
    let whole = bed.store.enter(&["a", "b", "c", "d", "e"].map(run), time(1)).await.unwrap();
    assert_eq!(bed.store.ledger(0, 2).await.unwrap(), whole[..2]);
    assert_eq!(bed.store.ledger(2, 2).await.unwrap(), whole[2..4]);
    assert_eq!(bed.store.ledger(4, 2).await.unwrap(), whole[4..]);
    assert!(bed.store.ledger(5, 2).await.unwrap().is_empty());
    assert!(bed.store.ledger(0, 0).await.unwrap().is_empty());
}

async fn removed_run_stays_in_the_ledger_and_its_name_can_be_entered_again(bed: Bed) {
    bed.send_one("a").await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    bed.store.enter(&[run("a")], time(2)).await.unwrap();
    assert_eq!(bed.store.remove_run(&run("a"), time(9), time(10)).await.unwrap(), 1);
    bed.send([request("a")], time(20)).await;
    bed.apply("a", cancel(), time(21)).await.unwrap();
    bed.store.enter(&[run("a")], time(22)).await.unwrap();
    let told: Vec<_> = chain(&bed).await.into_iter().map(|entry| (entry.occasion, entry.head.seq, entry.at)).collect();
    assert_eq!(
        told,
        [(Occasion::Reached, 2, time(2)), (Occasion::Removed, 2, time(10)), (Occasion::Reached, 2, time(22))]
    );
}

async fn run_that_is_not_removed_leaves_no_entry(bed: Bed) {
    bed.send_one("a").await;
    assert_eq!(bed.store.remove_run(&run("a"), time(9), time(10)).await.unwrap(), 0);
    assert_eq!(bed.store.remove_run(&run("nobody"), time(9), time(10)).await.unwrap(), 0);
    assert!(chain(&bed).await.is_empty());
}

async fn ledger_survives_its_process(bed: Bed) {
    bed.send_one("a").await;
    let entered = bed.store.enter(&[run("a")], time(1)).await.unwrap();
    let bed = bed.reopened().await;
    assert_eq!(chain(&bed).await, entered);
}

async fn processes_that_enter_at_once_make_one_chain(bed: Bed) {
    let names: Vec<String> = (0..40).map(|number| format!("h{number:02}")).collect();
    bed.send(names.iter().map(|name| request(name)), time(0)).await;
    let mut entering = Vec::new();
    for part in 0..4 {
        let store = bed.open_again().await;
        // Every run is entered by two of them.
        let runs: Vec<_> = names.iter().skip(part % 2).step_by(2).map(|name| run(name)).collect();
        entering.push(tokio::spawn(async move {
            for run in runs {
                store.enter(&[run], time(1)).await.unwrap();
            }
        }));
    }
    for one in entering {
        one.await.unwrap();
    }
    let entries = chain(&bed).await;
    let runs: BTreeSet<&str> = entries.iter().map(|entry| entry.run.as_str()).collect();
    assert_eq!((entries.len(), runs.len()), (40, 40));
}

async fn each_place_knows_what_was_delivered_to_it(bed: Bed) {
    let anchored = |number| AnchoredEntry { number, digest: Hash([7; 32]) };
    assert_eq!(bed.store.anchored("file:a").await.unwrap(), None);
    bed.store.set_anchored("file:a", anchored(3)).await.unwrap();
    bed.store.set_anchored("file:b", anchored(9)).await.unwrap();
    bed.store.set_anchored("file:a", anchored(5)).await.unwrap();
    assert_eq!(bed.store.anchored("file:a").await.unwrap(), Some(anchored(5)));
    assert_eq!(bed.store.anchored("file:b").await.unwrap(), Some(anchored(9)));
    // A ledger that was cut gives lower numbers again.
    bed.store.set_anchored("file:a", anchored(2)).await.unwrap();
    assert_eq!(bed.store.anchored("file:a").await.unwrap(), Some(anchored(2)));
}

//! The journal: numbered without gaps, chained by hashes, and enough to make every handoff again.

use std::collections::BTreeMap;

use baton_engine::journal::{Event, Head};
use baton_engine::lifecycle::{self, Verdict};
use baton_engine::{Handoff, HandoffId};

use super::bed::{Bed, wish};
use super::requests::{
    blocked, cancel, fail, heartbeat, id, report, request, request_in, requeue, resume, run, time, verify, with,
};

on_every_store! {
    events_are_numbered_from_one_without_gaps,
    history_is_read_in_pages,
    history_of_nobody_is_empty,
    history_of_a_handoff_is_its_part_of_the_journal,
    runs_are_read_in_pages,
    heads_are_the_last_events_of_their_handoffs,
    chain_holds_and_gives_every_handoff_again,
    events_of_a_run_never_go_back_in_time,
    many_handoffs_of_one_run_share_a_journal,
    what_was_undone_leaves_no_gap,
}

/// Lives through everything that can happen, in one run.
async fn eventful(bed: &Bed) {
    let verified = with(request_in("r", "a"), |terms| terms.verify = true);
    bed.send([verified, request_in("r", "b"), request_in("r", "c")], time(0)).await;
    let claimed = bed.claim(3, time(1)).await;
    assert_eq!(claimed.len(), 3);
    bed.apply("a", heartbeat(baton_engine::Fence(1), None), time(2)).await.unwrap();
    bed.apply("a", report(baton_engine::Fence(1), "done"), time(3)).await.unwrap();
    bed.apply("b", blocked(baton_engine::Fence(1)), time(4)).await.unwrap();
    bed.apply(
        "a",
        verify(baton_engine::Fence(1), Verdict::Refuted { reasons: "no".to_owned(), for_good: false }),
        time(5),
    )
    .await
    .unwrap();
    bed.apply("b", resume("solved"), time(6)).await.unwrap();
    bed.apply("c", fail(baton_engine::Fence(1), "no"), time(7)).await.unwrap();
    bed.apply("c", report(baton_engine::Fence(1), "done after all"), time(8)).await.unwrap_err();
    bed.apply("b", cancel(), time(9)).await.unwrap();
    bed.apply("b", requeue("again"), time(10)).await.unwrap();
    bed.claim(3, time(40)).await;
    bed.store.rescue(10, 0.3, time(200)).await.unwrap();
}

async fn events_are_numbered_from_one_without_gaps(bed: Bed) {
    eventful(&bed).await;
    let numbers: Vec<u64> = bed.events("r").await.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<u64>>());
    assert!(numbers.len() > 18, "{}", numbers.len());
}

async fn history_of_a_handoff_is_its_part_of_the_journal(bed: Bed) {
    eventful(&bed).await;
    let whole = bed.events("r").await;
    for name in ["a", "b", "c"] {
        let id = id(name);
        let own: Vec<Event> = whole.iter().filter(|event| event.handoff == id).cloned().collect();
        assert_eq!(bed.store.history_of(&id).await.unwrap(), own, "{name}");
    }
    assert!(bed.store.history_of(&id("d")).await.unwrap().is_empty());
}

async fn history_is_read_in_pages(bed: Bed) {
    eventful(&bed).await;
    let whole = bed.events("r").await;
    let mut pages: Vec<Event> = Vec::new();
    loop {
        let after = pages.last().map_or(0, |event| event.seq);
        let page = bed.store.history(&run("r"), after, 4).await.unwrap();
        assert!(page.len() <= 4);
        if page.is_empty() {
            break;
        }
        pages.extend(page);
    }
    assert_eq!(pages, whole);
    assert!(bed.store.history(&run("r"), 0, 0).await.unwrap().is_empty());
    assert!(bed.store.history(&run("r"), u64::MAX, 4).await.unwrap().is_empty());
}

async fn history_of_nobody_is_empty(bed: Bed) {
    bed.send_one("a").await;
    assert!(bed.store.history(&run("nobody"), 0, 10).await.unwrap().is_empty());
    assert!(bed.store.handoffs_of(&run("nobody")).await.unwrap().is_empty());
}

async fn runs_are_read_in_pages(bed: Bed) {
    bed.send(["d", "b", "Z", "a", "c"].map(request), time(0)).await;
    bed.send([request_in("b", "x")], time(1)).await;
    let runs = async |after: Option<&'static str>, limit| {
        let after = after.map(run);
        let found = bed.store.runs(after.as_ref(), limit).await.unwrap();
        found.into_iter().map(String::from).collect::<Vec<String>>()
    };
    assert_eq!(runs(None, 10).await, ["Z", "a", "b", "c", "d"]);
    assert_eq!(runs(None, 2).await, ["Z", "a"]);
    assert_eq!(runs(Some("a"), 2).await, ["b", "c"]);
    assert_eq!(runs(Some("bb"), 9).await, ["c", "d"]);
    assert!(runs(Some("d"), 2).await.is_empty());
}

async fn heads_are_the_last_events_of_their_handoffs(bed: Bed) {
    eventful(&bed).await;
    let events = bed.events("r").await;
    let handoffs = bed.store.handoffs_of(&run("r")).await.unwrap();
    assert_eq!(handoffs.len(), 3);
    for (handoff, head) in handoffs {
        let last = events.iter().rfind(|event| event.handoff == handoff.id).unwrap();
        assert_eq!((head, handoff.version, handoff.changed_at), (last.head(), last.version, last.at));
        assert_eq!(bed.find(handoff.id.as_str()).await, handoff);
    }
}

/// Verifies the chain and returns the handoffs that follow from it.
pub(super) fn replayed(events: &[Event]) -> BTreeMap<HandoffId, Handoff> {
    let mut head = Head::START;
    let mut handoffs: BTreeMap<HandoffId, Handoff> = BTreeMap::new();
    for event in events {
        assert_eq!((event.seq, event.hash), (head.seq + 1, event.hash_after(&head.hash)), "{event:?}");
        head = event.head();
        let before = handoffs.remove(&event.handoff);
        let after = lifecycle::replay(before, event.fact().unwrap(), event.at).unwrap();
        assert_eq!(after.version, event.version);
        handoffs.insert(event.handoff.clone(), after);
    }
    handoffs
}

pub(crate) async fn assert_replayed(bed: &Bed, name: &str) {
    let stored = bed.store.handoffs_of(&run(name)).await.unwrap();
    let stored: BTreeMap<HandoffId, Handoff> =
        stored.into_iter().map(|(handoff, _)| (handoff.id.clone(), handoff)).collect();
    assert_eq!(replayed(&bed.events(name).await), stored);
}

async fn chain_holds_and_gives_every_handoff_again(bed: Bed) {
    eventful(&bed).await;
    assert_replayed(&bed, "r").await;
}

async fn events_of_a_run_never_go_back_in_time(bed: Bed) {
    bed.send([request_in("r", "a")], time(100)).await;
    bed.send([request_in("r", "b")], time(50)).await;
    let claimed = bed.claim(2, time(100)).await;
    assert_eq!(claimed.len(), 2);
    bed.apply("a", heartbeat(baton_engine::Fence(1), None), time(110)).await.unwrap();
    bed.apply("b", report(baton_engine::Fence(1), "done"), time(20)).await.unwrap();
    let times: Vec<_> = bed.events("r").await.iter().map(|event| event.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_replayed(&bed, "r").await;
}

async fn many_handoffs_of_one_run_share_a_journal(bed: Bed) {
    let names: Vec<String> = (0..60).map(|number| format!("h{number:02}")).collect();
    bed.send(names.iter().map(|name| request_in("r", name)), time(0)).await;
    let mut claimed = 0;
    while claimed < names.len() {
        for one in bed.store.claim(&wish(7), time(1)).await.unwrap() {
            claimed += 1;
            let name = one.handoff.id.as_str();
            match claimed % 3 {
                0 => bed.apply(name, report(baton_engine::Fence(1), "done"), time(2)).await.unwrap(),
                1 => bed.apply(name, fail(baton_engine::Fence(1), "no"), time(2)).await.unwrap(),
                _ => bed.apply(name, cancel(), time(2)).await.unwrap(),
            };
        }
    }
    assert_eq!(bed.events("r").await.len(), 180);
    assert_eq!(bed.store.handoffs_of(&run("r")).await.unwrap().len(), 60);
    assert_replayed(&bed, "r").await;
}

async fn what_was_undone_leaves_no_gap(bed: Bed) {
    bed.send([request_in("r", "a")], time(0)).await;
    let mut other = request_in("r", "a");
    other.request.text.push('!');
    bed.store.accept(vec![request_in("r", "b"), other], time(1)).await.unwrap_err();
    bed.send([request_in("r", "c")], time(2)).await;
    let events = bed.events("r").await;
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
    assert_replayed(&bed, "r").await;
}

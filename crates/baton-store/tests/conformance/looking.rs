//! Looking: find, prefixes, lists, the census.

use baton_engine::handoff::StateName;
use baton_engine::store::{Count, Filter, StoreError};

use super::bed::{Bed, ids, names};
use super::requests::{AGENT, cancel, id, report, request, request_for, request_in, run, time};

on_every_store! {
    last_letter_of_unicode_is_a_letter_too,
    unknown_handoff_is_not_found,
    several_handoffs_are_found_at_once,
    ids_are_found_by_their_beginning,
    wildcards_are_letters_like_any_other,
    letters_differ_from_capitals,
    list_shows_the_newest_first,
    list_is_filtered_by_agent_and_state,
    list_goes_on_behind_a_handoff,
    list_of_nothing_is_empty,
    request_of_a_handoff_is_found_without_its_journal,
    census_counts_every_agent_in_every_state,
}

/// The order of ids is that of their bytes, whatever the language of the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn language_of_the_server_changes_no_order() {
    let bed = Bed::english_postgres().await;
    bed.send(["b", "a", "B", "ä", "a-1", "a1", "A"].map(request), time(0)).await;
    let expected = ["A", "B", "a", "a-1", "a1", "b", "ä"];
    assert_eq!(beginning(&bed, "", 10).await, expected);
    assert_eq!(beginning(&bed, "a", 10).await, ["a", "a-1", "a1"]);
    let runs: Vec<String> = bed.store.runs(None, 10).await.unwrap().into_iter().map(String::from).collect();
    assert_eq!(runs, expected);
    let after = run("a");
    assert_eq!(bed.store.runs(Some(&after), 1).await.unwrap(), [run("a-1")]);
    assert_eq!(ids(&bed.claim(10, time(0)).await), expected);
}

async fn unknown_handoff_is_not_found(bed: Bed) {
    bed.send_one("a").await;
    assert_eq!(bed.store.find(&id("A")).await.unwrap(), None);
    assert_eq!(bed.store.find(&id("aa")).await.unwrap(), None);
}

async fn several_handoffs_are_found_at_once(bed: Bed) {
    bed.send(["a", "b", "c"].map(request), time(0)).await;
    let mut found = bed.store.find_all(&[id("c"), id("none"), id("a")]).await.unwrap();
    found.sort_by(|one, other| one.id.cmp(&other.id));
    let single = [bed.store.find(&id("a")).await.unwrap(), bed.store.find(&id("c")).await.unwrap()];
    assert_eq!(found, single.into_iter().flatten().collect::<Vec<_>>());
    assert!(bed.store.find_all(&[]).await.unwrap().is_empty());
}

async fn beginning(bed: &Bed, prefix: &str, limit: u32) -> Vec<String> {
    let found = bed.store.ids_beginning_with(prefix, limit).await.unwrap();
    names(&found).into_iter().map(str::to_owned).collect()
}

async fn ids_are_found_by_their_beginning(bed: Bed) {
    bed.send(["ab2", "ab1", "b", "a", "ab"].map(request), time(0)).await;
    assert_eq!(beginning(&bed, "ab", 10).await, ["ab", "ab1", "ab2"]);
    assert_eq!(beginning(&bed, "ab", 2).await, ["ab", "ab1"]);
    assert_eq!(beginning(&bed, "", 10).await, ["a", "ab", "ab1", "ab2", "b"]);
    assert!(beginning(&bed, "abc", 10).await.is_empty());
    assert!(beginning(&bed, "ab", 0).await.is_empty());
}

async fn wildcards_are_letters_like_any_other(bed: Bed) {
    bed.send(["a%b", "a_b", "axb", "a'b", "a[x]b"].map(request), time(0)).await;
    assert_eq!(beginning(&bed, "a%", 10).await, ["a%b"]);
    assert_eq!(beginning(&bed, "a_", 10).await, ["a_b"]);
    assert_eq!(beginning(&bed, "a'", 10).await, ["a'b"]);
    assert_eq!(beginning(&bed, "a[x", 10).await, ["a[x]b"]);
    assert!(beginning(&bed, "%", 10).await.is_empty());
    assert!(beginning(&bed, "a\\", 10).await.is_empty());
}

async fn letters_differ_from_capitals(bed: Bed) {
    bed.send(["Ab", "aB", "äb", "ÄB"].map(request), time(0)).await;
    assert_eq!(beginning(&bed, "a", 10).await, ["aB"]);
    assert_eq!(beginning(&bed, "ä", 10).await, ["äb"]);
}

async fn last_letter_of_unicode_is_a_letter_too(bed: Bed) {
    bed.send(["a\u{10ffff}b", "a\u{ffff}", "a😀"].map(request), time(0)).await;
    assert_eq!(beginning(&bed, "a", 10).await, ["a\u{ffff}", "a😀", "a\u{10ffff}b"]);
    assert_eq!(beginning(&bed, "a\u{10ffff}", 10).await, ["a\u{10ffff}b"]);
}

fn filter(agent: Option<&str>, states: &[StateName], limit: u32) -> Filter {
    Filter { agent: agent.map(str::to_owned), states: states.to_vec(), after: None, limit }
}

async fn listed(bed: &Bed, filter: Filter) -> Vec<String> {
    let found = bed.store.list(&filter).await.unwrap();
    found.iter().map(|handoff| handoff.id.to_string()).collect()
}

async fn list_shows_the_newest_first(bed: Bed) {
    for (number, name) in ["c", "a", "b"].into_iter().enumerate() {
        bed.send([request(name)], time(number as i64)).await;
    }
    bed.apply("c", cancel(), time(9)).await.unwrap();
    assert_eq!(listed(&bed, filter(None, &[], 10)).await, ["b", "a", "c"]);
    assert_eq!(listed(&bed, filter(None, &[], 2)).await, ["b", "a"]);
    let whole = bed.store.list(&filter(None, &[], 1)).await.unwrap();
    assert_eq!(whole, [bed.find("b").await]);
}

async fn list_is_filtered_by_agent_and_state(bed: Bed) {
    let batch = [request("a"), request("b"), request_for("reviewer", "c"), request_for("reviewer", "d")];
    bed.send(batch, time(0)).await;
    bed.claim(1, time(0)).await;
    bed.apply("d", cancel(), time(1)).await.unwrap();
    assert_eq!(listed(&bed, filter(Some(AGENT), &[], 10)).await, ["b", "a"]);
    assert_eq!(listed(&bed, filter(None, &[StateName::Pending], 10)).await, ["c", "b"]);
    assert_eq!(listed(&bed, filter(None, &[StateName::Claimed, StateName::Cancelled], 10)).await, ["d", "a"]);
    assert_eq!(listed(&bed, filter(Some("reviewer"), &[StateName::Pending], 10)).await, ["c"]);
    assert_eq!(listed(&bed, filter(None, &StateName::ALL, 10)).await, ["d", "c", "b", "a"]);
}

async fn list_goes_on_behind_a_handoff(bed: Bed) {
    bed.send(["c", "a", "b", "d"].map(request), time(0)).await;
    bed.send([request_for("reviewer", "e")], time(1)).await;
    let behind = |after: &str, limit| Filter { after: Some(id(after)), ..filter(None, &[], limit) };
    assert_eq!(listed(&bed, behind("b", 10)).await, ["a", "c"]);
    assert_eq!(listed(&bed, behind("b", 1)).await, ["a"]);
    assert!(listed(&bed, behind("c", 10)).await.is_empty());
    let of_agent = Filter { agent: Some(AGENT.to_owned()), ..behind("e", 2) };
    assert_eq!(listed(&bed, of_agent).await, ["d", "b"], "also behind one that is not in the list");
    let gone = bed.store.list(&behind("z", 10)).await;
    assert_eq!(gone, Err(StoreError::NotFound(id("z"))), "what comes behind it is not known");
}

async fn request_of_a_handoff_is_found_without_its_journal(bed: Bed) {
    let sent = [request_in("r", "a"), request_in("r", "b")];
    bed.send(sent.clone(), time(0)).await;
    let claimed = bed.claim(1, time(0)).await;
    bed.apply("a", report(claimed[0].handoff.fence, "done"), time(1)).await.unwrap();
    for request in sent {
        assert_eq!(bed.store.request(&request.id).await.unwrap(), Some(request.request));
    }
    assert_eq!(bed.store.request(&id("c")).await.unwrap(), None);
}

async fn list_of_nothing_is_empty(bed: Bed) {
    assert!(listed(&bed, filter(None, &[], 10)).await.is_empty());
    bed.send_one("a").await;
    assert!(listed(&bed, filter(None, &[], 0)).await.is_empty());
    assert!(listed(&bed, filter(Some("nobody"), &[], 10)).await.is_empty());
    assert!(listed(&bed, filter(None, &[StateName::Blocked], 10)).await.is_empty());
    assert_eq!(listed(&bed, filter(None, &[], u32::MAX)).await, ["a"]);
}

async fn census_counts_every_agent_in_every_state(bed: Bed) {
    assert!(bed.store.census().await.unwrap().is_empty());
    bed.send(["a", "b", "c"].map(request), time(0)).await;
    bed.send([request_for("reviewer", "d")], time(0)).await;
    let claimed = bed.claim(2, time(0)).await;
    bed.apply("a", report(claimed[0].handoff.fence, "done"), time(1)).await.unwrap();
    let mut counts = bed.store.census().await.unwrap();
    counts.sort_by_key(|count| (count.agent.clone(), count.state));
    let count = |agent: &str, state| Count { agent: agent.to_owned(), state, handoffs: 1 };
    let expected = [
        count(AGENT, StateName::Pending),
        count(AGENT, StateName::Claimed),
        count(AGENT, StateName::Completed),
        count("reviewer", StateName::Pending),
    ];
    assert_eq!(counts, expected);
}

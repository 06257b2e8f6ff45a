//! Contents: whatever a document, a name or a note contains comes back letter by letter.

use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::lifecycle::{Accept, Command, Ending, Fail};
use baton_engine::queue::Queue;
use baton_engine::store::{ClaimRequest, Filter};
use baton_engine::{Terms, retry};

use super::bed::{Bed, wish};
use super::requests::{blocked, ended, report, request, resume, time, with};

on_every_store! {
    name_with_nul_is_the_same_for_every_store,
    odd_text_comes_back_letter_by_letter,
    odd_names_come_back_letter_by_letter,
    odd_keys_are_told_apart,
    document_of_eight_mebibytes_comes_back,
    largest_numbers_come_back,
    far_away_times_come_back,
    looking_for_a_nul_finds_nothing,
}

const ODD: [&str; 11] = [
    "",
    " ",
    "\0",
    "a\0b",
    "it's \"quoted\" `so` \\ and $1 ?1 :x @y; DROP TABLE handoffs; --",
    "Ünïcödé 漢字 🦀 e\u{301} \u{202e}right to left",
    "\u{feff}\u{fffd}\u{ffff}\u{10ffff}",
    "line\nline\r\nline\ttab\u{1b}[31m\u{7f}\u{85}",
    "{\"json\": [1, null, \"\\u0000\"]}",
    "\\u0000 \\x00 E'\\000'",
    "%_*?[]^$(){}|",
];

async fn odd_text_comes_back_letter_by_letter(bed: Bed) {
    for (number, text) in ODD.into_iter().enumerate() {
        let name = format!("h{number}");
        let document = WrittenDocument {
            dialect: "native".to_owned(),
            text: text.to_owned(),
            path: None,
            warnings: Box::default(),
        };
        let accept = Accept { request: document.clone(), ..request(&name) };
        bed.send([accept.clone()], time(0)).await;
        assert!(bed.send([accept], time(0)).await[0].existing);
        let claimed = bed.claim(1, time(0)).await.remove(0);
        assert_eq!((claimed.handoff.id.as_str(), &claimed.request), (name.as_str(), &document));
        let stuck = bed
            .apply(&name, ended(baton_engine::Fence(1), Ending::Blocked { reason: text.to_owned() }, text), time(1))
            .await;
        assert_eq!(stuck.unwrap(), bed.find(&name).await);
        let next = bed.apply(&name, resume(text), time(2)).await.unwrap();
        assert_eq!(next.notes[0].text, text);
        assert_eq!(bed.find(&name).await, next);
        super::journal::replayed(&bed.events(&name).await);
        bed.claim(1, time(2)).await;
        let failure = Failure::new(Code::processing_error(), text);
        let fail = Command::Fail(Fail { document: Some(document), ..Fail::new(baton_engine::Fence(2), failure, 0.25) });
        let failed = bed.apply(&name, fail, time(3)).await.unwrap();
        assert_eq!(bed.find(&name).await, failed);
        assert_eq!(failed.last_failure.unwrap().message, text);
    }
}

/// Names without NUL: what databases do with that is a test of its own.
fn odd_names() -> impl Iterator<Item = &'static str> {
    ODD.into_iter().filter(|text| !text.contains('\0'))
}

async fn odd_names_come_back_letter_by_letter(bed: Bed) {
    for (number, text) in odd_names().enumerate() {
        let name = format!("h{number}");
        let accept = with(request(&name), |terms| *terms = Terms::between(text, text));
        bed.send([accept], time(0)).await;
        let queue = Queue { concurrency: Some(1), ..Queue::open(text) };
        bed.store.set_queue(&queue).await.unwrap();
        assert_eq!(bed.store.queue(text).await.unwrap(), queue);
        let wish = ClaimRequest { agent: text.to_owned(), claimant: text.to_owned(), ..wish(5) };
        let claimed = bed.store.claim(&wish, time(0)).await.unwrap();
        assert_eq!(claimed.len(), 1, "{text:?}");
        assert_eq!(claimed[0].handoff, bed.find(&name).await);
        assert_eq!(claimed[0].handoff.lease().unwrap().claimant, text);
        let listed = Filter { agent: Some(text.to_owned()), states: vec![StateName::Claimed], after: None, limit: 9 };
        assert_eq!(bed.store.list(&listed).await.unwrap().len(), 1);
    }
    assert_eq!(bed.store.census().await.unwrap().len(), odd_names().count());
}

async fn odd_keys_are_told_apart(bed: Bed) {
    let keyed =
        |number: usize, key: &str| with(request(&format!("h{number}")), |terms| terms.key = Some(key.to_owned()));
    let keys: Vec<&str> = odd_names().chain(["K", "k", "ﬃ", "ffi", "é", "e\u{301}", "k "]).collect();
    for (number, key) in keys.iter().enumerate() {
        assert!(!bed.send([keyed(number, key)], time(0)).await[0].existing, "{key:?}");
    }
    for (number, key) in keys.iter().enumerate() {
        let again = bed.send([keyed(number + 1_000, key)], time(0)).await.remove(0);
        assert_eq!((again.existing, again.handoff.id.to_string()), (true, format!("h{number}")));
    }
}

async fn document_of_eight_mebibytes_comes_back(bed: Bed) {
    let text = "ü\"\n\0".repeat((8 << 20) / 5);
    let mut large = request("a");
    large.request.text = text.clone();
    bed.send([large], time(0)).await;
    let claimed = bed.claim(1, time(0)).await.remove(0);
    assert!(claimed.request.text == text);
    bed.apply("a", report(baton_engine::Fence(1), &text), time(1)).await.unwrap();
    let events = bed.events("a").await;
    assert_eq!(events.len(), 3);
    assert_eq!(super::journal::replayed(&events).into_values().next(), Some(bed.find("a").await));
}

async fn largest_numbers_come_back(bed: Bed) {
    let retry = retry::Policy {
        max_retries: retry::RETRIES_MAX,
        delay_ms: 2_592_000_000,
        multiplier: 1e-300,
        jitter: 0.1 + 0.2,
        at_once_if_refused: true,
    };
    let accept = with(request("a"), |terms| {
        terms.timeout_ms = Some(u64::MAX);
        terms.retry = retry;
    });
    let sent = bed.send([accept.clone()], time(0)).await.remove(0).handoff;
    assert_eq!((&*sent.terms, &bed.find("a").await), (&accept.terms, &sent));
    assert!(bed.send([accept], time(1)).await[0].existing);
    bed.claim(u32::MAX, time(0)).await;
    assert!(bed.store.rescue(u32::MAX, 1.0, time(59)).await.unwrap().is_empty());
    let rescued = bed.store.rescue(u32::MAX, 0.1 + 0.2, time(60)).await.unwrap();
    assert_eq!(rescued, [bed.find("a").await]);
    super::journal::replayed(&bed.events("a").await);
}

async fn far_away_times_come_back(bed: Bed) {
    let far = jiff::Timestamp::from_second(253_402_207_200 - 1).unwrap();
    let long_ago = jiff::Timestamp::from_second(-62_135_596_800).unwrap();
    let later = with(request("a"), |terms| terms.not_before = Some(far));
    let earlier = with(request("b"), |terms| terms.deadline = Some(long_ago));
    bed.send([later, earlier], time(0)).await;
    assert_eq!(bed.find("a").await.terms.not_before, Some(far));
    assert_eq!(bed.store.next_due(None).await.unwrap(), Some(long_ago));
    assert_eq!(bed.store.rescue(9, 0.0, time(0)).await.unwrap().len(), 1);
    assert_eq!(bed.store.next_due(Some("builder")).await.unwrap(), Some(far));
}

/// A column of PostgreSQL cannot hold NUL. What one store cannot keep, no store may promise.
async fn name_with_nul_is_the_same_for_every_store(bed: Bed) {
    let agent = with(request("a"), |terms| terms.to = "a\0b".to_owned());
    let key = with(request("b"), |terms| terms.key = Some("k\0".to_owned()));
    for refused in [agent, key] {
        let answer = bed.store.accept(vec![request("c"), refused], time(0)).await;
        assert!(answer.is_err(), "{answer:?}");
        assert!(!bed.is_there("c").await);
    }
    assert!(bed.store.set_queue(&Queue::open("a\0b")).await.is_err());
    // The store is still of use.
    bed.claimed(request("d"), time(0)).await;
    bed.apply("d", blocked(baton_engine::Fence(1)), time(1)).await.unwrap();
}

async fn looking_for_a_nul_finds_nothing(bed: Bed) {
    bed.send_one("a").await;
    assert!(bed.store.ids_beginning_with("a\0", 10).await.unwrap().is_empty());
    let filter = Filter { agent: Some("builder\0".to_owned()), states: Vec::new(), after: None, limit: 10 };
    assert!(bed.store.list(&filter).await.unwrap().is_empty());
    let wish = ClaimRequest { agent: "builder\0".to_owned(), ..wish(1) };
    assert!(bed.store.claim(&wish, time(0)).await.unwrap().is_empty());
    assert_eq!(bed.store.next_due(Some("builder\0")).await.unwrap(), None);
    assert_eq!(bed.store.queue("builder\0").await.unwrap(), Queue::open("builder\0"));
}

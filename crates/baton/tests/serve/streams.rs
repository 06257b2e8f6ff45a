//! Live events: complete from the first one, and resumed where they broke off.

use serde_json::json;

use crate::client::{Premises, Told, report};

fn kinds(told: &[Told]) -> Vec<String> {
    told.iter().map(|told| told.data["event"].as_str().unwrap_or(&told.name).to_owned()).collect()
}

#[test]
fn stream_of_a_run_tells_what_was_before_and_what_happens_and_ends_with_it() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let mut stream = server.follow("/api/v1/runs/csv-07/events", &[]);
    assert_eq!(kinds(&[stream.next().expect("an event")]), ["accepted"]);
    let (_, fence) = server.claim();
    let claimed = stream.next().expect("an event");
    assert_eq!((claimed.id, kinds(&[claimed])), (Some(2), vec!["claimed".to_owned()]));
    let body = json!({ "fence": fence, "document": report("csv-07", "complete") });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert_eq!(kinds(&stream.collect::<Vec<_>>()), ["reported", "end"]);
}

#[test]
fn stream_goes_on_behind_the_last_event_that_was_received_also_on_another_server() {
    let premises = Premises::new();
    let mut first = premises.serve();
    first.send("csv-07");
    first.claim();
    let received = first.follow("/api/v1/runs/csv-07/events", &[]).next().expect("an event");
    assert_eq!(received.id, Some(1));
    first.process.kill();
    let second = premises.serve();
    let mut stream = second.follow("/api/v1/runs/csv-07/events", &[("Last-Event-ID", "1")]);
    let next = stream.next().expect("an event");
    assert_eq!((next.id, kinds(&[next])), (Some(2), vec!["claimed".to_owned()]));
}

#[test]
fn stream_of_everything_begins_now_and_is_resumed_without_a_gap() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("before");
    let mut stream = server.follow("/api/v1/events", &[]);
    server.send("a");
    let first = stream.next().expect("an event");
    assert_eq!(first.data["handoff"], "a", "what was before is not told");
    drop(stream);
    server.send("b");
    server.send("c");
    let last = first.id.expect("an id").to_string();
    let resumed = server.follow("/api/v1/events", &[("Last-Event-ID", &last)]);
    let ids: Vec<String> =
        resumed.take(2).map(|told| told.data["handoff"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(ids, ["b", "c"]);
}

#[test]
fn server_that_ends_ends_its_streams() {
    let premises = Premises::new();
    let mut server = premises.serve();
    server.send("csv-07");
    let stream = server.follow("/api/v1/runs/csv-07/events", &[]);
    server.process.terminate();
    assert!(stream.count() >= 1, "it ends");
    assert_eq!(server.process.wait(crate::client::LONG).and_then(|status| status.code()), Some(0));
}

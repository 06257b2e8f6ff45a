//! From idle: how long after the sender's commit another process has the handoff, and what waiting costs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::Accept;
use baton_engine::store::ClaimRequest;
use baton_engine::{HandoffId, RunId, Store, Terms};
use baton_store::Location;
use baton_testbed::gauge::{Figure, Limit, Usage, percentile};
use jiff::Timestamp;

/// The argument with which a benchmark plays the waiting process; the location of the store follows.
const CHILD: &str = "wait-and-tell";

const PICKUPS: usize = 300;

/// How long the waiting process is left alone.
const IDLE: Duration = Duration::from_secs(10);

/// Plays the waiting process, if that is what this process was started for.
pub(crate) fn plays_child() -> bool {
    let mut arguments = std::env::args().skip_while(|argument| argument != CHILD).skip(1);
    arguments.next().inspect(|location| wait_and_tell(location)).is_some()
}

/// Measures the time from commit to claim between two processes, and the processor time of waiting.
pub(crate) fn measure(location: &str) -> Vec<Figure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = runtime.block_on(open(location));
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program).args([CHILD, location]).stdout(Stdio::piped()).spawn().expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut told = || lines.next().expect("the child goes on").expect("text");
    assert_eq!(told(), "waiting");
    let mut waits = Vec::new();
    for number in 0..PICKUPS {
        // The child must be idle again before the next one comes.
        thread::sleep(Duration::from_millis(10));
        runtime.block_on(send(&*store, number));
        let committed = since_1970();
        let has_it = Duration::from_nanos(told().parse().expect("a number"));
        waits.push(has_it.saturating_sub(committed));
    }
    let before = Usage::of(child.id()).expect("the child runs").cpu;
    thread::sleep(IDLE);
    let used = Usage::of(child.id()).expect("the child runs").cpu - before;
    child.kill().and_then(|()| child.wait()).expect("the child ends");
    let milliseconds = |share: f64| percentile(&waits, share).as_secs_f64() * 1e3;
    let figure =
        |name: &str, ours, most, unit| Figure { name: name.to_owned(), ours, limit: Limit::AtMost(most), unit };
    vec![
        figure("pick-up from idle, p50", milliseconds(0.5), 3.0, "ms"),
        figure("pick-up from idle, p99", milliseconds(0.99), 15.0, "ms"),
        figure("processor time of waiting", used.as_secs_f64() / IDLE.as_secs_f64() * 100.0, 0.5, "%"),
    ]
}

/// Waits for handoffs like a worker, and prints when it has each.
fn wait_and_tell(location: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let wish = ClaimRequest {
        agent: "b".to_owned(),
        claimant: "waiting".to_owned(),
        lease_ms: 60_000,
        count: 1,
        times_itself: false,
        author: None,
    };
    runtime.block_on(async {
        let store = open(location).await;
        tell("waiting");
        loop {
            let seen = store.changes();
            if store.claim(&wish, now()).await.expect("a claim").is_empty() {
                store.changed(seen, Duration::from_secs(60)).await;
            } else {
                tell(&since_1970().as_nanos().to_string());
            }
        }
    });
}

async fn open(location: &str) -> Arc<dyn Store> {
    baton_store::open(&Location::parse(location).expect("a location")).await.expect("a store")
}

async fn send(store: &dyn Store, number: usize) {
    let id = HandoffId::parse(format!("pickup-{number}")).expect("a safe id");
    let request = WrittenDocument {
        dialect: "native".to_owned(),
        text: "something to do".to_owned(),
        path: None,
        warnings: Box::default(),
    };
    let accept = Accept { run: RunId::alone(&id), id, terms: Terms::between("a", "b"), request, notes: Vec::new() };
    store.accept(vec![accept], now()).await.expect("accepted");
}

fn tell(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent reads");
}

fn now() -> Timestamp {
    Timestamp::from_microsecond(i64::try_from(since_1970().as_micros()).expect("a time")).expect("a time")
}

#[expect(clippy::disallowed_methods, reason = "two processes compare their times")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970")
}

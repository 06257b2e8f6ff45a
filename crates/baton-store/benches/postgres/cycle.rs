//! Full cycles through the store: send, claim, report. Each client has an agent of its own, as the rival's has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use baton_engine::Fence;
use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Accept, Command, Ending, HandIn};
use baton_engine::store::{ClaimRequest, Order};
use baton_engine::{HandoffId, RunId, Store, Terms};
use baton_store::postgres::Postgres;
use baton_testbed::gauge;
use jiff::Timestamp;

/// Makes ids that are used only once in this process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The request, of about the size of a real one.
const REQUEST: &str = "Review the change of the login form. Look at the session cookie, and at what happens when the \
    token has expired. Write down what you found, with the file and the line.";

/// A time that does not matter.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

pub(crate) fn request(agent: &str) -> Accept {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = HandoffId::parse(format!("hoff-{}-{number:012}", std::process::id())).unwrap();
    let request = WrittenDocument {
        dialect: "native".to_owned(),
        text: REQUEST.to_owned(),
        path: None,
        warnings: Box::default(),
    };
    Accept { run: RunId::alone(&id), id, terms: Terms::between("lead", agent), request, notes: Vec::new() }
}

pub(crate) fn wish(agent: &str, count: u32) -> ClaimRequest {
    ClaimRequest {
        agent: agent.to_owned(),
        claimant: "worker".to_owned(),
        lease_ms: 60_000,
        count,
        times_itself: false,
        author: None,
    }
}

pub(crate) fn report(id: &HandoffId, fence: Fence) -> Order {
    let document = WrittenDocument {
        dialect: "native".to_owned(),
        text: REQUEST.to_owned(),
        path: None,
        warnings: Box::default(),
    };
    Order::new(id.clone(), Command::Report(HandIn::new(fence, Ending::Complete, document)))
}

/// Returns how many cycles per second so many clients complete.
pub(crate) async fn rate(url: &str, clients: usize, time: Duration) -> f64 {
    let store = Arc::new(Postgres::connect(url).await.unwrap());
    run(&store, clients, time / 8).await;
    let begin = Instant::now();
    let cycles = run(&store, clients, time).await;
    gauge::rate(cycles, begin.elapsed())
}

async fn run(store: &Arc<Postgres>, clients: usize, time: Duration) -> u64 {
    let end = Instant::now() + time;
    let client = |number: usize| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let agent = format!("agent-{number}");
            let mut cycles = 0;
            while Instant::now() < end {
                complete(&store, &agent).await;
                cycles += 1;
            }
            cycles
        })
    };
    let running: Vec<_> = (0..clients).map(client).collect();
    let mut cycles = 0;
    for task in running {
        cycles += task.await.unwrap();
    }
    cycles
}

/// Sends a request to an agent, claims it and completes it.
pub(crate) async fn complete(store: &Postgres, agent: &str) {
    store.accept(vec![request(agent)], now()).await.unwrap();
    let claimed = store.claim(&wish(agent, 1), now()).await.unwrap();
    let handoff = &claimed.first().expect("only we claim for this agent").handoff;
    store.apply(report(&handoff.id, handoff.fence), now()).await.unwrap();
}

/// Claims a hundred at a time; returns how many handoffs per second, and the median of one claim in milliseconds.
pub(crate) async fn claim_batches(url: &str) -> (f64, f64) {
    const BATCHES: u32 = 100;
    let store = Postgres::connect(url).await.unwrap();
    for _ in 0..BATCHES {
        store.accept((0..100).map(|_| request("agent")).collect(), now()).await.unwrap();
    }
    let mut times = Vec::new();
    let begin = Instant::now();
    for _ in 0..BATCHES {
        let start = Instant::now();
        assert_eq!(store.claim(&wish("agent", 100), now()).await.unwrap().len(), 100);
        times.push(start.elapsed());
    }
    let rate = gauge::rate(u64::from(BATCHES) * 100, begin.elapsed());
    (rate, gauge::percentile(&times, 0.5).as_secs_f64() * 1e3)
}

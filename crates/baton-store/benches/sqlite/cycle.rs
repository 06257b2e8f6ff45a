//! The full cycle: send, claim, report, each durable and journalled.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Accept, Command, Ending, HandIn};
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Order};
use baton_engine::{HandoffId, RunId, Store, Terms};
use baton_store::sqlite::Sqlite;
use baton_testbed::gauge::rate;
use jiff::Timestamp;

/// Returns how many cycles per second `clients` run.
pub(crate) fn cycles_per_second(path: &Path, clients: usize, cycles: usize) -> f64 {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(path).expect("a store"));
        let each = cycles / clients;
        let start = Instant::now();
        let workers: Vec<_> = (0..clients)
            .map(|client| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for _ in 0..each {
                        send(&*store).await;
                        let claimed = claim(&*store, &format!("worker-{client}")).await;
                        report(&*store, claimed).await;
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.expect("a client ends");
        }
        rate((each * clients) as u64, start.elapsed())
    })
}

/// A time that goes on; the lifecycle needs no more than that.
pub(crate) fn now() -> Timestamp {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Timestamp::from_microsecond(1_790_000_000_000_000 + count as i64).expect("a time")
}

/// Sends one handoff with a request of about one kilobyte.
pub(crate) async fn send(store: &dyn Store) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = HandoffId::parse(format!("hoff-{number:016}")).expect("a safe id");
    let request =
        WrittenDocument { dialect: "mailbox".to_owned(), text: request(number), path: None, warnings: Box::default() };
    let accept = Accept { run: RunId::alone(&id), id, terms: Terms::between("a", "b"), request, notes: Vec::new() };
    store.accept(vec![accept], now()).await.expect("accepted");
}

fn request(number: u64) -> String {
    let data = "component requirements, ".repeat(30);
    format!(r#"{{"handoff_id":"hoff-{number:016}","status":"pending","input":{{"data":"{data}"}}}}"#)
}

/// Claims one handoff. Others may be faster, and what they left may be ready a moment later only.
pub(crate) async fn claim(store: &dyn Store, claimant: &str) -> ClaimedHandoff {
    let wish = ClaimRequest {
        agent: "b".to_owned(),
        claimant: claimant.to_owned(),
        lease_ms: 60_000,
        count: 1,
        times_itself: false,
        author: None,
    };
    loop {
        if let Some(claimed) = store.claim(&wish, now()).await.expect("a claim").pop() {
            return claimed;
        }
    }
}

/// Reports a handoff as complete.
pub(crate) async fn report(store: &dyn Store, claimed: ClaimedHandoff) {
    let text = format!(r#"{{"handoff_id":"{}","status":"completed"}}"#, claimed.handoff.id);
    let document = WrittenDocument { dialect: "mailbox".to_owned(), text, path: None, warnings: Box::default() };
    let report = HandIn::new(claimed.handoff.fence, Ending::Complete, document);
    store.apply(Order::new(claimed.handoff.id, Command::Report(report)), now()).await.expect("reported");
}

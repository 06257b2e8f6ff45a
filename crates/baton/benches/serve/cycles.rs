//! Send, claim and report over HTTP, beside the same on the store that the server uses.
//!
//! Both sides are measured in turns, with the same documents. The store alone has nobody who speaks HTTP to it and judges
//! nothing, so what each side uses of a processor is told as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use baton_engine::handoff::WrittenDocument;
use baton_engine::ledger_keeper::LedgerKeeper;
use baton_engine::lifecycle::{Accept, Command, Ending, HandIn};
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Order};
use baton_engine::{Clock, HandoffId, RunId, Store, Terms};
use baton_protocol::Dialect;
use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, Usage, median};
use jiff::Timestamp;

use crate::http::Connection;
use crate::{Served, request, sent, work};

const CONNECTIONS: usize = 64;
const CYCLES: usize = 4_096;
const ROUNDS: usize = 5;

/// How fast cycles were, and what they used of a processor.
#[derive(Debug, Clone, Copy)]
struct Measured {
    per_second: f64,
    server_ms: f64,
    client_ms: f64,
}

pub(crate) fn measure() {
    // A store makes no prompts, so whoever is compared with it does not ask for them.
    let round = |_| [over_http(false), on_the_store(true), on_the_store(false), over_http(true)];
    let rounds: Vec<[Measured; 4]> = (0..ROUNDS).map(round).collect();
    let middle = |side: usize, figure: fn(&Measured) -> f64| {
        median(&rounds.iter().map(|round| figure(&round[side])).collect::<Vec<_>>())
    };
    let names = ["over HTTP", "on the store", "on the store without its ledger", "over HTTP with prompts"];
    for (side, name) in names.iter().enumerate() {
        println!(
            "cycles with {CONNECTIONS} at once {name}: {:.0}/s; processor per cycle: {:.3} ms, and {:.3} ms of clients",
            middle(side, |measured| measured.per_second),
            middle(side, |measured| measured.server_ms),
            middle(side, |measured| measured.client_ms),
        );
    }
    let share = |one: usize, other: usize| {
        median(&rounds.iter().map(|round| round[one].per_second / round[other].per_second).collect::<Vec<_>>())
    };
    println!("of the store without its ledger: {:.2}", share(0, 2));
    println!("with prompts, of the store: {:.2}", share(3, 1));
    let name = "cycles over HTTP, of the store's own".to_owned();
    println!("{}", Figure { name, ours: share(0, 1), limit: Limit::AtLeast(0.5), unit: "×" });
}

fn own_cpu() -> Duration {
    Usage::of(std::process::id()).expect("it lives").cpu
}

fn per_cycle(used: Duration) -> f64 {
    used.as_secs_f64() * 1e3 / CYCLES as f64
}

/// Sends, claims and reports over HTTP. The clients share one thread, so that they take little from the server.
fn over_http(has_prompts: bool) -> Measured {
    let served = Served::start();
    let (server, client, began) = (served.usage().cpu, own_cpu(), Instant::now());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let tasks = (0..CONNECTIONS).map(|worker| {
            let address = served.address.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(&address).await;
                for number in 0..CYCLES / CONNECTIONS {
                    connection.done("POST", "/api/v1/handoffs", &sent(&format!("c-{worker}-{number}"))).await;
                    work(&mut connection, "finder", has_prompts).await;
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("all cycles");
        }
    });
    Measured {
        per_second: CYCLES as f64 / began.elapsed().as_secs_f64(),
        server_ms: per_cycle(served.usage().cpu - server),
        client_ms: per_cycle(own_cpu() - client),
    }
}

/// Does the same on a store, with the ledger that every engine keeps, or without.
fn on_the_store(has_ledger: bool) -> Measured {
    let folder = Scratch::new();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&folder.path("baton.db")).expect("a store"));
    let keeper = has_ledger.then(|| Arc::new(LedgerKeeper::new(Arc::clone(&store), Arc::new(CountingClock), None)));
    let store = keeper.clone().map_or(store, |keeper| keeper as Arc<dyn Store>);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let (used, began) = (own_cpu(), Instant::now());
    runtime.block_on(async {
        let tasks = (0..CONNECTIONS).map(|worker| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..CYCLES / CONNECTIONS {
                    send(&*store, &format!("c-{worker}-{number}")).await;
                    let claimed = claim(&*store, &format!("worker-{worker}")).await;
                    report(&*store, claimed).await;
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("all cycles");
        }
        if let Some(keeper) = keeper {
            assert!(keeper.settle().await.is_none(), "the ledger is kept");
        }
    });
    let per_second = CYCLES as f64 / began.elapsed().as_secs_f64();
    Measured { per_second, server_ms: per_cycle(own_cpu() - used), client_ms: 0.0 }
}

async fn send(store: &dyn Store, id: &str) {
    let (request, id) = (written(request(id)), HandoffId::parse(id).expect("a safe id"));
    let terms = Terms::between("anonymous", "finder");
    let accept = Accept { run: RunId::alone(&id), id, terms, request, notes: Vec::new() };
    store.accept(vec![accept], CountingClock.now()).await.expect("accepted");
}

/// Claims one handoff. Others may be faster, and what they left may be ready a moment later only.
async fn claim(store: &dyn Store, claimant: &str) -> ClaimedHandoff {
    let (agent, claimant) = ("finder".to_owned(), claimant.to_owned());
    let wanted = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
    loop {
        if let Some(claimed) = store.claim(&wanted, CountingClock.now()).await.expect("a claim").pop() {
            return claimed;
        }
    }
}

async fn report(store: &dyn Store, claimed: ClaimedHandoff) {
    let document = written(crate::report(claimed.handoff.id.as_str()));
    let report = HandIn::new(claimed.handoff.fence, Ending::Complete, document);
    let order = Order::new(claimed.handoff.id, Command::Report(report));
    store.apply(order, CountingClock.now()).await.expect("reported");
}

fn written(document: String) -> WrittenDocument {
    WrittenDocument::new(Dialect::Native, document)
}

/// A time that goes on.
struct CountingClock;

impl Clock for CountingClock {
    fn now(&self) -> Timestamp {
        static COUNT: AtomicI64 = AtomicI64::new(1_790_000_000_000_000);
        Timestamp::from_microsecond(COUNT.fetch_add(1, Ordering::Relaxed)).expect("a time")
    }

    fn observe(&self, _: Timestamp) {}
}

//! Waiting: how long until a worker that waits elsewhere has what was sent, and what waiting costs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_engine::Store;
use baton_store::postgres::Postgres;
use baton_testbed::gauge::{Figure, Limit, Usage, percentile};
use tokio::sync::mpsc;

use crate::cycle::{now, request, wish};

const HANDOFFS: usize = 200;
const IDLE: Duration = Duration::from_secs(10);

/// Measures between two stores that share nothing but the server.
pub(crate) async fn measure(server: &baton_testbed::Postgres) -> Vec<Figure> {
    let url = server.new_database();
    let sender = Postgres::connect(&url).await.unwrap();
    let worker = Arc::new(Postgres::connect(&url).await.unwrap());
    let (claimed, mut arrivals) = mpsc::unbounded_channel();
    let waiting = tokio::spawn(wait_and_claim(Arc::clone(&worker), claimed));
    let mut times = Vec::new();
    for number in 0..HANDOFFS + 10 {
        // From idle: the worker has found nothing and waits.
        tokio::time::sleep(Duration::from_millis(10)).await;
        let sent = Instant::now();
        sender.accept(vec![request("agent")], now()).await.unwrap();
        let arrived: Instant = arrivals.recv().await.unwrap();
        if number >= 10 {
            times.push(arrived - sent);
        }
    }
    let before = Usage::of(std::process::id()).unwrap().cpu;
    tokio::time::sleep(IDLE).await;
    let idle = Usage::of(std::process::id()).unwrap().cpu - before;
    waiting.abort();
    let milliseconds = |share| percentile(&times, share).as_secs_f64() * 1e3;
    let figure =
        |name: &str, ours, limit, unit| Figure { name: name.to_owned(), ours, limit: Limit::AtMost(limit), unit };
    vec![
        figure("pick-up from idle, median", milliseconds(0.5), 10.0, "ms"),
        figure("pick-up from idle, 99 of 100", milliseconds(0.99), 50.0, "ms"),
        figure("CPU of a worker that waits", idle.as_secs_f64() / IDLE.as_secs_f64() * 100.0, 1.0, "%"),
    ]
}

async fn wait_and_claim(store: Arc<Postgres>, claimed: mpsc::UnboundedSender<Instant>) {
    loop {
        let seen = store.changes();
        match store.claim(&wish("agent", 1), now()).await.unwrap().is_empty() {
            true => store.changed(seen, Duration::from_secs(60)).await,
            false => claimed.send(Instant::now()).unwrap(),
        }
    }
}

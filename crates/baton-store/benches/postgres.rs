//! The store on PostgreSQL beside `pgbench`, which runs the same statements with the same round trips and commits on
//! the same kind of server: what is left between the two is what Baton itself costs.
//!
//! Then whether finished handoffs slow it down, how long it takes until a waiting worker has what was sent, and what
//! waiting costs, and what lists cost. `QUICK` as an argument leaves out the million finished handoffs; a number leaves out
//! everything but `pgbench` with so many clients, and `lists` everything but the lists.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a panic is how a benchmark fails")]

#[path = "postgres/cycle.rs"]
mod cycle;
#[path = "lists.rs"]
mod lists;
#[path = "pickup.rs"]
mod pickup;
#[path = "postgres/rival.rs"]
mod rival;

use std::process::ExitCode;
use std::time::Duration;

use baton_store::postgres::Postgres;
use baton_testbed::gauge::{Figure, Limit, median};
use baton_testbed::{PostgresServer, query};

/// How long one round takes. Ours and the rival's take turns, so that whatever else the machine does hits both.
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 7;

/// How many clients there are, and what share of the rival's rate ours must have. Many clients share transactions.
const SHARES_MIN: [(usize, f64); 3] = [(1, 0.7), (16, 0.7), (64, 3.0)];

/// How much slower a cycle may be beside a million finished handoffs.
const SLOWDOWN_MAX: f64 = 1.2;

fn main() -> ExitCode {
    if pickup::plays_child() {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let quick = std::env::args().any(|argument| argument == "QUICK");
    let only = std::env::args().find_map(|argument| argument.parse().ok());
    let figures = match std::env::args().any(|argument| argument == "lists") {
        true => runtime.block_on(lists(&PostgresServer::start(), quick)),
        false => runtime.block_on(measure(quick, only)),
    };
    println!("{}", Figure::heading());
    figures.iter().for_each(|figure| println!("{figure}"));
    if figures.iter().all(Figure::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn measure(quick: bool, only: Option<usize>) -> Vec<Figure> {
    let server = PostgresServer::start();
    let mut figures = Vec::new();
    for (clients, share_min) in SHARES_MIN.into_iter().filter(|(clients, _)| only.is_none_or(|only| only == *clients)) {
        figures.push(beside_rival(&server, clients, share_min).await);
    }
    if only.is_some() {
        return figures;
    }
    figures.push(batches(&server).await);
    figures.extend(backlog(&server, if quick { 100_000 } else { 1_000_000 }).await);
    figures.extend(lists(&server, quick).await);
    let url = server.new_database();
    // The other process has a runtime of its own, and so has this side of it.
    figures.extend(tokio::task::spawn_blocking(move || pickup::measure(&url)).await.unwrap());
    figures
}

/// The share is the median of the rounds' shares: the two halves of a round see the same neighbours on the machine.
async fn beside_rival(server: &PostgresServer, clients: usize, share_min: f64) -> Figure {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(cycle::rate(&server.new_database(), clients, ROUND).await);
        theirs.push(rival::rate(&server.new_database(), clients, ROUND).await);
    }
    let shares: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs * 100.0).collect();
    println!("cycles/s, {clients} clients: ours {ours:.0?}, pgbench {theirs:.0?}, shares {shares:.0?} %");
    let of_medians = median(&ours) / median(&theirs) * 100.0;
    println!("cycles/s, {clients} clients: share of the medians {of_medians:.0} %");
    let name = format!("cycles of pgbench's, {clients} clients");
    Figure { name, ours: median(&shares), limit: Limit::AtLeast(share_min * 100.0), unit: "%" }
}

async fn batches(server: &PostgresServer) -> Figure {
    let (rate, milliseconds) = cycle::claim_batches(&server.new_database()).await;
    println!("claims of 100: {rate:.0} handoffs/s, median {milliseconds:.1} ms");
    Figure { name: "a claim of 100".to_owned(), ours: milliseconds, limit: Limit::AtMost(30.0), unit: "ms" }
}

/// Measures cycles beside more and more finished handoffs.
async fn backlog(server: &PostgresServer, most: usize) -> Vec<Figure> {
    let url = server.new_database();
    cycle::rate(&url, 1, Duration::from_millis(100)).await;
    let mut rates = Vec::new();
    let mut filled = 0;
    for finished in [1_000, 100_000, 1_000_000].into_iter().filter(|finished| *finished <= most) {
        query(&url, &rival::finished(filled + 1, finished));
        query(&url, "VACUUM ANALYZE");
        query(&url, "CHECKPOINT");
        filled = finished;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(cycle::rate(&url, 1, ROUND).await);
        }
        println!("cycles/s, 1 client, {finished} finished: {rounds:.0?}");
        rates.push((finished, median(&rounds)));
    }
    let (_, first) = rates[0];
    let figure = |(finished, rate): &(usize, f64)| Figure {
        name: format!("cycles/s beside {finished} finished"),
        ours: *rate,
        limit: Limit::AtLeast(first / SLOWDOWN_MAX),
        unit: "/s",
    };
    rates.iter().skip(1).map(figure).collect()
}

/// Lists and counts beside more and more finished handoffs.
async fn lists(server: &PostgresServer, quick: bool) -> Vec<Figure> {
    let most = if quick { 100_000 } else { 1_000_000 };
    let mut costs = Vec::new();
    for finished in lists::FINISHED.into_iter().filter(|finished| *finished <= most) {
        let url = server.new_database();
        let store = Postgres::connect(&url).await.unwrap();
        cycle::complete(&store, "b").await;
        query(&url, &copies(finished));
        query(&url, "VACUUM ANALYZE");
        query(&url, "CHECKPOINT");
        costs.push((finished, lists::sample(&store).await));
    }
    lists::compare(&costs)
}

/// Returns SQL that copies the one handoff there is, with its events. The database would count the copies one by one in a single
/// transaction, which is not what takes place when handoffs are finished.
fn copies(count: usize) -> String {
    format!(
        "ALTER TABLE handoffs DISABLE TRIGGER USER;
         INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                               accepted_seq, last_seq, head, body)
         SELECT 'done-' || n, 'done-' || n, agent, priority, state, version, fence, ready_at, wake_at, finished_at, key,
                accepted_seq, last_seq, head, body
         FROM generate_series(1, {count}) AS n, (SELECT * FROM handoffs) AS one;
         UPDATE finished_counts SET handoffs = handoffs + {count};
         INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
         SELECT 'done-' || n, seq, 'done-' || n, version, at, kind, detail, hash
         FROM generate_series(1, {count}) AS n, (SELECT * FROM events) AS one;
         ALTER TABLE handoffs ENABLE TRIGGER USER"
    )
}

//! What sending and claiming cost when many handoffs are finished.

use std::path::Path;
use std::time::{Duration, Instant};

use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, median};
use rusqlite::Connection;

use crate::cycle;

const SAMPLES: usize = 600;

/// Prints the cost at 10³, 10⁵ and 10⁶ finished handoffs.
pub(crate) fn measure() {
    let stores: Vec<(usize, Scratch)> = [1_000, 100_000, 1_000_000]
        .into_iter()
        .map(|finished| {
            let folder = Scratch::new();
            fill(&folder.path("baton.db"), finished);
            (finished, folder)
        })
        .collect();
    // All stores take turns, so that whatever else the machine does hits them alike.
    let mut costs: Vec<Vec<(f64, f64)>> = vec![Vec::new(); stores.len()];
    for _ in 0..5 {
        for ((_, folder), costs) in stores.iter().zip(&mut costs) {
            costs.push(sample(&folder.path("baton.db")));
        }
    }
    let typical = |costs: &[(f64, f64)]| {
        let sends: Vec<f64> = costs.iter().map(|(send, _)| *send).collect();
        let claims: Vec<f64> = costs.iter().map(|(_, claim)| *claim).collect();
        (median(&sends), median(&claims))
    };
    println!("{}", Figure::heading());
    let (send_first, claim_first) = typical(&costs[0]);
    for ((finished, _), costs) in stores.iter().zip(&costs) {
        let (send, claim) = typical(costs);
        for (verb, cost, first) in [("send", send, send_first), ("claim", claim, claim_first)] {
            let name = format!("{verb} with {finished} finished");
            println!("{}", Figure { name, ours: cost, limit: Limit::AtMost(first * 1.2), unit: "µs" });
        }
    }
}

/// Returns the median cost of a send and a claim, in microseconds.
fn sample(path: &Path) -> (f64, f64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Sqlite::open(path).expect("a store");
        let (mut sends, mut claims) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES / 5 {
            let start = Instant::now();
            cycle::send(&store).await;
            sends.push(microseconds(start.elapsed()));
            let start = Instant::now();
            let claimed = cycle::claim(&store, "worker").await;
            claims.push(microseconds(start.elapsed()));
            cycle::report(&store, claimed).await;
        }
        (median(&sends), median(&claims))
    })
}

fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Makes a store with so many finished handoffs, each with three events.
pub(crate) fn fill(path: &Path, finished: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Sqlite::open(path).expect("a store");
        cycle::send(&store).await;
        let claimed = cycle::claim(&store, "worker").await;
        cycle::report(&store, claimed).await;
    });
    let connection = Connection::open(path).expect("a database");
    let copy = format!(
        "BEGIN;
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {finished})
         INSERT INTO handoffs SELECT printf('done-%016d', n), printf('done-%016d', n), agent, priority, state, version,
             fence, ready_at, wake_at, finished_at, key, accepted_seq, last_seq, head, body
             FROM numbers, (SELECT * FROM handoffs LIMIT 1);
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {finished})
         INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
             SELECT printf('done-%016d', n), seq, printf('done-%016d', n), version, at, kind, detail, hash
             FROM numbers, (SELECT * FROM events LIMIT 3);
         COMMIT;
         PRAGMA wal_checkpoint(TRUNCATE);"
    );
    connection.execute_batch(&copy).expect("the store is filled");
}

//! From idle: how long after the sender's commit another process has the handoff, and what waiting costs.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use baton_engine::Store;
use baton_engine::store::Wish;
use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, Usage, percentile};

use crate::cycle;

/// The argument with which this program plays the waiting process.
pub(crate) const CHILD: &str = "wait-and-tell";

const PICKUPS: usize = 300;

/// Prints the time from commit to claim, and the processor time of waiting.
pub(crate) fn measure() {
    let folder = Scratch::new();
    let path = folder.path("baton.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = Sqlite::open(&path).expect("a store");
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program).arg(CHILD).arg(&path).stdout(Stdio::piped()).spawn().expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut told = || lines.next().expect("the child goes on").expect("text");
    assert_eq!(told(), "waiting");
    let mut waits = Vec::new();
    for _ in 0..PICKUPS {
        // The child must be idle again before the next one comes.
        thread::sleep(Duration::from_millis(10));
        runtime.block_on(cycle::send(&store));
        let committed = since_1970();
        let has_it = Duration::from_nanos(told().parse().expect("a number"));
        waits.push(has_it.saturating_sub(committed));
    }
    let before = Usage::of(child.id()).expect("the child runs").cpu;
    let idle = Duration::from_secs(10);
    thread::sleep(idle);
    let usage = Usage::of(child.id()).expect("the child runs");
    let share = (usage.cpu - before).as_secs_f64() / idle.as_secs_f64() * 100.0;
    child.kill().and_then(|()| child.wait()).expect("the child ends");
    println!("{}", Figure::heading());
    let milliseconds = |share: f64| percentile(&waits, share).as_secs_f64() * 1e3;
    for (name, limit, ours) in [("p50", 3.0, milliseconds(0.5)), ("p99", 15.0, milliseconds(0.99))] {
        let name = format!("pick-up from idle, {name}");
        println!("{}", Figure { name, ours, limit: Limit::AtMost(limit), unit: "ms" });
    }
    let name = "idle processor time of a waiting process".to_owned();
    println!("{}", Figure { name, ours: share, limit: Limit::AtMost(0.5), unit: "%" });
}

/// Waits for handoffs like a worker, and prints when it has each.
pub(crate) fn wait_and_tell(path: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let wish = Wish { agent: "b".to_owned(), claimant: "waiting".to_owned(), lease_ms: 60_000, count: 1 };
    runtime.block_on(async {
        let store = Sqlite::open(path).expect("a store");
        tell("waiting");
        loop {
            let seen = store.changes();
            // Whatever the sender's clock says, it is ready.
            let now = jiff::Timestamp::from_second(1_900_000_000).expect("a time");
            if store.claim(&wish, now).await.expect("a claim").is_empty() {
                store.changed(seen, Duration::from_secs(60)).await;
            } else {
                tell(&since_1970().as_nanos().to_string());
            }
        }
    });
}

fn tell(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent reads");
}

#[expect(clippy::disallowed_methods, reason = "two processes compare their times")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970")
}

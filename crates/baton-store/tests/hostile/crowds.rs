//! Crowds: 64 processes that send 10 000 handoffs at once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use baton_engine::Store;
use baton_store::Location;
use baton_testbed::{PostgresServer, Process, Scratch};

use crate::bed::{request, run, time, wish};
use crate::role::{Role, say, wait_for_the_parent};

const PROCESSES: usize = 64;
const HANDOFFS: usize = 10_000;
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn ten_thousand_handoffs_of_64_processes_are_all_there_once_on_sqlite() {
    let scratch = Scratch::new();
    let location = Location::Sqlite(scratch.path("store/baton.db"));
    crowd("SQLite", &location, scratch.path("store/baton.db").to_str().expect("UTF-8"));
}

#[test]
fn ten_thousand_handoffs_of_64_processes_are_all_there_once_on_postgres() {
    let server = PostgresServer::start();
    let url = server.new_database();
    crowd("PostgreSQL", &Location::Postgres(url.clone()), &url);
}

fn crowd(what: &str, location: &Location, store: &str) {
    let start = Instant::now();
    // Nobody has made the store: all of them want to.
    let shares = (0..PROCESSES).map(|number| HANDOFFS / PROCESSES + usize::from(number < HANDOFFS % PROCESSES));
    let role =
        |(number, count): (usize, usize)| Role::Sender { store: store.to_owned(), name: format!("p{number}"), count };
    let mut processes: Vec<Process> = shares.enumerate().map(|share| role(share).start()).collect();
    for process in &processes {
        process.stdout.find("ready", LIMIT).expect("it opens the store");
    }
    let opened = start.elapsed();
    for process in &mut processes {
        process.send_line("go");
    }
    let mut sent = BTreeSet::new();
    for process in &mut processes {
        for line in process.stdout.rest(LIMIT).expect("it ends") {
            assert!(!line.starts_with("wrong"), "{line}");
            sent.extend(line.strip_prefix("accepted ").map(str::to_owned));
        }
        assert!(process.wait(LIMIT).is_some_and(|status| status.success()));
    }
    let time = start.elapsed() - opened;
    assert_eq!(sent.len(), HANDOFFS);
    let claimed = run(async {
        let store = baton_store::open(location).await.expect("the store is sound");
        claim_all(&*store).await
    });
    assert_eq!(claimed, sent, "each is handed out once");
    let rate = HANDOFFS as f64 / time.as_secs_f64();
    println!(
        "{what}: {PROCESSES} processes opened the store in {:.1} s and sent {HANDOFFS} handoffs in {:.1} s, {rate:.0}/s",
        opened.as_secs_f64(),
        time.as_secs_f64()
    );
}

/// Claims everything; nothing may come twice.
async fn claim_all(store: &dyn Store) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    loop {
        let claimed = store.claim(&wish(500), time(1)).await.expect("it can be claimed");
        if claimed.is_empty() {
            return names;
        }
        for claimed in claimed {
            assert_eq!(claimed.handoff.version, 2, "accepted once and claimed once");
            assert!(names.insert(claimed.handoff.id.to_string()), "{} came twice", claimed.handoff.id);
        }
    }
}

/// Sends requests, each said aloud after it was accepted.
pub(crate) async fn send(location: &Location, name: &str, count: usize) {
    let store = match baton_store::open(location).await {
        Ok(store) => store,
        Err(error) => return say(&format!("wrong {error:?}")),
    };
    say("ready");
    wait_for_the_parent();
    for number in 0..count {
        let text = format!("{name}-{number}");
        match store.accept(vec![request(&text, 100)], time(0)).await {
            Ok(accepted) if !accepted[0].existing => say(&format!("accepted {text}")),
            other => say(&format!("wrong {text}: {other:?}")),
        }
    }
}

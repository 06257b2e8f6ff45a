//! The torture of a store: processes are killed and stopped, and the server is, until the time is over; then everything
//! is drained and looked at.

use std::time::{Duration, Instant};

use baton_store::Location;
use baton_testbed::{Dice, PostgresServer};

use crate::crowd::{Casting, Crowd};
use crate::ledger::Ledger;
use crate::role::{Role, persist};
use crate::settings::Settings;
use crate::verdict;

/// Tortures a store.
pub(crate) fn torture(settings: &Settings, location: &Location, server: Option<&PostgresServer>) {
    let mut dice = Dice::new(settings.seed);
    let mut ledger = Ledger::default();
    let mut crowd = Crowd::new(casting(location));
    let start = Instant::now();
    let mut server_dies_at = start + Duration::from_millis(1500);
    while start.elapsed() < settings.time {
        crowd.revive(&mut ledger, &mut dice);
        crowd.listen(&mut ledger, Duration::from_millis(20 + dice.below(130)));
        match dice.below(10) {
            0..=4 => crowd.kill_worker(&mut ledger, &mut dice),
            5..=6 => crowd.kill_sender(&mut ledger, &mut dice),
            7..=8 => crowd.stop_worker(&mut ledger, &mut dice),
            _ => {}
        }
        if let Some(server) = server
            && server_dies_at <= Instant::now()
        {
            server.kill();
            ledger.kill("server");
            if dice.chance(0.5) {
                crowd.kill_worker(&mut ledger, &mut dice);
            }
            crowd.listen(&mut ledger, Duration::from_millis(dice.below(200)));
            server.restart();
            server_dies_at = Instant::now() + Duration::from_millis(500 + dice.below(2500));
        }
        assert!(ledger.broken.is_empty(), "{:#?}", ledger.broken);
    }
    crowd.kill_all(&mut ledger, &mut dice);
    let chaos = start.elapsed();
    crowd.drain(&mut ledger, &mut dice);
    let drained = start.elapsed() - chaos;
    let found = verdict(location, &ledger);
    println!(
        "{}: {} handoffs accepted ({} bundles came again after a kill), {} completed, {} failed for good, {} links of \
         chains; {} senders, {} workers and {} servers killed, {} workers stopped; {} late documents refused, {} \
         attempts retried, {} rescued; the store was away {} times; {} events in {} runs verified; {:.1} s of torture, \
         {:.1} s to drain, {:.1} s to verify",
        settings.what,
        ledger.accepted.len(),
        ledger.resent,
        found.completed,
        found.failed,
        found.links,
        ledger.killed("sender"),
        ledger.killed("worker"),
        ledger.killed("server"),
        ledger.killed("stopped"),
        found.refused,
        found.retried,
        ledger.rescued,
        ledger.away.0,
        found.events,
        found.runs,
        chaos.as_secs_f64(),
        drained.as_secs_f64(),
        (start.elapsed() - chaos - drained).as_secs_f64(),
    );
    assert!(found.completed > 100, "too little happened to mean anything");
    assert!(ledger.killed("worker") > 5 && ledger.killed("sender") > 0, "too little was killed to mean anything");
    assert!(server.is_none() || ledger.killed("server") > 0, "the server was never killed");
}

fn casting(location: &Location) -> Casting {
    let store = match location {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Postgres(url) => url.clone(),
        Location::Server(address) => address.to_string(),
    };
    let sent_to = store.clone();
    Casting {
        sender: Box::new(move |name, from, count| Role::Sender { store: sent_to.clone(), name, from, count }),
        worker: Box::new(move |name, seed, calm| Role::Worker { store: store.clone(), name, seed, calm }),
        senders: 3,
        workers: 5,
        open_max: 800,
    }
}

fn verdict(location: &Location, ledger: &Ledger) -> verdict::Found {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = persist(|| baton_store::open(location)).await.expect("the store is there");
        verdict::look(&*store, ledger).await
    })
}

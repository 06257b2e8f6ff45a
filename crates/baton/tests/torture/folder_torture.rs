//! The torture of folders: processes are killed and stopped until the time is over, while somebody looks at what can be
//! seen; then everything is drained and looked at.

use std::path::Path;
use std::time::{Duration, Instant};

use baton_agents::directory::Directory;
use baton_testbed::Dice;

use crate::crowd::{Casting, Crowd};
use crate::folder_verdict;
use crate::ledger::Ledger;
use crate::role::{Role, now};
use crate::settings::Settings;

/// Tortures folders.
pub(crate) fn torture(settings: &Settings, root: &Path) {
    let directory = Directory::init(root).expect("folders can be made");
    let mut dice = Dice::new(settings.seed);
    let mut ledger = Ledger::default();
    let mut crowd = Crowd::new(casting(root));
    let start = Instant::now();
    let mut seen = 0;
    while start.elapsed() < settings.time {
        crowd.revive(&mut ledger, &mut dice);
        crowd.listen(&mut ledger, Duration::from_millis(20 + dice.below(130)));
        match dice.below(10) {
            0..=4 => crowd.kill_worker(&mut ledger, &mut dice),
            5..=6 => crowd.kill_sender(&mut ledger, &mut dice),
            7..=8 => crowd.stop_worker(&mut ledger, &mut dice),
            _ => {}
        }
        seen += folder_verdict::glance(&directory, &mut dice);
        assert!(ledger.broken.is_empty(), "{:#?}", ledger.broken);
    }
    crowd.kill_all(&mut ledger, &mut dice);
    let chaos = start.elapsed();
    crowd.drain(&mut ledger, &mut dice);
    let drained = start.elapsed() - chaos;
    let found = folder_verdict::look(&directory, &ledger);
    let sweep = Instant::now();
    directory.sweep(now()).expect("a last sweep");
    println!(
        "{}: {} handoffs created ({} were there after a kill), {} completed, {} with an artifact; {} creators and {} \
         doers killed, {} doers stopped; {} late answers refused, {} attempts retried, {} rescued or repaired; {} files \
         seen in between, all of them whole; {:.1} s of torture, {:.1} s to drain, {:.2} s for the last sweep",
        settings.what,
        ledger.accepted.len(),
        ledger.resent,
        found.completed,
        found.artifacts,
        ledger.killed("sender"),
        ledger.killed("worker"),
        ledger.killed("stopped"),
        ledger.late.len(),
        found.retried,
        ledger.rescued,
        seen,
        chaos.as_secs_f64(),
        drained.as_secs_f64(),
        sweep.elapsed().as_secs_f64(),
    );
    assert!(found.completed > 100, "too little happened to mean anything");
    assert!(ledger.killed("worker") > 5 && ledger.killed("sender") > 0, "too little was killed to mean anything");
}

fn casting(root: &Path) -> Casting {
    let (created_in, done_in) = (root.to_owned(), root.to_owned());
    Casting {
        sender: Box::new(move |name, from, count| Role::Creator { root: created_in.clone(), name, from, count }),
        worker: Box::new(move |name, seed, calm| Role::Doer { root: done_in.clone(), name, seed, calm }),
        senders: 2,
        workers: 5,
        open_max: 300,
    }
}

//! Ring 4: bugs that are planted in the engine on purpose. The worlds of chance must find each of them.

use baton_engine::sabotage::{BUGS, Bug, plant};
use baton_simulation::world::live;

/// Lives in one world after the other until something goes wrong; returns its seed and the promise that was broken.
fn found(bug: Bug, seeds: std::ops::RangeInclusive<u64>) -> Option<(u64, &'static str)> {
    plant(Some(bug));
    let mut worlds = seeds.map(|seed| (seed, live(seed)));
    let found = worlds.find_map(|(seed, ended)| Some((seed, ended.wrong.first()?.promise)));
    plant(None);
    found
}

#[test]
fn look() {
    for bug in BUGS {
        let began = std::time::Instant::now();
        println!("{bug:?}: {:?} in {:?}", found(bug, 1..=40), began.elapsed());
    }
}

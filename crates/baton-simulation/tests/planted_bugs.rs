//! Ring 4: bugs that are planted in the engine on purpose. The worlds of chance must find each of them.

use baton_engine::sabotage::{BUGS, Bug, plant};
use baton_simulation::world::live;

/// Lives in one world after the other until something goes wrong; returns its seed and the promise that was broken.
fn found(bug: Bug, seeds: &[u64]) -> Option<(u64, &'static str)> {
    plant(Some(bug));
    let mut worlds = seeds.iter().map(|seed| (*seed, live(*seed)));
    let found = worlds.find_map(|(seed, ended)| Some((seed, ended.wrong.first()?.promise)));
    plant(None);
    found
}

#[test]
fn look() {
    let only = std::env::var("BUG").ok();
    for bug in BUGS.into_iter().filter(|bug| only.as_ref().is_none_or(|only| format!("{bug:?}") == *only)) {
        let began = std::time::Instant::now();
        println!("{bug:?}: {:?} in {:?}", found(bug, &[42, 6, 10, 53, 18, 23, 13, 50, 44, 25, 22, 21, 55, 39, 36, 48, 19, 20, 59, 31]), began.elapsed());
    }
}

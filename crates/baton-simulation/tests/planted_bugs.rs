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
        println!(
            "{bug:?}: {:?} in {:?}",
            found(
                bug,
                &[
                    58, 18, 8, 44, 66, 24, 5, 42, 61, 35, 6, 53, 16, 13, 10, 50, 41, 45, 21, 23, 52, 17, 48, 25, 64,
                    39, 33, 59, 55, 20, 56, 62, 7, 4, 26, 36, 22, 65, 63, 27, 34, 46, 11, 12, 43, 9, 28, 31, 19, 15,
                    40, 30, 32, 37, 57, 47, 1, 29, 2, 54, 38, 14, 3, 60, 49, 51
                ]
            ),
            began.elapsed()
        );
    }
}

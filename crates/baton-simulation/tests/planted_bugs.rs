//! Ring 4: bugs that are planted in the engine on purpose. The worlds of chance must find each of them.

use baton_engine::sabotage::{BUGS, Bug, plant};
use baton_simulation::world::live;

/// Every bug, and the seed of a world that finds it. Whatever changes how the engine calls its store makes other worlds of
/// the same seeds, so a few others are tried, too; the test prints who found what.
const FOUND_BY: [(Bug, u64); 25] = [
    (Bug::ApprovedFilesNotSeenAgain, 44),
    (Bug::BackoffIgnored, 44),
    (Bug::CallOffForgetsOne, 18),
    (Bug::CounterNotCounted, 8),
    (Bug::DelegationDoesNotReturn, 24),
    (Bug::EscalationForgotten, 80),
    (Bug::FenceNotCompared, 58),
    (Bug::FenceNotRaised, 58),
    (Bug::GateDecidedTwice, 8),
    (Bug::GroupEndsWithOpenLane, 8),
    (Bug::HeartbeatForgetsOne, 44),
    (Bug::LateReportCounts, 93),
    (Bug::LeaseGuardLeftOut, 305),
    (Bug::LimitWaivedForAll, 24),
    (Bug::OutageEndsDriver, 44),
    (Bug::OwnEventsNotRead, 58),
    (Bug::OwnLeaseExpires, 24),
    (Bug::PhaseNotEntered, 8),
    (Bug::RefutedCounts, 8),
    (Bug::ResultLostInOutage, 24),
    (Bug::RetriesNotCounted, 44),
    (Bug::ReviewSkipped, 44),
    (Bug::RouteInSecondTransaction, 8),
    (Bug::TakeOverForgetsAttempts, 44),
    (Bug::TakesFromTheLiving, 58),
];

/// The worlds that are tried beside the known one, those that end soonest first.
const OTHERS: [u64; 32] = [
    58, 18, 8, 44, 66, 24, 5, 42, 61, 35, 6, 53, 16, 13, 10, 50, 41, 45, 21, 23, 52, 17, 48, 25, 64, 39, 33, 59, 55,
    20, 56, 62,
];

/// Lives in one world after the other until something goes wrong; returns its seed and the promise that was broken.
fn found(bug: Bug, first: u64) -> Option<(u64, &'static str)> {
    plant(Some(bug));
    let others = OTHERS.into_iter().chain(67..=600).filter(|seed| *seed != first);
    let seeds = std::iter::once(first).chain(others);
    let found =
        seeds.map(|seed| (seed, live(seed))).find_map(|(seed, ended)| Some((seed, ended.wrong.first()?.promise)));
    plant(None);
    found
}

/// Returns what is wrong: nobody finds the bug, or the world that does is no proof because something goes wrong in it anyway.
fn wrong(bug: Bug, first: u64) -> Option<String> {
    let Some((seed, promise)) = found(bug, first) else { return Some(format!("nobody has found {bug:?}")) };
    println!("(Bug::{bug:?}, {seed}): {promise}");
    let sound = live(seed);
    (!sound.wrong.is_empty()).then(|| format!("world {seed} breaks a promise without {bug:?}, too: {}", sound.told))
}

#[test]
fn every_planted_bug_is_found_in_a_world_that_is_sound_without_it() {
    assert!(BUGS.iter().all(|bug| FOUND_BY.iter().any(|(known, _)| known == bug)), "a bug without a seed");
    // A bug is planted in one thread only, so two of them can look at the same time.
    let halves = [0, 1].map(|half| {
        std::thread::spawn(move || {
            let own = FOUND_BY.into_iter().skip(half).step_by(2);
            own.filter_map(|(bug, seed)| wrong(bug, seed)).collect::<Vec<_>>()
        })
    });
    let told: Vec<String> = halves.into_iter().flat_map(|half| half.join().expect("a world does not panic")).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

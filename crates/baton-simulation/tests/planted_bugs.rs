//! Ring 4: bugs that are planted in the engine on purpose. The worlds of chance must find each of them.

use baton_engine::sabotage::{BUGS, Bug, plant};
use baton_simulation::world::live;

/// Every bug, and the seed of a world that finds it. Whatever changes how the engine calls its store makes other worlds of
/// the same seeds, so a few others are tried, too.
const FOUND_BY: [(Bug, u64); 24] = [
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
    (Bug::LeaseGuardLeftOut, 101),
    (Bug::LimitWaivedForAll, 24),
    (Bug::OutageEndsDriver, 44),
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
    let others = OTHERS.into_iter().chain(67..=200).filter(|seed| *seed != first);
    let seeds = std::iter::once(first).chain(others);
    let found =
        seeds.map(|seed| (seed, live(seed))).find_map(|(seed, ended)| Some((seed, ended.wrong.first()?.promise)));
    plant(None);
    found
}

#[test]
fn every_planted_bug_is_found() {
    assert!(BUGS.iter().all(|bug| FOUND_BY.iter().any(|(known, _)| known == bug)), "a bug without a seed");
    // A bug is planted in one thread only, so two of them can look at the same time.
    let halves = [0, 1].map(|half| {
        std::thread::spawn(move || {
            let own = FOUND_BY.into_iter().skip(half).step_by(2);
            own.filter(|(bug, seed)| found(*bug, *seed).is_none()).map(|(bug, _)| bug).collect::<Vec<_>>()
        })
    });
    let missed: Vec<Bug> = halves.into_iter().flat_map(|half| half.join().expect("a world does not panic")).collect();
    assert!(missed.is_empty(), "nobody has found {missed:?}");
}

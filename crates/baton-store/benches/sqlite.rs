//! SQLite beside its physical limits, measured in the same run: the bare driver with the same number of durable commits.
//!
//! `cargo bench -p baton-store --bench sqlite` prints everything; a word after `--` (cycles, chain, curve, lists, pickup) one part.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "sqlite/bare.rs"]
mod bare;
#[path = "sqlite/chain.rs"]
mod chain;
#[path = "sqlite/curve.rs"]
mod curve;
#[path = "sqlite/cycle.rs"]
mod cycle;
#[path = "lists.rs"]
mod lists;
#[path = "pickup.rs"]
mod pickup;

use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, median};

/// How often ours and the bare driver take turns.
const ROUNDS: usize = 5;

fn main() {
    if pickup::plays_child() {
        return;
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    if wanted("cycles") {
        cycles();
    }
    if wanted("chain") {
        chain();
    }
    if wanted("curve") {
        curve::measure();
    }
    if wanted("lists") {
        lists();
    }
    if wanted("pickup") {
        let folder = Scratch::new();
        let location = folder.path("baton.db").display().to_string();
        println!("{}", Figure::heading());
        pickup::measure(&location).iter().for_each(|figure| println!("{figure}"));
    }
}

/// Runs of ten steps, one after the other, beside the bare driver with as many commits.
fn chain() {
    println!("{}", Figure::heading());
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let folder = Scratch::new();
        let bare = bare::commits_per_second(&folder.path("bare.db"), 1, 2_000) / 2.0;
        rounds.push((chain::steps_per_second(&folder.path("baton.db"), 100), bare));
    }
    let ours = median(&rounds.iter().map(|(ours, _)| *ours).collect::<Vec<_>>());
    let bare = median(&rounds.iter().map(|(_, bare)| *bare).collect::<Vec<_>>());
    let ratio = median(&rounds.iter().map(|(ours, bare)| ours / bare).collect::<Vec<_>>());
    println!("chain: {ours:.0} steps/s, bare driver {bare:.0} steps/s, ratio {ratio:.2}");
    let name = "steps of a run, of the bare driver's".to_owned();
    println!("{}", Figure { name, ours: ratio, limit: Limit::AtLeast(0.5), unit: "×" });
}

/// Lists and counts beside more and more finished handoffs.
fn lists() {
    println!("{}", Figure::heading());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let costs = lists::FINISHED.map(|finished| {
        let folder = Scratch::new();
        curve::fill(&folder.path("baton.db"), finished);
        let store = Sqlite::open(&folder.path("baton.db")).expect("a store");
        (finished, runtime.block_on(lists::sample(&store)))
    });
    lists::compare(&costs).iter().for_each(|figure| println!("{figure}"));
}

fn cycles() {
    println!("{}", Figure::heading());
    for (clients, share) in [(1, 0.6), (64, 0.5)] {
        let cycles = if clients == 1 { 1_000 } else { 12_000 };
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let folder = Scratch::new();
            let bare = bare::commits_per_second(&folder.path("bare.db"), clients, cycles * 3) / 3.0;
            let ours = cycle::cycles_per_second(&folder.path("baton.db"), clients, cycles);
            rounds.push((ours, bare));
        }
        let ours = median(&rounds.iter().map(|(ours, _)| *ours).collect::<Vec<_>>());
        let bare = median(&rounds.iter().map(|(_, bare)| *bare).collect::<Vec<_>>());
        let ratio = median(&rounds.iter().map(|(ours, bare)| ours / bare).collect::<Vec<_>>());
        println!("{clients} clients: {ours:.0} cycles/s, bare driver {bare:.0} cycles/s, ratio {ratio:.2}");
        let name = format!("cycles at {clients} clients, of the bare driver's");
        println!("{}", Figure { name, ours: ratio, limit: Limit::AtLeast(share), unit: "×" });
    }
}

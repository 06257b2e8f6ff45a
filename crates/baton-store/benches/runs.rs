//! The engine itself: runs of ten phases with an agent that answers at once inside the process, on SQLite with durable
//! commits, beside the bare driver with one durable commit per step.
//!
//! `cargo bench -p baton-store --bench runs` prints everything; a word after `--` (sequential, together, foreach, taking)
//! one part. The word `instructions` counts those of a step instead, which needs valgrind.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "sqlite/bare.rs"]
mod bare;
#[path = "runs/instant.rs"]
mod instant;
#[path = "runs/instructions.rs"]
mod instructions;
#[path = "runs/long.rs"]
mod long;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_engine::RunId;
use baton_engine::driver::End;
use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit, median, percentile, rate};
use tokio::sync::watch;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many phases a run has.
const PHASES: usize = 10;

/// How many commits the bare driver makes.
const BARE_COMMITS: usize = 2_000;

/// How often ours and the bare driver take turns.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [instructions::REPEAT, runs] => return instructions::repeat(runs),
        ["instructions"] => return instructions::count(),
        _ => {}
    }
    println!("{}", Figure::heading());
    // First, because the peak of the memory is that of the whole process.
    if wanted("foreach") {
        long::foreach();
    }
    if wanted("taking") {
        long::taking_over();
    }
    if wanted("sequential") {
        measure("one run after the other", 1, 60, 0.35);
    }
    if wanted("together") {
        measure("50 runs at once", 50, 400, 0.12);
    }
}

/// Measures so many runs, so many of them at once. The goal is a share of the bare driver's commits, with one commit per
/// step.
fn measure(name: &str, at_once: usize, runs: usize, goal: f64) {
    let (mut ours, mut ratios, mut latencies) = (Vec::new(), Vec::new(), Vec::new());
    let (mut costs, mut bare_costs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let folder = Scratch::new();
        let before = long::processor_time();
        let bare = bare::commits_per_second(&folder.path("bare.db"), at_once, BARE_COMMITS);
        let between = long::processor_time();
        let (steps, times) = steps_per_second(&folder.path("baton.db"), at_once, runs);
        let each = |time: Duration, count: usize| time.as_secs_f64() * 1e3 / count as f64;
        bare_costs.push(each(between - before, BARE_COMMITS));
        costs.push(each(long::processor_time() - between, runs / at_once * at_once * PHASES));
        println!("  {name}: {steps:.0} steps/s; bare driver {bare:.0} commits/s");
        ours.push(steps);
        ratios.push(steps / bare);
        latencies.extend(times);
    }
    let milliseconds = |share: f64| percentile(&latencies, share).as_secs_f64() * 1e3;
    println!("  step latency p50 {:.2} ms, p99 {:.2} ms", milliseconds(0.5), milliseconds(0.99));
    let (cost, bare_cost) = (median(&costs), median(&bare_costs));
    println!("  {:.0} steps/s, {cost:.3} ms of a processor each; a bare commit {bare_cost:.4} ms", median(&ours));
    let name = format!("steps beside bare commits, {name}");
    println!("{}", Figure { name, ours: median(&ratios), limit: Limit::AtLeast(goal), unit: "" });
}

/// Returns how many steps per second runs take, and how long each step took.
fn steps_per_second(path: &Path, at_once: usize, runs: usize) -> (f64, Vec<Duration>) {
    // `baton run` has one thread for its run, `baton serve` all processors for many.
    let runtime = match at_once {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        _ => tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build(),
    };
    runtime.expect("a runtime").block_on(async {
        let store: Arc<dyn baton_engine::Store> = Arc::new(Sqlite::open(path).expect("a store"));
        let definition = Arc::new(instant::definition(PHASES));
        let start = Instant::now();
        let lanes = (0..at_once).map(|lane| {
            let (store, definition) = (store.clone(), definition.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                for number in 0..runs / at_once {
                    let ears = Arc::new(instant::Stopwatch::default());
                    let driver = instant::driver(store.clone(), ears.clone());
                    let run = RunId::parse(format!("run-{lane:03}-{number:05}")).expect("a safe id");
                    driver.begin(&run, &definition, "bench").await.expect("begun");
                    let (_stop, stopped) = watch::channel(false);
                    let end = driver.drive(&run, None, stopped).await.expect("driven");
                    assert_eq!(end, End::Completed);
                    times.extend(ears.times());
                }
                times
            })
        });
        let mut times = Vec::new();
        for lane in lanes.collect::<Vec<_>>() {
            times.extend(lane.await.expect("a lane ends"));
        }
        (rate((runs / at_once * at_once * PHASES) as u64, start.elapsed()), times)
    })
}

//! How long it takes to make the pages of a run with ten thousand events, and how large they are.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/samples/mod.rs"]
#[expect(dead_code, reason = "the benchmark needs the long run only")]
mod samples;

use std::hint::black_box;
use std::time::{Duration, Instant};

use baton_page::layout::Theme;
use baton_testbed::gauge::percentile;

const EVENTS: usize = 10_000;
const ROUNDS: usize = 50;

fn main() {
    let stage = samples::long("long-1", EVENTS);
    let viewer = samples::viewer(3, Theme::System);
    println!("{} events", stage.run.seq);
    println!("| page | kB | median | 99 % |");
    println!("|---|--:|--:|--:|");
    samples::with_run(&stage, Some(9_000), |page| {
        measure("run", || baton_page::run::page(&viewer, page).into_string());
        measure("flow", || baton_page::run::flow_page(&viewer, page).into_string());
        measure("handoffs", || baton_page::run::handoffs_page(&viewer, page, 0).into_string());
        measure("text", || baton_page::plain::run(&viewer, page));
    });
    measure("journal", || samples::journal(&viewer, &stage).into_string());
}

fn measure(name: &str, make: impl Fn() -> String) {
    let bytes = make().len();
    let rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            black_box(make());
            begin.elapsed()
        })
        .collect();
    let (middle, slow) = (percentile(&rounds, 0.5), percentile(&rounds, 0.99));
    println!("| {name} | {} | {middle:.1?} | {slow:.1?} |", bytes.div_ceil(1000));
}

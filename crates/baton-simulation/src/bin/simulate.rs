//! Lets worlds of chance live for as many hours as asked: `simulate HOURS SEED [hail]`. `cargo xtask simulate` builds it for
//! release and starts it.
#![expect(clippy::print_stdout, reason = "it tells how far it is, and what came out")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use baton_simulation::figures::Figures;
use baton_simulation::world::{Storm, live_in};

/// How often it tells how far it is.
const TELLS_EVERY: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((hours, seed, storm)) = understood(&arguments) else {
        println!("usage: simulate HOURS SEED [hail]");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let mut told = began;
    let mut figures = Figures::default();
    let mut next = seed;
    while figures.hours() < hours {
        let ended = live_in(next, storm);
        if !ended.wrong.is_empty() {
            let weather = if storm == Storm::Hail { " --hail" } else { "" };
            println!(
                "{}\nseed {next} went wrong; live it again: cargo xtask simulate --hours 1 --seed {next}{weather}",
                ended.told
            );
            return ExitCode::FAILURE;
        }
        figures.add(&ended);
        next += 1;
        if told.elapsed() > TELLS_EVERY {
            told = Instant::now();
            let (simulated, kills) = (figures.hours(), figures.kills());
            println!(
                "{simulated} of {hours} hours, {kills} kills, {} worlds, {} s",
                figures.worlds,
                began.elapsed().as_secs()
            );
        }
    }
    println!("seeds {seed} to {}, {} s\n{}", next - 1, began.elapsed().as_secs(), figures.table());
    ExitCode::SUCCESS
}

fn understood(arguments: &[String]) -> Option<(u64, u64, Storm)> {
    let (numbers, storm) = match arguments {
        [numbers @ .., word] if word == "hail" => (numbers, Storm::Hail),
        numbers => (numbers, Storm::Usual),
    };
    let [hours, seed] = numbers else { return None };
    Some((hours.parse().ok()?, seed.parse().ok()?, storm))
}

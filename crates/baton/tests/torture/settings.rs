//! How long the torture lasts, and with which seed.

use std::time::Duration;

use baton_testbed::Dice;

/// Short enough for every run of the tests.
const SHORT: Duration = Duration::from_secs(6);

/// How long the torture lasts, and with which seed.
pub(crate) struct Settings {
    /// What is tortured.
    pub(crate) what: &'static str,
    /// How long processes are killed.
    pub(crate) time: Duration,
    /// What the dice are made with.
    pub(crate) seed: u64,
}

impl Settings {
    /// Reads the environment: without minutes it is short, with the seed given here.
    pub(crate) fn read(what: &'static str, short_seed: u64) -> Settings {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let seed = number("BATON_TORTURE_SEED");
        let settings = match number("BATON_TORTURE_MINUTES") {
            Some(minutes) => Settings {
                what,
                time: Duration::from_secs(60 * minutes),
                seed: seed.unwrap_or_else(|| Dice::fresh().seed()),
            },
            None => Settings { what, time: SHORT, seed: seed.unwrap_or(short_seed) },
        };
        println!("{what}: torture for {} s with seed {}", settings.time.as_secs(), settings.seed);
        settings
    }
}

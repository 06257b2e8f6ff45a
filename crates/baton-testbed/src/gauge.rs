//! What benchmarks measure and how they show it. Judges nothing beyond one limit per figure.

use std::fmt;
use std::time::Duration;

use baton_host::ProcessStat;

use crate::children::children;

/// Returns the duration that this share of all durations does not exceed (0.5 is the median), by the nearest rank.
pub fn percentile(durations: &[Duration], share: f64) -> Duration {
    assert!(!durations.is_empty(), "nothing was measured");
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted[rank.max(1) - 1]
}

/// Returns how often per second something happened.
pub fn rate(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

/// Returns the middle of several runs; of an even number of them the mean of the two in the middle.
pub fn median(runs: &[f64]) -> f64 {
    assert!(!runs.is_empty(), "nothing was measured");
    let mut sorted = runs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// What a process has used up to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor, in user and kernel mode, of all threads; in steps of a clock tick (10 ms).
    pub cpu: Duration,
    /// Memory that is not swapped out, shared memory included.
    pub resident_bytes: u64,
}

impl Usage {
    /// Reads what a process uses, or nothing if it is gone.
    pub fn of(process: u32) -> Option<Self> {
        let stat = ProcessStat::of(process)?;
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        Some(Usage {
            cpu: Duration::from_micros(stat.cpu_ticks * 1_000_000 / ticks_per_second),
            resident_bytes: stat.resident_pages * rustix::param::page_size() as u64,
        })
    }

    /// Adds up what a process and all that it has started use.
    pub fn of_family(process: u32) -> Self {
        let own = Usage::of(process).unwrap_or(Usage { cpu: Duration::ZERO, resident_bytes: 0 });
        children(process).into_iter().map(Usage::of_family).fold(own, |sum, child| Usage {
            cpu: sum.cpu + child.cpu,
            resident_bytes: sum.resident_bytes + child.resident_bytes,
        })
    }
}

/// What a figure must keep to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// More is worse: times, memory.
    AtMost(f64),
    /// Less is worse: rates.
    AtLeast(f64),
}

/// One line of the table of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// Our number.
    pub ours: f64,
    /// What it must keep to, in the same unit.
    pub limit: Limit,
    /// Written behind both numbers: `ms`, `/s`.
    pub unit: &'static str,
}

impl Figure {
    /// Returns whether the limit is kept.
    pub fn holds(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.ours <= limit,
            Limit::AtLeast(limit) => self.ours >= limit,
        }
    }

    /// Returns the line above the figures.
    pub fn heading() -> String {
        format!("{:<44} {:>16} {:>18} {:>7}", "name", "ours", "limit", "ratio")
    }
}

/// Name, our number, the limit, and our number as a multiple of the limit; a limit that is broken is marked.
impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, limit) = match self.limit {
            Limit::AtMost(limit) => ("<=", limit),
            Limit::AtLeast(limit) => (">=", limit),
        };
        let ours = format!("{} {}", number(self.ours), self.unit);
        let bound = format!("{sign} {} {}", number(limit), self.unit);
        let ratio = format!("{:.2}", self.ours / limit);
        let mark = if self.holds() { "" } else { "  BROKEN" };
        write!(formatter, "{:<44} {ours:>16} {bound:>18} {ratio:>7}{mark}", self.name)
    }
}

/// Returns about three digits, or the whole number if that has more.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(numbers: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        numbers.into_iter().map(Duration::from_millis).collect()
    }

    #[test]
    fn percentile_is_a_duration_that_was_measured() {
        let durations = milliseconds((1..=100).rev());
        assert_eq!(percentile(&durations, 0.5), Duration::from_millis(50));
        assert_eq!(percentile(&durations, 0.99), Duration::from_millis(99));
        assert_eq!(percentile(&durations, 0.0), Duration::from_millis(1));
        assert_eq!(percentile(&durations, 1.0), Duration::from_millis(100));
        assert_eq!(percentile(&milliseconds([7]), 0.99), Duration::from_millis(7));
    }

    #[test]
    fn median_is_the_middle() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), 3.0);
    }

    #[test]
    fn rate_is_per_second() {
        assert_eq!(rate(30, Duration::from_millis(1500)), 20.0);
    }

    #[test]
    fn own_usage_grows_with_work() {
        let process = std::process::id();
        let before = Usage::of(process).unwrap();
        assert!(before.resident_bytes > 100_000);
        let mut dice = crate::Dice::new(1);
        while Usage::of(process).unwrap().cpu < before.cpu + Duration::from_millis(20) {
            std::hint::black_box((0..100_000).fold(0, |sum: u64, _| sum.wrapping_add(dice.number())));
        }
    }

    #[test]
    fn figures_stand_below_their_heading() {
        let figure = |ours, limit, unit| Figure { name: "accept".to_owned(), ours, limit, unit };
        let fast = figure(2150.4, Limit::AtLeast(1000.0), "/s");
        let slow = figure(12.34, Limit::AtMost(5.0), "ms");
        assert!(fast.holds() && !slow.holds());
        let table = [Figure::heading(), fast.to_string(), slow.to_string()].map(|line| format!("{line}\n")).concat();
        let expected = "\
name                                                     ours              limit   ratio
accept                                                2150 /s         >= 1000 /s    2.15
accept                                                12.3 ms         <= 5.00 ms    2.47  BROKEN
";
        assert_eq!(table, expected);
    }
}

//! How much time writing views may take: a little in any case, then a small share of the run's time.

use std::time::{Duration, Instant};

/// How much time may be spent in any case.
const GRACE: Duration = Duration::from_secs(1);

/// Beyond that, one part in so many of the time that has passed.
const SHARE: u32 = 20;

/// The time that was spent on writing.
pub(super) struct TimeBudget {
    since: Instant,
    spent: Duration,
}

impl TimeBudget {
    pub(super) fn start() -> TimeBudget {
        TimeBudget { since: Instant::now(), spent: Duration::ZERO }
    }

    pub(super) fn spend(&mut self, time: Duration) {
        self.spent += time;
    }

    /// Returns how long it takes until more may be spent.
    pub(super) fn wait(&self) -> Duration {
        wait(self.spent, self.since.elapsed())
    }
}

fn wait(spent: Duration, elapsed: Duration) -> Duration {
    (spent.saturating_sub(GRACE) * SHARE).saturating_sub(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_never_wait_and_long_ones_spend_a_twentieth() {
        let seconds = Duration::from_secs;
        assert_eq!(wait(seconds(1), seconds(0)), seconds(0));
        assert_eq!(wait(seconds(2), seconds(5)), seconds(15));
        assert_eq!(wait(seconds(2), seconds(20)), seconds(0));
        assert_eq!(wait(seconds(61), seconds(600)), seconds(600));
    }
}

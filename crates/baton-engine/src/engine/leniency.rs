//! When whoever looks may notice what has ended: not right after a time in which nobody could say that they live.
//!
//! ```text
//! worker                       whoever waits                store
//! holds a lease for 60 s
//!                                                           away for 70 s
//!                              looks again                  answers
//!                              would take the lease away
//! says that it lives: too late
//! ```

use std::time::Duration;

use jiff::Timestamp;

use crate::driver::LEASE;

/// By how much a pause may be longer than it should before it counts as one in which this process stood still.
const HICCUP: Duration = Duration::from_secs(5);

/// For how long nothing is noticed as ended afterwards. Workers and drivers say within this time that they live.
const GRACE: Duration = Duration::from_secs(LEASE.as_secs() / 3);

/// Lets everybody show that they live before what they hold is taken from them.
#[derive(Debug, Default)]
pub struct Leniency {
    /// When it should look again at the latest.
    looks_until: Option<Timestamp>,
    was_away: bool,
    /// Nothing is noticed as ended before this time.
    lenient_until: Option<Timestamp>,
}

impl Leniency {
    /// Takes note that it will look again after a pause, or before.
    pub fn pauses(&mut self, now: Timestamp, pause: Duration) {
        self.looks_until = now.checked_add(pause + HICCUP).ok();
    }

    /// Takes note that the store could not be reached.
    pub fn store_was_away(&mut self) {
        self.was_away = true;
    }

    /// Returns whether what has ended may be noticed now.
    pub fn may_rescue(&mut self, now: Timestamp) -> bool {
        let stood_still = self.looks_until.take().is_some_and(|until| until < now);
        let was_away = std::mem::take(&mut self.was_away);
        if stood_still || was_away {
            self.lenient_until = now.checked_add(GRACE).ok();
        }
        if self.lenient_until.is_some_and(|until| until <= now) {
            self.lenient_until = None;
        }
        self.lenient_until.is_none()
    }

    /// Returns when something is due that will be noticed then.
    pub fn due(&self, due: Option<Timestamp>) -> Option<Timestamp> {
        due.map(|due| self.lenient_until.map_or(due, |until| until.max(due)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn whoever_was_away_or_stood_still_notices_nothing_for_a_while() {
        let mut leniency = Leniency::default();
        assert!(leniency.may_rescue(at(0)), "somebody who has just come");
        leniency.pauses(at(0), Duration::from_secs(60));
        assert!(leniency.may_rescue(at(64)));
        leniency.pauses(at(64), Duration::from_secs(10));
        assert!(!leniency.may_rescue(at(80)), "it stood still");
        assert_eq!(leniency.due(Some(at(70))), Some(at(100)));
        leniency.pauses(at(80), Duration::from_secs(20));
        assert!(leniency.may_rescue(at(100)));
        assert_eq!(leniency.due(Some(at(70))), Some(at(70)));
        leniency.store_was_away();
        assert!(!leniency.may_rescue(at(101)));
        assert!(!leniency.may_rescue(at(120)));
        assert!(leniency.may_rescue(at(121)));
    }
}

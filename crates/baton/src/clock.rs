//! The real clock: the machine's, except that it never runs backwards and takes notice of what others have seen.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use baton_engine::Clock;
use jiff::Timestamp;

/// Tells the later of the machine's time and the latest time seen plus what has passed since.
///
/// A clock that follows a server does not look at the machine's: all machines must agree on when a lease ends.
#[derive(Debug)]
pub(crate) struct SteadyClock {
    latest: Mutex<Seen>,
    follows_machine: bool,
}

/// A time that was seen, and the moment of that on a clock that nobody can set.
#[derive(Debug, Clone, Copy)]
struct Seen {
    time: Timestamp,
    moment: Instant,
}

impl SteadyClock {
    /// Starts with the machine's time.
    pub(crate) fn start() -> Self {
        let latest = Mutex::new(Seen { time: machine_time(), moment: Instant::now() });
        SteadyClock { latest, follows_machine: true }
    }

    /// Starts with the time of a server, and goes on from there.
    pub(crate) fn following(server: Timestamp) -> Self {
        SteadyClock { latest: Mutex::new(Seen { time: server, moment: Instant::now() }), follows_machine: false }
    }

    fn read(&self, machine: Timestamp, moment: Instant) -> Timestamp {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let steady = latest.at(moment);
        if !self.follows_machine {
            return whole_microseconds(steady);
        }
        if machine > steady {
            *latest = Seen { time: machine, moment };
        }
        whole_microseconds(machine.max(steady))
    }

    fn take_notice(&self, seen: Timestamp, moment: Instant) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if seen > latest.at(moment) {
            *latest = Seen { time: seen, moment };
        }
    }
}

impl Seen {
    fn at(&self, moment: Instant) -> Timestamp {
        let passed = moment.saturating_duration_since(self.moment);
        self.time.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        self.read(machine_time(), Instant::now())
    }

    fn observe(&self, seen: Timestamp) {
        self.take_notice(seen, Instant::now());
    }
}

/// Returns the machine's time, for what knows no store.
#[expect(clippy::disallowed_methods, reason = "this is the clock that is injected everywhere else")]
pub(crate) fn machine_time() -> Timestamp {
    Timestamp::now()
}

/// Stores keep microseconds, so a time must be the same before and after it was stored.
fn whole_microseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    fn clock(moment: Instant) -> SteadyClock {
        SteadyClock { latest: Mutex::new(Seen { time: time(0), moment }), follows_machine: true }
    }

    #[test]
    fn machine_that_is_set_back_does_not_turn_time_back() {
        let start = Instant::now();
        let clock = clock(start);
        assert_eq!(clock.read(time(10), start), time(10));
        assert_eq!(clock.read(time(-3600), start + Duration::from_secs(2)), time(12));
        assert_eq!(clock.read(time(20), start + Duration::from_secs(3)), time(20));
    }

    #[test]
    fn time_goes_on_from_what_others_have_seen() {
        let start = Instant::now();
        let clock = clock(start);
        clock.take_notice(time(100), start);
        clock.take_notice(time(50), start);
        assert_eq!(clock.read(time(1), start + Duration::from_secs(1)), time(101));
    }

    #[test]
    fn machine_that_is_ahead_of_the_server_does_not_count() {
        let start = Instant::now();
        let clock = SteadyClock { follows_machine: false, ..clock(start) };
        assert_eq!(clock.read(time(3600), start + Duration::from_secs(2)), time(2));
    }

    #[test]
    fn times_are_whole_microseconds() {
        let start = Instant::now();
        let read = clock(start).read(time(0), start + Duration::from_nanos(1_999));
        assert_eq!(read.as_nanosecond() % 1_000, 0);
        assert!(SteadyClock::start().now() > time(0));
    }
}

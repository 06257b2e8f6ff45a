//! The real clock: the store's server's or the machine's, except that it never runs backwards.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::{Clock, Store};
use baton_store::boot_time;
use jiff::Timestamp;

/// The clock of the store's server: all machines must agree on when a lease ends.
///
/// Without a server it tells the later of the machine's time and the latest time seen plus what has passed since.
pub(crate) struct SteadyClock {
    latest: Mutex<Seen>,
    server: Option<Arc<dyn Store>>,
}

/// A time that was seen, and how long the machine had been up: that is a clock that nobody can set.
#[derive(Debug, Clone, Copy)]
struct Seen {
    time: Timestamp,
    moment: Duration,
}

impl SteadyClock {
    /// Starts with the machine's time.
    pub(crate) fn start() -> Self {
        SteadyClock { latest: Mutex::new(Seen { time: machine_time(), moment: boot_time() }), server: None }
    }

    /// Follows the server of a store, if it has one.
    pub(crate) fn beside(store: &Arc<dyn Store>) -> Self {
        match store.server_time() {
            Some(time) => {
                SteadyClock { latest: Mutex::new(Seen { time, moment: boot_time() }), server: Some(Arc::clone(store)) }
            }
            None => SteadyClock::start(),
        }
    }

    /// Returns the machine's time, but none before what was seen and what has passed since.
    fn read(&self, machine: Timestamp, moment: Duration) -> Timestamp {
        self.later(machine, moment, moment)
    }

    /// Returns the server's time, but none before what was seen. What has passed since, the server tells.
    fn read_server(&self, server: Timestamp, moment: Duration) -> Timestamp {
        self.later(server, moment, Duration::ZERO)
    }

    fn later(&self, time: Timestamp, moment: Duration, passed_until: Duration) -> Timestamp {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let least = latest.at(passed_until);
        if time > least {
            *latest = Seen { time, moment };
        }
        whole_microseconds(time.max(least))
    }

    fn take_notice(&self, seen: Timestamp, moment: Duration) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if seen > latest.at(moment) {
            *latest = Seen { time: seen, moment };
        }
    }
}

impl Seen {
    fn at(&self, moment: Duration) -> Timestamp {
        let passed = moment.saturating_sub(self.moment);
        self.time.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        match self.server.as_ref().and_then(|store| store.server_time()) {
            Some(server) => self.read_server(server, boot_time()),
            None => self.read(machine_time(), boot_time()),
        }
    }

    fn observe(&self, seen: Timestamp) {
        self.take_notice(seen, boot_time());
    }
}

/// Returns the machine's time, where there is no store.
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
    use super::*;

    /// How long the machine had been up when the test began.
    const START: Duration = Duration::from_secs(1_000);

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    fn clock() -> SteadyClock {
        SteadyClock { latest: Mutex::new(Seen { time: time(0), moment: START }), server: None }
    }

    fn after(seconds: u64) -> Duration {
        START + Duration::from_secs(seconds)
    }

    #[test]
    fn machine_that_is_set_back_does_not_turn_time_back() {
        let clock = clock();
        assert_eq!(clock.read(time(10), START), time(10));
        assert_eq!(clock.read(time(-3600), after(2)), time(12));
        assert_eq!(clock.read(time(20), after(3)), time(20));
    }

    #[test]
    fn time_goes_on_from_what_others_have_seen() {
        let clock = clock();
        clock.take_notice(time(100), START);
        clock.take_notice(time(50), START);
        assert_eq!(clock.read(time(1), after(1)), time(101));
    }

    #[test]
    fn server_that_is_set_back_makes_time_stand_still() {
        let clock = clock();
        assert_eq!(clock.read_server(time(10), after(10)), time(10));
        assert_eq!(clock.read_server(time(4), after(14)), time(10));
        assert_eq!(clock.read_server(time(11), after(21)), time(11));
    }

    #[test]
    fn times_are_whole_microseconds() {
        let read = clock().read(time(0), START + Duration::from_nanos(1_999));
        assert_eq!(read.as_nanosecond() % 1_000, 0);
        assert!(SteadyClock::start().now() > time(0));
    }
}

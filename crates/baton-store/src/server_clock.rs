//! The time of the server, as it was heard with its answers.
//!
//! Between two answers the boot time of this machine goes on from the last one, so that a machine that was suspended
//! is not late. No answer is trusted further than it goes: the server read its clock after we asked and before we heard.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::boot_time;

/// How old what was heard may be before the next answer is asked for the time, too.
const FRESH: Duration = Duration::from_millis(100);

/// Follows the clock of the server.
#[derive(Debug, Default)]
pub(crate) struct ServerClock(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// What to add to the boot time, in microseconds; nothing before the first answer.
    offset: Option<i64>,
    /// When the server was asked last.
    asked: Duration,
}

impl ServerClock {
    /// Returns the time, if the server was heard.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.at(boot_time())
    }

    /// Returns the moment at which the question is asked, if it is time to ask.
    pub(crate) fn asks(&self) -> Option<Duration> {
        self.asks_at(boot_time())
    }

    /// Takes the time that the server reported after it was asked at that moment.
    pub(crate) fn hear(&self, server: Timestamp, asked: Duration) {
        self.hear_at(server, asked, boot_time());
    }

    fn at(&self, moment: Duration) -> Option<Timestamp> {
        let offset = self.heard().offset?;
        Timestamp::from_microsecond(microseconds(moment).saturating_add(offset)).ok()
    }

    fn asks_at(&self, moment: Duration) -> Option<Duration> {
        let mut heard = self.heard();
        let fresh = heard.offset.is_some() && moment.saturating_sub(heard.asked) < FRESH;
        if fresh {
            return None;
        }
        heard.asked = moment;
        Some(moment)
    }

    fn hear_at(&self, server: Timestamp, asked: Duration, answered: Duration) {
        let server = server.as_microsecond();
        let (least, most) = (server - microseconds(answered), server - microseconds(asked));
        let mut heard = self.heard();
        heard.offset = Some(heard.offset.map_or(least, |offset| offset.clamp(least, most.max(least))));
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn microseconds(moment: Duration) -> i64 {
    i64::try_from(moment.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn server(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    #[test]
    fn time_goes_on_from_the_last_answer() {
        let clock = ServerClock::default();
        assert_eq!(clock.at(up(1)), None);
        clock.hear_at(server(1_000), up(10), up(14));
        assert_eq!(clock.at(up(14)), Some(server(1_000)));
        assert_eq!(clock.at(up(500)), Some(server(1_486)));
    }

    #[test]
    fn answer_corrects_a_clock_that_is_late_and_one_that_is_ahead() {
        let clock = ServerClock::default();
        clock.hear_at(server(0), up(0), up(0));
        // Our machine stood still for eight hours without knowing.
        clock.hear_at(server(28_800_000), up(100), up(102));
        assert_eq!(clock.at(up(102)), Some(server(28_800_000)));
        // It runs too fast by 50 ms.
        clock.hear_at(server(28_801_000), up(1_150), up(1_152));
        assert_eq!(clock.at(up(1_152)), Some(server(28_801_002)));
    }

    #[test]
    fn slow_answer_tells_nothing_new() {
        let clock = ServerClock::default();
        clock.hear_at(server(0), up(0), up(0));
        clock.hear_at(server(1_000), up(900), up(9_000));
        assert_eq!(clock.at(up(9_000)), Some(server(9_000)));
    }

    #[test]
    fn server_is_asked_again_when_what_was_heard_is_old() {
        let clock = ServerClock::default();
        assert_eq!(clock.asks_at(up(5)), Some(up(5)));
        clock.hear_at(server(0), up(5), up(6));
        assert_eq!(clock.asks_at(up(50)), None);
        assert_eq!(clock.asks_at(up(105)), Some(up(105)));
        assert_eq!(clock.asks_at(up(106)), None);
    }
}

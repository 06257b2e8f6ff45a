//! Time: one simulated time for the world, and a clock for each machine that may be off and may jump forward.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baton_engine::Clock;
use jiff::Timestamp;
use tokio::time::Instant;

/// When every world begins, in microseconds.
const BEGINNING: i64 = 1_767_225_600_000_000;

/// The clock of a machine. It never runs backwards.
#[derive(Debug)]
pub struct MachineClock {
    started: Instant,
    ahead: Mutex<Duration>,
}

impl MachineClock {
    /// Makes a clock that is so much ahead of the world's time.
    pub fn ahead_by(started: Instant, ahead: Duration) -> MachineClock {
        MachineClock { started, ahead: Mutex::new(ahead) }
    }

    /// Lets it jump forward, as after a suspended night.
    pub fn jump(&self, by: Duration) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        let ahead = *self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let micros = (self.started.elapsed() + ahead).as_micros();
        let micros = BEGINNING + i64::try_from(micros).unwrap_or(i64::MAX / 2);
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
    }

    fn observe(&self, seen: Timestamp) {
        let behind = seen.duration_since(self.now());
        if let Ok(behind) = Duration::try_from(behind) {
            self.jump(behind);
        }
    }
}

/// Lets simulated time pass, while everybody else goes on.
pub async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

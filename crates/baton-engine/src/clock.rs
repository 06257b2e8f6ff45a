//! The time, as a port: the program brings a real clock, tests bring one that they move.

use std::sync::Mutex;

use jiff::Timestamp;

/// Tells the time. It never runs backwards, whatever the machine's clock does.
pub trait Clock: Send + Sync {
    /// Returns the time, in whole microseconds.
    fn now(&self) -> Timestamp;

    /// Takes notice of a time that somebody else has seen: from now on it is not earlier than that.
    fn observe(&self, seen: Timestamp);
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct StillClock(Mutex<Timestamp>);

impl StillClock {
    /// Makes a clock that shows this time.
    pub fn at(time: Timestamp) -> Self {
        StillClock(Mutex::new(time))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: std::time::Duration) {
        let mut time = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *time += by;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn observe(&self, seen: Timestamp) {
        let mut time = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *time = seen.max(*time);
    }
}

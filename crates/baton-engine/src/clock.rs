//! The time, as a port: the program brings a real clock, tests bring one that they move.

use jiff::Timestamp;

/// A clock. It never runs backwards, whatever the machine's clock does.
pub trait Clock: Send + Sync {
    /// Returns the time, in whole microseconds.
    fn now(&self) -> Timestamp;

    /// Takes notice of a time that somebody else has seen: from now on it is not earlier than that.
    fn observe(&self, seen: Timestamp);
}

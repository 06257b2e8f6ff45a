//! Surroundings that stand still: a clock that only a test moves, chance that only counts, and an engine with both.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_protocol::Settings;
use jiff::Timestamp;

use super::MemoryStore;
use crate::clock::Clock;
use crate::engine::{Engine, Random};

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct StillClock(Mutex<Timestamp>);

impl StillClock {
    /// Makes a clock that shows this time.
    pub fn at(time: Timestamp) -> Self {
        StillClock(Mutex::new(time))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *time += by;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, seen: Timestamp) {
        let mut time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *time = seen.max(*time);
    }
}

/// Chance without surprises: every number is one half, and no word comes twice.
#[derive(Debug, Default)]
pub struct CountingRandom(AtomicU64);

impl Random for CountingRandom {
    fn number(&self) -> f64 {
        0.5
    }

    fn word(&self) -> String {
        format!("{:016x}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Makes an engine over an empty store, with the usual settings.
pub fn engine(clock: &Arc<StillClock>) -> Engine {
    Engine {
        store: Arc::new(MemoryStore::new()),
        clock: clock.clone(),
        random: Arc::new(CountingRandom::default()),
        settings: Arc::new(Settings::default()),
        recent: Arc::default(),
    }
}

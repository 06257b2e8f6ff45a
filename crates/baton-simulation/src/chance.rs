//! Chance: everything that a world leaves to it comes from one seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_testbed::Dice;

/// Dice that several hold. The same seed and the same questions give the same answers.
#[derive(Debug, Clone)]
pub struct Chance(Arc<Mutex<Dice>>);

impl Chance {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Chance {
        Chance(Arc::new(Mutex::new(Dice::new(seed))))
    }

    /// Returns dice of their own for somebody: how often they are thrown changes nobody else's.
    #[must_use]
    pub fn fork(&self) -> Chance {
        Chance::new(self.number())
    }

    /// Returns any number.
    pub fn number(&self) -> u64 {
        self.throw(Dice::number)
    }

    /// Returns a number from 0 to `limit - 1`.
    pub fn below(&self, limit: u64) -> u64 {
        self.throw(|dice| dice.below(limit))
    }

    /// Returns `true` with this probability.
    pub fn happens(&self, probability: f64) -> bool {
        self.throw(|dice| dice.chance(probability))
    }

    /// Returns a fraction from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    /// Returns one of the items, which must not be empty.
    pub fn pick<'a, T>(&self, items: &'a [T]) -> &'a T {
        &items[usize::try_from(self.below(items.len() as u64)).unwrap_or_default()]
    }

    /// Returns a time between two, in whole milliseconds.
    pub fn between(&self, least: Duration, most: Duration) -> Duration {
        let span = u64::try_from((most.saturating_sub(least)).as_millis()).unwrap_or(u64::MAX - 1);
        least + Duration::from_millis(self.below(span + 1))
    }

    /// Returns a time that is this long on the average, and seldom much longer.
    pub fn about(&self, usual: Duration) -> Duration {
        let share = -(1.0 - self.fraction()).max(1e-6).ln();
        Duration::from_millis((usual.as_secs_f64() * share * 1e3) as u64)
    }

    fn throw<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Counts by name what has happened.
#[derive(Debug, Clone, Default)]
pub struct Tally(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Tally {
    /// Counts something.
    pub fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    /// Counts something several times.
    pub fn add(&self, what: &'static str, times: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += times;
    }

    /// Returns how often something has happened.
    pub fn of(&self, what: &str) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(what).copied().unwrap_or_default()
    }

    /// Returns everything that has happened.
    pub fn all(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

//! Random numbers that come again with the same seed. Not for secrets.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write as _;

/// A source of random numbers (SplitMix64) that names its seed if the test panics.
#[derive(Debug)]
pub struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    /// Returns dice that fall the same way for the same seed.
    pub fn new(seed: u64) -> Self {
        Dice { seed, state: seed }
    }

    /// Returns dice with a seed that nobody has chosen.
    pub fn fresh() -> Self {
        Dice::new(fresh_seed())
    }

    /// Returns what the dice were made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `limit - 1`.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "no number is below 0");
        let scaled = (u128::from(self.number()) * u128::from(limit)) >> 64;
        u64::try_from(scaled).expect("the product of two u64 has 64 bits above the lower 64")
    }

    /// Returns `true` with this probability, from 0.0 (never) to 1.0 (always).
    pub fn chance(&mut self, probability: f64) -> bool {
        // 53 bits are what the fraction of an f64 holds.
        let fraction = (self.number() >> 11) as f64 / (1_u64 << 53) as f64;
        fraction < probability
    }

    /// Returns one of the items, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).expect("an index below a length")]
    }
}

impl Drop for Dice {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Where nobody listens there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "the dice fell with seed {}", self.seed);
        }
    }
}

/// Returns a number that differs between calls and between processes.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_numbers_of_the_reference() {
        let mut dice = Dice::new(1_234_567);
        let numbers = [dice.number(), dice.number(), dice.number()];
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn every_side_comes_up_and_none_beyond() {
        let mut dice = Dice::new(1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[dice.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    }

    #[test]
    fn chance_is_never_always_or_about_as_often_as_asked() {
        let mut dice = Dice::new(2);
        assert!((0..100).all(|_| !dice.chance(0.0)));
        assert!((0..100).all(|_| dice.chance(1.0)));
        let hits = (0..1000).filter(|_| dice.chance(0.25)).count();
        assert!((200..300).contains(&hits), "{hits}");
    }

    #[test]
    fn pick_reaches_every_item() {
        let mut dice = Dice::new(3);
        let picked: std::collections::BTreeSet<_> = (0..50).map(|_| *dice.pick(&["a", "b", "c"])).collect();
        assert_eq!(picked.len(), 3);
    }

    #[test]
    fn fresh_dice_differ() {
        assert_ne!(Dice::fresh().seed(), Dice::fresh().seed());
    }
}

//! Sessions: an agent whose program can go on where it stopped keeps what it has read and done.
//!
//! Each attempt is one turn of a session. A report that is refused is answered by the next turn of the same session, with
//! the reasons and the contract only; a session that was interrupted goes on; everything else begins a fresh one.

use std::fmt;
use std::ops::{AddAssign, Sub};

use crate::handoff::Digest;

/// How often a report is repaired in one session before a fresh one begins.
pub const REPAIRS_MAX: u32 = 2;

/// How the program of an agent keeps its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// Not at all: every turn is a session of its own.
    OneTurn,
    /// Under a UUID that is chosen before the first turn.
    Chosen,
    /// Under a name that the program tells while it works.
    Told,
}

/// The turn of a session that an attempt is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionTurn {
    /// The session, where it is known before the turn.
    pub id: Option<String>,
    /// Whether it goes on; otherwise it begins.
    pub goes_on: bool,
    /// Whether a report is repaired: what was wrong with the last one is all that the agent is told.
    pub repairs: bool,
}

/// What was spent on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens that the model read for the first time, also those that were written to a cache.
    pub input: u64,
    /// Tokens that it had read before and that came from a cache.
    pub cached: u64,
    /// Tokens that it wrote.
    pub output: u64,
    /// What that cost in millionths of a US dollar; `None` if the price is unknown.
    pub cost_micros: Option<u64>,
}

/// What several turns have spent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spending {
    /// The sum of all that was reported. The cost is that of the turns whose price is known; `None` if no turn has a
    /// known price.
    pub spent: Spent,
    /// How many turns used tokens without a known price.
    pub unpriced: u32,
}

impl Spent {
    /// Returns the tokens that count: those from a cache were counted when they were read first.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Converts US dollars to a cost; `None` if the value is not a price.
    pub fn micros(dollars: f64) -> Option<u64> {
        // At most a million dollars a turn, so that nothing is rounded.
        (0.0..=1e6).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
    }
}

/// Returns by how much a sum has grown; of one that has become less and so must have begun anew, all of it.
pub fn grown(sum: u64, before: u64) -> u64 {
    sum.checked_sub(before).unwrap_or(sum)
}

/// What is left of a sum that has grown; of a sum that has begun anew, all of it.
impl Sub for Spent {
    type Output = Spent;

    fn sub(self, before: Spent) -> Spent {
        let is_sum = self.input >= before.input && self.output >= before.output;
        if !is_sum {
            return self;
        }
        let cost_micros = self.cost_micros.map(|cost| grown(cost, before.cost_micros.unwrap_or_default()));
        Spent {
            input: self.input - before.input,
            cached: self.cached.saturating_sub(before.cached),
            output: self.output - before.output,
            cost_micros,
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
        self.cost_micros = match (self.cost_micros, other.cost_micros) {
            (None, None) => None,
            (one, another) => Some(one.unwrap_or_default().saturating_add(another.unwrap_or_default())),
        };
    }
}

impl AddAssign<Spent> for Spending {
    fn add_assign(&mut self, spent: Spent) {
        self.spent += spent;
        self.unpriced += u32::from(spent.cost_micros.is_none() && spent != Spent::default());
    }
}

impl AddAssign for Spending {
    fn add_assign(&mut self, other: Spending) {
        self.spent += other.spent;
        self.unpriced += other.unpriced;
    }
}

/// The cost, as people read it: `$0.42`, `> $0.42` where some prices are unknown, `no price` where all are, or nothing where
/// nobody tells what is spent.
impl fmt::Display for Spending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.spent.cost_micros, self.unpriced) {
            (None, 0) => Ok(()),
            (None, _) => write!(formatter, "no price"),
            (Some(micros), 0) => write!(formatter, "{}", dollars(micros)),
            (Some(micros), _) => write!(formatter, "> {}", dollars(micros)),
        }
    }
}

/// Writes an amount of money: cents, and for less than a cent as much as says something.
pub fn dollars(micros: u64) -> String {
    let dollars = micros as f64 / 1e6;
    if micros == 0 || micros >= 10_000 { format!("${dollars:.2}") } else { format!("${dollars:.4}") }
}

/// Makes a name of a session in the form of a random UUID (RFC 9562, version 4).
pub fn uuid(random: &str) -> String {
    let digest = Digest::of(random.as_bytes()).0;
    let variant = ["8", "9", "a", "b"][usize::from(digest.as_bytes()[63]) % 4];
    format!("{}-{}-4{}-{variant}{}-{}", &digest[..8], &digest[8..12], &digest[13..16], &digest[17..20], &digest[20..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Spent = Spent { input: 100, cached: 40, output: 10, cost_micros: Some(5_000) };

    #[test]
    fn turn_of_a_session_spent_what_the_sum_has_grown_by() {
        let sum = Spent { input: 130, cached: 240, output: 15, cost_micros: Some(7_000) };
        assert_eq!(sum - ONE, Spent { input: 30, cached: 200, output: 5, cost_micros: Some(2_000) });
    }

    #[test]
    fn sum_that_began_anew_is_all_of_it() {
        let anew = Spent { input: 7, cached: 0, output: 3, cost_micros: None };
        assert_eq!(anew - ONE, anew);
        let cheaper = Spent { cost_micros: Some(3_000), ..ONE };
        assert_eq!((cheaper - ONE).cost_micros, Some(3_000));
    }

    #[test]
    fn unknown_price_is_told_and_not_taken_for_nothing() {
        let mut spending = Spending::default();
        assert_eq!(spending.to_string(), "");
        spending += Spent { cost_micros: None, ..ONE };
        assert_eq!(spending.to_string(), "no price");
        let mut spending = Spending::default();
        spending += ONE;
        assert_eq!(spending.to_string(), "$0.0050");
        spending += Spent { cost_micros: None, ..ONE };
        assert_eq!((spending.to_string().as_str(), spending.unpriced), ("> $0.0050", 1));
        assert_eq!(spending.spent.tokens(), 220);
    }

    #[test]
    fn money_is_written_as_people_read_it() {
        let written = [0, 12, 4_200, 420_000, 12_345_678].map(dollars);
        assert_eq!(written, ["$0.00", "$0.0000", "$0.0042", "$0.42", "$12.35"]);
        assert_eq!((Spent::micros(0.42), Spent::micros(-1.0), Spent::micros(f64::NAN)), (Some(420_000), None, None));
    }
}

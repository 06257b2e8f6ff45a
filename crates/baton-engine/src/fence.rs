//! The number of a claim: it only grows, and only the latest counts.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of a claim, which grows with each one. Whoever has an older one has lost the handoff, and nothing that
/// they send has any effect:
///
/// ```text
/// worker A                 store                    worker B
/// claim         ──▶  fence 1, lease of a minute
/// (sleeps for an hour)     the lease has ended
///                    fence 2                   ◀──  claim
/// report 1      ──▶  refused: 2 is the latest
///                    completed                 ◀──  report 2
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl Fence {
    /// The fence of a handoff that was never claimed.
    pub const NONE: Fence = Fence(0);

    /// Returns the one that the next claim gets.
    #[must_use]
    pub fn next(self) -> Fence {
        Fence(self.0 + 1)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Fence {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Fence)
    }
}

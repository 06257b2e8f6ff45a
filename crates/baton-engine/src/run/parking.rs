//! How often in a row an attempt has waited for the end of a limit, which costs nothing. Whoever waits in vain again and
//! again has no such limit, or its end is not what the program says.

use jiff::Timestamp;

use crate::handoff::Handoff;
use crate::journal::Fact;
use crate::lifecycle::{Again, Command};

/// How often in a row a limit is waited for without an end of the attempt; after that, the attempt counts as failed.
const PARKS_MAX: u32 = 3;

/// How often in a row an attempt has waited for the end of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parks(u32);

impl Parks {
    /// Takes what happened to the handoff.
    pub(super) fn take(&mut self, fact: &Fact) {
        match fact {
            Fact::Happened(Command::Fail(fail)) if matches!(fail.again, Again::At(_)) => self.0 += 1,
            Fact::Happened(
                Command::Claim(_) | Command::Heartbeat(_) | Command::Acknowledge(_) | Command::Release(_),
            )
            | Fact::Refused(_) => {}
            Fact::Accepted(_) | Fact::Happened(_) => self.0 = 0,
        }
    }

    /// Returns whether the attempt may wait until a time without being counted.
    pub fn allow(self, handoff: &Handoff, until: Timestamp) -> bool {
        self.0 < PARKS_MAX && handoff.deadline.is_none_or(|deadline| until < deadline)
    }
}

//! What kinds of events there are. The words are stored, and never change.

use std::fmt;

/// What happened, in one word: the past of the verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A handoff was accepted.
    Accepted,
    /// A command had no effect.
    Refused,
    /// Somebody took it in order to work on it.
    Claimed,
    /// The claimant said whether the request was understood.
    Acknowledged,
    /// The claimant is still working.
    Extended,
    /// A report was handed in.
    Reported,
    /// An attempt failed.
    Failed,
    /// What was claimed in a report was compared with what can be seen.
    Verified,
    /// A time limit ended.
    Expired,
    /// A blocked handoff goes on.
    Resumed,
    /// A person has decided.
    Decided,
    /// It was called off.
    Cancelled,
    /// It was brought back after it had failed.
    Requeued,
    /// The claimant gave it back.
    Released,
    /// It was decided what follows from it.
    Routed,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 15] = [
        EventKind::Accepted,
        EventKind::Refused,
        EventKind::Claimed,
        EventKind::Acknowledged,
        EventKind::Extended,
        EventKind::Reported,
        EventKind::Failed,
        EventKind::Verified,
        EventKind::Expired,
        EventKind::Resumed,
        EventKind::Decided,
        EventKind::Cancelled,
        EventKind::Requeued,
        EventKind::Released,
        EventKind::Routed,
    ];

    /// Returns the word that is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Accepted => "accepted",
            EventKind::Refused => "refused",
            EventKind::Claimed => "claimed",
            EventKind::Acknowledged => "acknowledged",
            EventKind::Extended => "extended",
            EventKind::Reported => "reported",
            EventKind::Failed => "failed",
            EventKind::Verified => "verified",
            EventKind::Expired => "expired",
            EventKind::Resumed => "resumed",
            EventKind::Decided => "decided",
            EventKind::Cancelled => "cancelled",
            EventKind::Requeued => "requeued",
            EventKind::Released => "released",
            EventKind::Routed => "routed",
        }
    }

    /// Reads the word that is stored; `None` for what a newer program wrote.
    pub fn parse(word: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

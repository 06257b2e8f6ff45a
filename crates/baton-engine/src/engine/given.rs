//! Words that come in through a door and mean the same at each: names, keys, priorities, durations, times, leases.

use std::time::Duration;

use baton_protocol::duration::{self, DurationFault};
use baton_protocol::wire::suggest;
use jiff::Timestamp;

use crate::handoff::Priority;
use crate::lifecycle::LEASE_MS_MAX;
use crate::retry::milliseconds;

/// A time, or a duration from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WantedTime {
    /// That time.
    At(Timestamp),
    /// This long from now.
    In(Duration),
}

impl WantedTime {
    /// Returns the time, in whole microseconds.
    pub fn after(self, now: Timestamp) -> Timestamp {
        let time = match self {
            WantedTime::At(time) => time,
            WantedTime::In(duration) => now.checked_add(duration).unwrap_or(Timestamp::MAX),
        };
        Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
    }
}

/// Why words do not say what is wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GivenFault {
    /// They do not name a duration.
    #[error("{0}")]
    Duration(DurationFault),
    /// They are neither a time nor a duration.
    #[error("`{0}` is not a time: write 2026-05-01T12:00:00Z, or a duration from now such as 30s, 5min or 2h")]
    NotATime(String),
    /// The lease would end at once.
    #[error("the lease must be longer than 0")]
    NoLease,
    /// The lease is too long.
    #[error("the lease must be at most 1d")]
    LongLease,
    /// No priority is called that.
    #[error("{0}")]
    UnknownPriority(String),
}

/// Reads a duration such as `30s`.
pub fn parse_duration(text: &str) -> Result<Duration, GivenFault> {
    duration::Duration::parse(text).map(duration::Duration::as_std).map_err(GivenFault::Duration)
}

/// Reads a time, or a duration from now.
pub fn parse_moment(text: &str) -> Result<WantedTime, GivenFault> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(WantedTime::At(time));
    }
    parse_duration(text).map(WantedTime::In).map_err(|fault| match fault {
        GivenFault::Duration(DurationFault::Malformed(text)) => GivenFault::NotATime(text),
        fault => fault,
    })
}

/// Reads the length of a lease.
pub fn parse_lease(text: &str) -> Result<Duration, GivenFault> {
    let lease = parse_duration(text)?;
    match milliseconds(lease) {
        0 => Err(GivenFault::NoLease),
        1..=LEASE_MS_MAX => Ok(lease),
        _ => Err(GivenFault::LongLease),
    }
}

/// Reads how urgent something is.
pub fn parse_priority(word: &str) -> Result<Priority, GivenFault> {
    let known = ["low", "normal", "high", "critical"];
    Priority::parse(word).ok_or_else(|| GivenFault::UnknownPriority(suggest(word, &known)))
}

/// Why a text cannot be a name or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordFault {
    /// It says nothing.
    #[error("{0} cannot be empty")]
    Empty(&'static str),
    /// White space at its ends would be invisible.
    #[error("{0} must not begin or end with white space")]
    WhiteSpace(&'static str),
    /// It would change the terminal that it is shown on.
    #[error("{0} must not contain control characters")]
    Control(&'static str),
    /// It is too long.
    #[error("{what} must have at most {bytes_max} bytes")]
    TooLong {
        /// What it should be.
        what: &'static str,
        /// How long it may be.
        bytes_max: usize,
    },
}

/// Reads the name of an agent as its queue has it: `@agent` is a way to address `agent`, not another one.
pub fn agent_name(name: &str) -> Result<String, WordFault> {
    plain_name(name.strip_prefix('@').unwrap_or(name))
}

/// Reads the name of somebody.
pub fn plain_name(name: &str) -> Result<String, WordFault> {
    plain_text(name, "the name of an agent", 128)
}

/// Reads a key.
pub fn plain_key(key: &str) -> Result<String, WordFault> {
    plain_text(key, "a key", 256)
}

fn plain_text(text: &str, what: &'static str, bytes_max: usize) -> Result<String, WordFault> {
    match text {
        _ if text.trim().is_empty() => Err(WordFault::Empty(what)),
        _ if text.trim() != text => Err(WordFault::WhiteSpace(what)),
        _ if text.contains(char::is_control) => Err(WordFault::Control(what)),
        _ if text.len() > bytes_max => Err(WordFault::TooLong { what, bytes_max }),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_or_durations() {
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().expect("a time");
        let after = |text: &str| parse_moment(text).map(|moment| moment.after(now).to_string());
        assert_eq!(after("5m"), Ok("2026-05-01T12:05:00Z".to_owned()));
        assert_eq!(after("2026-05-01T14:00:00+02:00"), Ok("2026-05-01T12:00:00Z".to_owned()));
        let why = |text: &str| parse_moment(text).expect_err("it is neither").to_string();
        assert!(why("tomorrow").starts_with("`tomorrow` is not a time: write 2026-05-01T12:00:00Z, or a duration"));
        assert_eq!(why("5000000w"), "`5000000w` is too long: at most 100 years");
    }

    #[test]
    fn leases_end_and_not_at_once() {
        assert_eq!(parse_lease("1d"), Ok(Duration::from_secs(86_400)));
        assert_eq!(parse_lease("0.0001s"), Err(GivenFault::NoLease));
        assert_eq!(parse_lease("25h"), Err(GivenFault::LongLease));
    }
}

//! When to try again: how often, and how long to wait.
//!
//! The first attempt runs at once; with the default policy the next ones wait 30 s, 60 s and 120 s. Jitter only if
//! asked, and the dice are thrown outside.

use std::time::Duration;

use baton_protocol::workflow;
use serde_json::Number;

/// How often a handoff may be tried again.
pub const RETRIES_MAX: u32 = 1_000;

/// The longest time between two attempts.
pub const DELAY_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// How often to try again, and how long to wait before each time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// How many attempts may follow the first.
    pub max_retries: u32,
    /// How long to wait before the first retry.
    pub delay_ms: u64,
    /// How the wait grows from one retry to the next.
    pub multiplier: f64,
    /// Which part of the wait is random, from 0 (none) to 1 (all).
    pub jitter: f64,
    /// Whether a refused report is retried at once: waiting does not improve it.
    pub at_once_if_refused: bool,
}

/// Why a policy cannot be agreed to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RetryFault {
    /// It tries too often.
    #[error("{0} retries are too many: at most {RETRIES_MAX}")]
    TooMany(u32),
    /// It waits too long.
    #[error("the delay between attempts is too long: at most {} days", DELAY_MAX.as_secs() / 86_400)]
    DelayTooLong,
    /// The waiting cannot be worked out with this multiplier.
    #[error("the backoff multiplier is {0}, but must be a number from 0 on")]
    Multiplier(f64),
    /// It is not a part of the waiting.
    #[error("the jitter is {0}, but must be between 0 and 1")]
    Jitter(f64),
}

impl Default for Policy {
    fn default() -> Self {
        Policy { max_retries: 3, delay_ms: 30_000, multiplier: 2.0, jitter: 0.0, at_once_if_refused: false }
    }
}

impl Policy {
    /// How often a refused report is tried again at once. An agent that has not mended it by then will not do so in a
    /// hurry.
    pub const AT_ONCE_MAX: u32 = 3;

    /// Never tries again.
    pub const NEVER: Policy =
        Policy { max_retries: 0, delay_ms: 0, multiplier: 1.0, jitter: 0.0, at_once_if_refused: false };

    /// Returns what a workflow says, within the limits; what it does not say is as usual.
    pub fn of_workflow(retry: Option<&workflow::RetryFields>) -> Policy {
        let usual = Policy { at_once_if_refused: true, ..Policy::default() };
        let Some(retry) = retry else { return usual };
        let most = |count: u64| u32::try_from(count).unwrap_or(RETRIES_MAX).min(RETRIES_MAX);
        Policy {
            max_retries: retry.max_retries.map_or(usual.max_retries, most),
            delay_ms: retry.delay.map_or(usual.delay_ms, |delay| delay.milliseconds),
            multiplier: retry.multiplier.as_ref().and_then(Number::as_f64).unwrap_or(usual.multiplier),
            ..usual
        }
    }

    /// Looks whether the policy keeps within the limits; the error says what does not.
    pub fn check(&self) -> Result<(), RetryFault> {
        if self.max_retries > RETRIES_MAX {
            return Err(RetryFault::TooMany(self.max_retries));
        }
        if u128::from(self.delay_ms) > DELAY_MAX.as_millis() {
            return Err(RetryFault::DelayTooLong);
        }
        if !(self.multiplier.is_finite() && self.multiplier >= 0.0) {
            return Err(RetryFault::Multiplier(self.multiplier));
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(RetryFault::Jitter(self.jitter));
        }
        Ok(())
    }

    /// Returns whether another attempt may follow after so many.
    pub fn allows_another(&self, attempts: u32) -> bool {
        attempts <= self.max_retries
    }

    /// Returns how long to wait before a retry, counted from 1. `chance` is between 0 and 1 and matters with jitter only.
    pub fn delay_before(&self, retry: u32, chance: f64) -> Duration {
        let growth = self.multiplier.max(0.0).powi(i32::try_from(retry.saturating_sub(1)).unwrap_or(i32::MAX));
        let full = (self.delay_ms as f64 * growth).min(DELAY_MAX.as_millis() as f64);
        let chance = if chance.is_finite() { chance.clamp(0.0, 1.0) } else { 0.0 };
        let random = full * self.jitter.clamp(0.0, 1.0) * (1.0 - chance);
        Duration::from_millis((full - random).max(0.0) as u64)
    }
}

/// Returns a duration in milliseconds.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_waits_are_30_60_and_120_seconds() {
        let waits: Vec<u64> = (1..=3).map(|retry| Policy::default().delay_before(retry, 0.5).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120]);
    }

    #[test]
    fn three_retries_are_four_attempts() {
        let policy = Policy::default();
        assert!(policy.allows_another(1) && policy.allows_another(3));
        assert!(!policy.allows_another(4));
        assert!(!Policy::NEVER.allows_another(1));
    }

    #[test]
    fn jitter_shortens_the_wait_by_its_part_only() {
        let policy = Policy { jitter: 0.5, ..Policy::default() };
        assert_eq!(policy.delay_before(1, 1.0), Duration::from_secs(30));
        assert_eq!(policy.delay_before(1, 0.0), Duration::from_secs(15));
    }

    #[test]
    fn workflow_says_what_is_not_as_usual_and_cannot_exceed_the_limits() {
        let usual = Policy { at_once_if_refused: true, ..Policy::default() };
        assert_eq!(Policy::of_workflow(Some(&workflow::RetryFields::default())), usual);
        let delay = workflow::Duration::parse("1h30m").ok();
        let said = workflow::RetryFields { max_retries: Some(u64::MAX), delay, ..workflow::RetryFields::default() };
        assert_eq!(
            Policy::of_workflow(Some(&said)),
            Policy { max_retries: RETRIES_MAX, delay_ms: 5_400_000, at_once_if_refused: true, ..usual }
        );
    }

    #[test]
    fn policy_beyond_the_limits_is_told() {
        let usual = Policy::default();
        assert_eq!((usual.check(), Policy::NEVER.check()), (Ok(()), Ok(())));
        let wrong = [
            Policy { max_retries: RETRIES_MAX + 1, ..usual },
            Policy { delay_ms: u64::MAX, ..usual },
            Policy { multiplier: f64::NAN, ..usual },
            Policy { multiplier: -1.0, ..usual },
            Policy { jitter: 1.1, ..usual },
        ];
        for policy in wrong {
            assert!(policy.check().is_err(), "{policy:?}");
        }
    }

    #[test]
    fn wait_never_overflows() {
        let policy = Policy { multiplier: 10.0, ..Policy::default() };
        assert_eq!(policy.delay_before(u32::MAX, 0.0), DELAY_MAX);
        assert_eq!(Policy { multiplier: f64::NAN, ..policy }.delay_before(1, 0.5), Duration::from_secs(30));
    }
}

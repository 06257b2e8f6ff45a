//! Fail: an attempt went wrong. The policy decides whether another one follows, and when.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::claim::held_by;
use super::report::{completed, heard_once};
use super::{Action, Refusal};
use crate::Fence;
use crate::failure::{Code, Failure, Transience};
use crate::handoff::{About, Digest, Handoff, State, WrittenDocument, whole};
use crate::known::CommandAuthor;
use crate::retry::Policy;
use crate::sabotage::{Bug, planted};
use crate::session::Spent;

/// Say that the attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fail {
    /// The fence of the claim.
    pub fence: Fence,
    /// What went wrong.
    pub failure: Failure,
    /// What was reported beyond that.
    pub document: Option<WrittenDocument>,
    /// What people should know of the program that worked, where there is no document that could say it.
    pub warnings: Vec<String>,
    /// A random number between 0 and 1, for the jitter of the policy.
    pub dice: f64,
    /// Files that had changed since the attempt began, as far as somebody looked.
    pub changed: Vec<String>,
    /// What the attempt spent, where its program tells.
    pub spent: Option<Spent>,
    /// The skills that its program shows to have been used; `None` if it shows nothing of the kind.
    pub skills: Option<Vec<String>>,
    /// Whether and when another attempt follows.
    pub again: Again,
    /// Who sent it, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Again {
    /// Whatever the retry policy says.
    #[default]
    Policy,
    /// The same attempt goes on at once, in the same session: its report is repaired.
    Repair,
    /// The same attempt begins at once in a fresh session, because the old one cannot go on.
    Fresh,
    /// Another attempt begins at once, if the policy allows one: whoever worked died with its driver, and waiting would mend
    /// nothing.
    AtOnce,
    /// Whatever the retry policy says, but not before this time.
    NotBefore(Timestamp),
    /// The same attempt goes on at this time, when a limit of its program's account ends.
    At(Timestamp),
}

impl Fail {
    /// Makes a failure of which nothing else is known.
    pub fn new(fence: Fence, failure: Failure, dice: f64) -> Fail {
        let (document, spent, skills, again, author) = (None, None, None, Again::Policy, None);
        let (warnings, changed) = (Vec::new(), Vec::new());
        Fail { fence, failure, document, warnings, dice, changed, spent, skills, again, author }
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let digest = self.digest();
        heard_once(handoff, self.fence, &digest)?;
        // That it failed is true however late it is said.
        held_by(handoff, self.fence)?;
        handoff.last_report = Some(digest);
        // What was wrong with a report must still be known when the next attempt dies before it can do better.
        if self.document.is_some() && self.failure.code == Code::validation_failed() {
            handoff.note(About::Refuted, "baton", &self.failure.text());
        }
        let failure = self.failure.clone();
        Ok(match self.again {
            Again::Policy => try_again(handoff, failure, self.dice, at),
            Again::NotBefore(time) => {
                let pause = Duration::try_from(whole(time).duration_since(at)).unwrap_or_default();
                let wait = policy_wait(handoff, &failure, self.dice).max(pause);
                try_again_after(handoff, failure, wait, at)
            }
            Again::AtOnce => try_again_after(handoff, failure, Duration::ZERO, at),
            Again::Repair | Again::Fresh => go_on(handoff, failure, at),
            Again::At(time) => go_on(handoff, failure, whole(time).max(at)),
        })
    }

    fn digest(&self) -> Digest {
        match &self.document {
            Some(document) => document.digest(),
            None => Digest::of(self.failure.to_string().as_bytes()),
        }
    }
}

/// Ends a failed attempt: another one follows after a wait, or none.
pub(super) fn try_again(handoff: &mut Handoff, failure: Failure, dice: f64, at: Timestamp) -> Vec<Action> {
    let wait = policy_wait(handoff, &failure, dice);
    try_again_after(handoff, failure, wait, at)
}

/// Returns how long the policy waits before another attempt.
fn policy_wait(handoff: &Handoff, failure: &Failure, dice: f64) -> Duration {
    let policy = handoff.terms.retry;
    let at_once = policy.at_once_if_refused
        && failure.code == Code::validation_failed()
        && handoff.attempts <= Policy::AT_ONCE_MAX;
    let wait = if at_once { Duration::ZERO } else { policy.delay_before(handoff.attempts, dice) };
    if planted(Bug::BackoffIgnored) { Duration::ZERO } else { wait }
}

/// Ends a failed attempt: another one follows after so long, if the policy allows one.
fn try_again_after(handoff: &mut Handoff, failure: Failure, wait: Duration, at: Timestamp) -> Vec<Action> {
    let attempts = if planted(Bug::RetriesNotCounted) { 1 } else { handoff.attempts };
    if failure.chance == Transience::Permanent || !handoff.terms.retry.allows_another(attempts) {
        return give_up(handoff, failure, at);
    }
    handoff.last_failure = Some(failure);
    let ready_at = at.checked_add(wait).unwrap_or(Timestamp::MAX);
    handoff.state = State::Pending { ready_at };
    vec![Action::announce(handoff, ready_at)]
}

/// Lets the same attempt go on at a time: it is not over, and it does not count twice.
pub(super) fn go_on(handoff: &mut Handoff, failure: Failure, ready_at: Timestamp) -> Vec<Action> {
    handoff.last_failure = Some(failure);
    handoff.attempts = handoff.attempts.saturating_sub(1);
    handoff.state = State::Pending { ready_at };
    vec![Action::announce(handoff, ready_at)]
}

/// Ends a handoff without success.
pub(super) fn give_up(handoff: &mut Handoff, failure: Failure, at: Timestamp) -> Vec<Action> {
    handoff.last_failure = Some(failure);
    handoff.state = State::Failed { at };
    completed(handoff)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::failure::Code;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    #[test]
    fn attempts_follow_after_30_60_and_120_seconds_and_then_none() {
        let mut handoff = sample::handoff(StateName::Pending);
        handoff.attempts = 0;
        let mut now = sample::time(1000);
        let mut waits = Vec::new();
        loop {
            let claimed = apply(&handoff, sample::claim(), now).expect("ready").handoff;
            handoff = apply(&claimed, sample::fail(claimed.fence), now).expect("held").handoff;
            let State::Pending { ready_at } = handoff.state else { break };
            waits.push(ready_at.duration_since(now).as_secs());
            now = ready_at;
        }
        assert_eq!(waits, [30, 60, 120]);
        assert_eq!(handoff.state, State::Failed { at: now });
    }

    #[test]
    fn refused_report_of_a_workflow_is_tried_again_at_once_and_a_crash_is_not() {
        let mut claimed = sample::handoff(StateName::Claimed);
        Arc::make_mut(&mut claimed.terms).retry = Policy::of_workflow(None);
        for (code, wait) in [(Code::validation_failed(), 0), (Code::processing_error(), 30)] {
            let fail = Command::Fail(Fail::new(claimed.fence, Failure::new(code, "w-reason"), 0.0));
            let failed = apply(&claimed, fail, sample::time(100)).expect("held").handoff;
            assert_eq!(failed.state, State::Pending { ready_at: sample::time(100 + wait) });
        }
        let terms = Arc::make_mut(&mut claimed.terms);
        (terms.retry.max_retries, claimed.attempts) = (900, Policy::AT_ONCE_MAX + 1);
        let fail = Fail::new(claimed.fence, Failure::new(Code::validation_failed(), "w-reason"), 0.0);
        let failed = apply(&claimed, Command::Fail(fail), sample::time(100)).expect("held").handoff;
        assert!(
            matches!(failed.state, State::Pending { ready_at } if ready_at > sample::time(100)),
            "it does not help"
        );
    }

    #[test]
    fn work_that_died_with_its_driver_is_tried_again_at_once_but_not_more_often() {
        let mut handoff = sample::handoff(StateName::Pending);
        handoff.attempts = 0;
        for attempt in 1..=4 {
            let claimed = apply(&handoff, sample::claim(), sample::time(100)).expect("ready").handoff;
            let failure = Failure::new(Code::abandoned(), "the driver has died");
            let fail = Fail { again: Again::AtOnce, ..Fail::new(claimed.fence, failure, 0.0) };
            handoff = apply(&claimed, Command::Fail(fail), sample::time(100)).expect("held").handoff;
            let at = sample::time(100);
            let ended = if attempt == 4 { State::Failed { at } } else { State::Pending { ready_at: at } };
            assert_eq!(handoff.state, ended, "after {attempt} attempts");
        }
    }

    #[test]
    fn pause_that_a_server_asks_for_lengthens_the_wait_and_counts_the_attempt() {
        let claimed = sample::handoff(StateName::Claimed);
        for (until, ready_at) in [(101, 130), (190, 190), (50, 130)] {
            let failure = Failure::new(Code::processing_error(), "too many requests");
            let again = Again::NotBefore(sample::time(until));
            let fail = Command::Fail(Fail { again, ..Fail::new(claimed.fence, failure, 0.0) });
            let failed = apply(&claimed, fail, sample::time(100)).expect("held").handoff;
            assert_eq!(failed.state, State::Pending { ready_at: sample::time(ready_at) }, "until {until}");
            assert_eq!(failed.attempts, claimed.attempts);
        }
    }

    #[test]
    fn permanent_failure_is_not_tried_again() {
        let claimed = sample::handoff(StateName::Claimed);
        let failure = Failure::new(Code::schema_validation_failed(), "no name");
        let fail = Command::Fail(Fail::new(claimed.fence, failure, 0.0));
        assert_eq!(apply(&claimed, fail, sample::time(30)).expect("held").handoff.state.name(), StateName::Failed);
    }

    #[test]
    fn same_failure_again_is_recognised() {
        let claimed = sample::handoff(StateName::Claimed);
        let failed = apply(&claimed, sample::fail(claimed.fence), sample::time(30)).expect("held").handoff;
        assert_eq!(apply(&failed, sample::fail(claimed.fence), sample::time(31)), Err(Refusal::Repeated));
    }
}

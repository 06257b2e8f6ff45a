//! Where a run stands: driven by somebody, waiting for a person, left alone, or ended; and what goes on in it.

use std::time::Duration;

use baton_engine::failure::{Failure, FailureOutput};
use baton_engine::handoff::{Handoff, State, StateName};
use baton_engine::lifecycle::readable_claimant;
use baton_engine::queue::{QueueHold, QueueHolds};
use baton_engine::step::Role;
use jiff::Timestamp;

use crate::words::{ago, ahead, counted, cut, one_line, telling_line};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStanding {
    /// Somebody drives it.
    Driven(String),
    /// Somebody drove it who was not heard of since, and nobody has taken over.
    Silent {
        /// Who.
        by: String,
        /// When they were last heard of.
        since: Timestamp,
    },
    /// Only people can let it go on.
    Waiting(usize),
    /// No process drives it, and it could continue.
    Left,
    /// It has ended.
    Ended(StateName),
}

impl RunStanding {
    /// Looks at the handoff of a run and those in it. `is_dead` knows which claimants are known to be gone.
    pub fn of<'h>(
        root: &Handoff,
        inside: impl Iterator<Item = &'h Handoff>,
        now: Timestamp,
        is_dead: impl Fn(&str) -> bool,
    ) -> RunStanding {
        let name = root.state.name();
        if name.is_finished() {
            return RunStanding::Ended(name);
        }
        let (mut waiting, mut working) = (0, 0);
        for handoff in inside.filter(|handoff| handoff.id != root.id) {
            match (&handoff.state, handoff.terms.step.as_ref().map(|step| step.role)) {
                (State::AwaitingPerson { .. }, _) => waiting += 1,
                (State::Claimed { .. } | State::Verifying, _) => working += 1,
                (State::Pending { .. }, Some(role)) if role != Role::Group => working += 1,
                _ => {}
            }
        }
        let alone = if waiting > 0 && working == 0 { RunStanding::Waiting(waiting) } else { RunStanding::Left };
        match &root.state {
            State::Claimed { lease } if is_dead(&lease.claimant) => alone,
            State::Claimed { lease } if lease.until > now => RunStanding::Driven(lease.claimant.clone()),
            State::Claimed { lease } => RunStanding::Silent {
                by: lease.claimant.clone(),
                since: lease.until - Duration::from_millis(lease.length_ms),
            },
            _ => alone,
        }
    }

    /// Returns who drives it, or drove it when they were last heard of.
    pub fn driver(&self) -> Option<&str> {
        match self {
            RunStanding::Driven(by) | RunStanding::Silent { by, .. } => Some(by),
            RunStanding::Waiting(_) | RunStanding::Left | RunStanding::Ended(_) => None,
        }
    }

    /// Returns the word for machines.
    pub fn word(&self) -> &'static str {
        match self {
            RunStanding::Driven(_) => "driven",
            RunStanding::Silent { .. } => "silent",
            RunStanding::Waiting(_) => "waiting",
            RunStanding::Left => "left",
            RunStanding::Ended(name) => name.as_str(),
        }
    }

    /// Returns a few words for people.
    pub fn words(&self, now: Timestamp) -> String {
        match self {
            RunStanding::Silent { by, since } => {
                format!("{} was last heard from {}", one_line(readable_claimant(by)), ago(*since, now))
            }
            RunStanding::Driven(by) => format!("driven by {}", one_line(readable_claimant(by))),
            RunStanding::Waiting(count) => format!("waits for a person ({})", counted(*count as u64, "question")),
            RunStanding::Left => "not running; resume it".to_owned(),
            RunStanding::Ended(name) => name.to_string(),
        }
    }
}

/// The longest reason for which something waits.
const REASON_MAX: usize = 180;

/// What a run waits for while nobody works in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWait {
    /// Whether somebody could take its work now or as soon as a queue hands it out; otherwise it waits for a time or for help.
    pub is_queued: bool,
    /// What for, in one sentence.
    pub words: String,
}

/// Returns what a run without active work waits for: a time, a worker, a queue, or help. `None` if somebody works, or nothing
/// is open. `open` are the handoffs in it that are not finished.
pub fn waits_for<'h>(open: impl Iterator<Item = &'h Handoff>, now: Timestamp, holds: &QueueHolds) -> Option<RunWait> {
    let mut waits = None;
    for handoff in open {
        let Some(step) = handoff.terms.step.as_ref() else { continue };
        if matches!(step.role, Role::Run | Role::Group) {
            continue;
        }
        let phase = &step.phase;
        let why = match &handoff.state {
            State::Claimed { .. } | State::Verifying => return None,
            State::Pending { ready_at } if *ready_at > now => {
                let told = |failure: &Failure| match failure.output.as_ref().and_then(FailureOutput::telling_line) {
                    Some(line) => line.to_owned(),
                    None => telling_line(&failure.message).to_owned(),
                };
                let why = handoff.last_failure.as_ref().map(told);
                let why = why.map(|why| format!(": {}", cut(&one_line(&why), REASON_MAX))).unwrap_or_default();
                Some((false, format!("{phase} is tried again {}{why}", ahead(*ready_at, now))))
            }
            State::Pending { .. } if !handoff.terms.is_reserved() => {
                let (queue, sent) = (one_line(handoff.terms.queue()), ago(handoff.changed_at, now));
                let why = match holds.get(handoff.terms.queue()) {
                    Some(QueueHold::Paused) => {
                        format!("{phase} waits because the queue {queue} is paused, sent {sent}")
                    }
                    Some(QueueHold::Full(limit)) => {
                        let at_work = counted(u64::from(*limit), "handoff");
                        format!("{phase} waits because {queue} works on {at_work} already, its limit; sent {sent}")
                    }
                    None => format!("{phase} waits for a worker of {queue}, sent {sent}"),
                };
                Some((true, why))
            }
            State::Blocked { reason } => {
                Some((false, format!("{phase} is blocked: {}", cut(&one_line(reason), REASON_MAX))))
            }
            _ => None,
        };
        waits = waits.or(why.map(|(is_queued, words)| RunWait { is_queued, words }));
    }
    waits
}

/// Returns who works outside of the driver, and how long nobody else can: until their lease ends.
pub fn worked_on<'h>(mut open: impl Iterator<Item = &'h Handoff>, now: Timestamp) -> Option<String> {
    open.find_map(|handoff| match (&handoff.state, &handoff.terms.step) {
        (State::Claimed { lease }, Some(step)) if !handoff.terms.is_drivers() => {
            let who = one_line(readable_claimant(&lease.claimant));
            Some(format!("{who} works on {}; its lease ends {}", step.phase, ahead(lease.until, now)))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use baton_engine::handoff::{Terms, WrittenDocument};
    use baton_engine::lifecycle::{self, Accept, Claim, Command};
    use baton_engine::{HandoffId, RunId};
    use baton_protocol::Dialect;

    use super::*;

    #[test]
    fn whoever_is_dead_drives_nothing_and_whoever_is_late_is_silent() {
        let at = |second: i64| Timestamp::from_second(second).expect("a time");
        let accept = Accept {
            id: HandoffId::parse("run-1").expect("safe"),
            run: RunId::parse("run-1").expect("safe"),
            terms: Terms::between("ana", "orchestrator"),
            request: WrittenDocument::new(Dialect::Native, "{}"),
            notes: Vec::new(),
        };
        let claim = Command::Claim(Claim::by("driver", 60_000));
        let root = lifecycle::apply(&accept.apply(at(0)).handoff, claim, at(10)).expect("it is ready").handoff;
        let standing = |now, is_dead| RunStanding::of(&root, std::iter::empty(), at(now), |_| is_dead);
        assert_eq!(standing(20, false), RunStanding::Driven("driver".to_owned()));
        assert_eq!(standing(90, false), RunStanding::Silent { by: "driver".to_owned(), since: at(10) });
        assert_eq!(standing(20, true), RunStanding::Left);
    }
}

//! Where a run stands: driven by somebody, waiting for a person, left alone, or ended; and what goes on in it.

use std::time::Duration;

use baton_engine::handoff::{Handoff, State, StateName};
use baton_engine::lifecycle::readable_claimant;
use baton_engine::step::Role;
use jiff::Timestamp;

use super::counted;
use super::handoff::{ago, one_line};
use crate::running;

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
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
    /// Nobody drives it, and it could go on.
    Left,
    /// It has ended.
    Ended(StateName),
}

impl Standing {
    /// Looks at the handoff of a run and those in it.
    pub(crate) fn of<'h>(root: &Handoff, inside: impl Iterator<Item = &'h Handoff>, now: Timestamp) -> Standing {
        let name = root.state.name();
        if name.is_finished() {
            return Standing::Ended(name);
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
        match &root.state {
            State::Claimed { lease } if !running::is_dead(&lease.claimant) => match lease.until > now {
                true => Standing::Driven(lease.claimant.clone()),
                false => Standing::Silent {
                    by: lease.claimant.clone(),
                    since: lease.until - Duration::from_millis(lease.length_ms),
                },
            },
            _ if waiting > 0 && working == 0 => Standing::Waiting(waiting),
            _ => Standing::Left,
        }
    }

    /// Returns the word for machines.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Standing::Driven(_) => "driven",
            Standing::Silent { .. } => "silent",
            Standing::Waiting(_) => "waiting",
            Standing::Left => "left",
            Standing::Ended(name) => name.as_str(),
        }
    }

    /// Returns a few words for people.
    pub(crate) fn words(&self, now: Timestamp) -> String {
        match self {
            Standing::Silent { by, since } => {
                format!("{} was last heard of {}", one_line(readable_claimant(by)), ago(*since, now))
            }
            Standing::Driven(by) => format!("driven by {}", one_line(readable_claimant(by))),
            Standing::Waiting(count) => format!("waits for a person ({})", counted(*count as u64, "question")),
            Standing::Left => "nobody drives it".to_owned(),
            Standing::Ended(name) => name.to_string(),
        }
    }
}

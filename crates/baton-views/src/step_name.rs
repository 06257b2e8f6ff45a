//! What a step of a run is called: its phase, and what it is about where it is not the phase itself.

use std::fmt;

use baton_engine::run::TrackedHandoff;
use baton_engine::step::Role;

/// The name of a step for people, such as `write` or `write → lawyer`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StepName {
    /// The path of the phase; of a run itself, its id.
    pub phase: String,
    /// Who or what is beside the phase: the agent that helps in it, or the reason why a person is asked.
    pub beside: Option<String>,
}

impl StepName {
    /// Names a phase.
    pub fn of_phase(phase: impl Into<String>) -> StepName {
        StepName { phase: phase.into(), beside: None }
    }

    /// Names the step that a handoff stands for.
    pub fn of(tracked: &TrackedHandoff) -> StepName {
        let beside = match tracked.step.role {
            Role::Run => return StepName::of_phase(tracked.handoff.id.as_str()),
            Role::Work | Role::Check | Role::Group | Role::Gate => None,
            Role::Delegation => Some(tracked.handoff.terms.to.as_str()),
            Role::Escalation => Some("question"),
            Role::Failure => Some("failure"),
            Role::Limit => Some("limit"),
        };
        StepName { phase: tracked.step.phase.clone(), beside: beside.map(str::to_owned) }
    }

    /// Returns whether its phase is this one, or inside this group.
    pub fn is_in(&self, group: &str) -> bool {
        self.phase.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.beside {
            Some(beside) => write!(formatter, "{} → {beside}", self.phase),
            None => formatter.write_str(&self.phase),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_their_phase_and_in_its_groups() {
        let step = StepName { phase: "tools/get/review".to_owned(), beside: Some("lawyer".to_owned()) };
        assert!(step.is_in("tools/get/review") && step.is_in("tools/get") && step.is_in("tools"));
        assert!(!step.is_in("tools/ge") && !step.is_in("review") && !step.is_in("tools/get/review/more"));
        assert_eq!(step.to_string(), "tools/get/review → lawyer");
    }
}

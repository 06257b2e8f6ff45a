//! Which step of a run a handoff stands for.

use serde::{Deserialize, Serialize};

use crate::id::HandoffId;

/// Receives runs: the orchestrator itself.
pub const ORCHESTRATOR: &str = "orchestrator";
/// Receives the phases that are commands.
pub const CHECK: &str = "check";
/// Receives the phases that hold others.
pub const GROUP: &str = "group";
/// Receives what a person must decide.
pub use baton_protocol::workflow::HUMAN;

/// The step of a run that a handoff stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it stands for.
    pub role: Role,
    /// The path of the phase, such as `tools/get-issue/review`; empty for the run itself.
    pub phase: String,
    /// Which visit of the phase this is, from 1.
    pub visit: u32,
    /// The handoff of the phase that this one belongs to: a group, or the run.
    pub within: Option<HandoffId>,
    /// The handoff that this one is about: the blocked one, the one that failed.
    pub about: Option<HandoffId>,
    /// The handoff that it goes on from; the group itself for the first phases inside one.
    pub after: Option<HandoffId>,
}

/// What a handoff stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The run itself.
    Run,
    /// A phase that an agent works in.
    Work,
    /// A phase that is a command.
    Check,
    /// A phase that holds others.
    Group,
    /// A phase that is a decision of a person.
    Gate,
    /// Somebody else's work for an agent that is blocked.
    Delegation,
    /// A person's help for an agent that is blocked.
    Escalation,
    /// A person's decision after something failed.
    Failure,
    /// A person's decision at a limit.
    Limit,
}

impl Role {
    /// Returns whether it stands for a visit of a phase.
    pub fn is_phase(self) -> bool {
        match self {
            Role::Work | Role::Check | Role::Group | Role::Gate => true,
            Role::Run | Role::Delegation | Role::Escalation | Role::Failure | Role::Limit => false,
        }
    }

    /// Returns whether it counts against the limit of handoffs. What asks a person does not: people are the way out.
    pub fn is_counted(self) -> bool {
        match self {
            Role::Work | Role::Check | Role::Group | Role::Gate | Role::Delegation => true,
            Role::Run | Role::Escalation | Role::Failure | Role::Limit => false,
        }
    }

    /// Returns whether only the driver of the run can claim it.
    pub fn is_drivers(self) -> bool {
        match self {
            Role::Run | Role::Group | Role::Check => true,
            Role::Work | Role::Gate | Role::Delegation | Role::Escalation | Role::Failure | Role::Limit => false,
        }
    }
}

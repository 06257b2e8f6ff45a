//! Why a run cannot go on: what its workflow says cannot be worked out, or what its journal tells does not fit together.

use std::fmt;

use baton_protocol::read;

use crate::definition::InputFault;
use crate::expression::ExpressionFault;
use crate::id::UnsafeId;
use crate::lifecycle::Refusal;
use crate::run::RecordFault;

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowFault {
    /// Phases without work of an agent follow each other in a circle.
    #[error("its phases follow each other forever")]
    Endless,
    /// A run as a whole is the last that happens in it.
    #[error("a run is followed by nothing")]
    AfterTheRun,
    /// The workflow leads to a phase that it does not have.
    #[error("unknown phase {0}")]
    NoPhase(String),
    /// The workflow names an agent that it does not have.
    #[error("unknown agent {0}")]
    NoAgent(String),
    /// A phase is a workflow of its own, and that is not there.
    #[error("unknown workflow {0}")]
    NoWorkflow(String),
    /// An expression or a template cannot be worked out.
    #[error("phase {phase}: {part}: {fault}")]
    Expression {
        /// The path of the phase.
        phase: String,
        /// Where in the phase it stands.
        part: PhasePart,
        /// What is wrong.
        fault: ExpressionFault,
    },
    /// What a phase is done for each item of is not a list.
    #[error("phase {phase}: {} is not a list", PhasePart::Foreach(expression.clone()))]
    NoList {
        /// The path of the phase.
        phase: String,
        /// What should be one.
        expression: String,
    },
    /// A workflow inside another one is not given what it needs.
    #[error(transparent)]
    Inputs(#[from] InputFault),
    /// What a phase is asked for cannot be written down.
    #[error("phase {phase}: its request cannot be handed over: {fault}")]
    Request {
        /// The path of the phase.
        phase: String,
        /// What is wrong.
        fault: UnfitDocument,
    },
    /// A question about a phase, or a call for help, cannot be written down.
    #[error("phase {phase}: its question cannot be written: {fault}")]
    Question {
        /// The path of the phase.
        phase: String,
        /// What is wrong.
        fault: UnfitDocument,
    },
    /// What came out of the members of a group cannot be written down.
    #[error("phase {phase}: its results cannot be combined: {fault}")]
    Aggregate {
        /// The path of the group.
        phase: String,
        /// What is wrong.
        fault: UnfitDocument,
    },
    /// A phase has a name that no handoff can have.
    #[error(transparent)]
    Id(#[from] UnsafeId),
    /// The lifecycle does not allow what follows.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What is recorded does not fit together.
    #[error(transparent)]
    Record(#[from] RecordFault),
}

/// Where in a phase an expression or a template stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhasePart {
    /// Whether it is left out.
    When(String),
    /// What it is done for each item of.
    Foreach(String),
    /// What it is given under a name.
    Input {
        /// The name.
        name: String,
        /// The expression.
        expression: String,
    },
    /// What is to be done.
    Task,
}

impl fmt::Display for PhasePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PhasePart::When(expression) => write!(formatter, "`when: {expression}`"),
            PhasePart::Foreach(expression) => write!(formatter, "`foreach: {expression}`"),
            PhasePart::Input { name, expression } => write!(formatter, "the input {name} (`{expression}`)"),
            PhasePart::Task => formatter.write_str("its task"),
        }
    }
}

impl PhasePart {
    /// The fault when an expression cannot be worked out in a phase.
    pub(super) fn wrong(self, phase: &str, fault: ExpressionFault) -> FlowFault {
        FlowFault::Expression { phase: phase.to_owned(), part: self, fault }
    }
}

/// Why a document that we wrote cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitDocument {
    /// It is too large.
    #[error(
        "it would have {:.1} MiB, and a document may have {} MiB; pass on the path of a file instead of its text",
        *bytes as f64 / 1_048_576.0,
        read::BYTES_MAX / 1_048_576
    )]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// It cannot be read, for this reason.
    #[error("{0}; pass on the path of a file instead")]
    Unreadable(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::settle;
    use crate::run::cost::begun;

    fn stopped_by(phase: &str) -> FlowFault {
        settle(&mut begun(phase, 2)).expect_err("it cannot go on")
    }

    #[test]
    fn what_cannot_be_worked_out_is_told_with_its_phase_and_the_part_of_it() {
        let parts = [
            ("when: inputs.size", "phase one: `when: inputs.size`: `inputs.size` does not exist"),
            (
                "task: 'Do {{ inputs.size }}'",
                "phase one: its task: line 1: undefined value: `inputs.size` is undefined",
            ),
            ("inputs: {size: inputs.size}", "phase one: the input size (`inputs.size`): `inputs.size` does not exist"),
        ];
        for (member, sentence) in parts {
            let fault = stopped_by(&format!("  - {{id: one, agent: clerk, {member}}}"));
            let FlowFault::Expression { phase, part, .. } = &fault else { panic!("{fault:?}") };
            let is_it = match part {
                PhasePart::When(_) => member.starts_with("when"),
                PhasePart::Task => member.starts_with("task"),
                PhasePart::Input { name, .. } => member.starts_with("inputs") && name == "size",
                PhasePart::Foreach(_) => false,
            };
            assert!(is_it && phase == "one", "{fault:?}");
            assert_eq!(fault.to_string(), sentence);
        }
    }

    #[test]
    fn what_is_no_list_differs_from_what_is_not_there() {
        let each =
            |list: &str| stopped_by(&format!("  - {{id: each, foreach: {list}, phases: [{{id: one, agent: clerk}}]}}"));
        let (phase, expression) = ("each".to_owned(), "inputs.list[0]".to_owned());
        assert_eq!(each("'inputs.list[0]'"), FlowFault::NoList { phase, expression });
        let part = PhasePart::Foreach("inputs.size".to_owned());
        let fault = ExpressionFault::NotThere("inputs.size".to_owned());
        assert_eq!(each("inputs.size"), FlowFault::Expression { phase: "each".to_owned(), part, fault });
    }
}

//! The closed vocabularies of the canonical form.

use crate::wire::vocabulary;

vocabulary! {
    /// How a piece of work ended, as its agent says.
    pub enum Outcome, "outcome", unknown_status {
        /// Finished.
        Complete = "complete",
        /// Finished in part.
        Partial = "partial",
        /// Cannot go on alone.
        Blocked = "blocked",
        /// Finished, but a person must approve it.
        NeedsReview = "needs_review",
        /// A person must answer questions first.
        NeedsClarification = "needs_clarification",
        /// Tried and failed.
        Failed = "failed",
    }

    /// What an agent recommends to the orchestrator.
    pub enum AgentDecision, "decision", unknown_decision {
        /// Go on with the next phase.
        Proceed = "PROCEED",
        /// Halt and tell a person.
        Stop = "STOP",
        /// Ask a person.
        Clarify = "CLARIFY",
    }

    /// Why one party hands work to another.
    pub enum HandoffKind, "kind of handoff", unknown_kind {
        /// To the next agent of the workflow.
        Sequential = "sequential",
        /// To a specialist, for a part of the work.
        Delegation = "delegation",
        /// To a person, for a decision.
        Escalation = "escalation",
        /// Back to the party that delegated.
        Return = "return",
        /// To a person, who must approve before it goes on.
        Gate = "gate",
    }

    /// How much something matters, from `low` to `critical`.
    pub enum Priority, "priority", unknown_priority {
        /// When there is time.
        Low = "low",
        /// Like everything else.
        Normal = "normal",
        /// Before the others.
        High = "high",
        /// At once.
        Critical = "critical",
    }

    /// How much an open question matters.
    pub enum QuestionPriority, "priority", unknown_priority {
        /// Blocks the next agent.
        High = "high",
        /// Should be answered.
        Medium = "medium",
        /// Nice to know.
        Low = "low",
    }

    /// How strictly a gate waits for a person.
    pub enum GateType, "type of gate", unknown_kind {
        /// Nothing goes on without a decision.
        Blocking = "blocking",
        /// Goes on after a stated time.
        Advisory = "advisory",
        /// Checks decide; a failure blocks.
        Auto = "auto",
    }

    /// Where a requested piece of work is.
    pub enum RequestState, "status of a request", unknown_status {
        /// Waiting to be picked up.
        Pending = "pending",
        /// Picked up.
        InProgress = "in_progress",
    }

    /// The phases of the task dialect.
    pub enum TaskPhase, "phase", unknown_phase {
        /// Find out.
        Research = "research",
        /// Make.
        Write = "write",
        /// Check.
        Validate = "validate",
        /// Several at once.
        Parallel = "parallel",
    }

    /// What a task request wants back.
    pub enum ExpectedOutput, "expected output", unknown_kind {
        /// What research found.
        StructuredFindings = "structured_findings",
        /// What writing changed.
        FilesChanged = "files_changed",
        /// What validation said.
        ValidationResult = "validation_result",
        /// What several tasks said together.
        AggregatedResults = "aggregated_results",
    }
}

impl ExpectedOutput {
    /// Returns the phase whose findings have this form.
    pub fn phase(self) -> TaskPhase {
        match self {
            ExpectedOutput::StructuredFindings => TaskPhase::Research,
            ExpectedOutput::FilesChanged => TaskPhase::Write,
            ExpectedOutput::ValidationResult => TaskPhase::Validate,
            ExpectedOutput::AggregatedResults => TaskPhase::Parallel,
        }
    }
}

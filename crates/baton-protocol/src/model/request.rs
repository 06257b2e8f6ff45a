//! The request: what is asked of whom, with everything needed to do it.

use serde_json::{Map, Number, Value};

use super::Extensions;
use super::artifact::Artifact;
use super::terms::{GateType, HandoffKind, Priority, QuestionPriority, RequestState};
use crate::wire::{Label, wire};

wire! {
    /// What is asked.
    pub struct Request {
        /// Identifier of the handoff.
        optional id: Option<String>,
        /// When it was made.
        optional timestamp: Option<String>,
        /// Why it is handed over.
        optional kind: Option<HandoffKind>,
        /// Where it is.
        optional state: Option<RequestState>,
        /// When it was picked up.
        optional started_at: Option<String>,
        /// Who hands over.
        optional from: Option<Party>,
        /// Who is to receive.
        optional to: Option<Party>,
        /// The phase that is asked for.
        optional phase: Option<Label>,
        /// What to do.
        optional instructions: Option<String>,
        /// What the receiver must know.
        optional context: Option<Context>,
        /// What is wanted back.
        optional expectations: Option<Expectations>,
        /// Where the workflow is.
        optional workflow: Option<WorkflowState>,
        /// The decision that is asked of a person.
        optional gate: Option<Gate>,
        /// A reviewer's verdict on somebody else's work, where a package hands over a review.
        optional verdict: Option<String>,
        /// Data to work on.
        optional input: Option<Input>,
        /// How long the receiver may take.
        optional timeout_seconds: Option<Number>,
        /// How urgent it is.
        optional priority: Option<Priority>,
        /// How often and when to try again.
        optional retry: Option<RetryPolicy>,
        /// How often it was tried again so far.
        optional retry_count: Option<u64>,
        /// What dialects said beyond this.
        optional extensions: Vec<Extensions>,
    }

    /// An agent, the orchestrator or a person.
    pub struct Party {
        /// Its name; `human` for a person.
        optional agent: Option<String>,
        /// The phase that it works in.
        optional phase: Option<Label>,
        /// The step of the workflow that it works on.
        optional step: Option<Label>,
        /// What kind of party it is.
        optional r#type: Option<String>,
        /// Why this one.
        optional reason: Option<String>,
    }

    /// What the receiver must know.
    pub struct Context {
        /// What was done, in a few sentences.
        optional summary: Option<String>,
        /// The feature that is worked on.
        optional feature: Option<String>,
        /// Where its specification is.
        optional spec_path: Option<String>,
        /// Files to look at.
        optional relevant_files: Vec<String>,
        /// What was decided.
        optional decisions: Vec<DecisionMade>,
        /// What was made.
        optional artifacts: Vec<Artifact>,
        /// What is not settled.
        optional open_questions: Vec<OpenQuestion>,
        /// Anything else, by name.
        optional facts: Map<String, Value>,
        /// Whose work this goes on from, and the files that have all that they handed over.
        optional handed_over: Vec<HandedOver>,
    }

    /// Somebody's work that this goes on from.
    pub struct HandedOver {
        /// Identifier of its handoff.
        optional handoff: Option<String>,
        /// The phase that it was done in.
        optional phase: Option<String>,
        /// Who did it.
        optional agent: Option<String>,
        /// The file that has all of it, relative to the workspace.
        optional file: Option<String>,
        /// The SHA-256 of what was handed over, in hexadecimal.
        optional sha256: Option<String>,
    }

    /// A decision with its reason.
    pub struct DecisionMade {
        /// Identifier.
        optional id: Option<String>,
        /// What was decided.
        optional decision: Option<String>,
        /// Why.
        optional rationale: Option<String>,
    }

    /// A question that is not settled.
    pub struct OpenQuestion {
        /// The question.
        required question: Option<String>,
        /// How much it matters.
        optional priority: Option<QuestionPriority>,
        /// What one must know to answer.
        optional context: Option<String>,
        /// What could be answered.
        optional options: Vec<Value>,
    }

    /// What is wanted back.
    pub struct Expectations {
        /// What to deliver.
        optional deliverable: Option<String>,
        /// What to respect.
        optional constraints: Vec<String>,
        /// How success is recognised.
        optional success_criteria: Vec<String>,
        /// The form of the answer.
        optional output: Option<String>,
        /// JSON Schema that the result must satisfy.
        optional schema: Option<String>,
        /// Where to put the result.
        optional destination: Option<String>,
    }

    /// Where a workflow is.
    pub struct WorkflowState {
        /// Name of the workflow.
        optional name: Option<String>,
        /// The step that comes now.
        optional current_step: Option<Label>,
        /// The steps that are done.
        optional completed_steps: Vec<Label>,
        /// The steps that are left.
        optional remaining_steps: Vec<Label>,
    }

    /// A decision that is asked of a person.
    pub struct Gate {
        /// How strictly it waits.
        optional r#type: Option<GateType>,
        /// Its name.
        optional name: Option<String>,
        /// The step that it guards.
        optional step: Option<Label>,
        /// What to validate.
        optional items: Vec<String>,
        /// What can be answered, and what each answer means.
        optional options: Map<String, Value>,
    }

    /// Data to work on.
    pub struct Input {
        /// JSON Schema that the data satisfies.
        optional schema: Option<String>,
        /// The data.
        optional data: Option<Value>,
    }

    /// How often and when to try again.
    pub struct RetryPolicy {
        /// How many times after the first.
        optional max_retries: Option<u64>,
        /// How long to wait before the first retry.
        optional retry_delay_seconds: Option<Number>,
        /// How the wait grows from one retry to the next.
        optional backoff_multiplier: Option<Number>,
    }
}

impl Request {
    /// Returns why it is handed over: as it says, or else as its members tell.
    pub fn told_kind(&self) -> HandoffKind {
        let to_person = self.to.as_ref().is_some_and(Party::is_person);
        match self.kind {
            Some(kind) => kind,
            None if self.gate.is_some() => HandoffKind::Gate,
            None if to_person => HandoffKind::Escalation,
            None if self.expectations.is_some() && self.workflow.is_none() => HandoffKind::Delegation,
            None => HandoffKind::Sequential,
        }
    }
}

impl Party {
    /// Returns whether the party is a person.
    pub fn is_person(&self) -> bool {
        const NAMES: [&str; 4] = ["human", "user", "person", "askuserquestion"];
        let named = |agent: &str| NAMES.iter().any(|name| crate::wire::same_word(agent, name));
        self.agent.as_deref().is_some_and(named)
    }
}

//! The report: what came back, as its agent tells it.

use serde_json::{Map, Number, Value};

use super::Extensions;
use super::artifact::Artifact;
use super::findings::PhaseFindings;
use super::request::{DecisionMade, OpenQuestion, Party};
use super::terms::{AgentDecision, Outcome};
use crate::tree::Node;
use crate::wire::{Label, Reader, Wire, wire};

wire! {
    /// What came back.
    pub struct Report {
        /// Identifier of the handoff or task that this answers.
        optional id: Option<String>,
        /// Who reports.
        optional from: Option<Party>,
        /// Who had asked.
        optional to: Option<Party>,
        /// The phase that was worked on.
        optional phase: Option<Label>,
        /// What kind of output this is.
        optional output_type: Option<String>,
        /// When the work ended.
        optional timestamp: Option<String>,
        /// When the work was asked for.
        optional requested_at: Option<String>,
        /// When the work began.
        optional started_at: Option<String>,
        /// How it ended.
        required outcome: Option<Outcome>,
        /// A reviewer's verdict on somebody else's work.
        optional verdict: Option<String>,
        /// What the agent recommends.
        optional decision: Option<AgentDecision>,
        /// Where the output is.
        optional feature_directory: Option<String>,
        /// What was done, in a few sentences.
        optional summary: Option<String>,
        /// Skills that were invoked.
        optional skills_invoked: Vec<String>,
        /// Library skills that were read.
        optional library_skills_read: Vec<String>,
        /// Source files that were looked at, with line ranges.
        optional source_files_verified: Vec<String>,
        /// Files that were changed.
        optional files_modified: Vec<String>,
        /// Files that were made.
        optional artifacts: Vec<Artifact>,
        /// What the agent checked, and what came out.
        optional verification: Map<String, Value>,
        /// Whether the output is valid.
        optional validation: Map<String, Value>,
        /// What the phase found.
        optional findings: Option<PhaseFindings>,
        /// Why it is blocked.
        optional blocked_reason: Option<String>,
        /// What was tried before giving up.
        optional attempted: Vec<String>,
        /// What is in the way.
        optional blockers: Vec<Blocker>,
        /// What a person must answer.
        optional questions: Vec<ReportQuestion>,
        /// What was decided.
        optional decisions: Vec<DecisionMade>,
        /// What is not settled, for those who follow.
        optional open_questions: Vec<OpenQuestion>,
        /// What should come next.
        optional next: Option<SuggestedNext>,
        /// The main result.
        optional output: Option<Output>,
        /// What went wrong.
        optional error: Option<ReportedFailure>,
        /// Whether it can be tried again.
        optional retry: Option<ReportedRetry>,
        /// How to recover.
        optional recovery_actions: Vec<String>,
        /// What to do next.
        optional next_steps: Vec<String>,
        /// What should be looked at.
        optional warnings: Vec<Value>,
        /// What went wrong on the way.
        optional errors: Vec<Value>,
        /// Problems that were met.
        optional issues: Vec<String>,
        /// How many tokens the work took.
        optional tokens_used: Option<Number>,
        /// How long the work took.
        optional execution_time_seconds: Option<Number>,
        /// Counts and measurements.
        optional metrics: Map<String, Value>,
        /// What dialects said beyond this.
        optional extensions: Vec<Extensions>,
    }

    /// Something in the way.
    pub struct Blocker {
        /// What kind.
        optional r#type: Option<String>,
        /// What it is.
        required description: Option<String>,
        /// What would solve it.
        optional resolution: Option<String>,
    }

    /// What should come next.
    pub struct SuggestedNext {
        /// Which agent; the orchestrator decides.
        optional agent: Option<String>,
        /// Which phase.
        optional phase: Option<Label>,
        /// What the next agent must know.
        optional context: Option<String>,
    }

    /// The main result.
    pub struct Output {
        /// Identifier of the artifact.
        optional artifact_id: Option<String>,
        /// Where it is.
        optional artifact_path: Option<String>,
        /// What it is.
        optional artifact_type: Option<String>,
        /// Whether it satisfies its schema, as the agent says.
        optional schema_compliance: Option<String>,
    }

    /// What went wrong.
    pub struct ReportedFailure {
        /// Which kind of failure.
        required code: Option<String>,
        /// What happened.
        required message: Option<String>,
        /// How bad it is.
        optional severity: Option<String>,
        /// When it happened.
        optional timestamp: Option<String>,
    }

    /// Whether it can be tried again.
    pub struct ReportedRetry {
        /// Whether it can.
        optional available: Option<bool>,
        /// How often it was tried again.
        optional count: Option<u64>,
        /// How often it may be.
        optional max: Option<u64>,
    }

    /// A question for a person, as an object.
    pub struct QuestionFields {
        /// The question.
        required question: Option<String>,
        /// What it is about.
        optional category: Option<String>,
        /// What could be answered.
        optional options: Vec<Value>,
        /// What depends on the answer.
        optional impact: Option<String>,
        /// What is assumed without an answer.
        optional default_assumption: Option<String>,
    }
}

/// A question for a person: a bare sentence, or an object with options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportQuestion {
    /// Its members.
    pub fields: QuestionFields,
    /// Whether it was written as a bare sentence.
    pub bare: bool,
}

impl Wire for ReportQuestion {
    const EXPECTED: &'static str = "a question";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Text(text) => {
                let fields = QuestionFields { question: Some(text.into_owned()), ..QuestionFields::default() };
                Some(ReportQuestion { fields, bare: true })
            }
            node => QuestionFields::read(node, reader).map(|fields| ReportQuestion { fields, bare: false }),
        }
    }

    fn write(&self) -> Value {
        match (&self.fields.question, self.bare) {
            (Some(question), true) => Value::String(question.clone()),
            _ => self.fields.write(),
        }
    }
}

impl schemars::JsonSchema for ReportQuestion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Question".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fields = generator.subschema_for::<QuestionFields>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, fields], "description": "A question for a person." })
    }
}

impl Report {
    /// Returns what should come next, or nothing at all.
    pub fn next_agent(&self) -> Option<&str> {
        self.next.as_ref()?.agent.as_deref()
    }

    /// Returns what the next agent must know.
    pub fn next_context(&self) -> Option<&str> {
        self.next.as_ref()?.context.as_deref()
    }

    /// Returns the name of the agent that reports.
    pub fn agent(&self) -> Option<&str> {
        self.from.as_ref()?.agent.as_deref()
    }
}

//! The task: JSON with task id and phase; the answer has a decision, findings and a compact summary.

use schemars::Schema;
use serde_json::{Number, Value};

use super::{marks, schema_of};
use crate::model::findings::PhaseFindings;
use crate::model::report::Report;
use crate::model::request::{Context, Expectations, Request};
use crate::model::terms::{AgentDecision, ExpectedOutput, Outcome, TaskPhase};
use crate::model::{Document, Kind};
use crate::tree::Node;
use crate::wire::{Label, Reader, Wire, vocabulary, wire};

/// Where the canonical members of a request stand.
const REQUEST_POINTERS: &[(&str, &str)] = &[
    ("/id", "/task_id"),
    ("/context/summary", "/context/previous_findings"),
    ("/context/summary", "/context/previous_summary"),
    ("/expectations/constraints", "/context/constraints"),
    ("/expectations/output", "/expected_output"),
];

/// Where the canonical members of a report stand.
const REPORT_POINTERS: &[(&str, &str)] =
    &[("/id", "/task_id"), ("/outcome", "/status"), ("/summary", "/context_summary")];

vocabulary! {
    /// How far the work got.
    pub enum TaskStatus, "status", unknown_status {
        /// All of it.
        Complete = "complete",
        /// A part.
        Partial = "partial",
        /// Cannot go on.
        Blocked = "blocked",
    }
}

wire! {
    /// What an orchestrator asks of a sub-agent.
    pub struct TaskRequest {
        /// Unique identifier for tracking.
        required task_id: Option<String>,
        /// The phase.
        required phase: Option<TaskPhase>,
        /// The least that the sub-agent must know.
        required context: Option<TaskContext>,
        /// What the sub-agent should do.
        required instructions: Option<String>,
        /// The form of the answer.
        required expected_output: Option<ExpectedOutput>,
    }

    /// The least that the sub-agent must know.
    pub struct TaskContext {
        /// The feature that is worked on.
        required feature: Option<String>,
        /// Where its specification is.
        optional spec_path: Option<String>,
        /// Files to look at or to change.
        optional relevant_files: Vec<String>,
        /// What to respect.
        optional constraints: Vec<String>,
        /// Summary of the phase before.
        optional previous_findings: Option<String>,
        /// Another spelling of `previous_findings`.
        optional previous_summary: Option<String>,
    }

    /// What a sub-agent answers.
    pub struct TaskResponse {
        /// Identifier of the request.
        required task_id: Option<String>,
        /// Phase of the request.
        required phase: Option<TaskPhase>,
        /// How far the work got.
        required status: Option<TaskStatus>,
        /// What the orchestrator should do.
        required decision: Option<AgentDecision>,
        /// What the phase found.
        required findings: Option<PhaseFindings>,
        /// Compact summary for the next phase, at most 500 tokens.
        required context_summary: Option<String>,
        /// About how many tokens the work took.
        optional tokens_used: Option<Number>,
        /// Problems that were met.
        optional issues: Vec<String>,
    }
}

pub(super) fn pointers(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Report => REPORT_POINTERS,
        Kind::Request | Kind::Acknowledgment => REQUEST_POINTERS,
    }
}

pub(super) fn detect(node: &Node<'_>) -> bool {
    let asked = marks(node, &["instructions", "expected_output"]);
    let answered = marks(node, &["decision", "findings", "context_summary"]);
    (node.has("task_id") && (node.has("phase") || node.has("status") || asked + answered >= 1)) || answered >= 2
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    let answered = marks(&node, &["status", "decision", "findings", "context_summary"]) >= 1;
    if answered {
        read_response(node, reader).map(|report| Document::Report(Box::new(report)))
    } else {
        read_request(node, reader).map(|request| Document::Request(Box::new(request)))
    }
}

fn read_request(node: Node<'_>, reader: &mut Reader) -> Option<Request> {
    let mut task = TaskRequest::read(node, reader)?;
    if let Some(context) = &mut task.context {
        let (findings, summary) = (context.previous_findings.take(), context.previous_summary.take());
        context.previous_findings =
            reader.below("context", |reader| reader.either(findings, summary, "previous_summary"));
    }
    Some(task.into_request())
}

/// Reads a response; what its findings must look like depends on its phase.
fn read_response(node: Node<'_>, reader: &mut Reader) -> Option<Report> {
    let Node::Object(members) = node else {
        reader.wrong_type("an object", node);
        return None;
    };
    reader.require(TaskResponse::required(), &members);
    let said = members.iter().find(|(name, _)| name == "phase").and_then(|(_, node)| node.as_text());
    let phase = said.and_then(TaskPhase::parse);
    let mut response = TaskResponse::default();
    for (name, node) in members {
        if name == "findings" && matches!(node, Node::Object(_)) {
            response.findings = reader.below("findings", |reader| read_findings(phase, node, reader));
        } else if let Some(node) = response.fill_member(&name, node, reader) {
            reader.unknown_member(&name, node, TaskResponse::MEMBERS);
        }
    }
    Some(response.into_report())
}

/// Reads findings as the phase demands, unless they plainly belong to another phase.
fn read_findings(phase: Option<TaskPhase>, node: Node<'_>, reader: &mut Reader) -> Option<PhaseFindings> {
    match PhaseFindings::phase_of(&node, phase).or(phase) {
        Some(phase) => PhaseFindings::read_phase(phase, node, reader),
        None => PhaseFindings::read(node, reader),
    }
}

pub(super) fn write(document: &Document) -> Option<Value> {
    match document {
        Document::Request(request) => Some(TaskRequest::of_request(request).write()),
        Document::Report(report) => Some(TaskResponse::of_report(report).write()),
        Document::Acknowledgment(_) => None,
    }
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    vec![("task.request", schema_of::<TaskRequest>()), ("task.report", schema_of::<TaskResponse>())]
}

fn phase_of(label: Option<&Label>) -> Option<TaskPhase> {
    label.and_then(Label::name).and_then(TaskPhase::parse)
}

fn label(phase: TaskPhase) -> Label {
    Label::Name(phase.as_str().to_owned())
}

impl TaskRequest {
    fn into_request(self) -> Request {
        let context = self.context.unwrap_or_default();
        let expectations = Expectations {
            constraints: context.constraints,
            output: self.expected_output.map(|output| output.as_str().to_owned()),
            ..Expectations::default()
        };
        let context = Context {
            summary: context.previous_findings,
            feature: context.feature,
            spec_path: context.spec_path,
            relevant_files: context.relevant_files,
            ..Context::default()
        };
        Request {
            id: self.task_id,
            phase: self.phase.map(label),
            instructions: self.instructions,
            context: (context != Context::default()).then_some(context),
            expectations: (expectations != Expectations::default()).then_some(expectations),
            ..Request::default()
        }
    }

    /// A deliverable stands in for instructions that are not there.
    fn of_request(request: &Request) -> Self {
        let context = request.context.clone().unwrap_or_default();
        let expected = request.expectations.clone().unwrap_or_default();
        let context = TaskContext {
            feature: context.feature,
            spec_path: context.spec_path,
            relevant_files: context.relevant_files,
            constraints: expected.constraints,
            previous_findings: context.summary.clone(),
            previous_summary: context.summary,
        };
        TaskRequest {
            task_id: request.id.clone(),
            phase: phase_of(request.phase.as_ref()),
            context: (context != TaskContext::default()).then_some(context),
            instructions: request.instructions.clone().or(expected.deliverable),
            expected_output: expected.output.as_deref().and_then(ExpectedOutput::parse),
        }
    }
}

impl TaskResponse {
    fn into_report(self) -> Report {
        Report {
            id: self.task_id,
            phase: self.phase.map(label),
            outcome: self.status.map(|status| match status {
                TaskStatus::Complete => Outcome::Complete,
                TaskStatus::Partial => Outcome::Partial,
                TaskStatus::Blocked => Outcome::Blocked,
            }),
            decision: self.decision,
            findings: self.findings,
            summary: self.context_summary,
            tokens_used: self.tokens_used,
            issues: self.issues,
            ..Report::default()
        }
    }

    /// A context for the next agent stands in for a summary that is not there.
    fn of_report(report: &Report) -> Self {
        TaskResponse {
            task_id: report.id.clone(),
            phase: phase_of(report.phase.as_ref()),
            status: report.outcome.and_then(|outcome| TaskStatus::parse(outcome.as_str())),
            decision: report.decision,
            findings: report.findings.clone(),
            context_summary: report.summary.clone().or_else(|| report.next_context().map(str::to_owned)),
            tokens_used: report.tokens_used.clone(),
            issues: report.issues.clone(),
        }
    }
}

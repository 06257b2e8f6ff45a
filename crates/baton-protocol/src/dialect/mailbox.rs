//! The mailbox: JSON files that move from `pending/` through `in-progress/` to `completed/` or `failed/`.
//!
//! The same file is the request first and the answer later, so an answer may still carry the request's members;
//! they are kept as they are. Times are read with either spelling and written with both.

use schemars::Schema;
use serde_json::{Map, Number, Value};

use super::{marks, schema_of};
use crate::diagnostic::{Finding, Place};
use crate::model::report::{Output, Report, ReportedFailure, ReportedRetry};
use crate::model::request::{Context, Expectations, Input, Party, Request, RetryPolicy};
use crate::model::terms::{Outcome, Priority, RequestState};
use crate::model::{Document, Kind};
use crate::rules;
use crate::tree::Node;
use crate::wire::{Label, Reader, Wire, vocabulary, wire};

/// Where the canonical members of a request stand.
const REQUEST_POINTERS: &[(&str, &str)] = &[
    ("/id", "/handoff_id"),
    ("/state", "/status"),
    ("/from", "/source"),
    ("/from/agent", "/source/agent_id"),
    ("/from/type", "/source/agent_type"),
    ("/to", "/target"),
    ("/to/agent", "/target/agent_id"),
    ("/to/type", "/target/agent_type"),
    ("/context/facts", "/context"),
    ("/expectations", "/expected_output"),
    ("/expectations/output", "/expected_output/artifact_type"),
    ("/retry", "/retry_policy"),
];

/// Where the canonical members of an answer stand.
const REPORT_POINTERS: &[(&str, &str)] = &[
    ("/id", "/handoff_id"),
    ("/outcome", "/status"),
    ("/from", "/target"),
    ("/from/agent", "/target/agent_id"),
    ("/from/type", "/target/agent_type"),
    ("/to", "/source"),
    ("/to/agent", "/source/agent_id"),
    ("/to/type", "/source/agent_type"),
    ("/requested_at", "/timestamp"),
    ("/timestamp", "/timestamp_completed"),
    ("/timestamp", "/completed_at"),
    ("/timestamp", "/timestamp_failed"),
    ("/timestamp", "/failed_at"),
    ("/metrics", "/metadata"),
    ("/retry/available", "/retry_available"),
    ("/retry/count", "/retry_count"),
    ("/retry/max", "/max_retries"),
];

/// What `baton dir` notes in the file while a handoff is on its way.
const RUNNING: &[&str] = &["attempt", "claimed_by", "not_before", "last_error"];

vocabulary! {
    /// Where a handoff is.
    pub enum MailboxStatus, "status", unknown_status {
        /// Waiting to be picked up.
        Pending = "pending",
        /// Picked up.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Given up.
        Failed = "failed",
    }
}

wire! {
    /// A request in `pending/` or `in-progress/`.
    pub struct MailboxRequest {
        /// Identifier, also the name of the file.
        required handoff_id: Option<String>,
        /// When it was made, in ISO 8601.
        required timestamp: Option<String>,
        /// Where it is.
        required status: Option<MailboxStatus>,
        /// When it was picked up.
        optional started_at: Option<String>,
        /// Who asks.
        required source: Option<MailboxParty>,
        /// Who is asked.
        required target: Option<MailboxParty>,
        /// What is known about the project.
        optional context: Map<String, Value>,
        /// Data to work on.
        required input: Option<Input>,
        /// What is wanted back.
        optional expected_output: Option<MailboxExpectation>,
        /// How long it may take.
        optional timeout_seconds: Option<Number>,
        /// How urgent it is.
        optional priority: Option<Priority>,
        /// How often and when to try again.
        optional retry_policy: Option<RetryPolicy>,
        /// How often it was tried again.
        optional retry_count: Option<u64>,
    }

    /// An agent.
    pub struct MailboxParty {
        /// Its name.
        required agent_id: Option<String>,
        /// The phase that it works in.
        optional phase: Option<Label>,
        /// Orchestrator or specialist.
        optional agent_type: Option<String>,
    }

    /// What is wanted back.
    pub struct MailboxExpectation {
        /// What kind of artifact.
        optional artifact_type: Option<String>,
        /// JSON Schema that it must satisfy.
        optional schema: Option<String>,
        /// Where to put it.
        optional destination: Option<String>,
    }

    /// An answer in `completed/`.
    pub struct MailboxResponse {
        /// Identifier of the request.
        required handoff_id: Option<String>,
        /// When the request was made.
        optional timestamp: Option<String>,
        /// Where it is.
        required status: Option<MailboxStatus>,
        /// When it was picked up.
        optional started_at: Option<String>,
        /// When it was done.
        optional timestamp_completed: Option<String>,
        /// Another spelling of `timestamp_completed`.
        optional completed_at: Option<String>,
        /// How long it took.
        optional execution_time_seconds: Option<Number>,
        /// Who had asked.
        optional source: Option<MailboxParty>,
        /// Who answers.
        optional target: Option<MailboxParty>,
        /// The result.
        required output: Option<Output>,
        /// A reviewer's verdict on somebody else's work: `APPROVED` or `CHANGES_REQUESTED`.
        optional verdict: Option<String>,
        /// Whether the result is valid.
        optional validation: Map<String, Value>,
        /// Counts and measurements.
        optional metadata: Map<String, Value>,
        /// What to do next.
        optional next_steps: Vec<String>,
        /// What should be looked at.
        optional warnings: Vec<Value>,
        /// What went wrong on the way.
        optional errors: Vec<Value>,
        /// How often it was tried again.
        optional retry_count: Option<u64>,
    }

    /// An answer in `failed/`.
    pub struct MailboxFailure {
        /// Identifier of the request.
        required handoff_id: Option<String>,
        /// When the request was made.
        optional timestamp: Option<String>,
        /// Where it is.
        required status: Option<MailboxStatus>,
        /// When it was picked up.
        optional started_at: Option<String>,
        /// When it failed.
        optional timestamp_failed: Option<String>,
        /// Another spelling of `timestamp_failed`.
        optional failed_at: Option<String>,
        /// How long it took.
        optional execution_time_seconds: Option<Number>,
        /// Who had asked.
        optional source: Option<MailboxParty>,
        /// Who answers.
        optional target: Option<MailboxParty>,
        /// What went wrong.
        required error: Option<ReportedFailure>,
        /// What did not satisfy its schema.
        optional validation: Map<String, Value>,
        /// Whether it can be tried again.
        optional retry_available: Option<bool>,
        /// How often it was tried again.
        optional retry_count: Option<u64>,
        /// How often it may be.
        optional max_retries: Option<u64>,
        /// How to recover.
        optional recovery_actions: Vec<String>,
        /// What should be looked at.
        optional warnings: Vec<Value>,
    }
}

pub(super) fn pointers(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Report => REPORT_POINTERS,
        Kind::Request | Kind::Acknowledgment => REQUEST_POINTERS,
    }
}

pub(super) fn detect(node: &Node<'_>) -> bool {
    let parties = ["source", "target"].iter().filter(|side| node.get(side).is_some_and(|party| party.has("agent_id")));
    let others =
        marks(node, &["status", "input", "output", "error", "expected_output", "retry_policy", "source", "target"]);
    (node.has("handoff_id") && others >= 1) || parties.count() == 2
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    let Node::Object(members) = node else {
        reader.wrong_type("an object", node);
        return None;
    };
    let has = |name: &str| members.iter().any(|(key, node)| key == name && matches!(node, Node::Object(_)));
    let said = members.iter().find(|(name, _)| name == "status").and_then(|(_, status)| status.as_text());
    // A status that nobody knows does not choose the form; what is there does.
    let answer = match said.and_then(MailboxStatus::parse) {
        Some(MailboxStatus::Pending | MailboxStatus::InProgress) => None,
        Some(MailboxStatus::Completed) => Some(true),
        Some(MailboxStatus::Failed) => Some(false),
        None if has("error") => Some(false),
        None if has("input") || (has("source") && has("target") && !has("output")) => None,
        None => Some(true),
    };
    match answer {
        None => read_request(members, reader),
        Some(true) => read_response(members, reader),
        Some(false) => read_failure(members, reader),
    }
}

type Members<'t> = Vec<(std::borrow::Cow<'t, str>, Node<'t>)>;

fn read_request(members: Members<'_>, reader: &mut Reader) -> Option<Document> {
    reader.require(MailboxRequest::required(), &members);
    let mut request = MailboxRequest::default();
    for (name, node) in members {
        match request.fill_member(&name, node, reader) {
            Some(node) if RUNNING.contains(&&*name) => reader.keep_member(&name, node),
            Some(node) => {
                reader.unknown_member(&name, node, MailboxRequest::MEMBERS);
            }
            None => {}
        }
    }
    Some(Document::Request(Box::new(request.into_request())))
}

fn read_response(members: Members<'_>, reader: &mut Reader) -> Option<Document> {
    reader.require(MailboxResponse::required(), &members);
    require_time(&members, ["timestamp_completed", "completed_at"], reader);
    let mut response = MailboxResponse::default();
    for (name, node) in members {
        if let Some(node) = response.fill_member(&name, node, reader) {
            keep_or_report(&name, node, MailboxResponse::MEMBERS, reader);
        }
    }
    response.timestamp_completed =
        one_time(response.timestamp_completed.take(), response.completed_at.take(), "completed_at", reader);
    Some(Document::Report(Box::new(response.into_report())))
}

fn read_failure(members: Members<'_>, reader: &mut Reader) -> Option<Document> {
    reader.require(MailboxFailure::required(), &members);
    require_time(&members, ["timestamp_failed", "failed_at"], reader);
    let mut failure = MailboxFailure::default();
    for (name, node) in members {
        if let Some(node) = failure.fill_member(&name, node, reader) {
            keep_or_report(&name, node, MailboxFailure::MEMBERS, reader);
        }
    }
    failure.timestamp_failed = one_time(failure.timestamp_failed.take(), failure.failed_at.take(), "failed_at", reader);
    Some(Document::Report(Box::new(failure.into_report())))
}

/// One of the two spellings of a time must be there.
fn require_time(members: &Members<'_>, names: [&'static str; 2], reader: &mut Reader) {
    if !names.iter().any(|name| members.iter().any(|(key, node)| key == name && *node != Node::Null)) {
        reader.require(&[(names[0], "when it ended, in ISO 8601")], members);
    }
}

/// Chooses between the two spellings of a time, and tells if they disagree.
fn one_time(first: Option<String>, second: Option<String>, second_name: &str, reader: &mut Reader) -> Option<String> {
    if first.is_some() && second.is_some() && first != second {
        let place = Place::Value(format!("/{second_name}"));
        let message = format!("`{second_name}` disagrees with the other spelling of the same time");
        let finding = Finding::new(&rules::bad_timestamp::RULE, place, message);
        reader.findings.push(finding.help("write the same time in both, or only one of them"));
    }
    reader.either(first, second, second_name)
}

/// Members of the request, and of the answers before it, may still be there; others are unknown.
fn keep_or_report(name: &str, node: Node<'_>, known: &[&'static str], reader: &mut Reader) {
    let of_mailbox = [MailboxRequest::MEMBERS, MailboxResponse::MEMBERS, MailboxFailure::MEMBERS];
    if of_mailbox.iter().any(|members| members.contains(&name)) || RUNNING.contains(&name) {
        reader.keep_member(name, node)
    } else {
        reader.unknown_member(name, node, known);
    }
}

pub(super) fn write(document: &Document) -> Option<Value> {
    match document {
        Document::Request(request) => Some(MailboxRequest::of_request(request).write()),
        Document::Report(report) if report.outcome == Some(Outcome::Failed) || report.error.is_some() => {
            Some(MailboxFailure::of_report(report).write())
        }
        Document::Report(report) => Some(MailboxResponse::of_report(report).write()),
        Document::Acknowledgment(_) => None,
    }
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("mailbox.request", schema_of::<MailboxRequest>()),
        ("mailbox.report", schema_of::<MailboxResponse>()),
        ("mailbox.failure", schema_of::<MailboxFailure>()),
    ]
}

impl MailboxParty {
    fn into_party(self) -> Party {
        Party { agent: self.agent_id, phase: self.phase, r#type: self.agent_type, ..Party::default() }
    }

    fn of(party: Option<&Party>) -> Option<Self> {
        party.map(|party| MailboxParty {
            agent_id: party.agent.clone(),
            phase: party.phase.clone(),
            agent_type: party.r#type.clone(),
        })
    }
}

impl MailboxRequest {
    fn into_request(self) -> Request {
        Request {
            id: self.handoff_id,
            timestamp: self.timestamp,
            state: self.status.and_then(|status| RequestState::parse(status.as_str())),
            started_at: self.started_at,
            from: self.source.map(MailboxParty::into_party),
            to: self.target.map(MailboxParty::into_party),
            context: (!self.context.is_empty()).then(|| Context { facts: self.context, ..Context::default() }),
            input: self.input,
            expectations: self.expected_output.map(|expected| Expectations {
                output: expected.artifact_type,
                schema: expected.schema,
                destination: expected.destination,
                ..Expectations::default()
            }),
            timeout_seconds: self.timeout_seconds,
            priority: self.priority,
            retry: self.retry_policy,
            retry_count: self.retry_count,
            ..Request::default()
        }
    }

    fn of_request(request: &Request) -> Self {
        let expected = request.expectations.as_ref().map(|expected| MailboxExpectation {
            artifact_type: expected.output.clone(),
            schema: expected.schema.clone(),
            destination: expected.destination.clone(),
        });
        MailboxRequest {
            handoff_id: request.id.clone(),
            timestamp: request.timestamp.clone(),
            status: request.state.and_then(|state| MailboxStatus::parse(state.as_str())),
            started_at: request.started_at.clone(),
            source: MailboxParty::of(request.from.as_ref()),
            target: MailboxParty::of(request.to.as_ref()),
            context: request.context.as_ref().map(|context| context.facts.clone()).unwrap_or_default(),
            input: request.input.clone(),
            expected_output: expected.filter(|expected| *expected != MailboxExpectation::default()),
            timeout_seconds: request.timeout_seconds.clone(),
            priority: request.priority,
            retry_policy: request.retry.clone(),
            retry_count: request.retry_count,
        }
    }
}

impl MailboxResponse {
    fn into_report(self) -> Report {
        Report {
            id: self.handoff_id,
            requested_at: self.timestamp,
            outcome: (self.status == Some(MailboxStatus::Completed)).then_some(Outcome::Complete),
            started_at: self.started_at,
            timestamp: self.timestamp_completed,
            execution_time_seconds: self.execution_time_seconds,
            to: self.source.map(MailboxParty::into_party),
            from: self.target.map(MailboxParty::into_party),
            output: self.output,
            verdict: self.verdict,
            validation: self.validation,
            metrics: self.metadata,
            next_steps: self.next_steps,
            warnings: self.warnings,
            errors: self.errors,
            retry: self.retry_count.map(|count| ReportedRetry { count: Some(count), ..ReportedRetry::default() }),
            ..Report::default()
        }
    }

    fn of_report(report: &Report) -> Self {
        // Only what is complete was completed at some time.
        let completed = report.outcome == Some(Outcome::Complete);
        let timestamp = report.timestamp.clone().filter(|_| completed || report.outcome.is_none());
        MailboxResponse {
            handoff_id: report.id.clone(),
            timestamp: report.requested_at.clone(),
            status: completed.then_some(MailboxStatus::Completed),
            started_at: report.started_at.clone(),
            timestamp_completed: timestamp.clone(),
            completed_at: timestamp,
            execution_time_seconds: report.execution_time_seconds.clone(),
            source: MailboxParty::of(report.to.as_ref()),
            target: MailboxParty::of(report.from.as_ref()),
            output: report.output.clone(),
            verdict: report.verdict.clone(),
            validation: report.validation.clone(),
            metadata: report.metrics.clone(),
            next_steps: report.next_steps.clone(),
            warnings: report.warnings.clone(),
            errors: report.errors.clone(),
            retry_count: report.retry.as_ref().and_then(|retry| retry.count),
        }
    }
}

impl MailboxFailure {
    fn into_report(self) -> Report {
        let retry = ReportedRetry { available: self.retry_available, count: self.retry_count, max: self.max_retries };
        Report {
            id: self.handoff_id,
            requested_at: self.timestamp,
            outcome: (self.status == Some(MailboxStatus::Failed)).then_some(Outcome::Failed),
            started_at: self.started_at,
            timestamp: self.timestamp_failed,
            execution_time_seconds: self.execution_time_seconds,
            to: self.source.map(MailboxParty::into_party),
            from: self.target.map(MailboxParty::into_party),
            error: self.error,
            validation: self.validation,
            retry: (retry != ReportedRetry::default()).then_some(retry),
            recovery_actions: self.recovery_actions,
            warnings: self.warnings,
            ..Report::default()
        }
    }

    fn of_report(report: &Report) -> Self {
        let retry = report.retry.clone().unwrap_or_default();
        MailboxFailure {
            handoff_id: report.id.clone(),
            timestamp: report.requested_at.clone(),
            status: (report.outcome == Some(Outcome::Failed)).then_some(MailboxStatus::Failed),
            started_at: report.started_at.clone(),
            timestamp_failed: report.timestamp.clone(),
            failed_at: report.timestamp.clone(),
            execution_time_seconds: report.execution_time_seconds.clone(),
            source: MailboxParty::of(report.to.as_ref()),
            target: MailboxParty::of(report.from.as_ref()),
            error: report.error.clone(),
            validation: report.validation.clone(),
            retry_available: retry.available,
            retry_count: retry.count,
            max_retries: retry.max,
            recovery_actions: report.recovery_actions.clone(),
            warnings: report.warnings.clone(),
        }
    }
}

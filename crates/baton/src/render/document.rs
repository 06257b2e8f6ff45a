//! A document in readable form: what a person needs for a decision, in a fixed order, and the names of the rest.

use baton_engine::handoff::WrittenDocument;
use baton_engine::people::plain_words;
use baton_protocol::Dialect;
use baton_protocol::model::Document;
use baton_protocol::model::acknowledgment::Acknowledgment;
use baton_protocol::model::artifact::Artifact;
use baton_protocol::model::report::{Blocker, QuestionFields, Report};
use baton_protocol::model::request::{DecisionMade, OpenQuestion, Request};
use baton_protocol::wire::same_word;
use serde_json::Value;

use super::sheet::{Sheet, numbered};

/// Members that identify the document; they are shown elsewhere.
const IDENTIFYING_MEMBERS: [&str; 10] =
    ["baton", "document", "id", "from", "to", "workflow", "phase", "kind", "timestamp", "extensions"];

/// What is written of a report.
const REPORT_MEMBERS: [&str; 14] = [
    "outcome",
    "verdict",
    "decision",
    "summary",
    "next",
    "blocked_reason",
    "attempted",
    "blockers",
    "questions",
    "artifacts",
    "files_modified",
    "verification",
    "issues",
    "error",
];

/// What is written of a request.
const REQUEST_MEMBERS: [&str; 4] = ["instructions", "context", "expectations", "gate"];

/// What is written of an acknowledgment.
const ACKNOWLEDGMENT_MEMBERS: [&str; 9] =
    ["received", "starting", "understanding", "task", "constraints", "questions", "blockers", "action", "extensions"];

/// Writes a document, except for the texts that were shown already.
pub(crate) fn write(sheet: &mut Sheet, written: &WrittenDocument, told: &str) {
    // What cannot be read is shown as it is.
    let Some(document) = written.read() else { return sheet.row("document", &written.text) };
    match &document {
        Document::Report(report) => write_report(sheet, report, told),
        Document::Request(request) => write_request(sheet, request, told),
        Document::Acknowledgment(acknowledgment) => write_acknowledgment(sheet, acknowledgment),
    }
    rest(sheet, &document, written);
    if let Some(path) = &written.path {
        let digest: String = written.digest().0.chars().take(12).collect();
        sheet.row("file", &format!("{path} (sha256 {digest})"));
    }
    warnings(sheet, written);
}

/// Writes what came of the work in a few lines: how it ended, what was done, which files are there now.
pub(crate) fn write_briefly(sheet: &mut Sheet, written: &WrittenDocument) {
    match written.read() {
        Some(Document::Report(report)) => {
            sheet.row("reported", &ending(&report));
            sheet.optional("summary", report.summary.as_deref().or(report.next_context()));
            artifacts(sheet, &report.artifacts, "");
            sheet.row("changed", &report.files_modified.join("\n"));
        }
        Some(Document::Request(package)) => {
            let context = package.context.as_ref();
            sheet.optional("summary", context.and_then(|context| context.summary.as_deref()));
            artifacts(sheet, context.map_or(&[], |context| &context.artifacts), "");
        }
        Some(Document::Acknowledgment(_)) | None => {}
    }
    warnings(sheet, written);
}

/// Writes what rules warn of in a document.
fn warnings(sheet: &mut Sheet, written: &WrittenDocument) {
    sheet.list("warnings", numbered(written.warnings.iter().cloned()));
}

fn write_report(sheet: &mut Sheet, report: &Report, told: &str) {
    sheet.row("status", &ending(report));
    once(sheet, "summary", report.summary.as_deref(), told);
    once(sheet, "for next", report.next_context(), told);
    once(sheet, "reason", report.blocked_reason.as_deref(), told);
    sheet.list("tried", numbered(report.attempted.iter().cloned()));
    sheet.list("blockers", numbered(report.blockers.iter().map(blocker)));
    sheet.list("questions", numbered(report.questions.iter().map(|question| asked(&question.fields))));
    artifacts(sheet, &report.artifacts, told);
    sheet.row("changed", &report.files_modified.join("\n"));
    let checks: Vec<String> =
        report.verification.iter().map(|(name, value)| format!("{name}: {}", plain_words(value))).collect();
    sheet.row("says", &checks.join("\n"));
    sheet.list("issues", numbered(report.issues.iter().filter(|issue| !is_line_of(told, issue)).cloned()));
    sheet.list("warnings", numbered(report.warnings.iter().map(plain_words)));
    sheet.list("decided", numbered(report.decisions.iter().map(decision)));
    sheet.list("open", numbered(report.open_questions.iter().map(open_question)));
    sheet.list("next", numbered(report.next_steps.iter().cloned()));
    if let Some(error) = &report.error {
        let parts: Vec<&str> = [&error.code, &error.message].into_iter().flatten().map(String::as_str).collect();
        sheet.row("error", &parts.join(": "));
    }
}

/// Returns how a report ends: its outcome, what the agent advises, and its verdict.
fn ending(report: &Report) -> String {
    let advice = report.decision.map(|advice| format!("decision {}", advice.as_str()));
    let verdict = report.verdict.as_ref().map(|verdict| format!("verdict {verdict}"));
    let status = report.outcome.map(|outcome| outcome.as_str().to_owned());
    status.into_iter().chain(advice).chain(verdict).collect::<Vec<_>>().join(", ")
}

fn write_request(sheet: &mut Sheet, request: &Request, told: &str) {
    let reason = request.to.as_ref().and_then(|party| party.reason.as_deref());
    once(sheet, "reason", reason, told);
    once(sheet, "task", request.instructions.as_deref(), told);
    if let Some(context) = &request.context {
        once(sheet, "summary", context.summary.as_deref(), told);
        let (pending, decided) = context.decisions.iter().partition::<Vec<_>, _>(|made| is_pending(made));
        sheet.list("pending", numbered(pending.into_iter().map(decision)));
        let is_new = |made: &&DecisionMade| !is_line_of(told, &decision_in_one_line(made));
        sheet.list("decided", numbered(decided.into_iter().filter(is_new).map(decision)));
        sheet.list("questions", numbered(context.open_questions.iter().map(open_question)));
        artifacts(sheet, &context.artifacts, told);
        sheet.row("files", &context.relevant_files.join("\n"));
    }
    if let Some(expectations) = &request.expectations {
        once(sheet, "wanted", expectations.deliverable.as_deref(), told);
        sheet.list("respect", numbered(expectations.constraints.iter().cloned()));
        sheet.list("criteria", numbered(expectations.success_criteria.iter().cloned()));
    }
    if let Some(gate) = &request.gate {
        let kind = gate.r#type.map(|kind| kind.as_str().to_owned());
        let parts: Vec<String> = gate.name.clone().into_iter().chain(kind).collect();
        sheet.row("gate", &parts.join(", "));
    }
}

fn write_acknowledgment(sheet: &mut Sheet, acknowledgment: &Acknowledgment) {
    sheet.optional("understood", acknowledgment.understanding.map(|degree| degree.as_str()));
    sheet.optional("task", acknowledgment.task.as_deref());
    sheet.list("respect", numbered(acknowledgment.constraints.iter().cloned()));
    sheet.list("questions", numbered(acknowledgment.questions.iter().cloned()));
    sheet.list("blockers", numbered(acknowledgment.blockers.iter().cloned()));
    sheet.optional("asks for", acknowledgment.action.as_deref());
}

fn blocker(blocker: &Blocker) -> String {
    let kind = blocker.r#type.as_ref().map(|kind| format!("{kind}: ")).unwrap_or_default();
    let mut text = format!("{kind}{}", blocker.description.as_deref().unwrap_or_default());
    if let Some(resolution) = &blocker.resolution {
        text.push_str(&format!("\nwhat would help: {resolution}"));
    }
    text
}

/// Returns whether a decision is still to be made: by the person who is asked.
fn is_pending(made: &DecisionMade) -> bool {
    made.id.as_deref().is_some_and(|id| same_word(id, "pending"))
}

fn decision(made: &DecisionMade) -> String {
    let id = made.id.as_ref().filter(|_| !is_pending(made)).map(|id| format!("{id}: ")).unwrap_or_default();
    let why = made.rationale.as_ref().map(|why| format!("\nbecause: {why}")).unwrap_or_default();
    format!("{id}{}{why}", made.decision.as_deref().unwrap_or_default())
}

fn open_question(open: &OpenQuestion) -> String {
    let priority = open.priority.map(|priority| format!(" ({})", priority.as_str())).unwrap_or_default();
    let context = open.context.as_ref().map(|context| format!("\n{context}")).unwrap_or_default();
    format!("{}{priority}{context}", open.question.as_deref().unwrap_or_default())
}

/// Returns a question with everything that helps to answer it.
pub(crate) fn asked(question: &QuestionFields) -> String {
    let mut text = question.question.clone().unwrap_or_default();
    if let Some(category) = &question.category {
        text = format!("{category}: {text}");
    }
    let options: Vec<String> = question.options.iter().map(plain_words).collect();
    if !options.is_empty() {
        text.push_str(&format!("\noptions: {}", options.join(" | ")));
    }
    for (name, more) in [("depends on it", &question.impact), ("without an answer", &question.default_assumption)] {
        if let Some(more) = more {
            text.push_str(&format!("\n{name}: {more}"));
        }
    }
    text
}

/// Writes artifacts, except for those that were shown already.
fn artifacts(sheet: &mut Sheet, artifacts: &[Artifact], told: &str) {
    let line = |artifact: &Artifact| {
        let fields = &artifact.fields;
        let about: Vec<&str> =
            [&fields.r#type, &fields.description].into_iter().flatten().map(String::as_str).collect();
        match about.is_empty() {
            true => artifact.path().to_owned(),
            false => format!("{} ({})", artifact.path(), about.join(": ")),
        }
    };
    let is_new = |artifact: &&Artifact| !is_line_of(told, &artifact_in_one_line(artifact));
    let lines: Vec<String> = artifacts.iter().filter(is_new).map(line).collect();
    sheet.row("artifacts", &lines.join("\n"));
}

/// Writes a text, unless it was shown already.
fn once(sheet: &mut Sheet, label: &str, text: Option<&str>, told: &str) {
    let text = text.map(str::trim).unwrap_or_default();
    if !text.is_empty() && !told.contains(text) {
        sheet.row(label, text);
    }
}

/// Returns whether a text was shown as a line or an item of a list. Part of a line is not enough: a short text is found anywhere.
fn is_line_of(told: &str, text: &str) -> bool {
    told.lines().any(|line| line.trim().trim_start_matches("- ") == text.trim())
}

/// Writes a decision as the handover does, from which people may have been told of it.
fn decision_in_one_line(made: &DecisionMade) -> String {
    let id = made.id.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
    let why = made.rationale.as_ref().map(|why| format!(" (because: {why})")).unwrap_or_default();
    format!("{id}{}{why}", made.decision.as_deref().unwrap_or_default())
}

/// Writes an artifact as the handover does.
fn artifact_in_one_line(artifact: &Artifact) -> String {
    let kind = artifact.fields.r#type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let about = artifact.fields.description.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
    format!("{}{kind}{about}", artifact.path())
}

/// Names what the document says beyond that, so that nobody believes to have seen everything.
fn rest(sheet: &mut Sheet, document: &Document, written: &WrittenDocument) {
    let told: &[&str] = match document {
        Document::Request(_) => &REQUEST_MEMBERS,
        Document::Report(_) => &REPORT_MEMBERS,
        Document::Acknowledgment(_) => &ACKNOWLEDGMENT_MEMBERS,
    };
    let Some(Value::Object(members)) = Dialect::Native.write(document) else { return };
    let says = |value: &Value| match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    let is_left = |name: &str| !told.contains(&name) && !IDENTIFYING_MEMBERS.contains(&name);
    let left = members.iter().filter(|(name, value)| is_left(name) && says(value));
    let mut names: Vec<&str> = left.map(|(name, _)| name.as_str()).collect();
    if !document.extensions().is_empty() {
        names.push("fields of its dialect");
    }
    if written.text.lines().any(|line| line.trim_start().starts_with("```")) {
        names.push("the text around it");
    }
    if !names.is_empty() {
        sheet.row("also", &format!("{} (see the whole document)", names.join(", ")));
    }
}

//! Writes a document in another dialect and names every field that could not be carried.
//!
//! What is lost is not kept in a list that somebody must maintain: the converted document is read back and
//! written in the first dialect again, and whatever does not arrive there was lost.

use std::fmt;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::model::report::{QuestionFields, Report, ReportQuestion, SuggestedNext};
use crate::model::request::{Context, Expectations, OpenQuestion, Party, Request};
use crate::model::terms::Outcome;
use crate::model::{Document, Kind};
use crate::read::{json, yaml};
use crate::wire::{self, Reader};

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Indented JSON.
    Json,
    /// YAML.
    Yaml,
    /// A fenced JSON block, as it ends a Markdown file.
    Block,
}

impl Form {
    /// Returns the usual form of a dialect.
    pub fn of(dialect: Dialect) -> Form {
        match dialect {
            Dialect::MetadataBlock | Dialect::PhaseBlock => Form::Block,
            Dialect::Package => Form::Yaml,
            Dialect::Task | Dialect::Mailbox | Dialect::Native => Form::Json,
        }
    }
}

/// A converted document.
#[derive(Debug)]
pub struct Conversion {
    /// The document in the new dialect.
    pub value: Value,
    /// JSON pointers into the first document of what could not be carried.
    pub losses: Vec<String>,
}

/// The new dialect has no such document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchDocument {
    /// The document that was to be converted.
    pub kind: Kind,
    /// The dialect that it was to be converted to.
    pub to: Dialect,
}

impl fmt::Display for NoSuchDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the dialect {} has no {} or equivalent", self.to, self.kind.as_str())
    }
}

impl std::error::Error for NoSuchDocument {}

/// Converts a document from one dialect to another.
///
/// ```
/// use baton_protocol::{Dialect, Hints, convert};
///
/// let task = br#"{"task_id": "csv-07", "phase": "research", "instructions": "Find the writer.", "colour": "blue"}"#;
/// let document = baton_protocol::read(task, Hints::default()).document.expect("a request");
/// let conversion = convert::convert(&document, Dialect::Task, Dialect::Native)?;
/// assert_eq!(conversion.value["instructions"], "Find the writer.");
/// // Even what no model has a place for arrives.
/// assert!(conversion.losses.is_empty());
/// # Ok::<(), convert::NoSuchDocument>(())
/// ```
pub fn convert(document: &Document, from: Dialect, to: Dialect) -> Result<Conversion, NoSuchDocument> {
    let refusal = NoSuchDocument { kind: document.kind(), to };
    let original = from.write(document).ok_or(refusal)?;
    let value = bridge(document, to).and_then(|bridged| to.write(&bridged)).ok_or(refusal)?;
    let arrived = read_back(&value, to).and_then(|back| from.write(&back_to(document.kind(), back)));
    let losses = lost(&original, arrived.as_ref(), "");
    Ok(Conversion { value, losses })
}

/// Writes a value as text.
pub fn render(value: &Value, form: Form) -> String {
    // Writing a JSON value cannot fail: its keys are text and its numbers are finite.
    let json = || serde_json::to_string_pretty(value).expect("a JSON value can be written");
    match form {
        Form::Json => json() + "\n",
        Form::Block => format!("```json\n{}\n```\n", json()),
        Form::Yaml => render_yaml(value).unwrap_or_else(|| json() + "\n"),
    }
}

/// Writes YAML that reads back as the same value, which JSON (being YAML) always does.
fn render_yaml(value: &Value) -> Option<String> {
    let text = serde_saphyr::to_string(value).ok()?;
    (yaml::parse(&text).ok()?.into_json() == *value).then_some(text)
}

fn read_back(value: &Value, dialect: Dialect) -> Option<Document> {
    let text = value.to_string();
    dialect.read(json::parse(&text).ok()?, &mut Reader::default())
}

/// Turns a document into one that the dialect has: a report that names the next agent asks something of it,
/// and a request tells what was done before. Statuses are never invented.
fn bridge(document: &Document, to: Dialect) -> Option<Document> {
    if to.has(document.kind()) {
        return Some(document.clone());
    }
    match document {
        Document::Report(report) if to.has(Kind::Request) => Some(Document::Request(Box::new(request_of(report)))),
        Document::Request(request) if to.has(Kind::Report) => Some(Document::Report(Box::new(report_of(request)))),
        _ => None,
    }
}

/// Turns what came back into the kind of document that was sent.
fn back_to(kind: Kind, back: Document) -> Document {
    match (kind, back) {
        (Kind::Report, Document::Request(request)) => Document::Report(Box::new(report_of(&request))),
        (Kind::Request, Document::Report(report)) => Document::Request(Box::new(request_of(&report))),
        (_, back) => back,
    }
}

fn request_of(report: &Report) -> Request {
    let next = report.next.clone().unwrap_or_default();
    let to_person = matches!(report.outcome, Some(Outcome::NeedsReview | Outcome::NeedsClarification));
    let to = next.agent.clone().or_else(|| to_person.then(|| "human".to_owned()));
    let open_questions = report.questions.iter().map(|question| OpenQuestion {
        question: question.fields.question.clone(),
        priority: None,
        context: question.fields.impact.clone(),
        options: question.fields.options.clone(),
    });
    let context = Context {
        summary: report.summary.clone().or(next.context.clone()),
        artifacts: report.artifacts.clone(),
        open_questions: open_questions.collect(),
        ..Context::default()
    };
    // Where the summary does not already tell the context, the context is what is expected.
    let deliverable = report.summary.as_ref().and(next.context);
    Request {
        id: report.id.clone(),
        timestamp: report.timestamp.clone(),
        from: report.from.clone(),
        to: to.map(|agent| Party { agent: Some(agent), ..Party::default() }),
        context: (context != Context::default()).then_some(context),
        expectations: deliverable
            .map(|deliverable| Expectations { deliverable: Some(deliverable), ..Expectations::default() }),
        extensions: report.extensions.clone(),
        ..Request::default()
    }
}

fn report_of(request: &Request) -> Report {
    let context = request.context.clone().unwrap_or_default();
    let deliverable = request.expectations.as_ref().and_then(|expected| expected.deliverable.clone());
    let next = SuggestedNext {
        agent: request.to.as_ref().and_then(|to| to.agent.clone()),
        phase: None,
        context: request.instructions.clone().or(deliverable).or_else(|| context.summary.clone()),
    };
    let question = |open: OpenQuestion| ReportQuestion {
        bare: open.context.is_none(),
        fields: QuestionFields { question: open.question, impact: open.context, ..QuestionFields::default() },
    };
    Report {
        id: request.id.clone(),
        timestamp: request.timestamp.clone(),
        from: request.from.clone(),
        phase: request.phase.clone(),
        summary: context.summary,
        artifacts: context.artifacts,
        questions: context.open_questions.into_iter().map(question).collect(),
        next: (next != SuggestedNext::default()).then_some(next),
        extensions: request.extensions.clone(),
        ..Report::default()
    }
}

/// Returns pointers to what is in `original` but did not arrive; a whole branch is named once.
fn lost(original: &Value, arrived: Option<&Value>, pointer: &str) -> Vec<String> {
    match original {
        // Nothing was said, so nothing can be lost.
        Value::Null => Vec::new(),
        Value::Array(items) if items.is_empty() => Vec::new(),
        Value::Object(members) if members.is_empty() => Vec::new(),
        Value::Array(items) => {
            let item = |index: usize| arrived.and_then(|arrived| arrived.get(index));
            let below: Vec<Vec<String>> = items
                .iter()
                .enumerate()
                .map(|(index, value)| lost(value, item(index), &format!("{pointer}/{index}")))
                .collect();
            merge(below, items.len(), arrived, pointer)
        }
        Value::Object(members) => {
            let member = |name: &str| arrived.and_then(|arrived| arrived.get(name));
            let below: Vec<Vec<String>> =
                members.iter().map(|(name, value)| lost(value, member(name), &wire::join(pointer, name))).collect();
            merge(below, members.len(), arrived, pointer)
        }
        Value::String(text) => {
            let same = arrived.and_then(Value::as_str).is_some_and(|arrived| wire::same_word(arrived, text));
            leaf(same, pointer)
        }
        value => leaf(arrived == Some(value), pointer),
    }
}

fn leaf(carried: bool, pointer: &str) -> Vec<String> {
    if carried { Vec::new() } else { vec![pointer.to_owned()] }
}

/// Names the branch instead of all its members if nothing of it arrived.
fn merge(below: Vec<Vec<String>>, members: usize, arrived: Option<&Value>, pointer: &str) -> Vec<String> {
    let all_lost = below.iter().filter(|losses| !losses.is_empty()).count() == members;
    if all_lost && arrived.is_none() && !pointer.is_empty() { vec![pointer.to_owned()] } else { below.concat() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(dialect: Dialect, value: &Value) -> Document {
        read_back(value, dialect).expect("a document")
    }

    #[test]
    fn what_does_not_arrive_is_named_by_pointer() {
        let block = json!({
            "agent": "lead", "output_type": "architecture", "timestamp": "2026-03-01T10:00:00Z",
            "feature_directory": "out", "skills_invoked": ["planning"], "status": "complete",
            "handoff": {"next_agent": "developer", "context": "Build the importer after section 2 of plan.md"}
        });
        let document = read(Dialect::MetadataBlock, &block);
        let conversion = convert(&document, Dialect::MetadataBlock, Dialect::Package).expect("a package");
        assert_eq!(conversion.value["handoff"]["to"]["agent"], "developer");
        assert_eq!(conversion.losses, ["/output_type", "/feature_directory", "/skills_invoked", "/status"]);
    }

    #[test]
    fn the_native_form_loses_nothing_and_gives_everything_back() {
        let block = json!({
            "agent": "lead", "status": "blocked", "team": {"size": 3}, "skills_invoked": 7,
            "handoff": {"next_agent": null, "context": "x", "urgency": "high"}
        });
        let document = read(Dialect::MetadataBlock, &block);
        let native = convert(&document, Dialect::MetadataBlock, Dialect::Native).expect("native");
        assert!(native.losses.is_empty(), "{:?}", native.losses);
        let back =
            convert(&read(Dialect::Native, &native.value), Dialect::Native, Dialect::MetadataBlock).expect("a block");
        assert_eq!(back.value, block);
    }

    #[test]
    fn an_acknowledgment_is_not_turned_into_something_else() {
        let receipt = json!({"acknowledgment": {"received": true, "understood": "partial"}});
        let document = read(Dialect::Package, &receipt);
        let refusal = convert(&document, Dialect::Package, Dialect::Task).expect_err("no such document");
        assert_eq!(refusal.kind, Kind::Acknowledgment);
    }

    #[test]
    fn yaml_reads_back_as_the_same_value() {
        let value =
            json!({"a": ["010", "yes", "1e3", "null", "", " x ", "#c", "a: b", "multi\nline\n", "\u{7f}"], "b": {}});
        let text = render(&value, Form::Yaml);
        assert_eq!(yaml::parse(&text).expect("valid").into_json(), value);
    }
}

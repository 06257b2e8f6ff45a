//! The metadata block: JSON that ends an agent's Markdown output and routes by status.

use schemars::Schema;
use serde_json::Value;

use super::{marks, schema_of};
use crate::model::Document;
use crate::model::report::{Report, ReportQuestion, SuggestedNext};
use crate::model::request::Party;
use crate::model::terms::Outcome;
use crate::tree::Node;
use crate::wire::{Reader, Wire, vocabulary, wire};

/// Names that only a metadata block has.
pub(super) const MARKS: &[&str] = &[
    "agent",
    "output_type",
    "skills_invoked",
    "feature_directory",
    "library_skills_read",
    "source_files_verified",
    "blocked_reason",
    "attempted",
];

/// Members that must not be blank.
pub(super) const NAMES: &[&str] = &["agent", "output_type", "feature_directory"];

/// Where the canonical members are in a block.
pub(super) const POINTERS: &[(&str, &str)] = &[
    ("/from/agent", "/agent"),
    ("/outcome", "/status"),
    ("/next", "/handoff"),
    ("/next/agent", "/handoff/next_agent"),
];

vocabulary! {
    /// How the work ended.
    pub enum BlockStatus, "status", unknown_status {
        /// Finished; the next phase can begin.
        Complete = "complete",
        /// Cannot go on; the orchestrator routes by reason.
        Blocked = "blocked",
        /// Finished, but a person must approve.
        NeedsReview = "needs_review",
        /// A person must answer first; then the same agent again.
        NeedsClarification = "needs_clarification",
    }
}

wire! {
    /// The JSON block that ends an agent's Markdown output.
    pub struct MetadataBlock {
        /// Name of the agent.
        required agent: Option<String>,
        /// What kind of output this is, such as `architecture` or `review`.
        required output_type: Option<String>,
        /// When the agent finished, in ISO 8601.
        required timestamp: Option<String>,
        /// The output directory, relative or absolute.
        required feature_directory: Option<String>,
        /// Core skills that were invoked; an empty list if none.
        required skills_invoked: Vec<String>,
        /// Library skills that were read.
        optional library_skills_read: Vec<String>,
        /// Source files that were looked at, with line ranges.
        optional source_files_verified: Vec<String>,
        /// How the work ended.
        required status: Option<BlockStatus>,
        /// A reviewer's verdict, such as `APPROVED` or `CHANGES_REQUESTED`.
        optional verdict: Option<String>,
        /// Why the agent is blocked.
        optional blocked_reason: Option<String>,
        /// What the agent tried before it gave up.
        optional attempted: Vec<String>,
        /// What a person must answer.
        optional questions: Vec<ReportQuestion>,
        /// What the next agent gets.
        optional handoff: Option<MetadataHandoff>,
    }

    /// What the next agent gets.
    pub struct MetadataHandoff {
        /// The recommended next agent; null when blocked.
        optional next_agent: Option<String>,
        /// Brief instructions for the next agent.
        optional context: Option<String>,
    }
}

pub(super) fn detect(node: &Node<'_>) -> bool {
    let routed = node.get("handoff").is_some_and(|handoff| handoff.has("next_agent") || is_context(handoff));
    if node.has("status") { routed || marks(node, MARKS) >= 1 } else { marks(node, MARKS) + usize::from(routed) >= 2 }
}

/// In a package `context` is an object; here it is a sentence.
fn is_context(handoff: &Node<'_>) -> bool {
    handoff.get("context").is_some_and(|context| context.as_text().is_some())
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    reader.require_names(NAMES, &node);
    let block = MetadataBlock::read(node, reader)?;
    Some(Document::Report(Box::new(block.into_report())))
}

pub(super) fn write(document: &Document) -> Option<Value> {
    let Document::Report(report) = document else { return None };
    Some(MetadataBlock::of_report(report).write())
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    vec![("metadata-block.report", schema_of::<MetadataBlock>())]
}

impl MetadataBlock {
    /// Converts into the canonical form.
    pub(super) fn into_report(self) -> Report {
        let next = self.handoff.map(|handoff| SuggestedNext {
            agent: handoff.next_agent,
            phase: None,
            context: handoff.context,
        });
        Report {
            from: self.agent.map(|agent| Party { agent: Some(agent), ..Party::default() }),
            output_type: self.output_type,
            timestamp: self.timestamp,
            feature_directory: self.feature_directory,
            skills_invoked: self.skills_invoked,
            library_skills_read: self.library_skills_read,
            source_files_verified: self.source_files_verified,
            outcome: self.status.map(outcome),
            verdict: self.verdict,
            blocked_reason: self.blocked_reason,
            attempted: self.attempted,
            questions: self.questions,
            next,
            ..Report::default()
        }
    }

    /// Converts from the canonical form. A summary stands in for a context that is not there.
    pub(super) fn of_report(report: &Report) -> Self {
        let context = report.next_context().map(str::to_owned).or_else(|| report.summary.clone());
        let handoff = MetadataHandoff { next_agent: report.next_agent().map(str::to_owned), context };
        MetadataBlock {
            agent: report.agent().map(str::to_owned),
            output_type: report.output_type.clone(),
            timestamp: report.timestamp.clone(),
            feature_directory: report.feature_directory.clone(),
            skills_invoked: report.skills_invoked.clone(),
            library_skills_read: report.library_skills_read.clone(),
            source_files_verified: report.source_files_verified.clone(),
            status: report.outcome.and_then(|outcome| BlockStatus::parse(outcome.as_str())),
            verdict: report.verdict.clone(),
            blocked_reason: report.blocked_reason.clone(),
            attempted: report.attempted.clone(),
            questions: report.questions.clone(),
            handoff: (handoff != MetadataHandoff::default()).then_some(handoff),
        }
    }
}

fn outcome(status: BlockStatus) -> Outcome {
    match status {
        BlockStatus::Complete => Outcome::Complete,
        BlockStatus::Blocked => Outcome::Blocked,
        BlockStatus::NeedsReview => Outcome::NeedsReview,
        BlockStatus::NeedsClarification => Outcome::NeedsClarification,
    }
}

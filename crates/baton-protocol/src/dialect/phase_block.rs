//! The phase block: a metadata block that also tells its phase, summary, files, verification and blockers.

use schemars::Schema;
use serde_json::{Map, Value};

use super::metadata_block::{self, MetadataBlock};
use super::{marks, schema_of};
use crate::model::Document;
use crate::model::artifact::Artifact;
use crate::model::report::{Blocker, Report, SuggestedNext};
use crate::tree::Node;
use crate::wire::{Label, Reader, same_word, wire};

/// Where the canonical members are in a block.
pub(super) const POINTERS: &[(&str, &str)] = &[
    ("/from/agent", "/agent"),
    ("/outcome", "/status"),
    ("/next", "/handoff"),
    ("/next/agent", "/handoff/next_agent"),
    ("/next/phase", "/handoff/next_phase"),
    ("/blockers", "/handoff/blockers"),
];

wire! {
    /// What a phase block has beyond a metadata block.
    pub struct PhaseFields {
        /// The phase that was worked on.
        required phase: Option<Label>,
        /// What was done, in one or two sentences.
        required summary: Option<String>,
        /// Files that were changed, relative to the root of the repository.
        optional files_modified: Vec<String>,
        /// Other files that were made.
        optional artifacts: Vec<Artifact>,
        /// What the agent checked, and what came out.
        optional verification: Map<String, Value>,
        /// What the next phase gets.
        optional handoff: Option<PhaseHandoff>,
    }

    /// What the next phase gets.
    pub struct PhaseHandoff {
        /// The next phase; `complete` after the last.
        optional next_phase: Option<Label>,
        /// The suggested next agent; null when blocked.
        optional next_agent: Option<String>,
        /// What the next agent must know.
        optional context: Option<String>,
        /// What is in the way; only when blocked.
        optional blockers: Vec<Blocker>,
    }
}

pub(super) fn detect(node: &Node<'_>) -> bool {
    let handoff = node.get("handoff");
    let routed = handoff.is_some_and(|handoff| handoff.has("next_phase") || handoff.has("blockers"));
    let own = marks(node, &["summary", "files_modified", "artifacts", "verification"]);
    // Either may have been added to a metadata block; together they have not.
    let told = node.has("summary") && marks(node, &["files_modified", "verification"]) > 0;
    let reason = node.get("blocked_reason").and_then(Node::as_text);
    let own_reason = reason.is_some_and(|reason| same_word(reason, "schema_discovery_failed"));
    let block = usize::from(node.has("status")) + marks(node, metadata_block::MARKS);
    block >= 2 && (node.has("phase") || routed || own_reason || told || own >= 3)
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    reader.require_names(metadata_block::NAMES, &node);
    let Node::Object(members) = node else {
        reader.wrong_type("an object", node);
        return None;
    };
    reader.require(MetadataBlock::required(), &members);
    reader.require(PhaseFields::required(), &members);
    let (mut phase, mut block) = (PhaseFields::default(), MetadataBlock::default());
    for (name, node) in members {
        // The phase's own members come first: both have a `handoff`.
        let left = phase.fill_member(&name, node, reader).and_then(|node| block.fill_member(&name, node, reader));
        if let Some(node) = left {
            let known: Vec<&'static str> = [MetadataBlock::MEMBERS, PhaseFields::MEMBERS].concat();
            reader.unknown_member(&name, node, &known);
        }
    }
    Some(Document::Report(Box::new(phase.into_report(block.into_report()))))
}

pub(super) fn write(document: &Document) -> Option<Value> {
    let Document::Report(report) = document else { return None };
    let mut block = MetadataBlock::of_report(report);
    block.handoff = None;
    let mut map = Map::new();
    block.write_members(&mut map);
    PhaseFields::of_report(report).write_members(&mut map);
    Some(Value::Object(map))
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let mut schema = schema_of::<MetadataBlock>().to_value();
    let own = schema_of::<PhaseFields>().to_value();
    for part in ["properties", "$defs"] {
        if let (Some(Value::Object(to)), Some(Value::Object(from))) = (schema.get_mut(part), own.get(part)) {
            to.extend(from.clone());
        }
    }
    if let (Some(Value::Array(to)), Some(Value::Array(from))) = (schema.get_mut("required"), own.get("required")) {
        to.extend(from.iter().cloned());
    }
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.remove("Handoff");
    }
    schema["title"] = "PhaseBlock".into();
    schema["description"] = "A metadata block with its phase, summary, files, verification and blockers.".into();
    vec![("phase-block.report", Schema::try_from(schema).unwrap_or_default())]
}

impl PhaseFields {
    fn into_report(self, block: Report) -> Report {
        let handoff = self.handoff.unwrap_or_default();
        let next = SuggestedNext { agent: handoff.next_agent, phase: handoff.next_phase, context: handoff.context };
        Report {
            phase: self.phase,
            summary: self.summary,
            files_modified: self.files_modified,
            artifacts: self.artifacts,
            verification: self.verification,
            blockers: handoff.blockers,
            next: (next != SuggestedNext::default()).then_some(next),
            ..block
        }
    }

    fn of_report(report: &Report) -> Self {
        let next = report.next.clone().unwrap_or_default();
        let handoff = PhaseHandoff {
            next_phase: next.phase,
            next_agent: next.agent,
            context: next.context,
            blockers: report.blockers.clone(),
        };
        PhaseFields {
            phase: report.phase.clone(),
            summary: report.summary.clone(),
            files_modified: report.files_modified.clone(),
            artifacts: report.artifacts.clone(),
            verification: report.verification.clone(),
            handoff: (handoff != PhaseHandoff::default()).then_some(handoff),
        }
    }
}

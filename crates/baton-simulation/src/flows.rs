//! The workflows of the examples, and what their agents do when nothing goes wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use baton_engine::agent::Job;
use baton_engine::definition::Definition;
use baton_engine::evidence::CheckCommand;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::About;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{ExpectedReply, Question};
use baton_protocol::workflow;
use serde_json::Map;

use crate::mind::{Act, Mind, Person};
use crate::saying::Saying;

/// The examples, by name.
pub const EXAMPLES: [(&str, &str); 5] = [
    ("integration", include_str!("../../../examples/integration/workflow.yaml")),
    ("mcp-wrapper", include_str!("../../../examples/mcp-wrapper/workflow.yaml")),
    ("web-agency", include_str!("../../../examples/web-agency/workflow.yaml")),
    ("feature", include_str!("../../../examples/feature/workflow.yaml")),
    ("react", include_str!("../../../examples/react/workflow.yaml")),
];

/// Reads a workflow, with the workflows inside it by their name.
///
/// # Panics
/// If it cannot be read.
pub fn definition(text: &str, nested: &[(&str, &str)]) -> Definition {
    let reading = workflow::read(text.as_bytes());
    let workflow = reading.workflow.unwrap_or_else(|| panic!("{text}\n{:?}", reading.findings));
    let inputs = Definition::inputs(&workflow, Map::new()).expect("defaults for all inputs");
    let inner = |(name, text): &(&str, &str)| ((*name).to_owned(), definition(text, &[]));
    Definition {
        approvers: Vec::new(),
        workflow,
        folder: PathBuf::from("/flows"),
        file: None,
        nested: nested.iter().map(inner).collect::<BTreeMap<_, _>>(),
        templates: BTreeMap::new(),
        inputs,
        workspace: PathBuf::from("/workspace"),
    }
}

/// Everybody does what the examples are made for: agents ask, are blocked, hand over and disagree, always in the same
/// way, however often an attempt begins.
pub struct Script;

impl Mind for Script {
    fn work(&self, job: &Job) -> (Duration, Act) {
        let told = |about: &[About]| job.notes.iter().any(|note| about.contains(&note.about));
        let helped = told(&[About::Resolution, About::Answer]);
        let first = job.handoff.as_str().ends_with(".1");
        let saying = match (job.agent.as_str(), job.phase.as_str()) {
            ("integration-lead", _) if !helped => Saying::Blocked("missing_requirements"),
            ("integration-developer", _) if first && !helped => Saying::Blocked("security_concern"),
            ("backend-reviewer", "quality-review") if first => Saying::Verdict("CHANGES_REQUESTED"),
            ("backend-reviewer", _) => Saying::Verdict("APPROVED"),
            ("tool-scout", _) if !helped => Saying::Blocked("schema_discovery_failed"),
            ("tool-scout", _) => Saying::Tools(&["get-issue", "list-issues", "create-issue"]),
            ("tool-reviewer", "tools/list-issues/review") if first => Saying::Verdict("CHANGES_REQUESTED"),
            ("tool-reviewer", _) => Saying::Verdict("APPROVED"),
            ("architecture", _) if !helped => Saying::Delegate("security-check".to_owned()),
            ("researcher", _) if !helped => Saying::Asks,
            ("validator", "validate") if first => Saying::Stops,
            ("react-specialist", "components/list") if job.ended == 0 => {
                let failure = Failure::new(Code::processing_error(), "the specialist has lost its pencil");
                return (Duration::from_secs(3), Act::Fails(failure));
            }
            _ => Saying::Complete,
        };
        (Duration::from_millis(1_500), Act::Says(saying))
    }

    fn check(&self, check: &CheckCommand) -> (Duration, bool) {
        (Duration::from_secs(2), check.name != "last-look/documented" && check.name != "documented")
    }

    fn examine(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn changes_approved_files(&self) -> bool {
        false
    }

    fn decide(&self, question: &Question) -> Person {
        Person::Says(Duration::from_secs(20), agreeable(question))
    }
}

/// What somebody says who lets things go on.
pub fn agreeable(question: &Question) -> Decision {
    match question.reply {
        ExpectedReply::Review | ExpectedReply::Approval | ExpectedReply::Request => Decision::Approve,
        ExpectedReply::Clarification | ExpectedReply::Escalation => {
            Decision::Answer { answers: "A semicolon. Start it from server/tracker.py.".to_owned() }
        }
        ExpectedReply::Choice | ExpectedReply::GateChoice => {
            let words: Vec<&str> = question.choices.iter().map(|(word, _)| word.as_str()).collect();
            // At a limit it must come to an end: some workflows go round in a circle.
            let onward = (words.contains(&"revise") && words.contains(&"stop")).then_some("stop");
            let onward =
                onward.or_else(|| ["continue", "build", "go", "retry"].into_iter().find(|word| words.contains(word)));
            Decision::Answer { answers: onward.or(words.first().copied()).unwrap_or_default().to_owned() }
        }
    }
}

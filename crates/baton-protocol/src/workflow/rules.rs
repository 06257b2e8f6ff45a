//! Judges a workflow file: what its parts mean to each other. Each rule is a file in `rules/`.

use super::{Files, Flow, Workflow, WorkflowReading};
use crate::judge::{Judgement, Terms, drop_consequences};
use crate::positions::Positions;
use crate::rules;
use crate::settings::Settings;
use crate::{Severity, diagnostic};

/// What a rule about workflow files looks at.
pub struct WorkflowCase<'a> {
    /// The workflow.
    pub workflow: &'a Workflow,
    /// Its phases and how they follow each other.
    pub flow: Flow<'a>,
    /// The files around it, if somebody can look.
    pub files: Option<&'a dyn Files>,
    /// What the project has configured.
    pub settings: &'a Settings,
    /// Whether a field of the workflow itself is missing, which was said already.
    pub incomplete: bool,
    /// Pointers of what could not be read and is therefore missing in the workflow.
    unread: Vec<&'a str>,
    /// Pointers of lists and objects that are empty.
    empty: &'a [String],
}

impl<'a> WorkflowCase<'a> {
    /// Returns whether something at or below a pointer could not be read, so that what is missing may not be missing.
    pub fn is_unread(&self, pointer: &str) -> bool {
        let below =
            |unread: &&str| unread.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.unread.iter().any(below)
    }

    /// Returns whether an empty list or object stands at a pointer.
    pub fn is_empty(&self, pointer: &str) -> bool {
        self.empty.iter().any(|empty| empty == pointer)
    }

    fn new(
        workflow: &'a Workflow,
        reading: &'a WorkflowReading,
        files: Option<&'a dyn Files>,
        settings: &'a Settings,
    ) -> Self {
        let found = reading.findings.as_slice().iter().map(|finding| finding.place.pointer());
        let unread = found.chain(reading.unsaid.iter().map(String::as_str));
        let flow = Flow::of(workflow);
        let is_field = |finding: &diagnostic::Finding| {
            finding.rule.name == rules::missing_field::RULE.name && finding.place.pointer().is_empty()
        };
        let incomplete = reading.findings.as_slice().iter().any(is_field);
        WorkflowCase {
            workflow,
            flow,
            incomplete,
            files,
            settings,
            empty: &reading.empty,
            unread: unread.filter(|pointer| !pointer.is_empty()).collect(),
        }
    }
}

/// Returns whether a finding is about a member that nobody has written: the answer to the unknown name that stands in its place
/// has said so, and the two may contradict each other.
fn is_about_assumed(finding: &diagnostic::Finding, assumed: &[(String, &str)]) -> bool {
    let pointer = finding.place.pointer();
    assumed.iter().any(|(structure, meant)| {
        let Some(below) = pointer.strip_prefix(structure.as_str()) else { return false };
        let mut parts = below.split('/').skip(1);
        let is_it = parts.next() == Some(*meant);
        is_it || parts.next().is_none() && finding.message.contains(&format!("`{meant}`"))
    })
}

/// Judges a reading of `bytes`.
pub fn judge(bytes: &[u8], reading: &WorkflowReading, files: Option<&dyn Files>, settings: &Settings) -> Judgement {
    let mut findings: diagnostic::Findings = reading.findings.clone();
    let while_reading = findings.as_slice().len();
    if let Some(workflow) = &reading.workflow {
        rules::apply_to_workflow(&WorkflowCase::new(workflow, reading, files, settings), &mut findings);
    }
    let mut judgement = Judgement::default();
    if !findings.is_empty() {
        let mut findings = findings.into_vec();
        let block = if reading.parsed { super::reading::block(bytes).ok() } else { None };
        let positions = Positions::of(bytes, block.as_ref(), &findings);
        drop_consequences(&mut findings, while_reading, settings);
        findings.retain(|finding| !is_about_assumed(finding, &reading.assumed));
        judgement.conclude(
            findings,
            &positions,
            &Terms { dialect: None, own: &reading.permissions, settings, times_are_kept: false },
        );
    }
    judgement.valid = reading.workflow.is_some() && judgement.count(Severity::Error) == 0;
    judgement
}

//! The variables of a template. What others wrote is in here only with its fence.

use std::hash::{Hash, Hasher};

use baton_protocol::model::request::WorkflowState;
use baton_protocol::wire::Label;
use serde::Serialize;

use super::words;
use crate::Fence;

/// A text that a built-in template shows as it is, or leaves out if there is none.
///
/// Two of them are equal if both are empty or neither is: nothing else of them changes how a page looks around them.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Blank(pub(super) String);

impl Blank {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Blank {
    fn eq(&self, other: &Self) -> bool {
        self.is_empty() == other.is_empty()
    }
}

impl Eq for Blank {}

impl Hash for Blank {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.is_empty().hash(state);
    }
}

impl From<&str> for Blank {
    fn from(text: &str) -> Self {
        Blank(text.to_owned())
    }
}

impl From<String> for Blank {
    fn from(text: String) -> Self {
        Blank(text)
    }
}

/// Makes a blank of each text.
pub(super) fn blanks<T: Into<Blank>>(texts: impl IntoIterator<Item = T>) -> Vec<Blank> {
    texts.into_iter().map(Into::into).collect()
}

/// The variables of a template. Two views are equal if a built-in template makes the same page of both, except for what
/// stands in its blanks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(Default))]
pub(super) struct View {
    pub(super) workflow: Blank,
    pub(super) phase: Blank,
    pub(super) agent: Blank,
    pub(super) role: Option<Blank>,
    pub(super) dialect: &'static str,
    pub(super) handoff: Option<Blank>,
    pub(super) from: Option<Blank>,
    pub(super) attempt: u32,
    pub(super) task: Blank,
    pub(super) deliverable: Option<Blank>,
    pub(super) constraints: Vec<Blank>,
    pub(super) success_criteria: Vec<Blank>,
    pub(super) schema: Option<Blank>,
    #[serde(flatten)]
    pub(super) steps: Steps,
    pub(super) mandatory_skills: Vec<Blank>,
    pub(super) skills_by: &'static str,
    pub(super) output_directory: Blank,
    pub(super) writes: Option<Vec<Blank>>,
    pub(super) checks: Vec<CheckView>,
    pub(super) acknowledge: bool,
    pub(super) acknowledge_within: Option<Blank>,
    pub(super) acknowledgment: Blank,
    pub(super) owed: Blank,
    pub(super) example: Blank,
    pub(super) echoes: &'static str,
    pub(super) form: &'static str,
    pub(super) whole: bool,
    pub(super) tells_skills: bool,
    pub(super) reasons: Blank,
    pub(super) reviews: bool,
    pub(super) changes_in: &'static str,
    pub(super) alone: bool,
    pub(super) stuck: &'static str,
    pub(super) report_file: Blank,
    pub(super) acknowledgment_file: Blank,
    pub(super) notes_file: Blank,
    pub(super) fetches_files: bool,
    pub(super) report_to: &'static str,
    pub(super) claim: Option<ClaimView>,
    pub(super) delimiter: Blank,
    #[serde(flatten)]
    pub(super) members: Members,
    pub(super) handovers: Blank,
    pub(super) context: Blank,
    pub(super) index: Option<Blank>,
    pub(super) memory: Option<Blank>,
    pub(super) older_notes: usize,
    pub(super) notes: Vec<NoteView>,
    pub(super) failure: Option<Blank>,
    pub(super) reasons_found: Blank,
    pub(super) reasons_quoted: Option<Blank>,
}

/// The members of the request one by one, which only a workflow's own template shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Members {
    pub(super) summary: Blank,
    pub(super) files: Blank,
    pub(super) artifacts: Blank,
    pub(super) decisions: Blank,
    pub(super) questions: Blank,
    pub(super) facts: Blank,
    pub(super) input: Blank,
}

impl View {
    /// Returns every blank, always in the same order.
    pub(super) fn blanks(&mut self) -> Vec<&mut Blank> {
        let View {
            workflow,
            phase,
            agent,
            role,
            dialect: _,
            handoff,
            from,
            attempt: _,
            task,
            deliverable,
            constraints,
            success_criteria,
            schema,
            steps: Steps { current_step, completed_steps, remaining_steps },
            mandatory_skills,
            skills_by: _,
            output_directory,
            writes,
            checks,
            acknowledge: _,
            acknowledge_within,
            acknowledgment,
            owed,
            example,
            echoes: _,
            form: _,
            whole: _,
            tells_skills: _,
            reasons,
            reviews: _,
            changes_in: _,
            alone: _,
            stuck: _,
            report_file,
            acknowledgment_file,
            notes_file,
            fetches_files: _,
            report_to: _,
            claim,
            delimiter,
            members: Members { summary, files, artifacts, decisions, questions, facts, input },
            handovers,
            context,
            index,
            memory,
            older_notes: _,
            notes,
            failure,
            reasons_found,
            reasons_quoted,
        } = self;
        let mut blanks = Vec::with_capacity(64);
        blanks.extend([workflow, phase, agent, task, current_step, output_directory, acknowledgment, owed, example]);
        blanks.extend([reasons, report_file, acknowledgment_file, notes_file, delimiter, summary, files, artifacts]);
        blanks.extend([decisions, questions, facts, input, handovers, context, reasons_found]);
        let single = [role, handoff, from, deliverable, schema, acknowledge_within, index, memory, failure];
        blanks.extend(single.into_iter().flatten().chain(reasons_quoted));
        let lists = [constraints, success_criteria, completed_steps, remaining_steps, mandatory_skills];
        blanks.extend(lists.into_iter().chain(writes).flatten());
        blanks.extend(checks.iter_mut().flat_map(|CheckView { name, command }| [name, command]));
        blanks.extend(claim.iter_mut().map(|ClaimView { id, fence: _, lease_seconds: _ }| id));
        blanks.extend(notes.iter_mut().flat_map(|NoteView { about: _, from, meaning, text }| [from, meaning, text]));
        blanks
    }
}

/// Where the work stands in its workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Steps {
    current_step: Blank,
    completed_steps: Vec<Blank>,
    remaining_steps: Vec<Blank>,
}

impl Steps {
    pub(super) fn of(state: Option<&WorkflowState>, phase: &str) -> Self {
        let words = |labels: &[Label]| blanks(labels.iter().map(Label::to_string));
        let named = state.and_then(|state| state.current_step.as_ref()?.name());
        // A number says nothing beside names.
        let current = named.or_else(|| phase.rsplit('/').next()).unwrap_or_default();
        Steps {
            current_step: current.into(),
            completed_steps: state.map(|state| words(&state.completed_steps)).unwrap_or_default(),
            remaining_steps: state.map(|state| words(&state.remaining_steps)).unwrap_or_default(),
        }
    }
}

/// What the claimant must name when it reports.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct ClaimView {
    pub(super) id: Blank,
    pub(super) fence: Fence,
    pub(super) lease_seconds: Option<u64>,
}

/// What Baton runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct CheckView {
    name: Blank,
    command: Blank,
}

impl CheckView {
    pub(super) fn of(name: &str, words: &[String]) -> Self {
        // A text for the shell stands as it was written; words are quoted where a person would have to.
        let command = match words {
            [shell, option, text] if shell == "sh" && option == "-c" => text.clone(),
            words => words.iter().map(|word| words::typed(word)).collect::<Vec<_>>().join(" "),
        };
        CheckView { name: name.into(), command: command.into() }
    }
}

/// Something that was said since the work was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct NoteView {
    pub(super) about: &'static str,
    pub(super) from: Blank,
    pub(super) meaning: Blank,
    pub(super) text: Blank,
}

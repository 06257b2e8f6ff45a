//! What others wrote: the pieces of a prompt that are fenced, and that are cut first when it is too long.

use baton_protocol::Dialect;
use baton_protocol::model::request::Context;
use serde_json::Value;

use super::fence::PromptFence;
use super::reasons::{self, Reasons};
use super::{Briefing, ReportTo};
use crate::failure::Failure;
use crate::handoff::{About, Note};
use crate::handover::{Handover, artifact, decision, open_question};
use crate::step::GROUP;

/// A clean text of somebody else, with its origin.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// What it is called in templates, and to people.
    pub(super) name: &'static str,
    /// What it is and who wrote it.
    pub(super) label: String,
    /// What it says.
    pub(super) text: String,
    /// The file that has all of it.
    pub(super) file: Option<String>,
    /// Whether it was too long for any prompt, and lost its end before anything was counted.
    pub(super) bounded: bool,
}

/// What was said since the work was asked for.
#[derive(Debug, Clone)]
pub(super) struct SaidSince {
    pub(super) about: &'static str,
    pub(super) from: String,
    /// What the agent should make of it.
    pub(super) meaning: String,
    /// What was said, unless it stands somewhere else in the prompt.
    pub(super) piece: Option<Piece>,
}

/// Why the last report was not accepted.
#[derive(Debug, Clone, Default)]
pub(super) struct Refused {
    /// What Baton found.
    pub(super) found: String,
    /// What it quotes.
    pub(super) quoted: Option<Piece>,
}

impl Refused {
    pub(super) fn of(text: &str, briefing: &Briefing<'_>, fence: PromptFence<'_>) -> Refused {
        let Reasons { found, quoted } = reasons::of(text, fence);
        let quoted = (!quoted.is_empty()).then(|| Piece {
            name: "refuted",
            label: "quoted by Baton".to_owned(),
            text: bounded_to(&quoted, None),
            file: Some(whole_notes(briefing)),
            bounded: is_long(&quoted),
        });
        Refused { found, quoted }
    }
}

/// Everything in a prompt that others wrote.
#[derive(Debug, Clone)]
pub(super) struct Material {
    /// What was handed over, and what else the request says.
    pub(super) context: Vec<Piece>,
    /// What the request says, member by member, for templates that want it so.
    pub(super) members: Vec<Piece>,
    /// What happened earlier.
    pub(super) index: Option<Piece>,
    /// What the agent itself has said before.
    pub(super) memory: Option<Piece>,
    pub(super) refused: Refused,
    pub(super) notes: Vec<SaidSince>,
    pub(super) failure: Option<Piece>,
}

/// Where an agent finds what was cut from its request. Claimants from the queue have no variables.
fn whole_request(briefing: &Briefing<'_>) -> String {
    match (briefing.report_to, briefing.attempt_folder) {
        (ReportTo::Queue { handoff, .. }, _) => format!("what `baton show {} --documents` prints", handoff.in_shell()),
        (_, "") => "the file named by BATON_REQUEST_FILE".to_owned(),
        (_, folder) => {
            let yaml = matches!(briefing.dialect, Dialect::Package);
            format!("{folder}/request.{}", if yaml { "yaml" } else { "json" })
        }
    }
}

/// Where an agent finds what was cut from its notes.
pub(super) fn whole_notes(briefing: &Briefing<'_>) -> String {
    match (briefing.report_to, briefing.attempt_folder) {
        (ReportTo::Queue { handoff, .. }, _) => format!("what `baton show {} --json` prints", handoff.in_shell()),
        (_, "") => "the file named by BATON_NOTES_FILE".to_owned(),
        (_, folder) => format!("{folder}/notes.json"),
    }
}

impl Material {
    pub(super) fn of(briefing: &Briefing<'_>, fence: PromptFence<'_>) -> Self {
        let members = members(briefing, fence);
        let mut context: Vec<Piece> =
            briefing.handovers.iter().filter_map(|handover| handed(handover, "handover", fence)).collect();
        // What was handed over says more than the members of the request that were made of it.
        let beside = |piece: &&Piece| context.is_empty() || matches!(piece.name, "subject" | "facts" | "input");
        let is_new = |piece: &&Piece| piece.name != "facts" || !are_handed_over(briefing);
        let beside: Vec<Piece> = members.iter().filter(beside).filter(is_new).cloned().collect();
        context.extend(beside);
        let refuted = || briefing.notes.iter().filter(|note| note.about == About::Refuted);
        let notes = briefing.notes.iter().filter(|note| note.about != About::Refuted);
        let is_told = |failure: &Failure| briefing.notes.iter().any(|note| note.text == failure.text());
        Material {
            context,
            members,
            index: briefing.index.and_then(|index| handed(index, "index", fence)),
            memory: briefing.memory.and_then(|memory| handed(memory, "memory", fence)),
            // Only the last report can still be corrected.
            refused: refuted().next_back().map(|note| Refused::of(&note.text, briefing, fence)).unwrap_or_default(),
            notes: notes.map(|note| said(note, fence, briefing)).collect(),
            // What a note says already need not be said twice.
            failure: briefing.last_failure.filter(|failure| !is_told(failure)).map(|failure| Piece {
                name: "failure",
                label: format!("message of the failure {}", fence.origin(failure.code.as_str())),
                text: fence.clean(&failure.text()),
                bounded: false,
                file: Some(whole_notes(briefing)),
            }),
        }
    }
}

/// No prompt has room for more of one piece, and counting the tokens of megabytes takes longer than a lease.
const PIECE_BYTES_MAX: usize = 96 * 1024;

fn is_long(text: &str) -> bool {
    text.trim_end().len() > PIECE_BYTES_MAX
}

/// Cuts what no prompt could hold; the rest is in the file.
fn bounded_to(text: &str, file: Option<&str>) -> String {
    if !is_long(text) {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(PIECE_BYTES_MAX);
    let file = file.map(|file| format!("; all of it: {file}")).unwrap_or_default();
    format!("{}\n[cut by Baton: {} more bytes{file}]", &text[..end], text.len() - end)
}

fn handed(handover: &Handover, name: &'static str, fence: PromptFence<'_>) -> Option<Piece> {
    let file = handover.file.as_deref().map(|file| fence.clean(file));
    let text = fence.clean(&bounded_to(handover.text.trim_end(), file.as_deref()));
    let bounded = is_long(&handover.text);
    (!text.is_empty()).then(|| Piece { name, label: fence.origin(&handover.label), text, file, bounded })
}

fn members(briefing: &Briefing<'_>, fence: PromptFence<'_>) -> Vec<Piece> {
    let request = briefing.request;
    let sender = request.from.as_ref().and_then(|from| from.agent.as_deref());
    let writer = sender.map_or_else(|| "an earlier phase".to_owned(), |agent| fence.origin(agent));
    let empty = Context::default();
    let context = request.context.as_ref().unwrap_or(&empty);
    let input = request.input.as_ref().and_then(|input| input.data.as_ref());
    let by = |title: &str| format!("{title}, from {writer}");
    // In a run the orchestrator gives the reason, and says nothing new with it.
    let alone = briefing.workflow.is_empty();
    let reason = request.to.as_ref().and_then(|to| to.reason.clone());
    let texts = [
        ("summary", by("summary"), context.summary.clone()),
        ("reason", by("why it is handed over to you"), reason.filter(|_| alone)),
        ("subject", "subject".to_owned(), subject(context, briefing.workflow)),
        ("files", by("files"), listed(&context.relevant_files, Clone::clone)),
        ("artifacts", by("artifacts"), listed(&context.artifacts, artifact)),
        ("decisions", by("decisions"), listed(&context.decisions, decision)),
        ("questions", by("open questions"), listed(&context.open_questions, open_question)),
        ("facts", by("facts"), (!context.facts.is_empty()).then(|| pretty(&context.facts))),
        (
            "input",
            match alone {
                true => by("input data"),
                false => "input data, from earlier phases and the start of the run".to_owned(),
            },
            input.filter(|input| !input.is_null()).map(pretty),
        ),
    ];
    let piece = |(name, label, text): (&'static str, String, Option<String>)| {
        let text = text?;
        let (file, bounded) = (whole_request(briefing), is_long(&text));
        let text = fence.clean(&bounded_to(text.trim_end(), Some(&file)));
        (!text.is_empty()).then_some(Piece { name, label, text, file: Some(file), bounded })
    };
    texts.into_iter().filter_map(piece).collect()
}

fn said(note: &Note, fence: PromptFence<'_>, briefing: &Briefing<'_>) -> SaidSince {
    let from = fence.origin(&note.from);
    let (about, title, meaning) = match note.about {
        // What must change, its members say.
        About::Feedback if note.from == GROUP => {
            let meaning = "The work did not pass. Who asked for changes has said below which.".to_owned();
            return SaidSince { about: "feedback", from, meaning, piece: None };
        }
        About::Refuted => ("refuted", "what is wrong", "Your last report was not accepted:".to_owned()),
        About::Resolution if note.question.is_some() => {
            ("resolution", "question and answer", format!("{from} answered you. Go on where you stopped, with this:"))
        }
        About::Resolution => {
            let meaning =
                format!("What you were blocked by was worked on by {from}. Go on where you stopped, with this:");
            ("resolution", "resolution", meaning)
        }
        About::Feedback if is_handed_over(note, briefing) => {
            let meaning = format!("`{from}` asked for changes. What it says stands below, where it is handed over.");
            return SaidSince { about: "feedback", from, meaning, piece: None };
        }
        About::Failure if is_handed_over(note, briefing) => {
            let meaning = format!("`{from}` failed. Its output stands below, where it is handed over. Make it pass.");
            return SaidSince { about: "failure", from, meaning, piece: None };
        }
        About::Failure => ("failure", "what failed", format!("`{from}` failed, so the work comes back to you:")),
        About::Feedback => ("feedback", "feedback", format!("`{from}` asked for changes. Make them:")),
        About::Answer if note.question.is_some() => {
            ("answer", "question and answer", format!("{from} answered what you asked:"))
        }
        About::Answer => ("answer", "answers", format!("{from} answered:")),
        About::Question => ("question", "question", format!("{from} asks about your work. Answer it in your report:")),
        About::Requeued => ("requeued", "remark", format!("{from} gave you the work again, and wants this:")),
    };
    let mut text = fence.clean(note.text.trim_end());
    if let Some(question) = &note.question {
        // The quotation marks keep words of the agent from passing as the person's.
        let asked = fence.clean(question.trim()).replace('\n', "\n> ");
        text = format!("You asked:\n> {asked}\n\n{from} answered:\n{text}");
    }
    let file = Some(whole_notes(briefing));
    let piece = Some(Piece { name: about, label: format!("{title}, from {from}"), text, file, bounded: false });
    SaidSince { about, from, meaning, piece }
}

/// Returns whether somebody's handover has all that a note of the same agent or check says.
fn is_handed_over(note: &Note, briefing: &Briefing<'_>) -> bool {
    let mut theirs = briefing.handovers.iter().filter(|handover| handover.from.as_ref() == Some(&note.from));
    theirs.any(|handover| note.text.lines().all(|line| handover.text.contains(line.trim())))
}

/// Returns whether every fact of the request, such as what a check wrote, stands in what was handed over.
fn are_handed_over(briefing: &Briefing<'_>) -> bool {
    let stands = |text: &str| briefing.handovers.iter().any(|handover| handover.text.contains(text.trim()));
    let mut facts = briefing.request.context.iter().flat_map(|context| context.facts.values());
    facts.all(|fact| fact.as_str().is_some_and(stands))
}

/// What the run is about, unless that is the name of the workflow alone.
fn subject(context: &Context, workflow: &str) -> Option<String> {
    let mut lines = Vec::new();
    let feature = context.feature.as_deref().filter(|feature| *feature != workflow);
    lines.extend(feature.map(|feature| format!("feature: {feature}")));
    lines.extend(context.spec_path.as_ref().map(|path| format!("specification: {path}")));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn listed<T>(items: &[T], line: fn(&T) -> String) -> Option<String> {
    let lines: Vec<String> = items.iter().map(|item| format!("- {}", line(item))).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Writes a value as JSON; a single text as it is.
fn pretty<T: serde::Serialize>(value: &T) -> String {
    // Writing a JSON value cannot fail: its keys are text and its numbers are finite.
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

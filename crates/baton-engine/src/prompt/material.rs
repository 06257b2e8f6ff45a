//! What others wrote: the pieces of a prompt that are fenced, and that are cut first when it is too long.

use baton_protocol::model::request::Context;
use serde_json::Value;

use super::fence::PromptFence;
use super::{Briefing, ReportTo};
use crate::handoff::{About, Note};
use crate::handover::{Handover, artifact, decision, question};

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
    pub(super) piece: Piece,
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
    pub(super) notes: Vec<SaidSince>,
    pub(super) failure: Option<Piece>,
}

/// Where an agent finds what was cut from its request. Whoever has claimed it has no variables.
fn whole_request(briefing: &Briefing<'_>) -> String {
    match briefing.report_to {
        ReportTo::Queue { handoff, .. } => format!("what `baton show {handoff} --documents` prints"),
        _ => "the file named by BATON_REQUEST_FILE".to_owned(),
    }
}

/// Where an agent finds what was cut from its notes.
fn whole_notes(briefing: &Briefing<'_>) -> String {
    match briefing.report_to {
        ReportTo::Queue { handoff, .. } => format!("what `baton show {handoff} --json` prints"),
        _ => "the file named by BATON_NOTES_FILE".to_owned(),
    }
}

impl Material {
    pub(super) fn of(briefing: &Briefing<'_>, fence: PromptFence<'_>) -> Self {
        let members = members(briefing, fence);
        let mut context: Vec<Piece> =
            briefing.handovers.iter().filter_map(|handover| handed(handover, "handover", fence)).collect();
        // What was handed over says more than the members of the request that were made of it.
        let beside = |piece: &&Piece| context.is_empty() || matches!(piece.name, "subject" | "facts" | "input");
        let beside: Vec<Piece> = members.iter().filter(beside).cloned().collect();
        context.extend(beside);
        Material {
            context,
            members,
            index: briefing.index.and_then(|index| handed(index, "index", fence)),
            memory: briefing.memory.and_then(|memory| handed(memory, "memory", fence)),
            notes: briefing.notes.iter().map(|note| said(note, fence, whole_notes(briefing))).collect(),
            failure: briefing.last_failure.map(|failure| Piece {
                name: "failure",
                label: format!("message of the failure {}", fence.origin(failure.code.as_str())),
                text: fence.clean(&failure.message),
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
        ("questions", by("open questions"), listed(&context.open_questions, question)),
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
        let (file, text) = (whole_request(briefing), text?);
        let bounded = is_long(&text);
        let text = fence.clean(&bounded_to(text.trim_end(), Some(&file)));
        (!text.is_empty()).then_some(Piece { name, label, text, file: Some(file), bounded })
    };
    texts.into_iter().filter_map(piece).collect()
}

fn said(note: &Note, fence: PromptFence<'_>, file: String) -> SaidSince {
    let from = fence.origin(&note.from);
    let (about, title, meaning) = match note.about {
        // Evidence looks at claims; Baton itself at whether there is a report at all.
        About::Refuted if note.from == "baton" => {
            ("refuted", "what is wrong", "Your last report was not accepted. Correct it:".to_owned())
        }
        About::Refuted => {
            let meaning =
                "Baton looked at what your last report claims, and this is not so. Correct the work or the claim:";
            ("refuted", "refuted claims", meaning.to_owned())
        }
        About::Resolution if note.question.is_some() => {
            ("resolution", "question and answer", format!("{from} answered you. Go on where you stopped, with this:"))
        }
        About::Resolution => {
            let meaning =
                format!("What you were blocked by was worked on by {from}. Go on where you stopped, with this:");
            ("resolution", "resolution", meaning)
        }
        About::Feedback => (
            "feedback",
            "feedback",
            format!("{from} rejected the last result. Change the work so that this is settled:"),
        ),
        About::Answer if note.question.is_some() => {
            ("answer", "question and answer", format!("{from} answered what you asked:"))
        }
        About::Answer => ("answer", "answers", format!("{from} answered:")),
        About::Question => ("question", "question", format!("{from} asks about your work. Answer it in your report:")),
        About::Requeued => ("requeued", "remark", format!("{from} gave the work to you again and remarks:")),
    };
    let mut text = fence.clean(note.text.trim_end());
    if let Some(question) = &note.question {
        // The quotation marks keep words of the agent from passing as the person's.
        let asked = fence.clean(question.trim()).replace('\n', "\n> ");
        text = format!("You asked:\n> {asked}\n\n{from} answered:\n{text}");
    }
    let piece = Piece { name: about, label: format!("{title}, from {from}"), text, file: Some(file), bounded: false };
    SaidSince { about, from, meaning, piece }
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

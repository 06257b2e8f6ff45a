//! What a person is asked, taken from a handoff that waits and from its journal.

use baton_protocol::model::Document;
use baton_protocol::model::request::Request;
use baton_protocol::wire::same_word;
use jiff::Timestamp;
use serde_json::Map;

use super::look::{RunRecord, examined_of, reported_document, shown_document};
use crate::answer::Successors;
use crate::flow;
use crate::handoff::{About, Ask, Handoff, Note, State};
use crate::handover;
use crate::id::HandoffId;
use crate::journal::{Event, Fact};
use crate::lifecycle::{Command, Decide};
use crate::people::{AgentQuestion, ExpectedReply, Question, plain_words};
use crate::run::{LastReport, Run};

/// What people were asked about the same before, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierQuestion {
    /// What they were asked, as they saw it.
    pub question: Question,
    /// The decision.
    pub decide: Decide,
    /// When it was made.
    pub at: Timestamp,
}

impl EarlierQuestion {
    /// Finds what was decided last where a handoff of a run waits for a person now: about it, or about an earlier visit of its
    /// phase. `None` if people were never asked the same.
    pub fn of(record: &RunRecord, id: &HandoffId) -> Option<EarlierQuestion> {
        let RunRecord { run, events } = record;
        let waiting = run.find(id)?;
        let visits = handover::earlier_visits(run, &waiting.step).into_iter().chain([waiting]);
        let (visit, decide) = visits.rev().find_map(|visit| Some((&visit.handoff.id, visit.decided.as_ref()?)))?;
        let is_it = |event: &Event| {
            event.handoff == *visit
                && matches!(event.fact(), Ok(Fact::Happened(Command::Decide(decided))) if decided == *decide)
        };
        let place = events.iter().rposition(is_it)?;
        let then = Run::of_journal(&events[..place]).ok()?;
        let question = flow::question(&then, then.find(visit)?)?;
        let is_same = waiting.handoff.state == State::AwaitingPerson { ask: question.ask };
        is_same.then(|| EarlierQuestion { question, decide: decide.clone(), at: events[place].at })
    }
}

impl Question {
    /// Returns what a person is asked about a handoff whose run has this journal; `None` if it waits for nobody.
    pub fn of(handoff: &Handoff, events: &[Event]) -> Option<Question> {
        Question::of_journal(events)(handoff)
    }

    /// Reads the journal of a run once, for all questions that are asked in it.
    pub fn of_journal(events: &[Event]) -> impl Fn(&Handoff) -> Option<Question> {
        let run = Run::of_journal(events).ok();
        move |handoff| match &run {
            Some(run) => flow::question(run, run.find(&handoff.id)?),
            None => alone(handoff, events),
        }
    }
}

/// Returns what a person is asked about a handoff outside of a workflow.
fn alone(handoff: &Handoff, events: &[Event]) -> Option<Question> {
    let (State::AwaitingPerson { ask }, Some(shown)) = (&handoff.state, handoff.shown()) else { return None };
    let of = |id: &HandoffId| events.iter().filter(|event| event.handoff == *id).cloned().collect::<Vec<_>>();
    let own = of(&handoff.id);
    let written = shown_document(&own, handoff.last_report.as_ref());
    let document = written.as_ref().and_then(|written| written.read());
    let request = match &document {
        Some(Document::Request(request)) => Some(request.as_ref()),
        _ => None,
    };
    // What the agent that waits for the answer has said.
    let handed_in = handoff.terms.returns_to.as_ref().and_then(|id| reported_document(&of(id)));
    let blocked =
        handed_in.as_ref().and_then(|written| LastReport::read(written, Successors::Nobody)).map(|told| told.report);
    let questions = flow::questions(document.as_ref(), blocked.as_ref());
    let reply = ExpectedReply::of(handoff)?;
    let choices = if reply.is_answer() { flow::offered(&questions).to_vec() } else { choices(handoff, request) };
    Some(Question {
        handoff: handoff.id.clone(),
        run: handoff.run.clone(),
        phase: handoff.terms.step.as_ref().map(|step| step.phase.clone()).unwrap_or_default(),
        agent: agent(handoff, *ask),
        ask: *ask,
        reply,
        title: title(document.as_ref(), &questions),
        text: handoff.notes.iter().filter(|note| is_about_the_work(note)).map(told).collect(),
        items: request.and_then(|request| request.gate.as_ref()).map(|gate| gate.items.clone()).unwrap_or_default(),
        choices,
        questions,
        document: written,
        handed_in,
        trouble: None,
        examined: examined_of(&own),
        gaps: Vec::new(),
        inputs: Map::new(),
        decided_before: Vec::new(),
        approval: handoff.terms.approval.clone(),
        approvals: handoff.approvals.clone(),
        lapses_at: None,
        shown,
    })
}

/// What was said about earlier attempts belongs to the decision; what others delivered does not.
fn is_about_the_work(note: &Note) -> bool {
    match note.about {
        About::Refuted | About::Feedback | About::Failure | About::Answer | About::Question => true,
        About::Resolution | About::Requeued => false,
    }
}

fn told(note: &Note) -> String {
    format!("{} by {}: {}\n", note.about.as_str(), note.from, note.text.trim())
}

/// Returns who asks: the agent that works on it, or the sender.
fn agent(handoff: &Handoff, ask: Ask) -> String {
    match ask {
        Ask::Review | Ask::Clarification => handoff.terms.to.clone(),
        Ask::Gate => handoff.terms.from.clone(),
    }
}

/// Returns what it is about: the first question, or else what was done.
fn title(document: Option<&Document>, questions: &[AgentQuestion]) -> String {
    let first = questions.first().map(|question| question.text.clone());
    let told = match document {
        Some(Document::Report(report)) => {
            [first, report.summary.clone(), report.next_context().map(str::to_owned), report.blocked_reason.clone()]
        }
        Some(Document::Acknowledgment(acknowledgment)) => [first, acknowledgment.task.clone(), None, None],
        Some(Document::Request(request)) => {
            let reason = request.to.as_ref().and_then(|party| party.reason.clone());
            let summary = request.context.as_ref().and_then(|context| context.summary.clone());
            [reason, summary, request.instructions.clone(), None]
        }
        None => [None, None, None, None],
    };
    told.into_iter().flatten().next().unwrap_or_default().trim().replace(['\n', '\t'], " ")
}

/// Returns what can be chosen, each with its meaning where the request tells it.
fn choices(handoff: &Handoff, request: Option<&Request>) -> Vec<(String, String)> {
    let options = request.and_then(|request| request.gate.as_ref()).map(|gate| &gate.options);
    let meaning = |word: &str| {
        let mut options = options.into_iter().flatten();
        options.find(|(name, _)| same_word(name, word)).map(|(_, value)| plain_words(value))
    };
    let choices = handoff.terms.choices.iter();
    choices.map(|word| (word.clone(), meaning(word).unwrap_or_default())).collect()
}

//! What a person is asked, taken from a handoff that waits and from its journal. The terminal is elsewhere.

use baton_engine::answer::Successors;
use baton_engine::evidence::{self, Examined};
use baton_engine::handoff::{About, Ask, Handoff, Note, State};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::people::{AgentQuestion, ExpectedReply, Question};
use baton_engine::run::{Run, Told};
use baton_engine::step::Role;
use baton_engine::{HandoffId, flow};
use baton_protocol::model::Document;
use baton_protocol::model::request::Request;
use baton_protocol::wire::same_word;

use crate::render;
use crate::store::{reported_document, shown_document};

/// What people are asked in a run, or about handoffs outside of a workflow.
pub(crate) struct Asking<'e> {
    /// The run, if it is one of a workflow.
    run: Option<Run>,
    events: &'e [Event],
}

impl<'e> Asking<'e> {
    /// Looks at the journal of a run.
    pub(crate) fn of(events: &'e [Event]) -> Asking<'e> {
        Asking { run: Run::of_journal(events).ok(), events }
    }

    /// Returns what a person is asked about a handoff; `None` if it waits for nobody.
    pub(crate) fn question(&self, handoff: &Handoff) -> Option<Question> {
        match &self.run {
            Some(run) => flow::question(run, run.find(&handoff.id)?),
            None => alone(handoff, self.events),
        }
    }
}

/// Returns what a person is asked about a handoff outside of a workflow.
fn alone(handoff: &Handoff, events: &[Event]) -> Option<Question> {
    let (State::AwaitingPerson { ask }, Some(shown)) = (&handoff.state, handoff.shown()) else { return None };
    let of = |id: &HandoffId| events.iter().filter(|event| event.handoff == *id).cloned().collect::<Vec<_>>();
    let own = of(&handoff.id);
    let written = shown_document(&own, handoff.last_report.as_ref());
    let document = written.as_ref().and_then(render::document::read);
    let request = match &document {
        Some(Document::Request(request)) => Some(request.as_ref()),
        _ => None,
    };
    // What the agent that waits for the answer has said.
    let handed_in = handoff.terms.returns_to.as_ref().and_then(|id| reported_document(&of(id)));
    let blocked =
        handed_in.as_ref().and_then(|written| Told::read(written, Successors::Nobody)).map(|told| told.report);
    let questions = flow::questions(document.as_ref(), blocked.as_ref());
    let reply = ExpectedReply::of(handoff)?;
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
        choices: match reply.is_answer() {
            true => flow::offered(&questions).to_vec(),
            false => choices(handoff, request),
        },
        questions,
        document: written,
        handed_in,
        trouble: None,
        examined: examined(&own),
        gaps: Vec::new(),
        approval: handoff.terms.approval.clone(),
        approvals: handoff.approvals.clone(),
        shown,
    })
}

/// Returns the word for what is asked, as people sort it.
pub(crate) fn kind(handoff: &Handoff, ask: Ask) -> &'static str {
    match (ask, handoff.terms.step.as_ref().map(|step| step.role)) {
        (Ask::Gate, Some(Role::Limit)) => "limit",
        (Ask::Gate, Some(Role::Failure)) => "failure",
        (Ask::Gate, Some(Role::Escalation)) => "escalation",
        (ask, _) => render::handoff::ask_word(ask),
    }
}

/// Returns what came out about each claim of the last report; nothing if nobody has examined that one.
pub(crate) fn examined(events: &[Event]) -> Vec<Examined> {
    for event in events.iter().rev() {
        match event.fact() {
            // A gate is about what the phases before it have left.
            Ok(Fact::Accepted(accept)) => return evidence::handed_over(&accept.terms.files),
            // That approved files are as they were adds nothing to what was seen of them.
            Ok(Fact::Happened(Command::Verify(verify))) if !verify.examined.is_empty() => return verify.examined,
            // What was seen before belongs to another report.
            Ok(Fact::Happened(Command::Report(_))) => return Vec::new(),
            _ => {}
        }
    }
    Vec::new()
}

/// What was said about earlier attempts belongs to the decision; what others delivered does not.
fn is_about_the_work(note: &Note) -> bool {
    match note.about {
        About::Refuted | About::Feedback | About::Answer | About::Question => true,
        About::Resolution | About::Requeued => false,
    }
}

fn told(note: &Note) -> String {
    format!("{} by {}: {}\n", render::handoff::about_word(note.about), note.from, note.text.trim())
}

/// Returns who asks: whoever works, or whoever sent it to a person.
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
    render::handoff::one_line(told.into_iter().flatten().next().unwrap_or_default().trim())
}

/// Returns what can be chosen, each with its meaning where the request tells it.
fn choices(handoff: &Handoff, request: Option<&Request>) -> Vec<(String, String)> {
    let options = request.and_then(|request| request.gate.as_ref()).map(|gate| &gate.options);
    let meaning = |word: &str| {
        let mut options = options.into_iter().flatten();
        options.find(|(name, _)| same_word(name, word)).map(|(_, value)| render::document::plain(value))
    };
    let choices = handoff.terms.choices.iter();
    choices.map(|word| (word.clone(), meaning(word).unwrap_or_default())).collect()
}

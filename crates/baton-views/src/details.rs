//! The JSON forms of everything about one thing: a handoff with its documents and events, a run with its phases, and a run
//! in a list of runs.

use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::approval::Approval;
use baton_engine::engine::examined_of;
use baton_engine::handoff::{Handoff, StateName, WrittenDocument};
use baton_engine::journal::Event;
use baton_engine::queue::QueueHolds;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::handoff::{document, examined};
use crate::run_summary::RunSummary;
use crate::sentence::is_going_on;
use crate::standing::{RunStanding, RunWait, waits_for};
use crate::words::{one_line, span};
use crate::{event, handoff};

/// The version of these forms.
const VERSION: u32 = 1;

/// A handoff with everything that is known about it.
#[derive(Debug, Clone)]
pub struct HandoffDetails<'h> {
    /// The handoff.
    pub handoff: &'h Handoff,
    /// What was asked.
    pub request: &'h WrittenDocument,
    /// What was answered last.
    pub report: Option<&'h WrittenDocument>,
    /// The JSON form of what a person is asked, if one is.
    pub question: Option<Value>,
    /// What happened to it.
    pub events: &'h [Event],
}

impl HandoffDetails<'_> {
    /// Returns the JSON form.
    pub fn json(&self) -> Value {
        let phase = event::phase_of(self.handoff);
        json!({
            "version": VERSION,
            "handoff": handoff::json(self.handoff),
            "request": document(self.request),
            "report": self.report.map(document),
            "examined": examined(&examined_of(self.events)),
            "question": self.question,
            "events": self.events.iter().map(|event| event::json(event, phase)).collect::<Vec<_>>(),
        })
    }
}

/// A run with everything that is known about it.
#[derive(Debug, Clone)]
pub struct RunDetails<'r> {
    /// The run.
    pub run: &'r Run,
    /// Its phases.
    pub summary: &'r RunSummary,
    /// Where it stands.
    pub standing: &'r RunStanding,
    /// The JSON forms of what people are asked.
    pub waiting: Vec<Value>,
}

impl RunDetails<'_> {
    /// Returns the JSON form.
    pub fn json(&self) -> Value {
        let (run, root) = (self.run, &self.run.root().handoff);
        json!({
            "version": VERSION,
            "run": run.id,
            "workflow": run.definition.name(),
            "state": self.standing.word(),
            "driven_by": self.standing.driver(),
            "failure": root.last_failure.as_ref().map(|failure| failure.text()),
            "inputs": run.definition.inputs,
            "workspace": run.definition.workspace,
            "started_at": run.started_at,
            "finished_at": root.state.finished_at(),
            "handoff": handoff::json(root),
            "phases": self.summary.json(),
            "totals": self.summary.totals_json(),
            "going_on": run.open().filter(|tracked| is_going_on(tracked)).map(open).collect::<Vec<_>>(),
            "waiting": self.waiting,
        })
    }
}

fn open(tracked: &TrackedHandoff) -> Value {
    json!({
        "handoff": tracked.handoff.id,
        "phase": tracked.step.phase,
        "agent": tracked.handoff.terms.to,
        "state": tracked.handoff.state.name().as_str(),
        "attempt": tracked.attempts,
        "since": tracked.begun_at.unwrap_or(tracked.handoff.accepted_at),
    })
}

/// A run in a list of runs.
#[derive(Debug, Clone)]
pub struct ListedRun {
    /// The handoff of the run itself.
    pub root: Handoff,
    /// The name of its workflow.
    pub workflow: String,
    /// Where it stands.
    pub standing: RunStanding,
    /// The phases in which something is not finished.
    pub phases: Vec<String>,
    /// What waits for people, also while somebody drives it.
    pub waiting: Vec<WaitingQuestion>,
    /// What it waits for while nobody works, such as a worker.
    pub waits_for: Option<RunWait>,
    /// How many handoffs are in it.
    pub handoffs: usize,
    /// How long it took, or takes already.
    pub took: Duration,
}

impl ListedRun {
    /// Looks at the handoff of a run and at all that belong to it. `holds` are the queues that hand out nothing, and `is_dead`
    /// knows which claimants are known to be gone.
    pub fn of(
        root: Handoff,
        inside: &[Handoff],
        workflow: String,
        now: Timestamp,
        holds: &QueueHolds,
        is_dead: impl Fn(&str) -> bool,
    ) -> ListedRun {
        ListedRun {
            workflow,
            standing: RunStanding::of(&root, inside.iter(), now, is_dead),
            phases: unfinished_phases(inside),
            waiting: if root.state.name().is_finished() { Vec::new() } else { waiting_questions(inside) },
            waits_for: waits_for(inside.iter().filter(|handoff| !handoff.state.name().is_finished()), now, holds),
            handoffs: inside.len().saturating_sub(1),
            took: span(root.accepted_at, root.state.finished_at().unwrap_or(now)),
            root,
        }
    }

    /// Describes where it is in a few words; that somebody is waited for comes first.
    pub fn words(&self, now: Timestamp) -> String {
        let Some(first) = self.waiting.first() else { return self.standing.words(now) };
        let more = match self.waiting.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        // The run stands beside it: only the rest of the name tells something.
        let name = first.handoff.as_str();
        let name = name.strip_prefix(self.root.id.as_str()).map_or(name, |name| name.trim_start_matches('.'));
        let asked = format!("waits for {}: {name}{more}", one_line(&first.person));
        match &self.standing {
            RunStanding::Waiting(_) => asked,
            standing => format!("{asked}; {}", standing.words(now)),
        }
    }

    /// Returns the JSON form.
    pub fn json(&self) -> Value {
        let root = &self.root;
        let waiting = |question: &WaitingQuestion| json!({ "id": question.handoff, "for": question.person });
        let heard_at = match &self.standing {
            RunStanding::Silent { since, .. } => Some(since),
            RunStanding::Driven(_) | RunStanding::Waiting(_) | RunStanding::Left | RunStanding::Ended(_) => None,
        };
        let has_failed = root.state.name() == StateName::Failed;
        let failure = root.last_failure.as_ref().filter(|_| has_failed);
        json!({
            "run": root.id,
            "workflow": self.workflow,
            "state": self.standing.word(),
            "driven_by": self.standing.driver(),
            "last_heard_of_at": heard_at,
            "phases": self.phases,
            "waits_for": self.waits_for.as_ref().map(|waits| &waits.words),
            "waiting": self.waiting.iter().map(waiting).collect::<Vec<_>>(),
            "started_at": root.accepted_at,
            "finished_at": root.state.finished_at(),
            "seconds": self.took.as_secs_f64(),
            "handoffs": self.handoffs,
            "failure": failure.map(|failure| failure.text()),
        })
    }
}

/// What a run asks of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingQuestion {
    /// The handoff that waits: `baton inbox` and `baton show` know it by this name.
    pub handoff: HandoffId,
    /// Who can decide: `a person`, unless somebody is named.
    pub person: String,
}

fn waiting_questions(inside: &[Handoff]) -> Vec<WaitingQuestion> {
    let asked = inside.iter().filter(|handoff| handoff.state.name() == StateName::AwaitingPerson);
    let person = |handoff: &Handoff| {
        let named = handoff.terms.approval.as_ref().filter(|rule| !rule.approvers.is_empty());
        named.map_or_else(|| "a person".to_owned(), Approval::in_words)
    };
    asked.map(|handoff| WaitingQuestion { handoff: handoff.id.clone(), person: person(handoff) }).collect()
}

fn unfinished_phases(inside: &[Handoff]) -> Vec<String> {
    let mut phases = Vec::new();
    for handoff in inside.iter().filter(|handoff| !handoff.state.name().is_finished()) {
        let step = handoff.terms.step.as_ref();
        let Some(step) = step.filter(|step| !matches!(step.role, Role::Run | Role::Group)) else { continue };
        if !phases.contains(&step.phase) {
            phases.push(step.phase.clone());
        }
    }
    phases
}

//! Waiting for people: they are asked, checks that have passed decide in their place, and advice may lapse.

use baton_protocol::model::terms::GateType;
use jiff::Timestamp;
use tokio::task::AbortHandle;

use super::News;
use super::attempt::have_passed;
use super::run_loop::{Errand, Outcome, RunLoop};
use crate::door::Door;
use crate::draft::Draft;
use crate::evidence;
use crate::flow;
use crate::handoff::{Digest, Handoff, State};
use crate::id::HandoffId;
use crate::known::HowKnown;
use crate::lifecycle::{Command, Decide, Decision};
use crate::people;
use crate::run::{Run, TrackedHandoff};

/// Where a question to a person is.
pub(super) enum QuestionState {
    /// It is being asked.
    Asking { shown: Digest, task: AbortHandle },
    /// It was answered, and the answer is to be recorded.
    Answered { shown: Digest, said: Box<people::Response> },
    /// Nobody can be asked here.
    Nobody { shown: Digest },
    /// What was said was refused: a person must be asked once more, with why.
    Failing { shown: Digest, why: String },
}

/// What came of asking; nothing if nobody can be asked.
pub(super) struct PersonAnswer {
    shown: Digest,
    said: Option<Box<people::Response>>,
}

impl QuestionState {
    fn shown(&self) -> &Digest {
        match self {
            QuestionState::Asking { shown, .. }
            | QuestionState::Answered { shown, .. }
            | QuestionState::Nobody { shown }
            | QuestionState::Failing { shown, .. } => shown,
        }
    }
}

impl RunLoop<'_> {
    /// Asks the people who can be reached from here about everything that waits for a person.
    pub(super) fn ask(&mut self) {
        let waiting: Vec<HandoffId> = self.run.waiting().map(|tracked| tracked.handoff.id.clone()).collect();
        // A question that was decided elsewhere, or that is another one by now, is taken back.
        let run = &self.run;
        self.asked.retain(|id, asked| {
            let waits = |tracked: &&TrackedHandoff| matches!(tracked.handoff.state, State::AwaitingPerson { .. });
            let shown = run.find(id).filter(waits).and_then(|tracked| asked_about(&tracked.handoff));
            let keep = shown.as_ref() == Some(asked.shown());
            if let (false, QuestionState::Asking { task, .. }) = (keep, &asked) {
                task.abort();
            }
            keep
        });
        for id in waiting {
            match self.asked.get(&id) {
                None => self.ask_one(&id, None),
                Some(QuestionState::Failing { why, .. }) => {
                    let why = why.clone();
                    self.ask_one(&id, Some(why));
                }
                Some(QuestionState::Asking { .. } | QuestionState::Answered { .. } | QuestionState::Nobody { .. }) => {}
            }
        }
    }

    fn ask_one(&mut self, id: &HandoffId, failing: Option<String>) {
        let Some(tracked) = self.run.find(id) else { return };
        let Some(mut question) = flow::question(&self.run, tracked) else { return };
        let Some(shown) = asked_about(&tracked.handoff) else { return };
        question.text.extend(failing.map(|why| format!("\n{why}")));
        self.driver.audience.hear(&self.run, &News::Asks(&question));
        let people = self.driver.people.clone();
        let answer = PersonAnswer { shown: shown.clone(), said: None };
        let task = self.tasks.spawn(async move {
            Outcome::Asked(PersonAnswer { said: people.decide(&question).await.map(Box::new), ..answer })
        });
        self.errands.insert(task.id(), Errand { handoff: id.clone(), fence: None });
        self.asked.insert(id.clone(), QuestionState::Asking { shown, task });
    }

    /// Takes what was said.
    pub(super) fn heard(&mut self, id: HandoffId, answer: PersonAnswer) {
        let PersonAnswer { shown, said } = answer;
        let asked = match said {
            Some(said) => QuestionState::Answered { shown, said },
            None => QuestionState::Nobody { shown },
        };
        self.asked.insert(id, asked);
    }

    /// Records what people have said, and goes on where advice was only advice.
    pub(super) fn decide_gates(&mut self, draft: &mut Draft) {
        // An answer stays here until the journal has it: a transaction that met a race is tried again.
        let mut refused = Vec::new();
        for (id, asked) in &self.asked {
            let QuestionState::Answered { shown, said } = asked else { continue };
            let waits = draft.run.find(id).is_some_and(|tracked| {
                matches!(tracked.handoff.state, State::AwaitingPerson { .. })
                    && asked_about(&tracked.handoff).as_ref() == Some(shown)
            });
            if !waits {
                continue;
            }
            let question = draft.run.find(id).and_then(|tracked| flow::question(&draft.run, tracked));
            let Some(question) = question else { continue };
            if let Err(refusal) = draft.apply(id, Command::Decide(question.decided((**said).clone()))) {
                self.driver.audience.hear(&self.run, &News::Note(&format!("{id}: {refusal}")));
                let why = format!("The last reply was refused: {refusal}");
                refused.push((id.clone(), QuestionState::Failing { shown: shown.clone(), why }));
            }
        }
        // What cannot be recorded does not count as an answer: the question is asked again.
        self.asked.extend(refused);
        for (id, shown, note) in passed_by_checks(&draft.run) {
            let decide = by_nobody("checks", Door::Checks, shown, note);
            let _ = draft.apply(&id, Command::Decide(decide));
        }
        let now = draft.at;
        let lapsed: Vec<(HandoffId, Digest)> = draft
            .run
            .waiting()
            .filter(|tracked| self.lapses_at(tracked).is_some_and(|at| at <= now))
            .filter_map(|tracked| Some((tracked.handoff.id.clone(), tracked.handoff.shown()?)))
            .collect();
        for (id, shown) in lapsed {
            let note = "no answer in time, and this gate is advisory".to_owned();
            let decide = by_nobody("nobody", Door::Advisory, shown, note);
            let _ = draft.apply(&id, Command::Decide(decide));
        }
    }

    /// Returns when an advisory gate goes on without an answer.
    pub(super) fn lapses_at(&self, tracked: &TrackedHandoff) -> Option<Timestamp> {
        flow::lapses_at(&self.run, tracked)
    }
}

/// Identifies what is asked: what is shown, and who has decided already. Each decision makes it another question.
fn asked_about(handoff: &Handoff) -> Option<Digest> {
    let shown = handoff.shown()?;
    let votes: Vec<String> = handoff.approvals.iter().map(|vote| format!("{vote:?}")).collect();
    Some(if votes.is_empty() { shown } else { Digest::of(format!("{}\n{}", shown.0, votes.join("\n")).as_bytes()) })
}

/// Returns the auto gates whose checks have all passed, with what they are shown by and which checks these are.
fn passed_by_checks(run: &Run) -> Vec<(HandoffId, Digest, String)> {
    let passed = |tracked: &TrackedHandoff| {
        let gate = flow::gate_of(run, tracked).filter(|gate| gate.r#type == Some(GateType::Auto))?;
        let is_free = tracked.handoff.terms.choices.is_empty() && !evidence::asks_person(&tracked.examined);
        let checks = flow::deciding_checks(gate);
        if !is_free || !have_passed(&tracked.examined, checks.len()) {
            return None;
        }
        let names: Vec<&str> = checks.iter().filter_map(|check| check.name.as_deref()).collect();
        let note = format!("all checks passed: {}", names.join(", "));
        Some((tracked.handoff.id.clone(), tracked.handoff.shown()?, note))
    };
    run.waiting().filter_map(passed).collect()
}

/// Makes an approval that no person gives.
fn by_nobody(by: &str, door: Door, shown: Digest, note: String) -> Decide {
    let (known, decision) = (HowKnown::Unproven, Decision::Approve);
    Decide { by: by.to_owned(), known, label: None, door, shown, decision, note: Some(note), asked: None }
}

//! Waiting for people: they are asked, checks may decide in their place, and advice may lapse.

use std::sync::Arc;

use baton_protocol::model::terms::GateType;
use jiff::Timestamp;
use tokio::task::AbortHandle;

use super::News;
use super::brief::{self, Brief};
use super::run_loop::{Errand, Outcome, RunLoop};
use crate::door::Door;
use crate::draft::Draft;
use crate::evidence::{self, CheckCommand, Evidence, Scene};
use crate::flow;
use crate::handoff::{Digest, Handoff, State, later};
use crate::id::HandoffId;
use crate::known::{Decider, HowKnown};
use crate::lifecycle::{Command, Decide, Decision};
use crate::people;
use crate::run::TrackedHandoff;

/// Where a question to a person is.
pub(super) enum QuestionState {
    /// It is being asked.
    Asking { shown: Digest, task: AbortHandle },
    /// It was answered, and the answer is to be recorded.
    Answered { shown: Digest, said: Box<people::Response> },
    /// Nobody can be asked here.
    Nobody { shown: Digest },
    /// The checks of the gate have failed, or what was said was refused: a person must be asked, with why.
    Failing { shown: Digest, why: String },
}

/// What came of asking.
pub(super) struct PersonAnswer {
    shown: Digest,
    heard: Heard,
}

enum Heard {
    Person(Option<Box<people::Response>>),
    Checks(Result<String, String>),
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
        let gate = flow::gate_of(&self.run, tracked);
        let free = tracked.handoff.terms.choices.is_empty() && failing.is_none() && !needs_person(tracked);
        let automatic = gate.filter(|gate| gate.r#type == Some(GateType::Auto) && free);
        let task = if let Some(gate) = automatic {
            let located = self.run.definition.locate(&tracked.step.phase);
            let workflow = located.map_or(&self.run.definition.workflow, |located| &located.definition.workflow);
            let checks: Vec<CheckCommand> = gate.checks.iter().map(|check| brief::check(workflow, check)).collect();
            let Some(scene) = self.scene_of(tracked) else { return };
            let (evidence, shown) = (self.driver.evidence.clone(), shown.clone());
            self.tasks.spawn(async move {
                let heard = Heard::Checks(run_all(evidence, scene, checks).await);
                Outcome::Asked(PersonAnswer { shown, heard })
            })
        } else {
            question.text.extend(failing.map(|why| format!("\n{why}")));
            self.driver.audience.hear(&self.run, &News::Asks(&question));
            let (people, shown) = (self.driver.people.clone(), shown.clone());
            self.tasks.spawn(async move {
                let heard = Heard::Person(people.decide(&question).await.map(Box::new));
                Outcome::Asked(PersonAnswer { shown, heard })
            })
        };
        self.errands.insert(task.id(), Errand { handoff: id.clone(), fence: None });
        self.asked.insert(id.clone(), QuestionState::Asking { shown, task });
    }

    fn scene_of(&self, tracked: &TrackedHandoff) -> Option<Scene> {
        let folder = self
            .driver
            .team
            .folder(&self.run.definition.workspace, &self.run.id, &tracked.handoff.id, tracked.handoff.fence)
            .ok()?;
        Some(Brief::of(&self.run, tracked)?.scene(folder, self.driver.earlier_attempts(&self.run, tracked)))
    }

    /// Takes what was said.
    pub(super) fn heard(&mut self, id: HandoffId, said: PersonAnswer) {
        let PersonAnswer { shown, heard } = said;
        let asked = match heard {
            Heard::Person(Some(said)) => QuestionState::Answered { shown, said },
            Heard::Person(None) => QuestionState::Nobody { shown },
            Heard::Checks(Ok(note)) => {
                let (by, door) = (Decider::unproven("checks"), Door::Checks);
                let said = people::Response { decision: Decision::Approve, note: Some(note), by, door };
                QuestionState::Answered { shown, said: Box::new(said) }
            }
            Heard::Checks(Err(why)) => QuestionState::Failing { shown, why },
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
        let now = draft.at;
        let lapsed: Vec<(HandoffId, Digest)> = draft
            .run
            .waiting()
            .filter(|tracked| self.lapses_at(tracked).is_some_and(|at| at <= now))
            .filter_map(|tracked| Some((tracked.handoff.id.clone(), tracked.handoff.shown()?)))
            .collect();
        for (id, shown) in lapsed {
            let (by, door) = ("nobody".to_owned(), Door::Advisory);
            let (known, label) = (HowKnown::Unproven, None);
            let note = Some("no answer in time, and this gate is advisory".to_owned());
            let decision = Decision::Approve;
            let decide = Decide { by, known, label, door, shown, decision, note, asked: None };
            let _ = draft.apply(&id, Command::Decide(decide));
        }
    }

    /// Returns when an advisory gate goes on without an answer.
    pub(super) fn lapses_at(&self, tracked: &TrackedHandoff) -> Option<Timestamp> {
        if !matches!(tracked.handoff.state, State::AwaitingPerson { .. }) {
            return None;
        }
        // Nobody can tell which choice silence means.
        let free = tracked.handoff.terms.choices.is_empty() && !needs_person(tracked);
        let gate = flow::gate_of(&self.run, tracked).filter(|_| free)?;
        let after = gate.after.filter(|_| gate.r#type == Some(GateType::Advisory))?;
        Some(later(tracked.since, after.milliseconds))
    }
}

/// Identifies what is asked: what is shown, and who has decided already. Each decision makes it another question.
fn asked_about(handoff: &Handoff) -> Option<Digest> {
    let shown = handoff.shown()?;
    let votes: Vec<String> = handoff.approvals.iter().map(|vote| format!("{vote:?}")).collect();
    Some(if votes.is_empty() { shown } else { Digest::of(format!("{}\n{}", shown.0, votes.join("\n")).as_bytes()) })
}

/// Returns whether the evidence left something open that only a person may let pass: neither checks nor silence do.
fn needs_person(tracked: &TrackedHandoff) -> bool {
    evidence::asks_person(&tracked.examined)
}

/// Runs the checks of a gate; the error says which failed.
async fn run_all(evidence: Arc<dyn Evidence>, scene: Scene, checks: Vec<CheckCommand>) -> Result<String, String> {
    let mut failed = Vec::new();
    for check in &checks {
        let outcome = evidence.run(&scene, check).await;
        if !outcome.passed {
            failed.push(format!("the check {} failed: {}\n{}", check.name, outcome.ended, outcome.tail));
        }
    }
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    match failed.is_empty() {
        true => Ok(format!("all checks passed: {}", names.join(", "))),
        false => Err(failed.join("\n")),
    }
}

//! Plays runs without agents, files or a database: a script says who does what, and the engine decides what follows.

use std::time::Duration;

use baton_engine::definition::Definition;
use baton_engine::door::Door;
use baton_engine::draft::Draft;
use baton_engine::evidence::{ExaminedClaim, digest};
use baton_engine::failure::{Code, Failure, FailureOutput, Transience};
use baton_engine::flow;
use baton_engine::handoff::WrittenDocument;
use baton_engine::journal::Event;
use baton_engine::known::Decider;
use baton_engine::lifecycle::{
    Accept, Claim, Command, Decision, Ending, Fail, HandIn, Heartbeat, LEASE_MS_MAX, Verdict, Verify,
};
use baton_engine::memory::{self, StoreModel};
use baton_engine::people::{Question, Response};
use baton_engine::queue::QueueHolds;
use baton_engine::run::Run;
use baton_engine::session::{SessionTurn, Spent};
use baton_engine::step::{ORCHESTRATOR, Role, Step};
use baton_engine::{Fence, HandoffId, RunId, State, Terms};
use baton_protocol::Dialect;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// So long that nothing expires while time passes.
const LEASE_MS: u64 = LEASE_MS_MAX;

/// A run that is played.
pub(crate) struct Stage {
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    model: StoreModel,
    /// Stands at the end of every text that somebody writes.
    pub(crate) poison: String,
    /// What is seen of the files that a gate is about.
    pub(crate) shown_at_gate: Vec<ExaminedClaim>,
    /// The queues that hand out nothing.
    pub(crate) holds: QueueHolds,
}

impl Stage {
    /// Begins a run of a workflow.
    pub(crate) fn begin(id: &str, workflow: &str, at: &str, poison: &str) -> Stage {
        let escaped = serde_json::to_string(poison).expect("JSON");
        let definition = memory::definition(&workflow.replace("POISON", escaped.trim_matches('"')));
        Stage::of(&definition, id, at.parse().expect("a time"), poison)
    }

    fn of(definition: &Definition, id: &str, now: Timestamp, poison: &str) -> Stage {
        let (run, root) = (RunId::parse(id).expect("safe"), HandoffId::parse(id).expect("safe"));
        let mut terms = Terms::between("ana", ORCHESTRATOR);
        terms.step =
            Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
        let request = definition.request(&run, "ana");
        let accept = Accept { id: root.clone(), run: run.clone(), terms, request, notes: Vec::new() };
        let mut model = StoreModel::default();
        let claim = Command::Claim(Claim { driver: true, ..Claim::by("driver-4711@workshop", LEASE_MS) });
        let steps = vec![
            baton_engine::store::TransactionStep::Accept(Box::new(accept)),
            baton_engine::store::TransactionStep::Apply(root, claim),
        ];
        model.carry_out(steps, now).expect("a run can begin");
        let run = Run::of_journal(&model.history(&run, 0, u32::MAX)).expect("it is what was written");
        let mut stage =
            Stage { run, now, model, poison: poison.to_owned(), shown_at_gate: Vec::new(), holds: QueueHolds::new() };
        stage.settle();
        stage
    }

    /// Returns the journal.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.model.history(&self.run.id, 0, u32::MAX)
    }

    /// Lets time pass.
    pub(crate) fn after(&mut self, seconds: u64) -> &mut Stage {
        self.now += Duration::from_secs(seconds);
        self
    }

    /// Decides what follows, and lets everybody begin who can.
    pub(crate) fn settle(&mut self) {
        self.change(|draft| flow::settle(draft).expect("something follows"));
        let looked_at = |tracked: &&baton_engine::run::TrackedHandoff| {
            tracked.step.role == Role::Gate && tracked.handoff.state == State::Verifying
        };
        let gates: Vec<_> = self.run.open().filter(looked_at).map(|gate| gate.handoff.clone()).collect();
        for gate in gates {
            // Once it is approved, nothing has changed.
            let examined = if gate.approved { Vec::new() } else { self.shown_at_gate.clone() };
            let verify = Verify {
                fence: gate.fence,
                verdict: Verdict::Verified,
                evidence: digest(&examined),
                examined,
                kept: Vec::new(),
                review: !gate.approved,
                repair: false,
                dice: 0.0,
            };
            self.change(|draft| draft.apply(&gate.id, Command::Verify(verify)).expect("it can be asked"));
            self.change(|draft| flow::settle(draft).expect("something follows"));
        }
    }

    /// Returns the handoff that is open in a phase.
    pub(crate) fn id(&self, phase: &str) -> HandoffId {
        let open = self.run.open().filter(|tracked| tracked.step.phase == phase).last();
        open.unwrap_or_else(|| panic!("nothing is open in {phase}")).handoff.id.clone()
    }

    /// Lets whoever works in a phase begin.
    pub(crate) fn claim(&mut self, phase: &str, turn: Option<SessionTurn>) -> &mut Stage {
        let id = self.id(phase);
        let claim = Claim {
            prompt_tokens: Some(1800),
            driver: true,
            session: turn,
            ..Claim::by("driver-4711@workshop", LEASE_MS)
        };
        self.change(|draft| draft.apply(&id, Command::Claim(claim)).expect("it is ready"));
        self
    }

    /// Hands in a report after so many seconds, with what is seen of it.
    pub(crate) fn report(
        &mut self,
        phase: &str,
        seconds: u64,
        members: Value,
        examined: Vec<ExaminedClaim>,
    ) -> &mut Stage {
        self.after(seconds);
        let (id, fence) = self.held(phase);
        let document = self.native(&members);
        let ending = match members["outcome"].as_str() {
            Some("blocked") => Ending::Blocked { reason: "missing_information".to_owned() },
            Some("needs_review") => Ending::NeedsReview,
            Some("needs_clarification") => Ending::NeedsClarification,
            _ => Ending::Complete,
        };
        let spent = Some(Spent { input: 21_400, cached: 80_000, output: 3_100, cost_micros: Some(412_000) });
        let changed = vec![format!("src/export/csv.rs{}", self.poison), "tests/export.rs".to_owned()];
        let review = self.run.definition.locate(phase).is_some_and(|located| located.phase().review.is_some());
        let refuted = baton_engine::evidence::refuted(&examined);
        let is_done = matches!(ending, Ending::Complete | Ending::NeedsReview);
        let hand_in = HandIn { spent, changed, ..HandIn::new(fence, ending, document) };
        self.change(|draft| draft.apply(&id, Command::Report(hand_in)).expect("it can be reported"));
        let verifies = is_done && matches!(self.find(&id).handoff.state, State::Verifying);
        if verifies {
            self.after(4);
            let verdict = match refuted {
                Some(reasons) => Verdict::Refuted { reasons, for_good: false },
                None => Verdict::Verified,
            };
            let evidence = digest(&examined);
            let verify =
                Verify { fence, verdict, examined, evidence, kept: Vec::new(), review, repair: false, dice: 0.0 };
            self.change(|draft| draft.apply(&id, Command::Verify(verify)).expect("it can be verified"));
        }
        self.settle();
        self
    }

    /// Lets an attempt fail after so many seconds.
    pub(crate) fn fail(&mut self, phase: &str, seconds: u64, message: &str) -> &mut Stage {
        self.after(seconds);
        let (id, fence) = self.held(phase);
        self.fails_with(&id, Fail::new(fence, self.failure(message), 0.0))
    }

    /// Lets an attempt fail for good after so many seconds.
    pub(crate) fn give_up(&mut self, phase: &str, seconds: u64, message: &str) -> &mut Stage {
        self.after(seconds);
        let (id, fence) = self.held(phase);
        let failure = Failure { chance: Transience::Permanent, ..self.failure(message) };
        self.fails_with(&id, Fail::new(fence, failure, 0.0))
    }

    /// Returns the failure of a command that ended as the first line says and printed the others.
    fn failure(&self, message: &str) -> Failure {
        let (how, said) = message.split_once('\n').unwrap_or((message, ""));
        let said = format!("{said}{}", self.poison);
        Failure::new(Code::processing_error(), how).with_output(FailureOutput::LastLines(said))
    }

    fn fails_with(&mut self, id: &HandoffId, fail: Fail) -> &mut Stage {
        let fail =
            Fail { spent: Some(Spent { input: 9_000, cached: 0, output: 800, cost_micros: Some(95_000) }), ..fail };
        self.change(|draft| draft.apply(id, Command::Fail(fail)).expect("it can fail"));
        self.settle();
        self
    }

    /// Decides as a person, after so many seconds.
    pub(crate) fn decide(
        &mut self,
        phase: &str,
        seconds: u64,
        by: &str,
        decision: Decision,
        note: Option<&str>,
    ) -> &mut Stage {
        self.after(seconds);
        let id = self.waiting(phase);
        let question = self.question(phase);
        let note = note.map(|note| format!("{note}{}", self.poison));
        let said = Response { by: Decider::account(by, None), door: Door::CommandLine, decision, note };
        self.change(|draft| draft.apply(&id, Command::Decide(question.decided(said))).expect("it can be decided"));
        self.settle();
        self
    }

    /// Gives a sign of life of whoever drives the run.
    pub(crate) fn alive(&mut self) -> &mut Stage {
        let root = self.run.root().handoff.clone();
        let heartbeat = Heartbeat::new(root.fence);
        self.change(|draft| draft.apply(&root.id, Command::Heartbeat(heartbeat)).expect("it is driven"));
        self
    }

    /// Returns what waits for a person in a phase.
    pub(crate) fn waiting(&self, phase: &str) -> HandoffId {
        let waiting = self.run.waiting().find(|tracked| tracked.step.phase == phase);
        waiting.unwrap_or_else(|| panic!("nothing waits in {phase}")).handoff.id.clone()
    }

    /// Returns what a person is asked in a phase.
    pub(crate) fn question(&self, phase: &str) -> Question {
        flow::question(&self.run, self.find(&self.waiting(phase))).expect("somebody is asked")
    }

    fn find(&self, id: &HandoffId) -> &baton_engine::run::TrackedHandoff {
        self.run.find(id).expect("it is in the run")
    }

    fn held(&self, phase: &str) -> (HandoffId, Fence) {
        let id = self.id(phase);
        let fence = self.find(&id).handoff.fence;
        (id, fence)
    }

    fn native(&self, members: &Value) -> WrittenDocument {
        let mut report = Map::from_iter([("baton".to_owned(), json!(1)), ("document".to_owned(), json!("report"))]);
        let members = poisoned(members, &self.poison);
        report.extend(members.as_object().cloned().unwrap_or_default());
        WrittenDocument::new(Dialect::Native, serde_json::to_string_pretty(&Value::Object(report)).expect("JSON"))
    }

    /// Writes a transaction.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Draft)) {
        let mut draft = Draft::new(&self.run, self.now);
        change(&mut draft);
        let before = self.run.seq;
        self.model.carry_out(draft.steps, self.now).expect("it can be written");
        for event in self.model.history(&self.run.id, before, u32::MAX) {
            self.run.absorb(&event).expect("it is what was written");
        }
    }
}

/// Adds something to every text but the words that mean something.
fn poisoned(value: &Value, poison: &str) -> Value {
    match value {
        Value::String(text)
            if ["complete", "blocked", "needs_review", "needs_clarification", "failed", "high"]
                .contains(&text.as_str()) =>
        {
            json!(text)
        }
        Value::String(text) => json!(format!("{text}{poison}")),
        Value::Array(items) => items.iter().map(|item| poisoned(item, poison)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, item)| (name.clone(), poisoned(item, poison))).collect())
        }
        other => other.clone(),
    }
}

/// Lets the agent ask for a second time.
pub(crate) fn asked_before(poison: &str) -> impl FnOnce(&mut Question) {
    let said = format!("ana answered “Which store?”: SQLite{poison}");
    |question| question.decided_before = vec![said]
}

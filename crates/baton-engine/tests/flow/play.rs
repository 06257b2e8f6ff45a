//! Plays a workflow without agents, files or a store: everybody says what the script tells them to say.
//!
//! After every transaction the run is built anew from its journal and compared, and what follows is decided twice.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use baton_engine::Fence;
use baton_engine::answer::{self, Answer, Successors};
use baton_engine::definition::Definition;
use baton_engine::door::Door;
use baton_engine::draft::Draft;
use baton_engine::driver::prompt_of;
use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::flow::{self, NoWayBack, Restart};
use baton_engine::handoff::WrittenDocument;
use baton_engine::known::Decider;
use baton_engine::lifecycle::{
    Accept, Cancel, Claim, Command, Decision, Ending, Fail, HandIn, Release, Verdict, Verify,
};
use baton_engine::people::Response;
use baton_engine::prompt::Prompt;
use baton_engine::run::{LastReport, Run, TrackedHandoff};
use baton_engine::step::{ORCHESTRATOR, Role, Step};
use baton_engine::{HandoffId, RunId, State, Terms};
use baton_protocol::{Dialect, workflow};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::ledger::Ledger;

/// No play needs more transactions.
const STEPS_MAX: usize = 2_000;

/// What somebody does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    /// Hands in a report with these members, which is true.
    Says(Value),
    /// Hands in a package or another document as it is.
    Writes(Dialect, String),
    /// Hands in a report, and the evidence refutes it.
    Lies(&'static str),
    /// The attempt fails.
    Fails(&'static str),
    FailsWith(Failure),
    /// The command of a check ends.
    Exits(bool),
    /// A person decides.
    Decides(Decision, Option<&'static str>),
    /// Works for so long, and does then what comes next in the script.
    Takes(Duration),
}

/// A run that is played.
pub(crate) struct Play {
    pub(crate) ledger: Ledger,
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    script: HashMap<String, VecDeque<Act>>,
    /// What agents were told when they began, where somebody wants to know.
    told: Option<Vec<(HandoffId, Prompt)>>,
}

/// Reads a workflow, with the workflows inside it by their name.
pub(crate) fn definition(text: &str, nested: &[(&str, &str)], inputs: Value) -> Definition {
    let inner = |(name, text): &(&str, &str)| ((*name).to_owned(), definition(text, &[], json!({})));
    let reading = workflow::read(text.as_bytes());
    let workflow = reading.workflow.unwrap_or_else(|| panic!("{:?}", reading.findings));
    let given = inputs.as_object().cloned().unwrap_or_default();
    let inputs = Definition::inputs(&workflow, given.clone()).unwrap_or(given);
    Definition {
        approvers: Vec::new(),
        workflow,
        folder: PathBuf::from("/flows"),
        file: None,
        nested: nested.iter().map(inner).collect::<BTreeMap<_, _>>(),
        templates: BTreeMap::new(),
        inputs,
        workspace: PathBuf::from("/workspace"),
    }
}

impl Play {
    /// Begins a run of a workflow.
    pub(crate) fn of(text: &str) -> Play {
        Play::with(&definition(text, &[], json!({})))
    }

    /// Begins a run with its inputs.
    pub(crate) fn given(text: &str, inputs: Value) -> Play {
        Play::with(&definition(text, &[], inputs))
    }

    pub(crate) fn with(definition: &Definition) -> Play {
        let now: Timestamp = "2026-01-05T09:00:00Z".parse().unwrap();
        let (run, id) = (RunId::parse("r").unwrap(), HandoffId::parse("r").unwrap());
        let mut terms = Terms::between("ana", ORCHESTRATOR);
        terms.step =
            Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
        let request = definition.request(&run, "ana");
        let accept = Accept { id: id.clone(), run, terms, request, notes: Vec::new() };
        let mut ledger = Ledger::default();
        ledger.carry_out(&[baton_engine::store::TransactionStep::Accept(Box::new(accept))], now);
        let run = Run::of_journal(&ledger.events).unwrap();
        let mut play = Play { ledger, run, now, script: HashMap::new(), told: None };
        let mut draft = play.draft();
        draft.apply(&id, claim(0)).unwrap();
        play.carry_out(draft);
        play
    }

    /// Tells somebody what to do, one after the other. Who: `PHASE` for agents and checks, `PHASE>AGENT` for help,
    /// `PHASE?` for a person at the phase, `PHASE?question`, `PHASE?failure` and `PHASE?limit` for the rest.
    pub(crate) fn tell(mut self, who: &str, acts: impl IntoIterator<Item = Act>) -> Play {
        self.script.entry(who.to_owned()).or_default().extend(acts);
        self
    }

    /// Keeps what agents are told when they begin.
    pub(crate) fn recording(mut self) -> Play {
        self.told = Some(Vec::new());
        self
    }

    /// Returns what the agent of a step was told in its last attempt.
    pub(crate) fn prompt(&self, step: &str) -> &Prompt {
        let id = &self.find(step).handoff.id;
        let told = self.told.as_ref().unwrap().iter().rev().find(|(known, _)| known == id);
        &told.unwrap_or_else(|| panic!("{step} was told nothing:\n{}", self.story())).1
    }

    /// Plays until the run ends or somebody without a script must decide.
    pub(crate) fn play(mut self) -> Play {
        for _ in 0..STEPS_MAX {
            if !self.advance() {
                return self;
            }
        }
        panic!("it does not come to an end:\n{}", self.story());
    }

    /// One transaction, and one act. Returns whether anything happened.
    pub(crate) fn advance(&mut self) -> bool {
        self.now += Duration::from_secs(1);
        self.settle();
        if self.run.is_finished() {
            return false;
        }
        self.claim_ready();
        self.act_of_a_person() || self.act_of_an_agent() || self.wait()
    }

    /// Decides what follows, twice in the same way.
    pub(crate) fn settle(&mut self) {
        let mut draft = self.draft();
        let decided = flow::settle(&mut draft);
        let again = Run::of_journal(&self.ledger.events).unwrap();
        assert_same(&again, &self.run);
        let mut twice = Draft::new(&again, self.now);
        assert_eq!(flow::settle(&mut twice), decided, "the same journal, another decision");
        assert_eq!(twice.steps, draft.steps, "the same journal, another decision");
        if let Err(why) = decided {
            flow::fail(&mut draft, &why.to_string());
        }
        self.carry_out(draft);
        // What could be decided is decided.
        let mut more = self.draft();
        assert_eq!(flow::settle(&mut more), Ok(()));
        assert!(more.is_empty(), "more follows: {:?}", more.steps);
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft::new(&self.run, self.now)
    }

    /// Writes it down, and compares the run of the journal with the run of the draft.
    fn carry_out(&mut self, draft: Draft) {
        let before = self.ledger.events.len();
        self.ledger.carry_out(&draft.steps, draft.at);
        for event in &self.ledger.events[before..] {
            self.run.absorb(event).unwrap();
        }
        assert_same(&draft.run, &self.run);
    }

    pub(crate) fn claim_ready(&mut self) {
        let mut draft = self.draft();
        let is_ready = |tracked: &&TrackedHandoff| matches!(tracked.handoff.state, State::Pending { ready_at } if ready_at <= draft.at);
        let ready: Vec<HandoffId> =
            flow::work(&draft.run).filter(is_ready).map(|tracked| tracked.handoff.id.clone()).collect();
        for id in ready {
            let tracked = draft.run.find(&id).unwrap();
            if let Some(told) = self.told.as_mut().filter(|_| tracked.step.role != Role::Check) {
                told.push((id.clone(), prompt_of(&draft.run, tracked, "k7Qz2m9XwB4t").unwrap()));
            }
            draft.apply(&id, claim(10)).unwrap();
        }
        self.carry_out(draft);
    }

    fn act_of_a_person(&mut self) -> bool {
        let waiting = self.run.waiting().map(|tracked| (tracked.handoff.id.clone(), person(tracked)));
        let waiting: Vec<(HandoffId, String)> = waiting.collect();
        for (id, who) in waiting {
            let Some(Act::Decides(decision, note)) = self.next_act(&who) else { continue };
            self.decide(&id, decision, note);
            return true;
        }
        false
    }

    /// Decides as a person, about what the person is shown.
    pub(crate) fn decide(&mut self, id: &HandoffId, decision: Decision, note: Option<&str>) {
        let question = flow::question(&self.run, self.run.find(id).unwrap()).unwrap();
        let (by, door) = (Decider::account("ana", None), Door::CommandLine);
        let said = Response { by, door, decision, note: note.map(str::to_owned) };
        let mut draft = self.draft();
        draft.apply(id, Command::Decide(question.decided(said))).unwrap_or_else(|why| panic!("{id}: {why}"));
        self.carry_out(draft);
    }

    fn act_of_an_agent(&mut self) -> bool {
        let is_working = |tracked: &&TrackedHandoff| tracked.handoff.lease().is_some();
        let Some(tracked) = flow::work(&self.run).find(is_working).cloned() else { return false };
        let (id, fence, role) = (tracked.handoff.id.clone(), tracked.handoff.fence, tracked.step.role);
        let who = match role {
            Role::Delegation => format!("{}>{}", tracked.step.phase, tracked.handoff.terms.to),
            _ => tracked.step.phase.clone(),
        };
        let mut act = self.next_act(&who);
        if let Some(Act::Takes(time)) = act {
            self.now += time;
            act = self.next_act(&who);
        }
        let usual = if role == Role::Check { Act::Exits(true) } else { Act::Says(json!({"outcome": "complete"})) };
        self.act(&id, fence, act.unwrap_or(usual));
        true
    }

    /// Does what an agent or a command does.
    pub(crate) fn act(&mut self, id: &HandoffId, fence: Fence, act: Act) {
        let mut draft = self.draft();
        match act {
            Act::Says(members) => answered(&mut draft, id, fence, native(&members), None),
            Act::Writes(dialect, text) => answered(&mut draft, id, fence, WrittenDocument::new(dialect, text), None),
            Act::Lies(what) => answered(&mut draft, id, fence, native(&json!({"outcome": "complete"})), Some(what)),
            Act::FailsWith(failure) => fail(&mut draft, id, fence, failure.clone(), None),
            Act::Fails(message) => fail(&mut draft, id, fence, Failure::new(Code::processing_error(), message), None),
            Act::Exits(passed) => {
                let verdict = if passed { Value::Null } else { json!("failed") };
                let summary = if passed { "The check passed." } else { "The check failed: exit 1." };
                let document = native(&json!({"outcome": "complete", "verdict": verdict, "summary": summary}));
                let report = HandIn::new(fence, Ending::Complete, document);
                draft.apply(id, Command::Report(report)).unwrap();
            }
            Act::Decides(..) | Act::Takes(_) => panic!("{id} is no person"),
        }
        self.carry_out(draft);
    }

    fn next_act(&mut self, who: &str) -> Option<Act> {
        self.script.get_mut(who)?.pop_front()
    }

    /// Lets time pass until something can be tried again.
    pub(crate) fn wait(&mut self) -> bool {
        let ready = flow::work(&self.run).filter_map(|tracked| match tracked.handoff.state {
            State::Pending { ready_at } if ready_at > self.now => Some(ready_at),
            _ => None,
        });
        let Some(ready_at) = ready.min() else { return false };
        self.now = ready_at;
        true
    }

    /// Lets time pass.
    pub(crate) fn later(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Calls the run off, as `baton cancel` does.
    pub(crate) fn cancel(&mut self) {
        let mut draft = self.draft();
        let id = self.run.root().handoff.id.clone();
        draft.apply(&id, Command::Cancel(Cancel { by: "ana".to_owned(), reason: None })).unwrap();
        flow::call_off(&mut draft);
        self.carry_out(draft);
    }

    /// Calls one phase off.
    pub(crate) fn cancel_phase(&mut self, name: &str) {
        let mut draft = self.draft();
        let id = self.find(name).handoff.id.clone();
        draft.apply(&id, Command::Cancel(Cancel { by: "ana".to_owned(), reason: None })).unwrap();
        self.carry_out(draft);
    }

    /// Lets the run begin again, as `baton resume --from` does after whoever drove it has let go of it.
    pub(crate) fn begin_again(&mut self, from: Option<&str>, note: Option<&str>) -> Result<String, NoWayBack> {
        let (from, note) = (from.map(str::to_owned), note.map(str::to_owned));
        self.restart(&Restart { from, note, ..Restart::default() })
    }

    /// Lets the run begin again, maybe with other inputs.
    pub(crate) fn restart(&mut self, restart: &Restart) -> Result<String, NoWayBack> {
        let mut draft = self.draft();
        let root = self.run.root().handoff.clone();
        if root.lease().is_some() {
            draft.apply(&root.id, Command::Release(Release { fence: root.fence, why: "stopped".to_owned() })).unwrap();
        }
        let phase = flow::begin_again(&mut draft, restart, "ana")?;
        draft.apply(&root.id, claim(0)).unwrap();
        self.carry_out(draft);
        Ok(phase)
    }

    /// Forgets everything but the journal, as a process does that was killed.
    pub(crate) fn forget(&mut self) {
        self.run = Run::of_journal(&self.ledger.events).unwrap();
    }

    pub(crate) fn find(&self, name: &str) -> &TrackedHandoff {
        let id = HandoffId::parse(format!("r.{name}")).unwrap();
        self.run.find(&id).unwrap_or_else(|| panic!("there is no {name}:\n{}", self.story()))
    }

    /// Returns what an agent was told beyond its request.
    pub(crate) fn notes(&self, name: &str) -> Vec<String> {
        let notes = self.find(name).handoff.notes.iter();
        notes.map(|note| format!("{:?} by {}: {}", note.about, note.from, note.text)).collect()
    }
}

/// Compares two runs in everything that decides what follows.
fn assert_same(one: &Run, other: &Run) {
    let handoffs = |run: &Run| run.handoffs().map(|tracked| tracked.handoff.clone()).collect::<Vec<_>>();
    let open = |run: &Run| run.open().map(|tracked| tracked.handoff.id.clone()).collect::<Vec<_>>();
    let said = |run: &Run| {
        run.handoffs()
            .map(|tracked| (tracked.attempts, tracked.ended, tracked.route.clone(), tracked.decided.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(handoffs(one), handoffs(other));
    assert_eq!(open(one), open(other));
    assert_eq!(said(one), said(other));
    assert_eq!(one.counted, other.counted);
}

fn claim(tokens: u64) -> Command {
    // Long enough that nothing expires while time passes in a play.
    let prompt_tokens = (tokens > 0).then_some(tokens);
    Command::Claim(Claim { prompt_tokens, driver: true, ..Claim::by("driver", 24 * 3600 * 1000) })
}

/// Writes a report in the native form.
fn native(members: &Value) -> WrittenDocument {
    let mut report = Map::from_iter([("baton".to_owned(), json!(1)), ("document".to_owned(), json!("report"))]);
    let members = members.as_object().cloned().unwrap_or_default();
    report.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
    WrittenDocument::new(Dialect::Native, Value::Object(report).to_string())
}

fn answered(draft: &mut Draft, id: &HandoffId, fence: Fence, document: WrittenDocument, refuted: Option<&str>) {
    let following = flow::following(&draft.run.definition, &draft.run.find(id).unwrap().step.phase);
    let told = LastReport::read(&document, Successors::Agents(&following))
        .unwrap_or_else(|| panic!("no report: {}", document.text));
    let ending = match answer::of_report(&told.report).unwrap() {
        Answer::Ended(ending) => ending,
        Answer::Failed(failure) => return fail(draft, id, fence, failure, Some(document)),
    };
    let done = matches!(ending, Ending::Complete | Ending::NeedsReview);
    draft.apply(id, Command::Report(HandIn::new(fence, ending, document))).unwrap();
    if !done {
        return;
    }
    let tracked = draft.run.find(id).unwrap();
    let phase = tracked.step.phase.clone();
    let located = draft.run.definition.locate(&phase);
    let review = tracked.step.role == Role::Work && located.is_some_and(|located| located.phase().review.is_some());
    let verdict = match refuted {
        None => Verdict::Verified,
        Some(reasons) => {
            let failure = Failure::new(Code::validation_failed(), reasons).to_string();
            let for_good = flow::same_failure(&draft.run, &phase, &failure);
            Verdict::Refuted { reasons: reasons.to_owned(), for_good }
        }
    };
    let verify = Verify {
        fence,
        verdict,
        examined: Vec::new(),
        evidence: None,
        kept: Vec::new(),
        review,
        repair: false,
        dice: 0.0,
    };
    draft.apply(id, Command::Verify(verify)).unwrap();
}

fn fail(draft: &mut Draft, id: &HandoffId, fence: Fence, mut failure: Failure, document: Option<WrittenDocument>) {
    let phase = draft.run.find(id).unwrap().step.phase.clone();
    if flow::same_failure(&draft.run, &phase, &failure.to_string()) {
        failure.chance = Transience::Permanent;
    }
    draft.apply(id, Command::Fail(Fail { document, ..Fail::new(fence, failure, 0.0) })).unwrap();
}

/// Who a person is in the script, where a handoff waits for one.
fn person(tracked: &TrackedHandoff) -> String {
    let what = match tracked.step.role {
        Role::Escalation => "question",
        Role::Failure => "failure",
        Role::Limit => "limit",
        Role::Run | Role::Work | Role::Check | Role::Group | Role::Gate | Role::Delegation => "",
    };
    match tracked.step.role {
        Role::Delegation => format!("{}>{}?", tracked.step.phase, tracked.handoff.terms.to),
        _ => format!("{}?{what}", tracked.step.phase),
    }
}

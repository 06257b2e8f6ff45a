//! Those who reach the store without a driver: workers of a queue, people at other doors, and strangers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::Fence;
use baton_engine::agent::Job;
use baton_engine::answer::{self, Answer, Successors};
use baton_engine::door::Door;
use baton_engine::draft::Draft;
use baton_engine::driver;
use baton_engine::failure::{Code, Failure};
use baton_engine::flow;
use baton_engine::handoff::{Digest, StateName, WrittenDocument};
use baton_engine::known::{Decider, HowKnown};
use baton_engine::lifecycle::{
    Accept, Acknowledge, Cancel, Claim, Command, Decide, Decision, Ending, Expire, Fail, HandIn, Heartbeat, Release,
    Requeue, Resume, Route, Verdict, Verify,
};
use baton_engine::people::Response;
use baton_engine::run::LastReport;
use baton_engine::store::{ClaimRequest, Filter, Order, StoreError};
use baton_engine::{Clock, Handoff, HandoffId, RunId, Store, Terms, retry};
use baton_protocol::Dialect;

use crate::chance::{Chance, Tally};
use crate::mind::Mind as _;
use crate::moods::Mood;
use crate::random::{CLERK, QUEUE};
use crate::saying::{self, Saying};
use crate::witness::Witness;

/// Somebody who reaches the store without a driver.
#[derive(Clone)]
pub struct Outsider {
    /// The store as they meet it.
    pub store: Arc<dyn Store>,
    /// Their clock.
    pub clock: Arc<dyn Clock>,
    /// What they do.
    pub mood: Arc<Mood>,
    /// Where their whims come from.
    pub chance: Chance,
    /// What was counted.
    pub tally: Tally,
    /// Who keeps the books.
    pub witness: Arc<Witness>,
    /// Whether faults are over.
    pub clear: Arc<AtomicBool>,
    /// Their name.
    pub name: String,
}

impl Outsider {
    fn is_clear(&self) -> bool {
        self.clear.load(Ordering::Relaxed)
    }

    /// Asks again until the store answers.
    async fn insist(&self, order: &Order) -> Result<Handoff, StoreError> {
        loop {
            match self.store.apply(order.clone(), self.clock.now()).await {
                Err(StoreError::Unreachable(_)) => tokio::time::sleep(Duration::from_secs(3)).await,
                answer => return answer,
            }
        }
    }

    /// Works for a queue, for ever.
    pub async fn work(&self) {
        loop {
            let wish = ClaimRequest {
                agent: QUEUE.to_owned(),
                claimant: self.name.clone(),
                lease_ms: 60_000,
                count: 1,
                times_itself: false,
                author: None,
            };
            let _ = self.store.rescue(10, self.chance.fraction(), self.clock.now()).await;
            let claimed = self.store.claim(&wish, self.clock.now()).await.unwrap_or_default();
            for claimed in claimed {
                self.attempt(&claimed.handoff, claimed.request).await;
            }
            let changes = self.store.changes();
            self.store.changed(changes, self.chance.about(Duration::from_secs(60))).await;
        }
    }

    async fn attempt(&self, handoff: &Handoff, request: WrittenDocument) {
        let job = Job {
            run: handoff.run.clone(),
            handoff: handoff.id.clone(),
            phase: handoff.terms.step.as_ref().map(|step| step.phase.clone()).unwrap_or_default(),
            agent: CLERK.to_owned(),
            fence: handoff.fence,
            attempt: handoff.attempts,
            session: Default::default(),
            spent_before: Default::default(),
            ended: 0,
            prompt: String::new(),
            request,
            contract: None,
            notes: handoff.notes.clone(),
            workspace: Default::default(),
            output_directory: Default::default(),
            folder: Default::default(),
            writes: None,
            undo: Vec::new(),
            confinement: Default::default(),
            timeout: handoff.terms.timeout_ms.map(Duration::from_millis),
            pick_up_within: None,
            traceparent: None,
        };
        let (time, _) = self.mood.work(&job);
        let asleep = !self.is_clear() && self.chance.happens(0.15);
        if asleep {
            // It works on although its lease is over, and hands in what it has made.
            self.tally.count("worker answers after its lease");
            tokio::time::sleep(Duration::from_secs(90) + time).await;
        } else if !self.keep(handoff, time).await {
            return;
        }
        if !self.is_clear() && self.chance.happens(0.1) {
            self.tally.count("worker vanishes");
            return;
        }
        let Some(command) = self.result(&job) else { return };
        if let Command::Report(report) = &command {
            self.witness.heard(&handoff.id, handoff.fence, report.document.digest());
        }
        let order = Order::new(handoff.id.clone(), command);
        let _ = self.insist(&order).await;
        if !self.is_clear() && self.chance.happens(0.3) {
            self.tally.count("worker answers twice");
            tokio::time::sleep(self.chance.about(Duration::from_secs(30))).await;
            let _ = self.insist(&order).await;
        }
    }

    /// Works for a while with heartbeats. Returns whether it may go on.
    async fn keep(&self, handoff: &Handoff, time: Duration) -> bool {
        let mut rest = time;
        while !rest.is_zero() {
            let nap = rest.min(Duration::from_secs(20));
            tokio::time::sleep(nap).await;
            rest -= nap;
            let beat = Command::Heartbeat(Heartbeat::new(handoff.fence));
            let beaten = self.store.apply(Order::new(handoff.id.clone(), beat), self.clock.now()).await;
            if matches!(beaten, Err(StoreError::Refused(_))) {
                return false;
            }
        }
        true
    }

    fn result(&self, job: &Job) -> Option<Command> {
        let fence = job.fence;
        let saying = self.mood.saying();
        if saying == Saying::Garbage {
            let failure = Failure::new(Code::processing_error(), "the clerk was ill");
            return Some(Command::Fail(Fail::new(fence, failure, 0.5)));
        }
        let document = WrittenDocument::new(Dialect::Native, saying::write(Dialect::Native, job, &saying));
        let told = LastReport::read(&document, Successors::Agents(&[]))?;
        Some(match answer::of_report(&told.report)? {
            Answer::Ended(ending) => Command::Report(HandIn::new(fence, ending, document)),
            Answer::Failed(failure) => {
                Command::Fail(Fail { document: Some(document), ..Fail::new(fence, failure, 0.5) })
            }
        })
    }

    /// Decides at another door, for ever: sometimes twice, sometimes about what is long gone.
    pub async fn decide(&self) {
        loop {
            tokio::time::sleep(self.chance.about(Duration::from_secs(if self.is_clear() { 60 } else { 900 }))).await;
            let filter = Filter { agent: None, states: vec![StateName::AwaitingPerson], after: None, limit: 20 };
            let Ok(waiting) = self.store.list(&filter).await else { continue };
            if waiting.is_empty() {
                continue;
            }
            let handoff = self.chance.pick(&waiting);
            let Ok(run) = driver::load(self.store.as_ref(), &handoff.run).await else { continue };
            let Some(question) = run.find(&handoff.id).and_then(|tracked| flow::question(&run, tracked)) else {
                continue;
            };
            if !self.is_clear() && self.chance.happens(0.3) {
                self.tally.count("person decides about what may have changed");
                tokio::time::sleep(self.chance.about(Duration::from_secs(600))).await;
            }
            let by = Decider::account(self.name.clone(), None);
            let said = |decision| Response { decision, note: None, by: by.clone(), door: Door::CommandLine };
            let decide = question.decided(said(self.mood.decision(&question)));
            let first = self.insist(&Order::new(handoff.id.clone(), Command::Decide(decide))).await;
            if !self.is_clear() && self.chance.happens(0.4) {
                let again = question.decided(said(self.mood.decision(&question)));
                let second = self.insist(&Order::new(handoff.id.clone(), Command::Decide(again))).await;
                if first.is_ok() && second.is_err() {
                    self.tally.count("person decides twice");
                }
            }
        }
    }

    /// Sends handoffs that belong to no run, and does everything to them that one can do, until the weather is clear.
    pub async fn meddle(&self, runs: &Mutex<Vec<RunId>>) {
        let mut sent: Vec<HandoffId> = Vec::new();
        let mut number = 0;
        while !self.is_clear() {
            tokio::time::sleep(self.chance.about(Duration::from_secs(32))).await;
            if sent.len() < 4 || self.chance.happens(0.05) {
                number += 1;
                let id = HandoffId::parse(format!("{}-{number}", self.name)).expect("a safe id");
                let accept = self.lone(&id);
                if self.store.accept(vec![accept], self.clock.now()).await.is_ok() {
                    sent.push(id);
                }
                continue;
            }
            let run = runs.lock().unwrap_or_else(PoisonError::into_inner).last().cloned();
            let Some(run) = run else { continue };
            match self.chance.below(12) {
                0 if self.chance.happens(0.1) => self.cancel_run(&run).await,
                0..=2 => self.report_late(&run).await,
                _ => {
                    let id = self.chance.pick(&sent).clone();
                    let Ok(Some(handoff)) = self.store.find(&id).await else { continue };
                    let order = Order::new(id, self.any_command(&handoff));
                    let _ = self.store.apply(order, self.clock.now()).await;
                }
            }
        }
    }

    fn lone(&self, id: &HandoffId) -> Accept {
        let mut terms = Terms::between("ana", "stranger");
        terms.verify = self.chance.happens(0.5);
        terms.retry = retry::Policy { max_retries: 100, delay_ms: 0, ..retry::Policy::default() };
        let request = WrittenDocument::new(Dialect::Native, r#"{"baton": 1, "document": "request"}"#);
        Accept { id: id.clone(), run: RunId::alone(id), terms, request, notes: Vec::new() }
    }

    /// Calls a run off, as `baton cancel` does.
    async fn cancel_run(&self, id: &RunId) {
        let Ok(run) = driver::load(self.store.as_ref(), id).await else { return };
        let root = run.root().handoff.id.clone();
        let mut draft = Draft::new(&run, self.clock.now());
        let cancel = Command::Cancel(Cancel { by: self.name.clone(), reason: None });
        if draft.apply(&root, cancel).is_err() {
            return;
        }
        flow::call_off(&mut draft);
        if self.store.carry_out(draft.steps, draft.at).await.is_ok() {
            self.tally.count("run called off");
        }
    }

    /// Hands something in for a handoff of a run, with a token that counts no more.
    async fn report_late(&self, id: &RunId) {
        let Ok(handoffs) = self.store.handoffs_of(id).await else { return };
        let old: Vec<&Handoff> =
            handoffs.iter().map(|(handoff, _)| handoff).filter(|one| one.fence > Fence(1)).collect();
        if old.is_empty() {
            return;
        }
        let handoff = self.chance.pick(&old);
        let fence = Fence(1 + self.chance.below(handoff.fence.0 - 1));
        let document =
            WrittenDocument::new(Dialect::Native, r#"{"baton": 1, "document": "report", "outcome": "complete"}"#);
        let report = HandIn::new(fence, Ending::Complete, document);
        let order = Order::new(handoff.id.clone(), Command::Report(report));
        if matches!(self.store.apply(order, self.clock.now()).await, Err(StoreError::Refused(_))) {
            self.tally.count("report with an old token");
        }
    }

    /// Any command for a handoff that belongs to no run.
    fn any_command(&self, handoff: &Handoff) -> Command {
        let (fence, dice) = (handoff.fence, 0.5);
        let document = || WrittenDocument::new(Dialect::Native, format!("said {}", self.chance.number()));
        let report = |fence, ending| Command::Report(HandIn::new(fence, ending, document()));
        let failing = |code| {
            let failure = Failure::new(code, "no");
            Command::Fail(Fail::new(fence, failure, dice))
        };
        let verify = |verdict| {
            Command::Verify(Verify {
                fence,
                verdict,
                examined: Vec::new(),
                evidence: None,
                kept: Vec::new(),
                review: false,
                repair: false,
                dice,
            })
        };
        let decide = |decision| {
            let shown = handoff.shown().unwrap_or(Digest::of(b""));
            let (by, door) = (self.name.clone(), Door::CommandLine);
            let (known, label) = (HowKnown::Account, None);
            Command::Decide(Decide { by, known, label, door, shown, decision, note: None, asked: None })
        };
        match self.chance.below(30) {
            0..=4 => Command::Claim(Claim::by(self.name.clone(), 60_000)),
            5 => Command::Acknowledge(Acknowledge { fence, understood: true, document: document(), author: None }),
            6 => Command::Acknowledge(Acknowledge { fence, understood: false, document: document(), author: None }),
            7 => Command::Heartbeat(Heartbeat::new(fence)),
            8 => report(fence, Ending::Complete),
            9 => report(fence, Ending::Blocked { reason: "lost".to_owned() }),
            10 => report(fence, Ending::NeedsReview),
            11 => report(fence, Ending::NeedsClarification),
            12 | 13 => report(Fence(fence.0.saturating_sub(1)), Ending::Complete),
            14 => failing(Code::processing_error()),
            15 => failing(Code::schema_validation_failed()),
            16 => verify(Verdict::Verified),
            17 => verify(Verdict::Refuted { reasons: "not there".to_owned(), for_good: false }),
            18 => Command::Expire(Expire { dice, for_good: false, fence: None }),
            19 => Command::Resume(Resume { by: self.name.clone(), resolution: "solved".to_owned(), question: None }),
            20 => decide(Decision::Approve),
            21 => decide(Decision::Reject { feedback: "again".to_owned() }),
            22 => decide(Decision::Answer { answers: "yes".to_owned() }),
            23 => decide(Decision::Ask { question: "why?".to_owned() }),
            24 => Command::Cancel(Cancel { by: self.name.clone(), reason: None }),
            25..=27 => Command::Requeue(Requeue { by: self.name.clone(), ..Requeue::default() }),
            28 => Command::Release(Release { fence, why: "stopped".to_owned() }),
            _ => Command::Route(Route {
                to: "nowhere".to_owned(),
                why: "it ended".to_owned(),
                instead_of: None,
                skipped: Vec::new(),
            }),
        }
    }
}

//! Leads one run: one transaction after another, with agents, commands and people in between.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;
use std::time::Duration;

use baton_protocol::workflow;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch as channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Interval, MissedTickBehavior};

use super::absence::Lying;
use super::attempt::{self, Failed, Finished, Newcomers, Progress, Trial};
use super::brief::{self, Brief};
use super::record::record;
use super::watch::{Asked, Said};
use super::{Driver, End, LEASE, News, Reached};
use crate::draft::Draft;
use crate::failure::{Chance, Code, Failure};
use crate::flow;
use crate::handoff::State;
use crate::handover;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Claim, Command, Fail, Heartbeat, Release};
use crate::overlap::overlap;
use crate::run::{Run, Tracked};
use crate::step::Role;
use crate::store::{Error, Step};

/// How many events are read at a time.
const EVENTS: u32 = 1_000;

/// How long nothing is asked of the store if nothing is known to happen.
pub(super) const IDLE: Duration = Duration::from_secs(15);

/// So often a transaction may find that somebody else was faster, without anything happening in between.
const RACES_MAX: u32 = 100;

/// What a task of the driver came to.
pub(super) enum Outcome {
    /// An agent, a command or an examination has ended.
    Work(u64, Finished),
    /// A person was asked, or checks instead of one.
    Asked(Said),
}

/// Leads one run.
pub(super) struct Lead<'d> {
    pub(super) driver: &'d Driver,
    pub(super) run: Run,
    /// The token of the claim of the run itself.
    fence: u64,
    pub(super) tasks: JoinSet<(HandoffId, Outcome)>,
    pub(super) running: HashMap<HandoffId, (u64, AbortHandle)>,
    /// What each attempt that goes on must know about those that began later.
    pub(super) newcomers: HashMap<HandoffId, Newcomers>,
    /// What was claimed and can begin, with the prompt of its agent.
    prompts: HashMap<HandoffId, (u64, String)>,
    pub(super) results: Vec<(HandoffId, u64, Finished)>,
    /// What attempts tell while they go on.
    tell: mpsc::UnboundedSender<Progress>,
    pub(super) progress: mpsc::UnboundedReceiver<Progress>,
    /// What was put down for agents that come for it, and what was said to have nobody.
    pub(super) lying: HashMap<HandoffId, Lying>,
    pub(super) missed: HashSet<HandoffId>,
    pub(super) asked: HashMap<HandoffId, Asked>,
    pub(super) stop: channel::Receiver<bool>,
    pub(super) beat: Interval,
    races: u32,
}

impl<'d> Lead<'d> {
    /// Takes a run and leads it to its end, or as far as it goes.
    pub(super) async fn take(driver: &'d Driver, id: &RunId, stop: channel::Receiver<bool>) -> Result<End, Error> {
        let (run, fence) = match driver.take_over(id).await? {
            Ok(taken) => taken,
            Err(end) => return Ok(end),
        };
        let mut beat = tokio::time::interval(LEASE / 3);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beat.reset();
        let (tell, progress) = mpsc::unbounded_channel();
        let mut lead = Lead {
            driver,
            run,
            fence,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            newcomers: HashMap::new(),
            prompts: HashMap::new(),
            results: Vec::new(),
            tell,
            progress,
            lying: HashMap::new(),
            missed: HashSet::new(),
            asked: HashMap::new(),
            stop,
            beat,
            races: 0,
        };
        lead.go().await
    }

    async fn go(&mut self) -> Result<End, Error> {
        loop {
            let changes = self.driver.store.changes();
            // What has come out is written first: if somebody else has written meanwhile, the store says so.
            if self.results.is_empty() || self.races > 0 {
                self.read().await?;
            }
            if let Some(end) = self.ended().await? {
                return Ok(end);
            }
            // What has come out already is written down first.
            if *self.stop.borrow() && (self.results.is_empty() || !self.advance().await?) {
                return self.let_go("the driver was told to stop").await.map(|()| End::Stopped);
            }
            if self.advance().await? {
                continue;
            }
            self.begin_work();
            self.ask();
            self.tell_absences();
            if let Some(end) = self.only_people().await? {
                return Ok(end);
            }
            self.wait(changes).await?;
        }
    }

    /// Reads what has happened since.
    async fn read(&mut self) -> Result<(), Error> {
        let now = self.driver.clock.now();
        if self.run.open().any(|tracked| tracked.handoff.wakes_at().is_some_and(|at| at <= now)) {
            self.driver.store.rescue(100, self.driver.dice.number(), now).await?;
        }
        loop {
            let events = self.driver.store.history(&self.run.id, self.run.seq, EVENTS).await?;
            for event in &events {
                self.run.absorb(event).map_err(Error::Damaged)?;
                self.driver.audience.hear(&self.run, &News::Event(event));
            }
            if events.len() < EVENTS as usize {
                return Ok(());
            }
        }
    }

    /// Says how the run ended, if it did, or whether somebody else drives it.
    async fn ended(&mut self) -> Result<Option<End>, Error> {
        let root = &self.run.root().handoff;
        match &root.state {
            State::Completed { .. } => Ok(Some(End::Completed)),
            State::Failed { .. } => {
                let why = root.last_failure.as_ref().map(|failure| failure.message.clone());
                Ok(Some(End::Failed(why.unwrap_or_default())))
            }
            State::Cancelled { .. } => {
                self.tasks.shutdown().await;
                let mut draft = Draft::new(&self.run, self.driver.clock.now());
                flow::call_off(&mut draft);
                if !draft.is_empty() {
                    self.driver.store.carry_out(draft.steps, draft.at).await?;
                }
                Ok(Some(End::Cancelled))
            }
            State::Claimed { lease } if root.fence != self.fence => Ok(Some(End::Lost(lease.claimant.clone()))),
            State::Pending { .. } => {
                // Nobody heard of us for too long, but nobody has taken over.
                let claim = Command::Claim(claim(&self.driver.claimant, None));
                let id = root.id.clone();
                let claimed =
                    self.driver.store.carry_out(vec![Step::Apply(id, claim)], self.driver.clock.now()).await?;
                self.fence = claimed.last().map_or(self.fence, |handoff| handoff.fence);
                self.read().await?;
                Ok(None)
            }
            State::Claimed { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => Ok(None),
        }
    }

    /// Writes down what came out, decides what follows, and claims what can begin. Says whether anything was written.
    async fn advance(&mut self) -> Result<bool, Error> {
        let now = self.driver.clock.now();
        if self.has_nothing_to_write(now) {
            return Ok(false);
        }
        let mut draft = Draft::new(&self.run, now);
        let results = std::mem::take(&mut self.results);
        for (id, fence, finished) in &results {
            // What is refused came too late: somebody else has it, or it was called off.
            let _ = record(&mut draft, id, *fence, finished, self.driver.dice.number());
        }
        self.decide_gates(&mut draft);
        if let Err(why) = flow::settle(&mut draft) {
            flow::fail(&mut draft, &why);
        }
        let prompts = self.claim_ready(&mut draft);
        if draft.is_empty() {
            return Ok(false);
        }
        match self.driver.store.carry_out(draft.steps, draft.at).await {
            Ok(_) => {
                self.prompts.extend(prompts);
                self.races = 0;
                Ok(true)
            }
            // Something has changed since we looked: look again.
            Err(Error::Refused(_) | Error::Taken { .. } | Error::NotFound(_)) if self.races < RACES_MAX => {
                self.results = results;
                self.races += 1;
                Ok(true)
            }
            Err(Error::Unreachable(why)) => {
                self.results = results;
                self.driver.audience.hear(&self.run, &News::Note(&format!("the store cannot be reached: {why}")));
                tokio::time::sleep(Duration::from_millis(500)).await;
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Says whether nothing has come out, nothing follows, and nothing can begin.
    fn has_nothing_to_write(&self, now: Timestamp) -> bool {
        let answered = self.asked.values().any(|asked| matches!(asked, Asked::Answered { .. }));
        let ready = |tracked: &Tracked| matches!(tracked.handoff.state, State::Pending { ready_at } if ready_at <= now);
        let lapsed = |tracked: &Tracked| self.lapses_at(tracked).is_some_and(|at| at <= now);
        self.results.is_empty()
            && !answered
            && flow::is_settled(&self.run)
            && !flow::work(&self.run).any(ready)
            && !self.run.waiting().any(lapsed)
            && flow::waits_until(&self.run).is_none_or(|end| end > now)
    }

    /// Claims what can begin now. Returns the prompts of the agents.
    fn claim_ready(&mut self, draft: &mut Draft) -> Vec<(HandoffId, (u64, String))> {
        let is_ready = |tracked: &Tracked, at: Timestamp| matches!(tracked.handoff.state, State::Pending { ready_at } if ready_at <= at);
        let at = draft.at;
        let ready = flow::work(&draft.run).filter(|tracked| is_ready(tracked, at));
        let ready: Vec<HandoffId> = ready.map(|tracked| tracked.handoff.id.clone()).collect();
        let mut prompts = Vec::new();
        for id in ready {
            let Some(tracked) = draft.run.find(&id) else { continue };
            if draft.run.is_finished() || flow::is_held(&draft.run) || collides(&draft.run, tracked) {
                continue;
            }
            let prepared = self.prepare(&draft.run, tracked);
            let (tokens, moved) = match &prepared {
                Prepared::Prompt(prompt) => (Some(prompt.tokens as u64), prompt.shortened.clone()),
                Prepared::Elsewhere => continue,
                Prepared::Nothing | Prepared::Impossible(_) => (None, Vec::new()),
            };
            let claim = Claim { moved, ..claim(&self.driver.claimant, tokens) };
            if draft.apply(&id, Command::Claim(claim)).is_err() {
                continue;
            }
            let fence = draft.run.find(&id).map_or(0, |tracked| tracked.handoff.fence);
            match prepared {
                Prepared::Prompt(prompt) => prompts.push((id, (fence, prompt.text))),
                Prepared::Impossible(why) => {
                    let failure =
                        Failure { chance: Chance::Permanent, ..Failure::new(Code::dependency_missing(), why) };
                    let _ = draft.apply(
                        &id,
                        Command::Fail(Fail { fence, failure, document: None, dice: 0.0, changed: Vec::new() }),
                    );
                }
                Prepared::Nothing | Prepared::Elsewhere => {}
            }
        }
        prompts
    }

    fn prepare(&self, run: &Run, tracked: &Tracked) -> Prepared {
        if tracked.step.role == Role::Check {
            return Prepared::Nothing;
        }
        let Some(brief) = Brief::of(run, tracked) else {
            return Prepared::Impossible("its phase is not in the workflow".to_owned());
        };
        match self.driver.team.reach(brief.located.definition, &tracked.handoff.terms.to) {
            Reached::Elsewhere => Prepared::Elsewhere,
            Reached::Not(why) => Prepared::Impossible(why),
            Reached::Here(_) => match brief.prompt(&self.driver.dice.word()) {
                Ok(prompt) => Prepared::Prompt(prompt),
                Err(why) => Prepared::Impossible(format!("its prompt cannot be made: {why}")),
            },
        }
    }

    /// Starts what was claimed, and examines what was reported.
    fn begin_work(&mut self) {
        let over = |id: &HandoffId, fence: u64| {
            let handoff = self.run.find(id).map(|tracked| &tracked.handoff);
            // What has expired, was released or waits for a person is not worked on any more.
            !handoff.is_some_and(|handoff| {
                handoff.fence == fence && matches!(handoff.state, State::Claimed { .. } | State::Verifying)
            })
        };
        self.running.retain(|id, (fence, task)| {
            let keep = !over(id, *fence);
            if !keep {
                task.abort();
            }
            keep
        });
        let mine = |tracked: &&Tracked| match &tracked.handoff.state {
            State::Claimed { lease } => lease.claimant == self.driver.claimant,
            State::Verifying => true,
            _ => false,
        };
        let begin: Vec<HandoffId> = flow::work(&self.run)
            .filter(mine)
            .map(|tracked| tracked.handoff.id.clone())
            .filter(|id| !self.running.contains_key(id))
            .collect();
        for id in begin {
            self.begin_one(&id);
        }
    }

    fn begin_one(&mut self, id: &HandoffId) {
        let Some(tracked) = self.run.find(id) else { return };
        let Some(brief) = Brief::of(&self.run, tracked) else { return };
        let fence = tracked.handoff.fence;
        let folder = match self.driver.team.folder(&self.run.definition.workspace, &self.run.id, id, fence) {
            Ok(folder) => folder,
            Err(why) => return self.results.push((id.clone(), fence, failed(why))),
        };
        let may_write = brief.may_write();
        let scene = brief.scene(folder.clone(), self.driver.earlier_folders(&self.run, tracked));
        let evidence = self.driver.evidence.clone();
        let (verifying, report) = (matches!(tracked.handoff.state, State::Verifying), tracked.report().cloned());
        let news = if verifying { News::Examines(id) } else { News::Begins(id) };
        self.driver.audience.hear(&self.run, &news);
        let handle = if let (true, Some(report)) = (verifying, report) {
            let (id, examine) = (id.clone(), attempt::examine(evidence, scene, report, self.driver.judging(&brief)));
            self.tasks.spawn(async move { (id, Outcome::Work(fence, examine.await)) })
        } else if tracked.step.role == Role::Check {
            let (id, check) = (id.clone(), attempt::check(evidence, scene, brief::command(brief.located.phase())));
            self.tasks.spawn(async move { (id, Outcome::Work(fence, check.await)) })
        } else {
            let prompt = self.prompts.remove(id).filter(|(claimed, _)| *claimed == fence).map(|(_, prompt)| prompt);
            let reached = self.driver.team.reach(brief.located.definition, &tracked.handoff.terms.to);
            let (Some(prompt), Reached::Here(agent)) = (prompt, reached) else {
                return self.results.push((id.clone(), fence, failed("it cannot be begun".to_owned())));
            };
            let kept = self.driver.team.keep(&self.run.definition.workspace, &handover::copies(&self.run, tracked));
            let job = match kept.and_then(|()| brief.job(prompt, folder)) {
                Ok(job) => job,
                Err(why) => return self.results.push((id.clone(), fence, failed(why))),
            };
            let trial = Trial {
                agent,
                evidence,
                job,
                following: brief.following(),
                scene,
                newcomers: self.newcomers.entry(id.clone()).or_default().clone(),
                dialect: brief.dialect(),
                phase: brief.phase().map(|_| tracked.step.phase.clone()),
                acknowledge: brief.agent.is_some_and(workflow::Agent::must_acknowledge),
                settings: self.driver.judging(&brief),
                progress: self.tell.clone(),
            };
            let id = id.clone();
            self.tasks.spawn(async move { (id, Outcome::Work(fence, trial.run().await)) })
        };
        if !verifying {
            for (_, others) in self.newcomers.iter().filter(|(other, _)| *other != id) {
                others.lock().unwrap_or_else(PoisonError::into_inner).extend(may_write.iter().cloned());
            }
        }
        self.running.insert(id.clone(), (fence, handle));
    }

    /// Keeps what is held.
    pub(super) async fn heartbeat(&mut self) -> Result<(), Error> {
        let held =
            |tracked: &&Tracked| tracked.handoff.lease().is_some_and(|lease| lease.claimant == self.driver.claimant);
        let held = self.run.open().filter(held);
        let beat = |tracked: &Tracked| {
            let heartbeat = Command::Heartbeat(Heartbeat { fence: tracked.handoff.fence, lease_ms: None });
            Step::Apply(tracked.handoff.id.clone(), heartbeat)
        };
        let steps: Vec<Step> = held.map(beat).collect();
        match self.driver.store.carry_out(steps, self.driver.clock.now()).await {
            // Whatever was lost is seen when the journal is read.
            Ok(_) | Err(Error::Refused(_) | Error::Unreachable(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends when only people can let the run go on and nobody can be asked here.
    async fn only_people(&mut self) -> Result<Option<End>, Error> {
        let unanswerable = |tracked: &Tracked| {
            matches!(tracked.handoff.state, State::AwaitingPerson { .. })
                && matches!(self.asked.get(&tracked.handoff.id), Some(Asked::Nobody { .. }))
                && self.lapses_at(tracked).is_none()
        };
        let busy = !self.running.is_empty() || !self.results.is_empty();
        // While a person is asked whether to go on waiting, nobody waits for what has not begun.
        let held = flow::is_held(&self.run);
        let is_pending = |tracked: &Tracked| matches!(tracked.handoff.state, State::Pending { .. });
        let quiet = |tracked: &Tracked| {
            unanswerable(tracked)
                || matches!(tracked.step.role, Role::Run | Role::Group)
                || matches!(tracked.handoff.state, State::Blocked { .. })
                || held && (tracked.handoff.state.name().is_finished() || is_pending(tracked))
        };
        if busy || self.run.waiting().next().is_none() || !self.run.open().all(quiet) {
            return Ok(None);
        }
        let questions = self.run.waiting().filter_map(|tracked| flow::question(&self.run, tracked)).collect();
        self.let_go("it waits for a person").await?;
        Ok(Some(End::Waiting(questions)))
    }

    /// Lets go of the run and of what was begun, so that another driver can go on at once.
    async fn let_go(&mut self, why: &str) -> Result<(), Error> {
        self.tasks.shutdown().await;
        self.read().await?;
        let mut draft = Draft::new(&self.run, self.driver.clock.now());
        let held =
            |tracked: &&Tracked| tracked.handoff.lease().is_some_and(|lease| lease.claimant == self.driver.claimant);
        let held: Vec<(HandoffId, u64)> =
            self.run.open().filter(held).map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence)).collect();
        for (id, fence) in held {
            let _ = draft.apply(&id, Command::Release(Release { fence, why: why.to_owned() }));
        }
        self.driver.store.carry_out(draft.steps, draft.at).await?;
        self.read().await
    }
}

enum Prepared {
    Prompt(crate::prompt::Prompt),
    Nothing,
    Elsewhere,
    Impossible(String),
}

pub(super) fn claim(claimant: &str, prompt_tokens: Option<u64>) -> Claim {
    let lease_ms = u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX);
    Claim { claimant: claimant.to_owned(), lease_ms, prompt_tokens, driver: true, moved: Vec::new() }
}

fn failed(why: String) -> Finished {
    Failed::with(Failure::new(Code::processing_error(), why))
}

/// Says whether somebody works now who may change the same files.
fn collides(run: &Run, tracked: &Tracked) -> bool {
    let writes = Brief::of(run, tracked).map(|brief| brief.writes()).unwrap_or_default();
    if writes.is_empty() {
        return false;
    }
    let working = flow::work(run)
        .filter(|other| other.handoff.lease().is_some() || matches!(other.handoff.state, State::Verifying));
    let briefs =
        working.filter(|other| other.handoff.id != tracked.handoff.id).filter_map(|other| Brief::of(run, other));
    let mut theirs = briefs.flat_map(|brief| brief.writes());
    theirs.any(|their| writes.iter().any(|mine| overlap(mine, &their)))
}

//! A world: runs, drivers on several machines, workers, people and strangers, in weather of chance that clears up at last.
//!
//! Everything in it comes from one seed. When faults have stopped, every run must end or say whom it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::definition::Definition;
use baton_engine::draft::Draft;
use baton_engine::driver::End;
use baton_engine::flow;
use baton_engine::journal::Event;
use baton_engine::lifecycle::{Cancel, Command};
use baton_engine::store::Error;
use baton_engine::{Clock as _, HandoffId, RunId, Store};
use tokio::task::JoinSet;

use crate::cells::Met;
use crate::chance::Chance;
use crate::fault::Weather;
use crate::faulty::{Faulty, WITHOUT_END};
use crate::mind::Mind;
use crate::moods::Mood;
use crate::outsiders::Outsider;
use crate::promises;
use crate::puppet::Strings;
use crate::random;
use crate::stage::{Life, Living, Machine, Stage};
use crate::witness::{Stamp, Violation};

/// How a world ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Where it came from.
    pub seed: u64,
    /// How long it lasted.
    pub lasted: Duration,
    /// What happened, and how often.
    pub tally: BTreeMap<&'static str, u64>,
    /// Which commands were tried in which states.
    pub met: Met,
    /// What must never happen and did; empty if all is well.
    pub wrong: Vec<Violation>,
    /// The violations, each with the end of its journal.
    pub told: String,
    /// Every event of every journal, a line each.
    pub journals: Vec<String>,
}

/// How long a run may go on after faults have stopped.
const PATIENCE: Duration = Duration::from_secs(8 * 3600);

/// How long a run may take while faults go on, before somebody calls it off.
const RUN_MAX: Duration = Duration::from_secs(4 * 3600);

/// A driver endures a store that is away for less than this.
const AWAY: Duration = Duration::from_secs(9 * 60);

/// Lets something happen in one thread, under simulated time.
///
/// # Panics
/// If there is no runtime for it.
pub fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

/// Lets the world of a seed live and end.
pub fn live(seed: u64) -> Ended {
    paused(async { World::new(seed).live().await })
}

struct World {
    seed: u64,
    stage: Stage,
    chance: Chance,
    clear: Arc<AtomicBool>,
    /// Whether nobody answers questions when faults have stopped.
    silent: bool,
    /// How probable it is that something goes wrong with a call of the store.
    rate: f64,
    machines: Vec<Machine>,
    mind: Arc<Mood>,
    living: Arc<Mutex<BTreeMap<u64, Living>>>,
}

impl World {
    fn new(seed: u64) -> World {
        let (stage, chance) = (Stage::new(), Chance::new(seed));
        let clear = Arc::new(AtomicBool::new(false));
        let silent = chance.happens(0.2);
        let ahead = || chance.between(Duration::ZERO, Duration::from_secs(20));
        let machines = ["a", "b", "c"].map(|name| stage.machine(name, ahead())).to_vec();
        stage.tally.count("clocks apart");
        let usual = *chance.pick(&[Duration::from_secs(3), Duration::from_secs(20), Duration::from_secs(90)]);
        let mind = Mood { chance: chance.fork(), tally: stage.tally.clone(), clear: clear.clone(), silent, usual };
        let rate = *chance.pick(&[0.0, 0.005, 0.02, 0.06]);
        let (mind, living) = (Arc::new(mind), Arc::default());
        World { seed, stage, chance, clear, silent, rate, machines, mind, living }
    }

    async fn live(self) -> Ended {
        let (mut slots, mut others) = (JoinSet::new(), JoinSet::new());
        let runs: Arc<Mutex<Vec<RunId>>> = Arc::default();
        for slot in 0..1 + self.chance.below(2) {
            let slot = self.slot(slot, runs.clone());
            slots.spawn(slot.fill());
        }
        self.invite(&mut others, &runs);
        let weather = self.chance.between(Duration::from_secs(1_200), Duration::from_secs(34 * 3600));
        let _ = tokio::time::timeout(weather, self.storm()).await;
        self.clear_up();
        let patience = async { while slots.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(PATIENCE, patience).await;
        let lasted = self.stage.started.elapsed();
        slots.shutdown().await;
        others.shutdown().await;
        let runs = runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.end(&runs, lasted)
    }

    fn slot(&self, number: u64, runs: Arc<Mutex<Vec<RunId>>>) -> Slot {
        Slot {
            number,
            runs,
            stage: self.stage.clone(),
            machines: self.machines.clone(),
            mind: self.mind.clone(),
            chance: self.chance.fork(),
            clear: self.clear.clone(),
            silent: self.silent,
            rate: self.rate,
            living: self.living.clone(),
        }
    }

    /// Lets in those who come without a driver.
    fn invite(&self, others: &mut JoinSet<()>, runs: &Arc<Mutex<Vec<RunId>>>) {
        let workers = if self.chance.happens(0.1) { 0 } else { 1 + self.chance.below(2) };
        for number in 0..workers {
            let worker = self.outsider(format!("worker-{number}"));
            others.spawn(async move { worker.work().await });
        }
        if !self.silent {
            for name in ["ben", "eva"] {
                let person = self.outsider(name.to_owned());
                others.spawn(async move { person.decide().await });
            }
        }
        let (stranger, runs) = (self.outsider("stranger".to_owned()), runs.clone());
        others.spawn(async move { stranger.meddle(&runs).await });
    }

    fn outsider(&self, name: String) -> Outsider {
        let plan = Weather::new(self.chance.fork(), self.rate, false, self.clear.clone());
        let memory: Arc<dyn Store> = Arc::new(self.stage.memory.used_by(&name));
        let store = Faulty::new(memory, Arc::new(plan), Arc::new(Strings::default()), self.stage.tally.clone());
        Outsider {
            store: Arc::new(store),
            clock: self.chance.pick(&self.machines).clock.clone(),
            mood: self.mind.clone(),
            chance: self.chance.fork(),
            tally: self.stage.tally.clone(),
            witness: self.stage.witness.clone(),
            clear: self.clear.clone(),
            name,
        }
    }

    /// Kills, pauses, cuts off and stops drivers, and lets clocks jump.
    async fn storm(&self) {
        let chance = self.chance.fork();
        let seconds = *chance.pick(&[10, 30, 180, 900]);
        loop {
            tokio::time::sleep(chance.about(Duration::from_secs(seconds))).await;
            if !self.stage.witness.violations().is_empty() {
                return;
            }
            if chance.happens(0.02) {
                self.stage.tally.count("clock jumps");
                let by = chance.between(Duration::from_secs(1), Duration::from_secs(120));
                chance.pick(&self.machines).clock.jump(by);
            }
            let living: Vec<Living> = self.all().into_values().collect();
            if living.is_empty() {
                continue;
            }
            let driver = chance.pick(&living);
            let tally = &self.stage.tally;
            match chance.below(20) {
                0..=12 => driver.strings.kill(),
                13..=15 => {
                    tally.count("driver paused");
                    driver.strings.pause(chance.between(Duration::from_secs(1), Duration::from_secs(200)));
                }
                16..=18 => {
                    tally.count("driver cut off");
                    driver.store.cut(chance.about(Duration::from_secs(80)));
                }
                _ => {
                    tally.count("driver told to stop");
                    // Whoever has ended does not listen.
                    let _ = driver.stop.send(true);
                }
            }
        }
    }

    fn all(&self) -> BTreeMap<u64, Living> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn clear_up(&self) {
        self.clear.store(true, Ordering::Relaxed);
        for living in self.all().into_values() {
            living.store.mend();
            living.strings.wake();
        }
    }

    /// Looks back.
    fn end(&self, ids: &[RunId], lasted: Duration) -> Ended {
        let stage = &self.stage;
        for id in ids {
            self.look_at(id);
        }
        let mut wrong = stage.witness.violations();
        wrong.extend(stage.memory.look(|model| promises::examine(model, &stage.witness)));
        let told = stage.tell(&wrong);
        let met = stage.memory.look(|model| model.met().clone());
        let journals = self.journals();
        Ended { seed: self.seed, lasted, tally: stage.tally.all(), met, wrong, told, journals }
    }

    /// Returns every event of every journal, in the order in which they were written.
    fn journals(&self) -> Vec<String> {
        let runs = self.stage.memory.look(|model| model.runs(None, u32::MAX));
        let mut events: Vec<(Stamp, Event)> = Vec::new();
        for run in &runs {
            let journal = self.stage.memory.look(|model| model.history(run, 0, u32::MAX));
            events.extend(self.stage.witness.stamps(run).into_iter().zip(journal));
        }
        events.sort_by_key(|(stamp, event)| (stamp.transaction, event.seq));
        let line = |(stamp, event): (Stamp, Event)| {
            let Event { run, seq, handoff, at, kind, detail, hash, .. } = event;
            format!("{run} {seq} {handoff} {at} {kind} by {} {detail} {hash:?}", stamp.writer)
        };
        events.into_iter().map(line).collect()
    }

    /// A run has ended, or says whom it waits for.
    fn look_at(&self, id: &RunId) {
        let accuse = |seq, promise, what| {
            self.stage.witness.accuse(Violation { run: id.clone(), seq, promise, what });
        };
        let Some(run) = self.stage.read(id) else {
            return accuse(0, "what was accepted is never lost", "the run is gone".to_owned());
        };
        let name = if run.is_finished() { "run ended" } else { "run waits for somebody" };
        self.stage.tally.count(name);
        if !run.is_finished() && promises::waits_for(&run).is_empty() {
            accuse(run.seq, "every run ends or says whom it waits for", "nobody goes on".to_owned());
        }
        if !run.is_finished() && !self.silent && run.waiting().next().is_some() {
            accuse(run.seq, "every run ends or says whom it waits for", "it was answered and does not end".to_owned());
        }
    }
}

/// Begins one run after the other.
#[derive(Clone)]
struct Slot {
    number: u64,
    runs: Arc<Mutex<Vec<RunId>>>,
    stage: Stage,
    machines: Vec<Machine>,
    mind: Arc<Mood>,
    chance: Chance,
    clear: Arc<AtomicBool>,
    silent: bool,
    rate: f64,
    living: Arc<Mutex<BTreeMap<u64, Living>>>,
}

impl Slot {
    async fn fill(self) {
        let mut number = 0;
        while !self.clear.load(Ordering::Relaxed) {
            number += 1;
            let run = RunId::parse(format!("run-{}-{number}", self.number)).expect("a safe id");
            self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(run.clone());
            let definition = Arc::new(random::workflow(&self.chance));
            let first = self.chance.below(3) as usize;
            let mut keepers = JoinSet::new();
            for other in 0..if self.chance.happens(0.7) { 2 } else { 1 } {
                let machine = self.machines[(first + other) % 3].clone();
                let (begins, slot) = (other == 0, Slot { chance: self.chance.fork(), ..self.clone() });
                let keeper = Keeper { slot, machine, run: run.clone(), begins, definition: definition.clone() };
                keepers.spawn(keeper.keep());
            }
            let ended = async { while keepers.join_next().await.is_some() {} };
            if tokio::time::timeout(RUN_MAX, ended).await.is_err() && !self.clear.load(Ordering::Relaxed) {
                self.call_off(&run).await;
            }
            while keepers.join_next().await.is_some() {}
            tokio::time::sleep(self.chance.about(Duration::from_secs(9_000))).await;
        }
    }

    /// Whoever has begun a run loses patience, and calls it off as `baton cancel` does.
    async fn call_off(&self, run: &RunId) {
        let (store, clock) = (self.stage.memory.used_by("ana"), &self.machines[0].clock);
        while let Some(run) = self.stage.read(run).filter(|run| !run.is_finished()) {
            let mut draft = Draft::new(&run, clock.now());
            let cancel = Command::Cancel(Cancel { by: "ana".to_owned(), reason: None });
            let cancelled = draft.apply(&run.root().handoff.id.clone(), cancel);
            flow::call_off(&mut draft);
            if cancelled.is_err() || store.carry_out(draft.steps, draft.at).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Sees to it that a run is driven: a supervisor on one machine.
struct Keeper {
    slot: Slot,
    machine: Machine,
    run: RunId,
    begins: bool,
    definition: Arc<Definition>,
}

impl Keeper {
    async fn keep(self) {
        let root = HandoffId::parse(self.run.as_str()).expect("a safe id");
        let mut accepted = false;
        loop {
            let known = self.slot.stage.memory.look(|model| model.find(&root).is_some());
            if !known && !self.begins {
                tokio::time::sleep(Duration::from_secs(30)).await;
                continue;
            }
            if accepted && !known {
                let (seq, promise, what) = (0, "what was accepted is never lost", "the run is gone".to_owned());
                self.slot.stage.witness.accuse(Violation { run: self.run.clone(), seq, promise, what });
            }
            accepted |= known;
            let Some(pause) = self.drive(!known).await else { return };
            tokio::time::sleep(pause).await;
        }
    }

    /// Lets one driver live; returns how long nobody drives then, unless there is nothing more to drive.
    async fn drive(&self, begin: bool) -> Option<Duration> {
        let weather = Arc::new(Weather::new(self.slot.chance.fork(), self.slot.rate, true, self.slot.clear.clone()));
        let mind: Arc<dyn Mind> = self.slot.mind.clone();
        let (driver, living, stopped) =
            self.slot.stage.driver(&self.machine, &self.run, &mind, weather, &self.slot.chance);
        let (number, claimant) = (self.slot.chance.number(), driver.claimant.clone());
        self.registry(|all| drop(all.insert(number, living.clone())));
        let life = self.slot.stage.live(driver, &living, stopped, begin.then_some(&*self.definition)).await;
        self.registry(|all| drop(all.remove(&number)));
        let took = matches!(life, Life::Ended(Err(_))) && self.took(&claimant);
        let about = |seconds| Some(self.slot.chance.about(Duration::from_secs(seconds)));
        let clear = self.slot.clear.load(Ordering::Relaxed);
        match life {
            Life::Killed => {
                if self.slot.stage.tally.of(WITHOUT_END) > 0 {
                    self.accuse("nobody asks the store without end", "a driver did".to_owned());
                    return None;
                }
                about(15)
            }
            Life::Ended(Ok(End::Completed | End::Failed(_) | End::Cancelled)) => None,
            Life::Ended(Ok(End::Waiting(questions))) => {
                self.slot.stage.tally.count("driver waits for people");
                if questions.is_empty() {
                    self.accuse("a run that waits says for whom", "it asks nothing".to_owned());
                }
                if clear && self.slot.silent { None } else { about(if clear { 60 } else { 1_800 }) }
            }
            Life::Ended(Ok(End::Lost(_))) => {
                self.slot.stage.tally.count("driver lost its run");
                about(30)
            }
            Life::Ended(Ok(End::Stopped)) => about(10),
            Life::Ended(Err(Error::Unreachable(_))) => {
                self.slot.stage.tally.count("driver gave up on the store");
                let told = *living.stop.borrow();
                if took && !told && living.store.away_for() < AWAY {
                    self.accuse("an outage of minutes ends no driver", format!("{:?}", living.store.away_for()));
                }
                about(10)
            }
            Life::Ended(Err(error)) => {
                self.accuse("a driver ends with an answer", error.to_string());
                about(10)
            }
        }
    }

    /// Says whether a driver has had the run: it wrote something after its claim.
    fn took(&self, claimant: &str) -> bool {
        let stamps = self.slot.stage.witness.stamps(&self.run);
        let own = stamps.iter().filter(|stamp| &*stamp.writer == claimant && stamp.verb == "carry_out");
        let transactions: BTreeSet<u64> = own.map(|stamp| stamp.transaction).collect();
        transactions.len() > 1
    }

    fn accuse(&self, promise: &'static str, what: String) {
        let seq = self.slot.stage.memory.look(|model| model.history(&self.run, 0, u32::MAX).len() as u64);
        self.slot.stage.witness.accuse(Violation { run: self.run.clone(), seq, promise, what });
    }

    fn registry<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, Living>) -> T) -> T {
        change(&mut self.slot.living.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

//! A world: runs, drivers on several machines, workers, people and strangers, in weather of chance that clears up at last.
//!
//! Everything in it comes from one seed. When faults have stopped, every run must end or say whom it waits for.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::journal::Event;
use baton_engine::memory::MetCells;
use baton_engine::{RunId, Store};
use tokio::task::JoinSet;

use crate::chance::Chance;
use crate::fault::Weather;
use crate::faulty::Faulty;
use crate::keeper::Slot;
use crate::moods::Mood;
use crate::outsiders::Outsider;
use crate::promises;
use crate::puppet::Strings;
use crate::stage::{Living, Machine, Stage};
use crate::witness::{BrokenPromise, Stamp};

/// How a world ended.
#[derive(Debug, Clone)]
pub struct WorldEnd {
    /// Where it came from.
    pub seed: u64,
    /// How long it lasted.
    pub lasted: Duration,
    /// What happened, and how often.
    pub tally: BTreeMap<&'static str, u64>,
    /// Which commands were tried in which states.
    pub met: MetCells,
    /// What must never happen and did; empty if all is well.
    pub wrong: Vec<BrokenPromise>,
    /// The violations, each with the end of its journal.
    pub told: String,
    /// Every event of every journal, a line each.
    pub journals: Vec<String>,
}

/// How long a run may go on after faults have stopped.
const PATIENCE: Duration = Duration::from_secs(8 * 3600);

/// Lets something happen in one thread, under simulated time.
///
/// # Panics
/// If there is no runtime for it.
pub fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

/// How hard the weather of a world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storm {
    /// From one blow in ten seconds to one in a quarter of an hour.
    Usual,
    /// A blow every few seconds: most drivers die before they have done a step.
    Hail,
}

impl Storm {
    /// How many seconds lie between two blows; a world draws one of them.
    fn seconds(self) -> &'static [u64] {
        match self {
            Storm::Usual => &[10, 30, 180, 900],
            Storm::Hail => &[2, 5],
        }
    }
}

/// Lets the world of a seed live and end.
pub fn live(seed: u64) -> WorldEnd {
    live_in(seed, Storm::Usual)
}

/// Lets the world of a seed live and end in weather of this kind.
pub fn live_in(seed: u64, storm: Storm) -> WorldEnd {
    paused(async { World::new(seed).live(storm).await })
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
        let mind = Mood {
            chance: chance.fork(),
            tally: stage.tally.clone(),
            clear: clear.clone(),
            silent,
            usual,
            sessions: seed.is_multiple_of(2),
        };
        let rate = *chance.pick(&[0.0, 0.005, 0.02, 0.06]);
        let (mind, living) = (Arc::new(mind), Arc::default());
        World { seed, stage, chance, clear, silent, rate, machines, mind, living }
    }

    async fn live(self, storm: Storm) -> WorldEnd {
        let (mut slots, mut others) = (JoinSet::new(), JoinSet::new());
        let runs: Arc<Mutex<Vec<RunId>>> = Arc::default();
        for slot in 0..1 + self.chance.below(2) {
            let slot = self.slot(slot, runs.clone());
            slots.spawn(slot.fill());
        }
        self.invite(&mut others, &runs);
        let weather = self.chance.between(Duration::from_secs(1_200), Duration::from_secs(34 * 3600));
        let _ = tokio::time::timeout(weather, self.storm(storm)).await;
        self.clear_up();
        if self.stage.witness.violations().is_empty() {
            let patience = async { while slots.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(PATIENCE, patience).await;
        }
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
    async fn storm(&self, storm: Storm) {
        let chance = self.chance.fork();
        let seconds = *chance.pick(storm.seconds());
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
    fn end(&self, ids: &[RunId], lasted: Duration) -> WorldEnd {
        let stage = &self.stage;
        for id in ids {
            self.look_at(id);
        }
        let mut wrong = stage.witness.violations();
        wrong.extend(stage.memory.look(|model| promises::examine(model, &stage.witness)));
        let told = stage.tell(&wrong);
        let met = stage.memory.look(|model| model.met().clone());
        let journals = self.journals();
        WorldEnd { seed: self.seed, lasted, tally: stage.tally.all(), met, wrong, told, journals }
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
            self.stage.witness.accuse(BrokenPromise { run: id.clone(), seq, promise, what });
        };
        let Some(run) = self.stage.read(id) else {
            return accuse(0, "what was accepted is never lost", "the run is gone".to_owned());
        };
        let name = if run.is_finished() { "run ended" } else { "run waits for somebody" };
        self.stage.tally.count(name);
        if !run.is_finished() && promises::waits_for(&run).is_empty() {
            accuse(run.seq, "every run ends or says whom it waits for", "stuck".to_owned());
        }
        if !run.is_finished() && !self.silent && run.waiting().next().is_some() {
            accuse(run.seq, "every run ends or says whom it waits for", "it was answered and does not end".to_owned());
        }
    }
}

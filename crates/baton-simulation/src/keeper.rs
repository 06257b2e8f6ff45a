//! Those who see to it that runs are begun and driven: one run after the other, and a supervisor for each machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::definition::Definition;
use baton_engine::draft::Draft;
use baton_engine::driver::End;
use baton_engine::flow::{self, Restart};
use baton_engine::lifecycle::{Cancel, Command};
use baton_engine::store::StoreError;
use baton_engine::{Clock as _, HandoffId, RunId, Store as _};
use tokio::task::JoinSet;

use crate::chance::Chance;
use crate::fault::Weather;
use crate::faulty::{Faulty, WITHOUT_END};
use crate::mind::Mind;
use crate::moods::Mood;
use crate::puppet::Puppet;
use crate::random;
use crate::stage::{Life, Living, Machine, Stage};
use crate::witness::BrokenPromise;

/// How long a run may take while faults go on, before somebody calls it off.
const RUN_MAX: Duration = Duration::from_secs(4 * 3600);

/// A driver endures a store that is away for less than this.
const AWAY: Duration = Duration::from_secs(9 * 60);

/// Begins one run after the other.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    pub(crate) runs: Arc<Mutex<Vec<RunId>>>,
    pub(crate) stage: Stage,
    pub(crate) machines: Vec<Machine>,
    pub(crate) mind: Arc<Mood>,
    pub(crate) chance: Chance,
    pub(crate) clear: Arc<AtomicBool>,
    pub(crate) silent: bool,
    pub(crate) rate: f64,
    pub(crate) living: Arc<Mutex<BTreeMap<u64, Living>>>,
}

impl Slot {
    pub(crate) async fn fill(self) {
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
                self.slot.stage.witness.accuse(BrokenPromise { run: self.run.clone(), seq, promise, what });
            }
            accepted |= known;
            let Some(pause) = self.drive(!known).await else { return };
            tokio::time::sleep(pause).await;
        }
    }

    /// Lets one driver live; returns how long there is no driver then, unless there is nothing more to drive.
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
            Life::Ended(Ok(End::Failed(_) | End::Cancelled)) if self.begins && !clear && self.begins_again().await => {
                about(10)
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
            Life::Ended(Err(StoreError::Unreachable(_))) => {
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

    /// Whoever has begun a run may let it begin again when it has ended without success, as `baton resume --from` does.
    async fn begins_again(&self) -> bool {
        if !self.slot.chance.happens(0.3) {
            return false;
        }
        let weather = Arc::new(Weather::new(self.slot.chance.fork(), self.slot.rate, true, self.slot.clear.clone()));
        let mind: Arc<dyn Mind> = self.slot.mind.clone();
        let stage = &self.slot.stage;
        let (mut driver, living, _) = stage.driver(&self.machine, &self.run, &mind, weather.clone(), &self.slot.chance);
        // It is a person who writes, not a driver.
        let memory = Arc::new(stage.memory.used_by("ana"));
        driver.store = Arc::new(Faulty::new(memory, weather, living.strings.clone(), stage.tally.clone()));
        let phases = &self.definition.workflow.phases;
        let phase = phases[usize::try_from(self.slot.chance.below(phases.len() as u64)).unwrap_or_default()].id();
        let from = Some(phase.to_owned()).filter(|_| self.slot.chance.happens(0.5));
        let restart = Restart { from, ..Restart::default() };
        let again = driver.begin_again(&self.run, &restart, "ana");
        let again = Puppet::new(again, living.strings.clone()).await;
        self.slot.stage.witness.died(&driver.claimant);
        // The answer may have been lost: whether it begins again is seen in the store.
        let is_over = self.slot.stage.read(&self.run).is_none_or(|run| run.is_finished());
        if matches!(again, Some(Ok(_))) && is_over {
            self.accuse("what was accepted is never lost", "the run does not begin again".to_owned());
        }
        if !is_over {
            self.slot.stage.tally.count("run begins again");
        }
        !is_over
    }

    /// Returns whether a driver has had the run: it wrote something after its claim.
    fn took(&self, claimant: &str) -> bool {
        let stamps = self.slot.stage.witness.stamps(&self.run);
        let own = stamps.iter().filter(|stamp| &*stamp.writer == claimant && stamp.verb == "carry_out");
        let transactions: BTreeSet<u64> = own.map(|stamp| stamp.transaction).collect();
        transactions.len() > 1
    }

    fn accuse(&self, promise: &'static str, what: String) {
        let seq = self.slot.stage.memory.look(|model| model.history(&self.run, 0, u32::MAX).len() as u64);
        self.slot.stage.witness.accuse(BrokenPromise { run: self.run.clone(), seq, promise, what });
    }

    fn registry<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, Living>) -> T) -> T {
        change(&mut self.slot.living.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

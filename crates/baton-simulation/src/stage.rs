//! The stage: a store, machines and drivers, before anybody does anything on it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::RunId;
use baton_engine::definition::Definition;
use baton_engine::driver::{Driver, DriverProblem, End, PATIENCE};
use baton_engine::evidence::KeptBytes;
use baton_engine::memory::MemoryStore;
use baton_engine::run::Run;
use baton_engine::store::StoreError;
use baton_protocol::Settings;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::chance::{Chance, Tally};
use crate::fault::Plan;
use crate::faulty::Faulty;
use crate::mind::{AtTheDesk, Deaf, Inspector, Mind, Office, SeededRandom};
use crate::puppet::{Puppet, Strings};
use crate::time::MachineClock;
use crate::witness::{BrokenPromise, Witness};

/// Where everything happens.
#[derive(Clone)]
pub struct Stage {
    /// The store.
    pub memory: MemoryStore,
    /// Who sees everything.
    pub witness: Arc<Witness>,
    /// What was counted.
    pub tally: Tally,
    /// When it began.
    pub started: Instant,
    drivers: Arc<Mutex<u64>>,
}

/// A machine with its clock.
#[derive(Clone)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// Its clock.
    pub clock: Arc<MachineClock>,
}

/// A driver that lives: what can be done to it.
#[derive(Clone)]
pub struct Living {
    /// The run that it drives.
    pub run: RunId,
    /// Kills and pauses it.
    pub strings: Arc<Strings>,
    /// The store as it meets it.
    pub store: Arc<Faulty>,
    /// Stops it.
    pub stop: watch::Sender<bool>,
}

/// How the life of a driver ended.
#[derive(Debug)]
pub enum Life {
    /// It was killed.
    Killed,
    /// It came to an end.
    Ended(Result<End, StoreError>),
}

impl Stage {
    /// Makes an empty stage. Time must be paused.
    pub fn new() -> Stage {
        let witness = Arc::new(Witness::default());
        Stage {
            memory: MemoryStore::new().watched_by(witness.clone()),
            witness,
            tally: Tally::default(),
            started: Instant::now(),
            drivers: Arc::default(),
        }
    }

    /// Makes a machine whose clock is ahead of the world's.
    pub fn machine(&self, name: &'static str, ahead: Duration) -> Machine {
        Machine { name, clock: Arc::new(MachineClock::ahead_by(self.started, ahead)) }
    }

    /// Makes a driver on a machine.
    pub fn driver(
        &self,
        machine: &Machine,
        run: &RunId,
        mind: &Arc<dyn Mind>,
        plan: Arc<dyn Plan>,
        chance: &Chance,
    ) -> (Driver, Living, watch::Receiver<bool>) {
        let number = {
            let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            *drivers += 1;
            *drivers
        };
        let claimant = format!("driver-{}-{number}", machine.name);
        let strings = Arc::new(Strings::default());
        let memory = Arc::new(self.memory.used_by(&claimant));
        let store = Arc::new(Faulty::new(memory, plan, strings.clone(), self.tally.clone()));
        // Only those on the same machine are known to be dead.
        let (witness, here) = (self.witness.clone(), format!("driver-{}-", machine.name));
        let is_dead = move |claimant: &str| claimant.starts_with(&here) && witness.is_dead(claimant);
        let driver = Driver {
            store: store.clone(),
            clock: machine.clock.clone(),
            team: Arc::new(Office { mind: mind.clone(), witness: self.witness.clone(), is_dead: Box::new(is_dead) }),
            evidence: Arc::new(Inspector { mind: mind.clone(), witness: self.witness.clone() }),
            people: Arc::new(AtTheDesk(mind.clone())),
            audience: Arc::new(Deaf),
            random: Arc::new(SeededRandom(chance.fork())),
            claimant,
            settings: Settings::default(),
            kept: KeptBytes::default(),
            patience: PATIENCE,
            finish_within: std::time::Duration::ZERO,
        };
        let (stop, stopped) = watch::channel(false);
        (driver, Living { run: run.clone(), strings, store, stop }, stopped)
    }

    /// Lets a driver live: it begins the run, unless that was done, and drives it.
    pub async fn live(
        &self,
        driver: Driver,
        living: &Living,
        stopped: watch::Receiver<bool>,
        begin: Option<&Definition>,
    ) -> Life {
        let life = async {
            let mut workspace = None;
            if let Some(definition) = begin {
                workspace = Some(driver.begin(&living.run, definition, "ana").await?);
                self.tally.count("run accepted");
            }
            driver.drive(&living.run, workspace, stopped).await
        };
        let end = Puppet::new(life, living.strings.clone()).await;
        self.witness.died(&driver.claimant);
        self.tally.add("store calls of drivers", living.store.calls());
        match end {
            None => {
                self.tally.count("driver killed");
                Life::Killed
            }
            Some(Err(
                problem @ (DriverProblem::Workspace(_) | DriverProblem::Driven(_) | DriverProblem::NoWayBack(_)),
            )) => panic!("every run has a workspace of its own, and begins again when it can: {problem}"),
            Some(Err(DriverProblem::Store(error))) => Life::Ended(Err(error)),
            Some(Ok(end)) => Life::Ended(Ok(end)),
        }
    }

    /// Reads a run from its journal; `None` if it was not accepted.
    pub fn read(&self, run: &RunId) -> Option<Run> {
        let events = self.memory.look(|model| model.history(run, 0, u32::MAX));
        if events.is_empty() {
            return None;
        }
        match Run::of_journal(&events) {
            Ok(run) => Some(run),
            Err(why) => {
                let what = why.to_string();
                let promise = "the journal alone rebuilds the run";
                self.witness.accuse(BrokenPromise { run: run.clone(), seq: events.len() as u64, promise, what });
                None
            }
        }
    }

    /// Describes what went wrong: the violations, each with the end of the journal before it.
    pub fn tell(&self, violations: &[BrokenPromise]) -> String {
        let lines = violations.iter().take(3).map(|violation| {
            let stamps = self.witness.stamps(&violation.run);
            let events = self.memory.look(|model| model.history(&violation.run, 0, u32::MAX));
            let first = usize::try_from(violation.seq).unwrap_or(usize::MAX).saturating_sub(25);
            let last = usize::try_from(violation.seq).unwrap_or(usize::MAX).saturating_add(5);
            let tail = events.iter().zip(&stamps).skip(first).take(last.saturating_sub(first)).map(|(event, stamp)| {
                let detail: String = event.detail.chars().take(110).collect();
                format!(
                    "  {:>4} {} {:<12} {} by {} ({} {}) {detail}\n",
                    event.seq, event.at, event.kind, event.handoff, stamp.writer, stamp.verb, stamp.transaction
                )
            });
            let tail: String = tail.collect();
            format!(
                "{}: {} (run {}, event {})\n{tail}",
                violation.promise, violation.what, violation.run, violation.seq
            )
        });
        lines.collect()
    }
}

impl Default for Stage {
    fn default() -> Stage {
        Stage::new()
    }
}

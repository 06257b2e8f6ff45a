//! The runs that this server drives: those that were started through it, and those whose server is gone.
//!
//! A run that somebody drives at a terminal, or has stopped there, is theirs: a server takes over only what a server drove
//! last, or what nobody ever drove.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_engine::engine::{Leniency, Problem};
use baton_engine::handoff::{Handoff, State, StateName};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::Command;
use baton_engine::runs::Runs;
use baton_engine::step::ORCHESTRATOR;
use baton_engine::store::Filter;
use baton_engine::{HandoffId, RunId};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::event_hub::HubEvent;
use crate::server::Server;

/// The names under which servers claim runs begin like this.
pub const DRIVER_PREFIX: &str = "server ";

/// How often runs without a driver are looked for.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How often all rows are looked at, whatever events have told.
const ALL_AGAIN: Duration = Duration::from_mins(5);

/// How long a run that could not be driven is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// How often a run is told again to stop.
const STOP_AGAIN: Duration = Duration::from_millis(100);

/// How many rows are looked at together.
const PAGE: u32 = 500;

/// Drives runs.
pub struct RunDriving {
    runs: Arc<dyn Runs>,
    driven: Arc<Mutex<BTreeMap<RunId, DrivenRun>>>,
    /// Whether everything was given back, so that nothing begins any more. It changes while `driven` is locked.
    is_over: AtomicBool,
}

enum DrivenRun {
    /// It is driven here.
    Here(JoinHandle<()>),
    /// It could not be driven; it is tried again after this time.
    Failed(Instant),
}

impl RunDriving {
    /// Drives runs through this port.
    pub fn through(runs: Arc<dyn Runs>) -> RunDriving {
        RunDriving { runs, driven: Arc::default(), is_over: AtomicBool::new(false) }
    }

    /// Returns the port.
    pub(crate) fn runs(&self) -> &dyn Runs {
        self.runs.as_ref()
    }

    /// Returns how many runs are driven here.
    pub(crate) fn count(&self) -> usize {
        self.lock().values().filter(|driven| matches!(driven, DrivenRun::Here(_))).count()
    }

    /// Drives a run, unless that is done here already.
    pub(crate) fn start(&self, run: &RunId) {
        let mut driven = self.lock();
        if matches!(driven.get(run), Some(DrivenRun::Here(_))) || self.is_over.load(Ordering::SeqCst) {
            return;
        }
        let (runs, all, id) = (Arc::clone(&self.runs), Arc::clone(&self.driven), run.clone());
        let task = tokio::spawn(async move {
            let ended = runs.resume(&id).await;
            let mut driven = all.lock().unwrap_or_else(PoisonError::into_inner);
            match ended {
                Ok(_) => driven.remove(&id),
                Err(_) => driven.insert(id, DrivenRun::Failed(Instant::now() + LEFT_ALONE)),
            };
        });
        driven.insert(run.clone(), DrivenRun::Here(task));
    }

    /// Stops driving: attempts that are under way may end as long as the driver lets them, nothing new begins, and whoever comes
    /// next goes on with the runs.
    pub(crate) async fn give_back(&self) {
        let driven = {
            let mut driven = self.lock();
            self.is_over.store(true, Ordering::SeqCst);
            std::mem::take(&mut *driven)
        };
        for run in driven.keys() {
            self.runs.stop(run);
        }
        for (run, driven) in driven {
            let DrivenRun::Here(mut task) = driven else { continue };
            // One whose task had not begun to drive it could not be stopped yet. One that has panicked drives nothing any more.
            while tokio::time::timeout(STOP_AGAIN, &mut task).await.is_err() {
                self.runs.stop(&run);
            }
        }
    }

    fn is_left_alone(&self, run: &RunId) -> bool {
        match self.lock().get(run) {
            Some(DrivenRun::Here(_)) => true,
            Some(DrivenRun::Failed(until)) => Instant::now() < *until,
            None => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, DrivenRun>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Returns whether leases have ended while no server was there. Nobody could extend them: their workers get time to do so.
    async fn begins_lenient(&self) -> bool {
        let filter = Filter { agent: None, states: vec![StateName::Claimed], after: None, limit: PAGE };
        let claimed = self.engine.store.list(&filter).await.unwrap_or_default();
        let now = self.engine.now();
        claimed.iter().any(|handoff| handoff.lease().is_some_and(|lease| !lease.driven && lease.until <= now))
    }

    /// Looks again and again for runs that no server drives any more, and expires what is due.
    ///
    /// All rows are looked at only now and then; between that, events tell which runs there are.
    pub(crate) async fn keep_driving(self) {
        let mut live = self.hub.listen();
        let mut unfinished: BTreeSet<HandoffId> = BTreeSet::new();
        let mut all_at = Instant::now();
        let mut leniency = Leniency::default();
        if self.begins_lenient().await {
            leniency.store_was_away();
        }
        while !self.is_closing() {
            // A store that is away is asked again.
            if all_at <= Instant::now()
                && let Ok(found) = self.unfinished_runs().await
            {
                unfinished = found;
                all_at = Instant::now() + ALL_AGAIN;
            }
            let _ = self.take_over(&mut unfinished).await;
            if leniency.may_rescue(self.engine.now()) && self.engine.rescue().await.is_err() {
                leniency.store_was_away();
            }
            leniency.pauses(self.engine.now(), LOOK_AGAIN);
            let until = Instant::now() + LOOK_AGAIN;
            let told = async {
                loop {
                    match live.recv().await {
                        Ok(news) => unfinished.extend(root_of(&news)),
                        Err(RecvError::Lagged(_)) => all_at = Instant::now(),
                        Err(RecvError::Closed) => std::future::pending().await,
                    }
                }
            };
            tokio::select! {
                () = self.closing() => return,
                () = told => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    async fn unfinished_runs(&self) -> Result<BTreeSet<HandoffId>, Problem> {
        let states = vec![StateName::Pending, StateName::Claimed];
        let mut filter = Filter { agent: Some(ORCHESTRATOR.to_owned()), states, after: None, limit: PAGE };
        let mut found = BTreeSet::new();
        loop {
            let page = self.engine.store.list(&filter).await?;
            found.extend(page.iter().filter(|handoff| handoff.is_run()).map(|run| run.id.clone()));
            match page.last() {
                Some(last) if page.len() == PAGE as usize => filter.after = Some(last.id.clone()),
                _ => return Ok(found),
            }
        }
    }

    async fn take_over(&self, unfinished: &mut BTreeSet<HandoffId>) -> Result<(), Problem> {
        for id in unfinished.clone() {
            let Some(root) = self.engine.store.find(&id).await?.filter(|root| !root.state.name().is_finished()) else {
                unfinished.remove(&id);
                continue;
            };
            if self.is_abandoned(&root) && !self.driving.is_left_alone(&root.run) && self.was_a_servers(&root).await? {
                self.driving.start(&root.run);
            }
        }
        Ok(())
    }

    /// Returns whether a run has no driver at the moment.
    fn is_abandoned(&self, root: &Handoff) -> bool {
        match &root.state {
            State::Pending { ready_at } => *ready_at <= self.engine.now(),
            State::Claimed { lease } => lease.until <= self.engine.now() || self.host.is_dead(&lease.claimant),
            _ => false,
        }
    }

    /// Returns whether a server drove the run last, or nobody ever has.
    async fn was_a_servers(&self, root: &Handoff) -> Result<bool, Problem> {
        if let State::Claimed { lease } = &root.state {
            return Ok(lease.claimant.starts_with(DRIVER_PREFIX));
        }
        let events = self.engine.store.history_of(&root.id).await?;
        let last = events.iter().rev().find_map(|event| match event.fact() {
            Ok(Fact::Happened(Command::Claim(claim))) => Some(claim.claimant),
            _ => None,
        });
        Ok(last.is_none_or(|claimant| claimant.starts_with(DRIVER_PREFIX)))
    }
}

/// Returns the run that an event is about, if it is about one itself.
fn root_of(news: &HubEvent) -> Option<HandoffId> {
    news.handoff.as_ref().filter(|handoff| handoff.is_run()).map(|run| run.id.clone())
}

//! Many runs at once, driven by several nodes, and what must hold of each of them in the end.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::Fence;
use baton_engine::agent::{Agent, EndedTurn, Job, Updates};
use baton_engine::definition::Definition;
use baton_engine::driver::{
    Audience, Driver, DriverProblem, End, News, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem,
};
use baton_engine::handover::Copy;
use baton_engine::run::Run;
use baton_engine::store::StoreError;
use baton_engine::{Clock, HandoffId, RunId, Store};
use baton_store::postgres::Postgres;
use baton_testbed::Dice;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::instant;

/// How many phases a run has.
const PHASES: usize = 6;

/// How many stores there are, each as on a machine of its own.
const NODES: usize = 4;

/// How long runs may take to end when the server is there again.
const END_MAX: Duration = Duration::from_secs(240);

/// Runs, one after the other in each of many lanes.
pub(crate) struct Fleet {
    nodes: Vec<Arc<dyn Store>>,
    lanes: JoinSet<Vec<RunId>>,
    over: watch::Sender<bool>,
    notes: Arc<Notes>,
    clerks: Arc<Clerks>,
}

/// What came out.
pub(crate) struct Ended {
    pub(crate) runs: usize,
    events: usize,
    expired: usize,
    away: u64,
    restarted: usize,
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ended { runs, events, expired, away, restarted } = self;
        write!(
            formatter,
            "{runs} runs of {PHASES} phases were accepted and ended, {events} events verified; {expired} attempts were \
             lost; drivers were without the store {away} times, and {restarted} found none when they began"
        )
    }
}

impl Fleet {
    /// Begins runs on several nodes, and a new one wherever one has ended.
    pub(crate) async fn start(url: &str, at_once: usize, work_ms_max: u64, seed: u64) -> Fleet {
        let mut nodes: Vec<Arc<dyn Store>> = Vec::new();
        for _ in 0..NODES {
            nodes.push(Arc::new(Postgres::connect(url).await.expect("the server is there")));
        }
        let (over, is_over) = watch::channel(false);
        let (notes, mut lanes) = (Arc::new(Notes::default()), JoinSet::new());
        let definition = Arc::new(instant::definition(PHASES));
        let dice = Mutex::new(Dice::new(seed));
        let clerks = Arc::new(Clerks { dice, ms_max: work_ms_max, dead: Mutex::default() });
        for number in 0..at_once {
            let store = Arc::clone(&nodes[number % NODES]);
            let clock = Arc::new(ServerTime { store: Arc::clone(&store), latest: Mutex::new(Timestamp::MIN) });
            let driver = Driver {
                clock,
                team: Arc::<Clerks>::clone(&clerks),
                claimant: format!("driver-{number}"),
                ..instant::driver(store, Arc::<Notes>::clone(&notes))
            };
            lanes.spawn(lane(driver, Arc::clone(&clerks), Arc::clone(&definition), number, is_over.clone()));
        }
        Fleet { nodes, lanes, over, notes, clerks }
    }

    /// Lets all runs end that have begun, and looks at every one of them.
    pub(crate) async fn end(self) -> Ended {
        self.over.send(true).expect("the lanes are there");
        let lanes = tokio::time::timeout(END_MAX, self.lanes.join_all()).await.expect("every run ends");
        let store = &self.nodes[0];
        let restarted = self.clerks.dead.lock().unwrap_or_else(PoisonError::into_inner).len();
        let away = self.notes.0.load(Ordering::Relaxed);
        let mut ended = Ended { runs: 0, events: 0, expired: 0, away, restarted };
        for run in lanes.iter().flatten() {
            let events = store.history(run, 0, 10_000).await.expect("the journal can be read");
            assert!(events.windows(2).all(|pair| pair[1].hash_after(&pair[0].hash) == pair[1].hash), "{run}");
            let told = Run::of_journal(&events).expect("a journal that can be read");
            let finished = told.handoffs().filter(|tracked| tracked.handoff.state.name().is_finished()).count();
            let reports =
                events.iter().filter(|event| event.kind == "reported" && event.handoff.as_str() != run.as_str());
            assert_eq!((finished, reports.count()), (PHASES + 1, PHASES), "{run}: each phase is done once");
            ended.runs += 1;
            ended.events += events.len();
            ended.expired += events.iter().filter(|event| event.kind == "expired").count();
        }
        ended
    }
}

/// Runs one after the other until it is over. Returns what was accepted.
async fn lane(
    mut driver: Driver,
    clerks: Arc<Clerks>,
    definition: Arc<Definition>,
    number: usize,
    over: watch::Receiver<bool>,
) -> Vec<RunId> {
    let mut accepted = Vec::new();
    while !*over.borrow() {
        let run = RunId::parse(format!("run-{number:03}-{:05}", accepted.len())).expect("a safe id");
        while let Err(error) = driver.begin(&run, &definition, "torture").await {
            assert!(matches!(error, DriverProblem::Store(StoreError::Unreachable(_))), "{run}: {error}");
            dawdle(Duration::from_millis(100)).await;
        }
        accepted.push(run.clone());
        // A driver that finds no store when it begins ends, and is started again, as a service is.
        while let Err(error) = drive(&driver, &run).await {
            assert!(matches!(error, DriverProblem::Store(StoreError::Unreachable(_))), "{run}: {error}");
            driver = clerks.next_driver(driver);
        }
    }
    accepted
}

async fn drive(driver: &Driver, run: &RunId) -> Result<(), DriverProblem> {
    let (_stop, stopped) = watch::channel(false);
    let end = driver.drive(run, None, stopped).await?;
    assert_eq!(end, End::Completed, "{run}");
    Ok(())
}

/// Lets time pass, as work does.
pub(crate) async fn dawdle(time: Duration) {
    // Nothing ever comes, and that is what the time is spent with.
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// The clock of the server, as the program has it.
struct ServerTime {
    store: Arc<dyn Store>,
    latest: Mutex<Timestamp>,
}

impl Clock for ServerTime {
    fn now(&self) -> Timestamp {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = self.store.server_time().expect("a server has a clock").max(*latest);
        *latest
    }

    fn observe(&self, seen: Timestamp) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = seen.max(*latest);
    }
}

/// Counts how often a driver was without the store.
#[derive(Default)]
struct Notes(AtomicU64);

impl Audience for Notes {
    fn hear(&self, _: &Run, news: &News<'_>) {
        if let News::Note(text) = news
            && text.starts_with("the store cannot be reached")
        {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Agents who take their time, and drivers that have ended.
struct Clerks {
    dice: Mutex<Dice>,
    ms_max: u64,
    dead: Mutex<HashSet<String>>,
}

impl Clerks {
    /// Returns a driver in the place of one that has ended.
    fn next_driver(&self, ended: Driver) -> Driver {
        let mut dead = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
        let claimant = format!("{}+", ended.claimant);
        dead.insert(ended.claimant.clone());
        Driver { claimant, ..ended }
    }
}

/// A clerk who takes its time.
struct SlowClerk(Duration);

#[async_trait]
impl Agent for SlowClerk {
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        dawdle(self.0).await;
        instant::Clerk.turn(job, updates).await
    }
}

impl Team for Clerks {
    fn reach(&self, _: &Definition, _: &str) -> ReachedAgent {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        ReachedAgent::Here(Arc::new(SlowClerk(Duration::from_millis(dice.below(self.ms_max)))))
    }

    fn folder(&self, _: &Path, _: &RunId, _: &HandoffId, _: Fence) -> Result<PathBuf, PlaceFault> {
        Ok(PathBuf::new())
    }

    fn keep(&self, _: &Path, _: &[Copy]) -> Result<(), PlaceFault> {
        Ok(())
    }

    fn is_dead(&self, claimant: &str) -> bool {
        self.dead.lock().unwrap_or_else(PoisonError::into_inner).contains(claimant)
    }

    fn lock(&self, _: &Path, _: &RunId, _: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        Ok(WorkspaceLock::of(()))
    }

    fn sweep(&self, _: &RunId, _: &Path) {}
}

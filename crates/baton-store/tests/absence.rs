//! A driver says that nobody comes for work that waits: once for each handoff, and not for what somebody has.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::Fence;
use baton_engine::agent::{Agent, EndedTurn, Job, Update, Updates};
use baton_engine::definition::Definition;
use baton_engine::driver::{
    Audience, Driver, End, News, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem,
};
use baton_engine::evidence::KeptBytes;
use baton_engine::memory::{self, CountingRandom, MemoryStore, Nobody};
use baton_engine::run::Run;
use baton_engine::store::ClaimRequest;
use baton_engine::{Clock, HandoffId, RunId, Store};
use baton_protocol::Settings;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

/// Nothing takes longer, on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

/// An agent whose request lies in a place until it is told that somebody takes it; it never answers.
struct Lying(watch::Receiver<bool>);

#[async_trait]
impl Agent for Lying {
    async fn turn(&self, _: &Job, updates: &Updates) -> EndedTurn {
        let mut taken = self.0.clone();
        if !*taken.borrow() {
            updates.send(Update::Waiting { place: "in /exchange".to_owned() }).unwrap();
        }
        taken.wait_for(|taken| *taken).await.unwrap();
        updates.send(Update::PickedUp).unwrap();
        std::future::pending().await
    }
}

struct Crew(watch::Receiver<bool>);

impl Team for Crew {
    fn reach(&self, definition: &Definition, agent: &str) -> ReachedAgent {
        if definition.workflow.agent(agent).is_some_and(|agent| agent.queue == Some(true)) {
            ReachedAgent::Elsewhere
        } else {
            ReachedAgent::Here(Arc::new(Lying(self.0.clone())))
        }
    }

    fn folder(&self, _: &Path, _: &RunId, _: &HandoffId, _: Fence) -> Result<PathBuf, PlaceFault> {
        Ok(PathBuf::new())
    }

    fn keep(&self, _: &Path, _: &[baton_engine::handover::Copy]) -> Result<(), PlaceFault> {
        Ok(())
    }

    fn is_dead(&self, _: &str) -> bool {
        false
    }

    fn lock(&self, _: &Path, _: &RunId, _: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        Ok(WorkspaceLock::of(()))
    }

    fn sweep(&self, _: &RunId, _: &Path) {}
}

/// The clock of this machine.
struct Watch;

impl Clock for Watch {
    #[expect(clippy::disallowed_methods, reason = "the driver waits in real time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn observe(&self, _: Timestamp) {}
}

/// Passes on what people should know.
struct Notes(mpsc::UnboundedSender<String>);

impl Audience for Notes {
    fn hear(&self, _: &Run, news: &News<'_>) {
        if let News::Note(text) = news {
            self.0.send((*text).to_owned()).unwrap();
        }
    }
}

/// A run that is driven.
struct Stage {
    store: MemoryStore,
    notes: mpsc::UnboundedReceiver<String>,
    taken: watch::Sender<bool>,
    stop: watch::Sender<bool>,
    drive: tokio::task::JoinHandle<End>,
}

impl Stage {
    /// Drives a workflow with one phase; with `taken`, somebody watches the folder.
    async fn of(agent: &str, patience: Duration, taken: bool) -> Stage {
        let text = format!("name: w\nagents: {{anyone: {agent}}}\nphases: [{{id: build, agent: anyone}}]\n");
        let (store, (sender, notes)) = (MemoryStore::new(), mpsc::unbounded_channel());
        let ((taken, is_taken), (stop, stopped)) = (watch::channel(taken), watch::channel(false));
        let driver = Driver {
            store: Arc::new(store.clone()),
            clock: Arc::new(Watch),
            team: Arc::new(Crew(is_taken)),
            evidence: Arc::new(Nobody),
            people: Arc::new(Nobody),
            audience: Arc::new(Notes(sender)),
            random: Arc::new(CountingRandom::default()),
            claimant: "driver".to_owned(),
            settings: Settings::default(),
            kept: KeptBytes::default(),
            patience,
            finish_within: Duration::ZERO,
        };
        let run = RunId::parse("t").unwrap();
        driver.begin(&run, &memory::definition(&text), "ana").await.unwrap();
        let drive = tokio::spawn(async move { driver.drive(&run, None, stopped).await.unwrap() });
        Stage { store, notes, taken, stop, drive }
    }

    async fn note(&mut self) -> String {
        tokio::time::timeout(LONG, self.notes.recv()).await.expect("it is told").expect("the driver lives")
    }

    /// Waits until a handoff is in the store.
    async fn accepted(&self, id: &str) {
        let id = HandoffId::parse(id).unwrap();
        loop {
            let changes = self.store.changes();
            if self.store.find(&id).await.unwrap().is_some() {
                return;
            }
            self.store.changed(changes, LONG).await;
        }
    }

    /// Ends the drive; returns what was told since.
    async fn end(mut self) -> Vec<String> {
        self.stop.send_replace(true);
        assert_eq!(tokio::time::timeout(LONG, self.drive).await.expect("it stops").unwrap(), End::Stopped);
        let mut rest = Vec::new();
        while let Ok(note) = self.notes.try_recv() {
            rest.push(note);
        }
        rest
    }
}

#[tokio::test]
async fn work_in_the_queue_that_nobody_claims_is_told_once_with_what_to_do() {
    let mut stage = Stage::of("{queue: true}", Duration::from_millis(1), false).await;
    let told = stage.note().await;
    assert!(told.starts_with("waiting: no worker has claimed t.build.1 for agent `anyone` in "), "{told}");
    assert!(told.ends_with("(start one with: baton worker --agent w/anyone -- COMMAND)"), "{told}");
    let wish = ClaimRequest {
        agent: "w/anyone".to_owned(),
        claimant: "w".to_owned(),
        lease_ms: 60_000,
        count: 1,
        times_itself: true,
        author: None,
    };
    assert_eq!(stage.store.claim(&wish, Watch.now()).await.unwrap().len(), 1);
    assert_eq!(stage.end().await, [""; 0]);
}

#[tokio::test]
async fn request_in_a_folder_that_nobody_picks_up_is_told_with_its_place() {
    let mut stage = Stage::of("{directory: ./exchange}", Duration::from_millis(1), false).await;
    let told = stage.note().await;
    assert!(told.starts_with("waiting: t.build.1 for agent `anyone` was not picked up in "), "{told}");
    assert!(told.contains("in /exchange"), "{told}");
    stage.taken.send_replace(true);
    assert_eq!(stage.end().await, [""; 0]);
}

#[tokio::test]
async fn nothing_is_told_before_the_time_or_when_somebody_is_there() {
    let patient = Stage::of("{queue: true}", LONG, false).await;
    patient.accepted("t.build.1").await;
    assert_eq!(patient.end().await, [""; 0]);
    let busy = Stage::of("{directory: ./exchange}", Duration::ZERO, true).await;
    busy.accepted("t.build.1").await;
    assert_eq!(busy.end().await, [""; 0]);
}

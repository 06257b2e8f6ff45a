//! Drives runs: reads the journal, decides what follows, lets agents work and people decide, and writes it all down.
//!
//! Only one driver drives a run at a time: it holds the lease of the run's own handoff. Whatever it knows it can read
//! again from the journal, so another one can take over at any moment.

mod absence;
mod attempt;
mod begin;
mod brief;
mod claiming;
mod ending;
mod hold;
mod look;
mod queue_brief;
mod record;
mod run_loop;
mod spending;
mod taking;
mod transaction;
mod wait;
mod watch;

pub(crate) use brief::Brief;
pub use brief::BriefFault;
pub use queue_brief::{HandInWay, QueueBrief};
pub use taking::load;

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_protocol::Settings;
use tokio::sync::watch as channel;

use crate::Fence;
use crate::agent::{Activity, Agent, Job};
use crate::clock::Clock;
use crate::definition::Definition;
use crate::engine::{Random, means_the_newest_run};
use crate::evidence::{Evidence, KeptBytes, SeenFile};
use crate::flow::{self, NoWayBack};
use crate::handoff::Terms;
use crate::handover::{self, Copy, Handover};
use crate::id::{HandoffId, LAST, RunId};
use crate::journal::Event;
use crate::lifecycle::Accept;
use crate::people::{People, Question};
use crate::prompt::Prompt;
use crate::retry;
use crate::run::{RecordFault, Run, TrackedHandoff};
use crate::session::Spent;
use crate::step::{ORCHESTRATOR, Role, Step};
use crate::store::{Store, StoreError};
use run_loop::RunLoop;

/// How long a driver holds what it has claimed without a heartbeat.
pub const LEASE: Duration = Duration::from_secs(60);

/// How long work may wait for an agent before the run says so.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Reaches the agents of a workflow, and keeps the folders of their attempts.
pub trait Team: Send + Sync {
    /// Finds out how to reach an agent.
    fn reach(&self, definition: &Definition, agent: &str) -> ReachedAgent;

    /// Makes the folder of an attempt; the error says why it cannot be made.
    fn folder(&self, workspace: &Path, run: &RunId, handoff: &HandoffId, fence: Fence) -> Result<PathBuf, PlaceFault>;

    /// Writes files that an agent is told to read into the workspace, unless they are there; the error says why it cannot.
    fn keep(&self, workspace: &Path, copies: &[Copy]) -> Result<(), PlaceFault>;

    /// Returns whether a driver is certainly dead, so that its leases need not be waited for.
    fn is_dead(&self, claimant: &str) -> bool;

    /// Takes a workspace for a run and its driver: one run at a time works in it.
    fn lock(&self, workspace: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, WorkspaceProblem>;

    /// Ends whatever a dead driver has left running of a run in a workspace.
    fn sweep(&self, run: &RunId, workspace: &Path);
}

/// Keeps other runs out of a workspace for as long as it lives.
pub struct WorkspaceLock(
    #[expect(dead_code, reason = "it is held, and let go of by being dropped")] Box<dyn Any + Send + Sync>,
);

impl WorkspaceLock {
    /// Holds whatever keeps others out.
    pub fn of(held: impl Any + Send + Sync) -> WorkspaceLock {
        WorkspaceLock(Box::new(held))
    }
}

/// Why a run cannot work in its workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceProblem {
    /// It is not there.
    #[error("the workspace is missing: {}", .0.display())]
    Missing(PathBuf),
    /// Another driver works in it; the run is empty if it is unknown which.
    #[error("run {run}, driven by {driver}, works in {}", workspace.display())]
    Held {
        /// The workspace.
        workspace: PathBuf,
        /// The run that is driven there.
        run: String,
        /// Who drives it.
        driver: String,
    },
    /// It cannot be locked.
    #[error("{0}")]
    Unusable(String),
}

/// Why a run was not begun, or is not driven any further.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriverProblem {
    /// It has no workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceProblem),
    /// Somebody drives it.
    #[error("it is driven by {0}")]
    Driven(String),
    /// It cannot begin again.
    #[error(transparent)]
    NoWayBack(#[from] NoWayBack),
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the place where an agent is to work cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PlaceFault {
    /// The folder of its attempt cannot be made.
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that its prompt names cannot be written.
    #[error("cannot write {}, which the agent needs: {source}", path.display())]
    Copy {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// How an agent is reached.
pub enum ReachedAgent {
    /// The driver lets it work.
    Here(Arc<dyn Agent>),
    /// It claims its work itself.
    Elsewhere,
    /// It cannot be reached.
    Not(String),
}

/// Is told what happens, as it happens.
pub trait Audience: Send + Sync {
    /// Hears news of a run.
    fn hear(&self, run: &Run, news: &News<'_>);

    /// Sees what an agent does while it works. That is not recorded, and may come often.
    fn see(&self, job: &Job, seen: &Seen) {
        let (_, _) = (job, seen);
    }
}

/// What is seen of an agent while it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// What it does.
    Activity(Activity),
    /// What its turn has spent so far.
    Spent(Spent),
}

/// What happens in a run.
#[derive(Debug)]
pub enum News<'a> {
    /// Something was recorded.
    Event(&'a Event),
    /// An agent or a command begins to work.
    Begins(&'a HandoffId),
    /// The claims of a report are examined.
    Examines(&'a HandoffId),
    /// A person is asked.
    Asks(&'a Question),
    /// Something that people should know, but that changes nothing.
    Note(&'a str),
}

/// How driving a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The run is done.
    Completed,
    /// The run has failed.
    Failed(String),
    /// The run was called off.
    Cancelled,
    /// Only a person's decision can continue it, and nobody can be asked here.
    Waiting(Vec<Question>),
    /// The driver was told to stop; the run can be resumed.
    Stopped,
    /// Somebody else drives the run now.
    Lost(String),
}

/// Drives runs.
///
/// ```
/// use baton_engine::driver::End;
/// # use baton_engine::memory::{self, StillClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let clock = std::sync::Arc::new(StillClock::at(jiff::Timestamp::UNIX_EPOCH));
///
/// let driver = memory::driver(&memory::engine(&clock));
/// let workflow = memory::definition("name: w\nphases: [{id: go, gate: {title: Ship it?}}]\n");
/// let run = baton_engine::RunId::parse("release-7")?;
/// let workspace = driver.begin(&run, &workflow, "ana").await?;
///
/// let (_stop, stopped) = tokio::sync::watch::channel(false);
/// let End::Waiting(questions) = driver.drive(&run, Some(workspace), stopped).await? else { panic!("nobody can be asked here") };
/// assert_eq!(questions[0].handoff.as_str(), "release-7.go.1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How agents are reached.
    pub team: Arc<dyn Team>,
    /// What looks at claims.
    pub evidence: Arc<dyn Evidence>,
    /// Who can be asked.
    pub people: Arc<dyn People>,
    /// Who is told.
    pub audience: Arc<dyn Audience>,
    /// Chance.
    pub random: Arc<dyn Random>,
    /// The name under which it claims.
    pub claimant: String,
    /// What the project has configured.
    pub settings: Settings,
    /// How much of the files that reports name is kept.
    pub kept: KeptBytes,
    /// How long work may wait for an agent before the run says so; usually [`PATIENCE`].
    pub patience: Duration,
    /// How long attempts may go on that are under way when it is told to stop; nothing new begins then.
    pub finish_within: Duration,
}

/// Returns the files that must be in the workspace before an agent reads its prompt.
pub fn copies_for(run: &Run, tracked: &TrackedHandoff) -> Vec<Copy> {
    handover::copies(run, tracked, handover::index(run, tracked))
}

/// Returns what those before a step have handed over to it.
pub fn handed_to(run: &Run, tracked: &TrackedHandoff) -> Vec<Handover> {
    handover::given(run, tracked)
}

/// Returns the files that a handoff is given, as they were when they were examined.
pub fn files_handed_to(run: &Run, tracked: &TrackedHandoff) -> Vec<SeenFile> {
    handover::files(run, tracked)
}

/// Renders what the agent of a step would be told.
pub fn prompt_of(run: &Run, tracked: &TrackedHandoff, delimiter: &str) -> Result<Prompt, BriefFault> {
    Ok(Brief::of(run, tracked).ok_or(RecordFault::NoPhase)?.tell(delimiter, None)?.prompt)
}

impl Driver {
    /// Begins a run: it is accepted, and from then on it can be resumed. Whoever drives it right away hands its workspace on,
    /// so that no other run comes in between.
    pub async fn begin(
        &self,
        run: &RunId,
        definition: &Definition,
        from: &str,
    ) -> Result<WorkspaceLock, DriverProblem> {
        self.begin_once(run, definition, from, None).await
    }

    /// Does the same under an idempotency key, under which nothing else can be sent or begun.
    pub async fn begin_once(
        &self,
        run: &RunId,
        definition: &Definition,
        from: &str,
        key: Option<&str>,
    ) -> Result<WorkspaceLock, DriverProblem> {
        let workspace = self.team.lock(&definition.workspace, run, &self.claimant)?;
        let id = HandoffId::parse(run.as_str()).map_err(StoreError::invalid)?;
        self.refuse_taken_ids(&id).await?;
        let mut terms = Terms::between(from, ORCHESTRATOR);
        terms.key = key.map(str::to_owned);
        // A run that lost its driver is taken up again, however often that happens.
        terms.retry = retry::Policy { max_retries: retry::RETRIES_MAX, ..retry::Policy::NEVER };
        terms.step =
            Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
        let request = definition.request(run, from);
        flow::fits(&request)
            .map_err(|why| StoreError::Invalid(format!("the run cannot start: its workflow and inputs: {why}")))?;
        let accept = Accept { id, run: run.clone(), terms, request, notes: Vec::new() };
        self.store.accept(vec![accept], self.clock.now()).await?;
        Ok(workspace)
    }

    /// Refuses an id that a run cannot have: the word that means the newest one, and one below which somebody has sent
    /// something. A phase of the run could not be called what it must be called, and the run would fail on the way.
    async fn refuse_taken_ids(&self, run: &HandoffId) -> Result<(), StoreError> {
        if run.as_str() == LAST {
            return Err(means_the_newest_run());
        }
        let Some(below) = self.store.ids_beginning_with(&format!("{run}."), 1).await?.pop() else { return Ok(()) };
        if self.store.find(run).await?.is_some() {
            // It belongs to the run that is there, or the store says whose the id is.
            return Ok(());
        }
        Err(StoreError::Taken { what: "id", value: run.to_string(), existing: below })
    }

    /// Drives a run until it ends, until only people can let it go on, or until it is told to stop. Its workspace is taken
    /// for as long, unless whoever began it hands it over.
    pub async fn drive(
        &self,
        run: &RunId,
        workspace: Option<WorkspaceLock>,
        stop: channel::Receiver<bool>,
    ) -> Result<End, DriverProblem> {
        RunLoop::take(self, run, workspace, stop).await
    }
}

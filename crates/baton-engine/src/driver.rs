//! Drives runs: reads the journal, decides what follows, lets agents work and people decide, and writes it all down.
//!
//! Only one driver drives a run at a time: it holds the lease of the run's own handoff. Whatever it knows it can read
//! again from the journal, so another one can take over at any moment.

mod absence;
mod attempt;
mod begin;
mod brief;
mod claiming;
mod hold;
mod lead;
mod look;
mod queue_brief;
mod record;
mod taking;
mod wait;
mod watch;

pub(crate) use brief::{Brief, output_directory};
pub use queue_brief::{HandInWay, QueueBrief};
pub(crate) use taking::judging;
pub use taking::load;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_protocol::Settings;
use tokio::sync::watch as channel;

use crate::Fence;
use crate::agent::Agent;
use crate::clock::Clock;
use crate::definition::Definition;
use crate::engine::Random;
use crate::evidence::{Evidence, KeptBytes};
use crate::flow;
use crate::handoff::Terms;
use crate::handover::{self, Copy};
use crate::id::{HandoffId, RunId};
use crate::journal::Event;
use crate::lifecycle::Accept;
use crate::people::{People, Question};
use crate::prompt::Prompt;
use crate::retry;
use crate::run::{Run, TrackedHandoff};
use crate::step::{ORCHESTRATOR, Role, Step};
use crate::store::{self, Store};

/// How long a driver holds what it has claimed without a heartbeat.
pub const LEASE: Duration = Duration::from_secs(60);

/// How long nobody may come for work that waits, before it is said.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Reaches the agents of a workflow, and keeps the folders of their attempts.
pub trait Team: Send + Sync {
    /// Finds out how to reach an agent.
    fn reach(&self, definition: &Definition, agent: &str) -> ReachedAgent;

    /// Makes the folder of an attempt; the error says why it cannot be made.
    fn folder(&self, workspace: &Path, run: &RunId, handoff: &HandoffId, fence: Fence) -> Result<PathBuf, String>;

    /// Writes files that an agent is told to read into the workspace, unless they are there; the error says why it cannot.
    fn keep(&self, workspace: &Path, copies: &[Copy]) -> Result<(), String>;

    /// Says whether a driver is certainly dead, so that nobody needs to wait for the end of its leases.
    fn is_dead(&self, claimant: &str) -> bool;

    /// Ends whatever a dead driver has left running of a run in a workspace.
    fn sweep(&self, run: &RunId, workspace: &Path);
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
    /// Only people can let it go on, and nobody can be asked here.
    Waiting(Vec<Question>),
    /// The driver was told to stop; the run can be resumed.
    Stopped,
    /// Somebody else drives the run now.
    Lost(String),
}

/// Drives runs.
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
    /// How long nobody may come for work that waits, before it is said; usually [`PATIENCE`].
    pub patience: Duration,
}

/// Returns the files that must be in the workspace before an agent reads its prompt.
pub fn copies_for(run: &Run, tracked: &TrackedHandoff) -> Vec<Copy> {
    handover::copies(run, tracked, handover::index(run, tracked))
}

/// Renders what the agent of a step would be told.
pub fn prompt_of(run: &Run, tracked: &TrackedHandoff, delimiter: &str) -> Result<Prompt, String> {
    brief::Brief::of(run, tracked).ok_or("its phase is not in the workflow")?.tell(delimiter).map(|told| told.prompt)
}

impl Driver {
    /// Begins a run: it is accepted, and from then on it can be resumed.
    pub async fn begin(&self, run: &RunId, definition: &Definition, from: &str) -> Result<(), store::StoreError> {
        let id = HandoffId::parse(run.as_str()).map_err(store::StoreError::Invalid)?;
        let mut terms = Terms::between(from, ORCHESTRATOR);
        // A run that lost its driver is taken up again, however often that happens.
        terms.retry = retry::Policy { max_retries: retry::RETRIES_MAX, delay_ms: 0, multiplier: 1.0, jitter: 0.0 };
        terms.step =
            Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
        let request = definition.request(run, from);
        flow::fits(&request).map_err(|why| {
            store::StoreError::Invalid(format!("the run cannot begin: its workflow and inputs: {why}"))
        })?;
        let accept = Accept { id, run: run.clone(), terms, request, notes: Vec::new() };
        self.store.accept(vec![accept], self.clock.now()).await.map(drop)
    }

    /// Drives a run until it ends, until only people can let it go on, or until it is told to stop.
    pub async fn drive(&self, run: &RunId, stop: channel::Receiver<bool>) -> Result<End, store::StoreError> {
        lead::RunLoop::take(self, run, stop).await
    }
}

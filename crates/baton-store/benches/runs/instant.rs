//! A team whose agent answers at once, with everything else that a driver needs and nothing to look at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use baton_engine::Fence;
use baton_engine::agent::{Agent, EndedTurn, Job, Reply, Updates};
use baton_engine::definition::Definition;
use baton_engine::driver::{
    Audience, Driver, News, PATIENCE, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem,
};
use baton_engine::evidence::KeptBytes;
use baton_engine::handover::Copy;
use baton_engine::memory::{CountingRandom, Nobody};
use baton_engine::run::Run;
use baton_engine::{Clock, HandoffId, RunId, Store};
use baton_protocol::{Settings, workflow};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// A workflow of so many phases, one after the other.
pub(crate) fn definition(phases: usize) -> Definition {
    let phases: String = (1..=phases).map(|number| format!("  - {{id: phase-{number}, agent: clerk}}\n")).collect();
    defined(&format!("phases:\n{phases}"), Map::new())
}

/// A workflow with a list of so many items; a person is asked after so many handoffs.
pub(crate) fn list(items: usize, handoffs: usize) -> Definition {
    let list = (0..items).map(|number| Value::from(format!("invoice-{number:06}"))).collect();
    let text = format!(
        "inputs: {{list: {{required: true}}}}\nlimits: {{handoffs: {handoffs}}}\nphases:\n  \
         - {{id: each, foreach: inputs.list, as: invoice, phases: [{{id: sort, agent: clerk, task: 'Sort {{{{ invoice }}}}.'}}]}}"
    );
    defined(&text, Map::from_iter([("list".to_owned(), Value::Array(list))]))
}

fn defined(text: &str, inputs: Map<String, Value>) -> Definition {
    let text = format!("name: bench\nagents: {{clerk: {{command: ['true'], dialect: metadata-block}}}}\n{text}");
    Definition {
        approvers: Vec::new(),
        workflow: workflow::read(text.as_bytes()).workflow.expect("readable"),
        folder: PathBuf::from("/"),
        file: None,
        nested: BTreeMap::new(),
        templates: BTreeMap::new(),
        inputs,
        workspace: PathBuf::from("/"),
    }
}

/// A driver that nothing outside slows down.
pub(crate) fn driver(store: Arc<dyn Store>, audience: Arc<dyn Audience>) -> Driver {
    Driver {
        store,
        clock: Arc::new(Watch),
        team: Arc::new(Clerks),
        evidence: Arc::new(Nobody),
        people: Arc::new(Nobody),
        audience,
        random: Arc::new(CountingRandom::default()),
        claimant: "bench".to_owned(),
        settings: Settings::default(),
        kept: KeptBytes::default(),
        patience: PATIENCE,
        finish_within: Duration::ZERO,
    }
}

pub(crate) struct Watch;

impl Clock for Watch {
    #[expect(clippy::disallowed_methods, reason = "a benchmark is its own clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        Timestamp::from_microsecond(i64::try_from(since.as_micros()).expect("this century")).expect("a time")
    }

    fn observe(&self, _: Timestamp) {}
}

pub(crate) struct Clerk;

#[async_trait]
impl Agent for Clerk {
    async fn turn(&self, job: &Job, _: &Updates) -> EndedTurn {
        let text = format!(
            r#"{{"agent": "{}", "output_type": "note", "timestamp": "{}", "feature_directory": "out",
                "skills_invoked": [], "status": "complete",
                "handoff": {{"next_agent": null, "context": "Sorted 41 invoices of {} into folders by customer."}}}}"#,
            job.agent,
            Watch.now(),
            job.phase
        );
        Ok(Reply { text, source: "memory".to_owned(), ..Reply::default() }).into()
    }
}

struct Clerks;

impl Team for Clerks {
    fn reach(&self, _: &Definition, _: &str) -> ReachedAgent {
        ReachedAgent::Here(Arc::new(Clerk))
    }

    fn folder(&self, _: &Path, _: &RunId, _: &HandoffId, _: Fence) -> Result<PathBuf, PlaceFault> {
        Ok(PathBuf::new())
    }

    fn keep(&self, _: &Path, _: &[Copy]) -> Result<(), PlaceFault> {
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

/// Measures the time from one step to the next.
#[derive(Default)]
pub(crate) struct Stopwatch(Mutex<Vec<Instant>>);

impl Stopwatch {
    /// Returns how long each step took.
    pub(crate) fn times(&self) -> Vec<Duration> {
        let begun = self.0.lock().expect("nobody panics");
        begun.windows(2).map(|two| two[1] - two[0]).collect()
    }
}

impl Audience for Stopwatch {
    fn hear(&self, _: &Run, news: &News<'_>) {
        if let News::Begins(_) = news {
            self.0.lock().expect("nobody panics").push(Instant::now());
        }
    }
}

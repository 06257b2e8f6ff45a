//! A driver without surroundings: every agent fetches its work elsewhere, nobody can be asked, and nothing can be
//! examined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use baton_protocol::model::Report;
use baton_protocol::{Dialect, workflow};
use jiff::Timestamp;
use serde_json::Map;

use super::StoreModel;
use crate::definition::Definition;
use crate::driver::{
    Audience, Driver, News, PATIENCE, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem,
};
use crate::engine::Engine;
use crate::evidence::{
    ChangedFiles, CheckCommand, CheckOutcome, Content, Evidence, ExaminedClaim, FileIdentity, KeptBytes, Moment, Scene,
    WorkspaceFault,
};
use crate::fence::Fence;
use crate::handoff::{Terms, WrittenDocument};
use crate::handover::Copy;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Accept, Claim, Command, LEASE_MS_MAX};
use crate::people::{People, Question, Response};
use crate::run::Run;
use crate::step::{ORCHESTRATOR, Role, Step};
use crate::store::TransactionStep;

/// Reads a workflow that needs nothing but its text: no inputs, no files beside it.
///
/// # Panics
///
/// If the text is not a workflow.
pub fn definition(text: &str) -> Definition {
    let reading = workflow::read(text.as_bytes());
    Definition {
        approvers: Vec::new(),
        workflow: reading.workflow.unwrap_or_else(|| panic!("{:?}", reading.findings)),
        folder: PathBuf::from("/flows"),
        file: None,
        nested: BTreeMap::new(),
        templates: BTreeMap::new(),
        inputs: Map::new(),
        workspace: PathBuf::from("/workspace"),
    }
}

/// Takes a request to an agent, as it comes out of a door.
pub fn request(id: &str, to: &str) -> Accept {
    let id = HandoffId::parse(id).expect("a safe id");
    let asked = r#"{"baton": 1, "document": "request", "instructions": "Find where rows are written today."}"#;
    Accept {
        run: RunId::alone(&id),
        id,
        terms: Terms::between("ana", to),
        request: WrittenDocument::new(Dialect::Native, asked),
        notes: Vec::new(),
    }
}

/// Begins a run of a workflow that a driver has just taken: nothing has followed from that yet.
pub fn begun(workflow: &str, at: Timestamp) -> Run {
    let (run, id) = (RunId::parse("r").expect("safe"), HandoffId::parse("r").expect("safe"));
    let mut terms = Terms::between("ana", ORCHESTRATOR);
    terms.step = Some(Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None });
    let request = definition(workflow).request(&run, "ana");
    let accept = Accept { id: id.clone(), run: run.clone(), terms, request, notes: Vec::new() };
    let claim = Command::Claim(Claim { driver: true, ..Claim::by("driver", LEASE_MS_MAX) });
    let mut model = StoreModel::default();
    let steps = vec![TransactionStep::Accept(Box::new(accept)), TransactionStep::Apply(id, claim)];
    model.carry_out(steps, at).expect("a run can be claimed");
    Run::of_journal(&model.history(&run, 0, u32::MAX)).expect("the journal is intact")
}

/// Makes a driver over the store of an engine, with [`Nobody`] around it.
pub fn driver(engine: &Engine) -> Driver {
    Driver {
        store: engine.store.clone(),
        clock: engine.clock.clone(),
        team: Arc::new(Nobody),
        evidence: Arc::new(Nobody),
        people: Arc::new(Nobody),
        audience: Arc::new(Nobody),
        random: engine.random.clone(),
        claimant: "driver".to_owned(),
        settings: (*engine.settings).clone(),
        kept: KeptBytes::default(),
        patience: PATIENCE,
        finish_within: std::time::Duration::ZERO,
    }
}

/// Stands for everybody whom a driver needs: works nowhere, sees nothing, decides nothing and hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Team for Nobody {
    fn reach(&self, _: &Definition, _: &str) -> ReachedAgent {
        ReachedAgent::Elsewhere
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

#[async_trait]
impl Evidence for Nobody {
    async fn remember(&self, _: &Path) -> Option<Moment> {
        None
    }

    async fn keep(&self, _: &Scene) {}

    async fn examine(&self, _: &Scene, _: &Report) -> Vec<ExaminedClaim> {
        Vec::new()
    }

    async fn identify(&self, _: &Path, _: &[PathBuf], _: Vec<String>) -> Result<Vec<FileIdentity>, WorkspaceFault> {
        Ok(Vec::new())
    }

    async fn contents(&self, _: &Path, _: &[PathBuf], _: &[ExaminedClaim], _: KeptBytes) -> Vec<Content> {
        Vec::new()
    }

    async fn changed(&self, _: &Scene) -> ChangedFiles {
        ChangedFiles::default()
    }

    async fn run(&self, _: &Scene, _: &CheckCommand) -> CheckOutcome {
        CheckOutcome { passed: true, ended: String::new(), tail: String::new(), examined: Vec::new() }
    }
}

#[async_trait]
impl People for Nobody {
    async fn decide(&self, _: &Question) -> Option<Response> {
        None
    }
}

impl Audience for Nobody {
    fn hear(&self, _: &Run, _: &News<'_>) {}
}

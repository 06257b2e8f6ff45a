//! Beginning runs, letting them go on, stopping them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use baton_engine::definition::Definition;
use baton_engine::driver::{DriverProblem, End, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem};
use baton_engine::handover::Copy;
use baton_engine::memory;
use baton_engine::runs::{DrivenRuns, Runs as _};
use baton_engine::{Fence, HandoffId, RunId};

use crate::bed::{Bed, person};

const GATE: &str = "name: w\nphases: [{id: go, gate: {title: Ship it?}}]\n";

/// A team whose workspace has room for one.
#[derive(Default)]
struct OneRoom(Arc<Mutex<Option<String>>>);

/// Lets go of the room.
struct Leaves(Arc<Mutex<Option<String>>>);

impl Drop for Leaves {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = None;
    }
}

impl Team for OneRoom {
    fn reach(&self, _: &Definition, _: &str) -> ReachedAgent {
        ReachedAgent::Elsewhere
    }

    fn folder(&self, workspace: &Path, _: &RunId, _: &HandoffId, _: Fence) -> Result<std::path::PathBuf, PlaceFault> {
        Ok(workspace.to_owned())
    }

    fn keep(&self, _: &Path, _: &[Copy]) -> Result<(), PlaceFault> {
        Ok(())
    }

    fn is_dead(&self, _: &str) -> bool {
        false
    }

    fn lock(&self, workspace: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        let mut holder = self.0.lock().unwrap();
        if let Some(run) = holder.clone() {
            let (workspace, driver) = (workspace.to_owned(), driver.to_owned());
            return Err(WorkspaceProblem::Held { workspace, run, driver });
        }
        *holder = Some(run.to_string());
        Ok(WorkspaceLock::of(Leaves(Arc::clone(&self.0))))
    }

    fn sweep(&self, _: &RunId, _: &Path) {}
}

fn runs(bed: &Bed) -> DrivenRuns {
    DrivenRuns::by(baton_engine::driver::Driver { team: Arc::new(OneRoom::default()), ..memory::driver(&bed.engine) })
}

fn name(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

#[tokio::test]
async fn run_that_was_begun_goes_on_until_a_person_is_needed() {
    let bed = Bed::new();
    let runs = runs(&bed);
    runs.begin(&name("one"), &memory::definition(GATE), &person(), None).await.unwrap();
    let end = runs.resume(&name("one")).await.unwrap();
    assert!(matches!(&end, End::Waiting(questions) if questions[0].title == "go: approve?"), "{end:?}");
    assert!(!runs.stop(&name("one")), "nobody drives it any more");
}

#[tokio::test]
async fn second_run_in_a_workspace_is_refused_before_anything_is_recorded() {
    let bed = Bed::new();
    let runs = runs(&bed);
    runs.begin(&name("one"), &memory::definition(GATE), &person(), None).await.unwrap();
    let refused = runs.begin(&name("two"), &memory::definition(GATE), &person(), None).await.unwrap_err();
    assert!(
        matches!(&refused, DriverProblem::Workspace(WorkspaceProblem::Held { run, .. }) if run == "one"),
        "{refused}"
    );
    assert!(bed.engine.resolve("two").await.is_err(), "it is not there");
    // Whoever waits for a person leaves the workspace to others.
    runs.resume(&name("one")).await.unwrap();
    runs.begin(&name("two"), &memory::definition(GATE), &person(), None).await.unwrap();
    let refused = runs.resume(&name("one")).await.unwrap_err();
    assert!(matches!(refused, DriverProblem::Workspace(WorkspaceProblem::Held { .. })), "{refused}");
}

#[tokio::test]
async fn run_is_stopped_once() {
    let bed = Bed::new();
    let runs = runs(&bed);
    let workflow = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";
    runs.begin(&name("one"), &memory::definition(workflow), &person(), None).await.unwrap();
    let (id, stopping) = (name("one"), name("one"));
    let (end, ()) = tokio::join!(runs.resume(&id), async {
        while !runs.stop(&stopping) {
            tokio::task::yield_now().await;
        }
        assert!(!runs.stop(&stopping), "it is told to already");
    });
    assert_eq!(end, Ok(End::Stopped));
}

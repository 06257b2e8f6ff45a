//! Single faults: one run of a workflow, and at most one thing that goes wrong, at one call of the store.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use baton_engine::RunId;
use baton_engine::definition::Definition;
use baton_engine::driver::End;

use crate::chance::Chance;
use crate::fault::{Call, Calm, Fault, Once, Plan, Recorder};
use crate::flows::Script;
use crate::mind::Mind;
use crate::promises;
use crate::stage::{Life, Machine, Stage};
use crate::world::paused;

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// How the run ended, and every handoff with how it ended and what followed.
    pub steps: BTreeMap<String, String>,
    /// How its first driver called the store, if nothing went wrong.
    pub calls: Vec<Call>,
    /// What must never happen and did.
    pub wrong: String,
}

/// No run of an example takes longer.
const TIME_MAX: Duration = Duration::from_secs(4 * 3600);

/// How long a process is away that is paused: longer than every lease.
pub const PAUSE: Duration = Duration::from_secs(95);

/// Lets a workflow run, with one fault at one call of its first driver.
pub fn run(definition: &Definition, fault: Option<(u64, Fault)>) -> Course {
    paused(async {
        let stage = Stage::new();
        let chance = Chance::new(7);
        let id = RunId::parse("r").expect("a safe id");
        let mind: Arc<dyn Mind> = Arc::new(Script);
        let (first, second) = (stage.machine("a", Duration::ZERO), stage.machine("b", Duration::ZERO));
        let recorder = Arc::new(Recorder::default());
        let plan: Arc<dyn Plan> = match fault {
            Some((call, fault)) => Arc::new(Once { call, fault }),
            None => recorder.clone(),
        };
        let first_driver = async {
            let (driver, living, stopped) = stage.driver(&first, &id, &mind, plan, &chance);
            let life = stage.live(driver, &living, stopped, Some(definition)).await;
            if !is_over(&life) {
                tokio::time::sleep(Duration::from_secs(5)).await;
                keep(&stage, &first, &id, &mind, definition).await;
            }
        };
        let stand_by = async {
            // Only what was accepted can be taken over.
            tokio::time::sleep(Duration::from_secs(11)).await;
            keep(&stage, &second, &id, &mind, definition).await;
        };
        // Whoever does not end is seen by how the run ended.
        let _ = tokio::time::timeout(TIME_MAX, async { tokio::join!(first_driver, stand_by) }).await;
        let calls = recorder.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut violations = stage.witness.violations();
        violations.extend(stage.memory.look(|model| promises::examine(model, &stage.witness)));
        let run = stage.read(&id);
        let steps = run.iter().flat_map(|run| run.handoffs()).map(|tracked| {
            let to = tracked.route.as_ref().map(|route| route.to.as_str()).unwrap_or_default();
            (tracked.handoff.id.to_string(), format!("{} {to}", tracked.handoff.state.name()))
        });
        Course { steps: steps.collect(), calls, wrong: stage.tell(&violations) }
    })
}

/// Drives a run whenever nobody else does, until it is over.
async fn keep(stage: &Stage, machine: &Machine, id: &RunId, mind: &Arc<dyn Mind>, definition: &Definition) {
    let chance = Chance::new(11);
    loop {
        let (driver, living, stopped) = stage.driver(machine, id, mind, Arc::new(Calm), &chance);
        if is_over(&stage.live(driver, &living, stopped, Some(definition)).await) {
            return;
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
}

fn is_over(life: &Life) -> bool {
    matches!(life, Life::Ended(Ok(End::Completed | End::Failed(_) | End::Cancelled)))
}

//! The content of the views of a run. Members are added, never renamed: others read them.

use baton_engine::flow;
use baton_engine::run::Run;
use baton_views::archive;
use serde_json::{Map, Value, json};

use super::artifacts;
use super::progress::{self, PhaseProgress, Status};

/// Returns `state/current.json`: the handoffs, and what a reader needs to know where the run stands.
pub(crate) fn current(run: &Run) -> Value {
    let phases = progress::phases(run);
    let with = |wanted: fn(Status) -> bool| -> Vec<&str> {
        phases.iter().filter(|phase| wanted(phase.status)).map(|phase| phase.path.as_str()).collect()
    };
    let gates: Vec<Value> = run.waiting().filter_map(|tracked| flow::question(run, tracked)).map(gate).collect();
    let done = phases.iter().filter(|phase| phase.status == Status::Completed);
    let checkpoints: Vec<Value> = done
        .map(|phase| json!({ "step": phase.path, "handoff": handoff_of(phase), "timestamp": phase.finished_at() }))
        .collect();
    json!({
        "handoffs": run.handoffs().map(|tracked| archive::entry(&tracked.handoff)).collect::<Vec<_>>(),
        "project": run.definition.workspace.file_name().map(|name| name.to_string_lossy()),
        "session": run.id.as_str(),
        "workflow": {
            "name": run.definition.name(),
            "status": progress::of_run(run).as_str(),
            "current_step": progress::current(&phases).map(|phase| phase.path.as_str()),
            "completed_steps": with(|status| status == Status::Completed),
            "remaining_steps": with(|status| status == Status::Pending),
        },
        "gates_pending": gates,
        "checkpoints": checkpoints,
        "updated_at": updated_at(run),
    })
}

fn gate(question: baton_engine::people::Question) -> Value {
    json!({ "id": question.handoff.as_str(), "step": question.phase, "question": question.title })
}

/// Returns `context/phase-status.json`.
pub(super) fn phase_status(run: &Run) -> Value {
    let phases = progress::phases(run);
    json!({
        "run": run.id.as_str(),
        "workflow": run.definition.name(),
        "status": progress::of_run(run).as_str(),
        "current_phase": progress::current(&phases).map(|phase| phase.path.as_str()),
        "started_at": run.started_at,
        "updated_at": updated_at(run),
        "completed_at": run.root().handoff.state.finished_at(),
        "phases": phases.iter().map(phase).collect::<Vec<_>>(),
    })
}

fn phase(phase: &PhaseProgress<'_>) -> Value {
    let mut told = members(phase);
    told.insert(0, ("number", json!(phase.number)));
    told.insert(1, ("id", json!(phase.path)));
    told.insert(2, ("status", json!(phase.status.as_str())));
    told.push(("phases", inside(&phase.members, |inner| json!(inner.iter().map(self::phase).collect::<Vec<_>>()))));
    object(told)
}

/// Returns `MANIFEST.yaml`.
pub(super) fn manifest(run: &Run) -> Value {
    let phases = progress::phases(run);
    let rounds: u32 = run.handoffs().filter(|tracked| tracked.step.visit > 1).count().try_into().unwrap_or(u32::MAX);
    object(vec![
        ("feature_name", json!(run.definition.name())),
        ("feature_slug", json!(run.id.as_str())),
        ("description", json!(run.definition.workflow.description)),
        ("workflow", json!(run.definition.name())),
        ("run", json!(run.id.as_str())),
        ("status", json!(manifest_status(progress::of_run(run)).replace('_', "-"))),
        ("current_phase", json!(progress::current(&phases).map(|phase| phase.path.as_str()))),
        ("created_at", json!(run.started_at)),
        ("updated_at", json!(updated_at(run))),
        ("inputs", inside(&run.definition.inputs.iter().collect::<Vec<_>>(), |_| json!(run.definition.inputs))),
        ("phases", manifest_phases(&phases)),
        ("agents_contributed", json!(contributions(run))),
        ("artifacts", json!(manifest_artifacts(run))),
        ("feedback_iterations", json!(rounds)),
    ])
}

fn manifest_phases(phases: &[PhaseProgress<'_>]) -> Value {
    let entry = |phase: &PhaseProgress<'_>| {
        let mut told = members(phase);
        told.insert(0, ("status", json!(manifest_status(phase.status))));
        told.push(("phases", inside(&phase.members, manifest_phases)));
        (phase.path.clone(), object(told))
    };
    Value::Object(phases.iter().map(entry).collect())
}

/// Files of this kind say `complete`.
fn manifest_status(status: Status) -> &'static str {
    match status {
        Status::Completed => "complete",
        other => other.as_str(),
    }
}

/// Returns who has handed something in, each time. The agent is called `type` in files of this kind.
fn contributions(run: &Run) -> Vec<Value> {
    let reported = artifacts::work(run).filter_map(|tracked| Some((tracked, tracked.report()?)));
    let entry = |(tracked, report): (&baton_engine::run::TrackedHandoff, &baton_protocol::model::Report)| {
        let made = artifacts::paths(tracked);
        object(vec![
            ("type", json!(tracked.handoff.terms.to)),
            ("phase", json!(tracked.step.phase)),
            ("handoff", json!(tracked.handoff.id.as_str())),
            ("status", json!(report.outcome.map(|outcome| outcome.as_str()))),
            ("timestamp", json!(tracked.handoff.state.finished_at().unwrap_or(tracked.handoff.changed_at))),
            ("report", json!(tracked.told.as_ref().and_then(|told| told.written.path.as_ref()))),
            ("artifacts", inside(&made, |made| json!(made))),
            ("files_modified", inside(&report.files_modified, |files| json!(files))),
        ])
    };
    reported.map(entry).collect()
}

fn manifest_artifacts(run: &Run) -> Vec<Value> {
    let entry = |mut known: Map<String, Value>| {
        let names = ["path", "type", "phase", "agent", "status", "created_at"];
        object(names.into_iter().map(|name| (name, known.remove(name).unwrap_or(Value::Null))).collect())
    };
    artifacts::registry(run).into_iter().map(entry).collect()
}

/// Returns what both lists of phases tell about one.
fn members<'m>(phase: &PhaseProgress<'_>) -> Vec<(&'m str, Value)> {
    let made = phase.latest.map(artifacts::paths).unwrap_or_default();
    let attempts = phase.latest.map(|latest| latest.attempts).filter(|attempts| *attempts > 1);
    vec![
        ("title", json!(phase.phase.title)),
        ("agent", json!(phase.phase.agent)),
        ("reason", json!(phase.reason)),
        ("handoff", json!(handoff_of(phase))),
        ("visits", json!(Some(phase.visits).filter(|visits| *visits > 1))),
        ("attempts", json!(attempts)),
        ("started_at", json!(phase.started_at())),
        ("completed_at", json!(phase.finished_at())),
        ("artifacts", inside(&made, |made| json!(made))),
    ]
}

fn handoff_of<'p>(phase: &PhaseProgress<'p>) -> Option<&'p str> {
    phase.latest.map(|latest| latest.handoff.id.as_str())
}

fn updated_at(run: &Run) -> jiff::Timestamp {
    run.handoffs().map(|tracked| tracked.handoff.changed_at).max().unwrap_or(run.started_at)
}

/// Returns what is made of a list, nothing of an empty one.
fn inside<T>(list: &[T], make: impl FnOnce(&[T]) -> Value) -> Value {
    if list.is_empty() { Value::Null } else { make(list) }
}

/// Makes an object; what is null is left out.
fn object(members: Vec<(&str, Value)>) -> Value {
    let told = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(told.map(|(name, value)| (name.to_owned(), value)).collect())
}

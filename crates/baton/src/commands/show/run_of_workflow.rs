//! A run of a workflow: its phases, what is going on in it, and what waits for a person.

use baton_engine::engine::RunRecord;
use baton_engine::flow;
use baton_engine::handoff::Handoff;
use baton_engine::people::Question;
use baton_engine::people::plain_words;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::output::{Output, printable};
use crate::render;
use crate::render::run::{Summary, name, took};
use crate::render::sheet::Tint;
use crate::render::standing::Standing;
use crate::showing::telling::going_on;
use crate::store::{Session, StoreOptions};

/// Shows a run.
pub(super) fn show(
    session: &Session,
    root: &Handoff,
    store: &StoreOptions,
    as_json: bool,
    output: &Output,
) -> Result<Exit, CommandError> {
    let RunRecord { run, events } = session.run(session.engine.run(&root.run))?;
    let summary = Summary::of(&run, &events, session.now());
    let standing = Standing::of(root, run.handoffs().map(|tracked| &tracked.handoff), session.now());
    let waiting: Vec<(Handoff, Question)> =
        run.waiting().filter_map(|tracked| Some((tracked.handoff.clone(), flow::question(&run, tracked)?))).collect();
    let store = store.repeated();
    if as_json {
        output.json(&in_json(&run, &summary, &standing, &waiting, &store))?;
        return Ok(Exit::Done);
    }
    let paint = output.paint();
    let mut text = heading(&run, &standing, session, &store);
    text.push_str(&format!("\n{}", summary.table(output.width())));
    let open: Vec<String> =
        run.open().filter(|tracked| is_going_on(tracked)).map(|tracked| line(tracked, session)).collect();
    if !open.is_empty() {
        text.push_str(&format!("\n{}\n{}", paint.tint(Tint::Strong, "going on"), open.concat()));
    }
    if !waiting.is_empty() {
        let asked = render::inbox::lines(&waiting, &store, session.now(), paint);
        text.push_str(&format!("\n{}\n{asked}", paint.tint(Tint::Strong, "waits for a person")));
    }
    output.data(&text)?;
    Ok(Exit::Done)
}

fn is_going_on(tracked: &TrackedHandoff) -> bool {
    !tracked.handoff.state.name().is_finished() && !matches!(tracked.step.role, Role::Run | Role::Group)
}

fn line(tracked: &TrackedHandoff, session: &Session) -> String {
    let since = render::handoff::ago(tracked.begun_at.unwrap_or(tracked.handoff.accepted_at), session.now());
    format!("  {} {} ({since})\n", render::columns::padded(&name(tracked), 24), printable(&going_on(tracked)))
}

fn heading(run: &Run, standing: &Standing, session: &Session, store: &str) -> String {
    let root = &run.root().handoff;
    let ended = root.state.finished_at().unwrap_or_else(|| session.now());
    let lasted = std::time::Duration::try_from(ended.duration_since(run.started_at)).unwrap_or_default();
    let started = render::handoff::ago(run.started_at, session.now());
    let mut lines = vec![
        ("run", run.id.to_string()),
        ("workflow", run.definition.name().to_owned()),
        ("state", standing.words(session.now())),
        ("started", format!("{started} by {}, took {}", root.terms.from, took(lasted))),
        ("workspace", run.definition.workspace.display().to_string()),
        ("logs", run.definition.workspace.join(".baton/runs").join(run.id.as_str()).display().to_string()),
    ];
    if let (Standing::Ended(_), Some(failure)) = (standing, &root.last_failure) {
        lines.insert(3, ("failure", failure.message.clone()));
    }
    if !run.definition.inputs.is_empty() {
        let inputs = run.definition.inputs.iter().map(|(name, value)| format!("{name}={}", plain_words(value)));
        lines.insert(2, ("inputs", inputs.collect::<Vec<_>>().join(" ")));
    }
    if matches!(standing, Standing::Waiting(_) | Standing::Left) {
        lines.push(("go on", format!("baton resume {}{store}", run.id)));
    }
    lines.iter().map(|(label, text)| format!("{label:<9} {}\n", printable(text))).collect()
}

fn in_json(run: &Run, summary: &Summary, standing: &Standing, waiting: &[(Handoff, Question)], store: &str) -> Value {
    let root = &run.root().handoff;
    let open = |tracked: &TrackedHandoff| {
        json!({
            "handoff": tracked.handoff.id,
            "phase": tracked.step.phase,
            "agent": tracked.handoff.terms.to,
            "state": tracked.handoff.state.name().as_str(),
            "attempt": tracked.attempts,
            "since": tracked.begun_at.unwrap_or(tracked.handoff.accepted_at),
        })
    };
    json!({
        "version": 1,
        "run": run.id,
        "workflow": run.definition.name(),
        "state": standing.word(),
        "driven_by": match standing { Standing::Driven(by) | Standing::Silent { by, .. } => Some(by), _ => None },
        "failure": root.last_failure.as_ref().map(|failure| &failure.message),
        "inputs": run.definition.inputs,
        "workspace": run.definition.workspace,
        "started_at": run.started_at,
        "finished_at": root.state.finished_at(),
        "handoff": render::handoff::json(root),
        "phases": summary.json(),
        "totals": summary.totals_json(),
        "going_on": run.open().filter(|tracked| is_going_on(tracked)).map(open).collect::<Vec<_>>(),
        "waiting": waiting.iter().map(|(handoff, question)| render::inbox::json(handoff, question, store)).collect::<Vec<_>>(),
    })
}

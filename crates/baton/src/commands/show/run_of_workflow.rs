//! A run of a workflow: its phases, what is going on in it, and what waits for a person.

use baton_engine::engine::RunRecord;
use baton_engine::flow;
use baton_engine::handoff::Handoff;
use baton_engine::people::Question;
use baton_engine::people::plain_words;
use baton_engine::run::{Run, TrackedHandoff};
use baton_protocol::printable;
use baton_views::details::RunDetails;
use baton_views::run_summary::RunSummary;
use baton_views::sentence::{going_on, is_going_on};
use baton_views::standing::RunStanding;
use baton_views::step_name::StepName;
use baton_views::words::{ago, span, took};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::render::columns::{self, padded};
use crate::render::sheet::{Tint, wrapped};
use crate::running;
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
    let summary = RunSummary::of(&run, &events, session.now());
    let standing =
        RunStanding::of(root, run.handoffs().map(|tracked| &tracked.handoff), session.now(), running::is_dead);
    let waiting: Vec<(Handoff, Question)> =
        run.waiting().filter_map(|tracked| Some((tracked.handoff.clone(), flow::question(&run, tracked)?))).collect();
    let store = store.repeated();
    if as_json {
        let waiting =
            waiting.iter().map(|(handoff, question)| render::inbox::json(handoff, question, &store)).collect();
        output.json(&RunDetails { run: &run, summary: &summary, standing: &standing, waiting }.json())?;
        return Ok(Exit::Done);
    }
    let paint = output.paint();
    let asked: Vec<&Question> = waiting.iter().map(|(_, question)| question).collect();
    let mut text = heading(&run, &standing, &asked, session, &store);
    text.push_str(&format!("\n{}", render::run::table(&summary, output.width())));
    let open: Vec<String> = run
        .open()
        .filter(|tracked| is_going_on(tracked))
        .map(|tracked| line(tracked, session, output.width()))
        .collect();
    if !open.is_empty() {
        text.push_str(&format!("\n{}\n{}", paint.tint(Tint::Strong, "running"), open.concat()));
    }
    if !waiting.is_empty() {
        let asked = render::inbox::lines(&waiting, &store, session.now(), paint);
        text.push_str(&format!("\n{}\n{asked}", paint.tint(Tint::Strong, "waits for a person")));
    }
    output.data(&text)?;
    Ok(Exit::Done)
}

/// Describes what a handoff does. On a terminal of this width, what does not fit goes on below.
fn line(tracked: &TrackedHandoff, session: &Session, width: Option<usize>) -> String {
    let since = ago(tracked.begun_at.unwrap_or(tracked.handoff.accepted_at), session.now());
    let name = padded(&StepName::of(tracked).to_string(), 24);
    let told = format!("{} ({since})", printable(&going_on(tracked)));
    // On a line of its own where little room is left beside the name.
    let indent = if width.is_some_and(|width| width < 80) { 4 } else { columns::width(&name) + 3 };
    let lines = width.map_or_else(|| vec![told.clone()], |width| wrapped(&told, width.saturating_sub(indent)));
    let begin = if indent == 4 { format!("  {}\n    ", name.trim_end()) } else { format!("  {name} ") };
    format!("{begin}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

fn heading(run: &Run, standing: &RunStanding, asked: &[&Question], session: &Session, store: &str) -> String {
    let root = &run.root().handoff;
    let ended = root.state.finished_at().unwrap_or_else(|| session.now());
    let started = ago(run.started_at, session.now());
    let mut lines = vec![
        ("run", run.id.to_string()),
        ("workflow", run.definition.name().to_owned()),
        ("state", standing.words(session.now())),
        ("started", format!("{started} by {}, took {}", root.terms.from, took(span(run.started_at, ended)))),
        ("workspace", run.definition.workspace.display().to_string()),
        ("logs", run.definition.workspace.join(".baton/runs").join(run.id.as_str()).display().to_string()),
    ];
    if let (RunStanding::Ended(_), Some(failure)) = (standing, &root.last_failure) {
        lines.insert(3, ("failure", failure.text()));
    }
    if !run.definition.inputs.is_empty() {
        let inputs = run.definition.inputs.iter().map(|(name, value)| format!("{name}={}", plain_words(value)));
        lines.insert(2, ("inputs", inputs.collect::<Vec<_>>().join(" ")));
    }
    if matches!(standing, RunStanding::Waiting(_) | RunStanding::Left) {
        let resume = format!("baton resume {}{store}", run.id);
        lines.push(match asked {
            [] => ("next", resume),
            [only] => ("next", format!("{}, then {resume}", render::inbox::command(only, store))),
            _ => ("next", format!("baton inbox{store}, then {resume}")),
        });
    }
    lines.iter().map(|(label, text)| format!("{label:<9} {}\n", printable(text))).collect()
}

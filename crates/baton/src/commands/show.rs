//! `baton show`: shows one handoff: where it is, what the next attempt must know, and what happened; or a run.

mod file;
mod run_of_workflow;

use std::collections::HashSet;

use baton_engine::Handoff;
use baton_engine::engine::{accepted_request, examined_of, shown_document};
use baton_engine::handoff::{Digest, StateName, WrittenDocument};
use baton_engine::people::Question;
use baton_engine::step::Role;
use baton_protocol::printable;
use baton_views::details::HandoffDetails;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::render::sheet::Sheet;
use crate::store::{Access, Session, StoreOptions};

/// Show a handoff and its history, or a run and its phases
///
/// For a run: each phase with visits, attempts, time, tokens, evidence and outcome, what is running and what is
/// waiting. What waits for a person is shown in readable form, with the evidence for its claims and the digest that a
/// decision names. With --documents it also prints the request and the last report as they were written; --json has
/// everything. With --file it prints a file that the report names or that was handed over, as it was when it was
/// examined, wherever the workspace is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton show HO-2026-031\n  baton show HO-2026-031 --documents\n  \
baton show HO-2026-031 --json\n  \
baton show integration-k3f9q2.design.1 --file docs/DESIGN.md\n  \
baton show integration-k3f9q2")]
pub(crate) struct Options {
    /// The handoff or the run: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Print the request and the last report, too
    #[arg(long)]
    documents: bool,
    /// Print only this file, as it was when it was examined
    #[arg(long, value_name = "PATH", conflicts_with_all = ["documents", "json"])]
    file: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// Writes a whole document under what identifies it.
fn whole(name: &str, written: &WrittenDocument) -> String {
    let Digest(digest) = written.digest();
    format!("\n{name} ({}, digest {digest}):\n{}\n", written.dialect, printable(written.text.trim_end()))
}

/// Returns what a person is asked about a handoff that waits for one; that depends on all of its run.
fn question(session: &Session, handoff: &Handoff) -> Result<Option<Question>, CommandError> {
    if handoff.state.name() != StateName::AwaitingPerson {
        return Ok(None);
    }
    Ok(session.run(session.engine.question(handoff))?)
}

/// Shows the handoffs of a run without a driver, such as those of a session.
fn show_session(session: &Session, handoffs: &[Handoff], json: bool, output: &Output) -> Result<Exit, CommandError> {
    if json {
        let run = handoffs.first().map(|handoff| &handoff.run);
        let handoffs: Vec<_> = handoffs.iter().map(baton_views::handoff::json).collect();
        output.json(&json!({ "version": 1, "run": run, "handoffs": handoffs }))?;
    } else {
        // Those of a session have neither checks nor groups.
        output.data(&render::handoff::table(handoffs, &HashSet::new(), session.now(), output.paint()))?;
    }
    Ok(Exit::Done)
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    if let Some(handoffs) = session.run(session.engine.plain_run(&options.id))? {
        return show_session(&session, &handoffs, options.json, output);
    }
    let handoff = session.run(session.engine.resolve(&options.id))?;
    // The request of a run is the whole workflow; who wants that asks for documents.
    if handoff.is_run() && !options.documents && options.file.is_none() {
        return run_of_workflow::show(&session, &handoff, &options.store, options.json, output);
    }
    if let Some(path) = &options.file {
        return file::show(&session, &handoff, path, output);
    }
    let events = session.run(session.store.history_of(&handoff.id))?;
    let question = question(&session, &handoff)?;
    let request = accepted_request(&events)?;
    let report = shown_document(&events, handoff.last_report.as_ref());
    if options.json {
        let details = HandoffDetails {
            handoff: &handoff,
            request: &request,
            report: report.as_ref(),
            question: question.map(|question| render::inbox::json(&handoff, &question, &options.store.repeated())),
            events: &events,
        };
        output.json(&details.json())?;
        return Ok(Exit::Done);
    }
    let passed = session.run(session.engine.not_passed(std::slice::from_ref(&handoff)))?.is_empty();
    let mut text = render::handoff::lines(&handoff, passed, session.now(), output.paint());
    let mut sheet = Sheet::new(output.paint());
    match question {
        Some(question) => {
            sheet.heading("");
            let mut question = Question { text: String::new(), ..question };
            // What was said before stands above, as notes of the handoff.
            let is_noted = |said: &String| handoff.notes.iter().any(|note| said.ends_with(&note.text));
            question.decided_before.retain(|said| !is_noted(said));
            render::question::body(&mut sheet, &question);
            sheet.row("digest", &question.shown.0);
        }
        None => {
            // What a command of the workflow said stands nowhere else.
            let is_check = handoff.terms.step.as_ref().is_some_and(|step| step.role == Role::Check);
            match report.as_ref().filter(|report| report.digest() != request.digest()) {
                Some(report) if is_check => render::document::write(&mut sheet, report, ""),
                Some(report) => render::document::write_briefly(&mut sheet, report),
                None => {}
            }
            render::question::evidence(&mut sheet, &examined_of(&events));
        }
    }
    text.push_str(&sheet.into_text());
    text.push_str(&format!("\n{}", render::timeline::lines(&events, output.width())));
    if options.documents {
        text.push_str(&whole("request", &request));
        // A gate decides about the request itself.
        if let Some(report) = report.filter(|report| report.digest() != request.digest()) {
            text.push_str(&whole("report", &report));
        }
    }
    output.data(&text)?;
    Ok(Exit::Done)
}

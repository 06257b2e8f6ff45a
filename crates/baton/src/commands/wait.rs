//! `baton wait`: waits until handoffs are finished, and prints what came back.

use std::collections::HashSet;
use std::time::Duration;

use baton_engine::handoff::StateName;
use baton_engine::{Handoff, HandoffId};
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::moment::{briefly, parse_duration};
use crate::output::Output;
use crate::render;
use crate::store::{Access, Session, StoreOptions, is_run, shown_document};
use crate::waiting::wait_for;

/// Wait until handoffs are finished
///
/// Prints the report of the handoff; of several, a line for each. Exits with 0 if all are completed, 1 if one failed, was
/// cancelled or is not finished in time, and 3 if one waits for a person (with --through-people it goes on waiting).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton wait HO-2026-031\n  baton wait --timeout 10m \"$id\" > report.md")]
pub(crate) struct Options {
    /// The handoffs: ids, or unique beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// How long to wait at most
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Go on waiting while a person must decide
    #[arg(long)]
    through_people: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    session.run(async {
        let mut ids: Vec<HandoffId> = Vec::new();
        for given in &options.ids {
            let id = session.resolve(given).await?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut told_blocked = HashSet::new();
        let settled = wait_for(&session, None, options.timeout, output, async || {
            let handoffs = look(&session, &ids).await?;
            for blocked in handoffs.iter().filter(|handoff| handoff.state.name() == StateName::Blocked) {
                if told_blocked.insert(blocked.id.clone()) {
                    output.note(&format!("{} is {}", blocked.id, render::handoff::state(blocked, session.now())));
                }
            }
            let settled = is_settled(&session, &handoffs, options.through_people).await?;
            Ok(settled.then_some(handoffs))
        });
        let (handoffs, in_time) = match settled.await? {
            Some(handoffs) => (handoffs, true),
            None => (look(&session, &ids).await?, false),
        };
        tell(options, &handoffs, &session, output).await?;
        if let Some(limit) = options.timeout.filter(|_| !in_time) {
            let open = handoffs.iter().filter(|handoff| !handoff.state.name().is_finished()).count();
            output.note(&format!("{open} of {} not finished within {}", handoffs.len(), briefly(limit)));
            return Ok(Exit::No);
        }
        Ok(verdict(&handoffs))
    })
}

async fn look(session: &Session, ids: &[HandoffId]) -> Result<Vec<Handoff>, CommandError> {
    let mut handoffs = Vec::with_capacity(ids.len());
    for id in ids {
        let found = session.store.find(id).await?;
        handoffs.push(found.ok_or_else(|| CommandError::no(format!("the handoff `{id}` was removed meanwhile")))?);
    }
    Ok(handoffs)
}

/// Says whether waiting is over: everything is finished, or a person is needed before anything else can happen.
async fn is_settled(session: &Session, handoffs: &[Handoff], through_people: bool) -> Result<bool, CommandError> {
    for handoff in handoffs {
        let settled = match handoff.state.name() {
            StateName::AwaitingPerson => !through_people,
            name if name.is_finished() => true,
            _ if is_run(handoff) && !through_people => is_asking(session, handoff).await?,
            _ => false,
        };
        if !settled {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says whether nothing happens in a run before a person has decided.
async fn is_asking(session: &Session, root: &Handoff) -> Result<bool, CommandError> {
    let inside = session.store.handoffs_of(&root.run).await?;
    let inside = || inside.iter().map(|(handoff, _)| handoff).filter(|handoff| handoff.id != root.id);
    let is_working = |handoff: &Handoff| matches!(handoff.state.name(), StateName::Claimed | StateName::Verifying);
    Ok(inside().any(|handoff| handoff.state.name() == StateName::AwaitingPerson) && !inside().any(is_working))
}

/// Says how waiting ended, once it did: what is not finished waits for a person.
fn verdict(handoffs: &[Handoff]) -> Exit {
    let any = |name: StateName| handoffs.iter().any(|handoff| handoff.state.name() == name);
    match () {
        () if any(StateName::Failed) || any(StateName::Cancelled) => Exit::No,
        () if handoffs.iter().any(|handoff| !handoff.state.name().is_finished()) => Exit::Waiting,
        () => Exit::Done,
    }
}

async fn tell(options: &Options, handoffs: &[Handoff], session: &Session, output: &Output) -> Result<(), CommandError> {
    let mut reports = Vec::with_capacity(handoffs.len());
    for handoff in handoffs {
        let events = session.store.history_of(&handoff.id).await?;
        reports.push(shown_document(&events, handoff.last_report.as_ref()));
    }
    let pairs = || handoffs.iter().zip(&reports);
    if options.json {
        let results: Vec<_> = pairs()
            .map(|(handoff, report)| {
                let report = report.as_ref().map(render::handoff::document);
                json!({ "handoff": render::handoff::json(handoff), "report": report })
            })
            .collect();
        return output.json(&json!({ "version": 1, "results": results }));
    }
    let line = |handoff: &Handoff| match is_run(handoff) && handoff.state.name() == StateName::Pending {
        true => format!("{} waits for a person; `baton inbox --run {}` shows what is asked", handoff.id, handoff.run),
        false => format!("{} {}", handoff.id, render::handoff::state(handoff, session.now())),
    };
    if let [(handoff, report)] = &pairs().collect::<Vec<_>>()[..] {
        if let Some(report) = report {
            output.document(&report.text)?;
        }
        output.note(&line(handoff));
        if let Some(failure) = handoff.last_failure.as_ref().filter(|_| handoff.state.name() == StateName::Failed) {
            output.note(&render::handoff::one_line(&failure.to_string()));
        }
        return Ok(());
    }
    handoffs.iter().try_for_each(|handoff| output.data(&format!("{}\n", line(handoff))))
}

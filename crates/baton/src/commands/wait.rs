//! `baton wait`: waits until handoffs are finished, and prints what came back.

use std::collections::HashSet;
use std::time::Duration;

use baton_engine::engine::{StoreNews, WaitFor, shown_document};
use baton_engine::handoff::StateName;
use baton_engine::{Handoff, HandoffId};
use baton_views::words::briefly;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::parse_duration;

/// Wait until handoffs are finished
///
/// Prints the report of the handoff, or one line for each of several. Exits with 0 if all are completed, 1 if one
/// failed, was cancelled or is not finished in time, and 3 if one waits for a person (with --through-people it keeps
/// waiting).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton wait HO-2026-031\n  baton wait --timeout 10m \"$id\" > report.md")]
pub(crate) struct Options {
    /// The handoffs: ids, or unique beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// How long to wait at most
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    /// Keep waiting while a person must decide
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
            let id = session.engine.resolve(given).await?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut told_blocked = HashSet::new();
        let heard = |news: StoreNews<'_>| output.store_news(news);
        let waiting = WaitFor { agent: None, limit: options.timeout, tell: &heard };
        let settled = session.engine.wait_for(waiting, async || {
            let handoffs = session.engine.find_all(&ids).await?;
            for blocked in handoffs.iter().filter(|handoff| handoff.state.name() == StateName::Blocked) {
                if told_blocked.insert(blocked.id.clone()) {
                    output.note(&format!("{} is {}", blocked.id, baton_views::handoff::state(blocked, session.now())));
                }
            }
            let settled = session.engine.is_settled(&handoffs, options.through_people).await?;
            Ok(settled.then_some(handoffs))
        });
        let (handoffs, in_time) = match settled.await? {
            Some(handoffs) => (handoffs, true),
            None => (session.engine.find_all(&ids).await?, false),
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

/// Returns how waiting ended, once it did: what is not finished waits for a person.
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
                let report = report.as_ref().map(baton_views::handoff::document);
                json!({ "handoff": baton_views::handoff::json(handoff), "report": report })
            })
            .collect();
        return output.json(&json!({ "version": 1, "results": results }));
    }
    let line = |handoff: &Handoff| match handoff.is_run() && handoff.state.name() == StateName::Pending {
        true => format!("{} waits for a person; `baton inbox --run {}` shows what is asked", handoff.id, handoff.run),
        false => format!("{} {}", handoff.id, baton_views::handoff::state(handoff, session.now())),
    };
    if let [(handoff, report)] = &pairs().collect::<Vec<_>>()[..] {
        if let Some(report) = report {
            output.document(&report.text)?;
        }
        output.note(&line(handoff));
        if let Some(failure) = handoff.last_failure.as_ref().filter(|_| handoff.state.name() == StateName::Failed) {
            output.note(&baton_views::words::one_line(&failure.to_string()));
        }
        return Ok(());
    }
    handoffs.iter().try_for_each(|handoff| output.data(&format!("{}\n", line(handoff))))
}

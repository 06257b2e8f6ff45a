//! Applying a command, with everything that follows from it, in one transaction.

use baton_engine::HandoffId;
use baton_engine::handoff::{Handoff, Written};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::{self, Action, Command, Resume, Transition};
use baton_engine::store::{Error, Order};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Batch;
use super::{accept, table, translate};

/// Applies a command. A refusal is an answer; whatever was journalled about it stays.
pub(super) fn apply(batch: &Batch<'_>, order: &Order, at: Timestamp) -> Result<Result<Handoff, Error>, Error> {
    let connection = batch.connection;
    let Some(row) = table::find(connection, &order.id)? else { return Err(Error::NotFound(order.id.clone())) };
    let handoff = row.handoff()?;
    let (head, latest) = table::head(connection, &handoff.run)?;
    let at = latest.map_or(at, |latest| latest.max(at));
    match lifecycle::apply(&handoff, order.command.clone(), at) {
        Ok(transition) => {
            table::advance(connection, head, &transition)?;
            follow(batch, &transition, at)?;
            accept::accept(batch, &order.next, at)?;
            Ok(Ok(transition.handoff))
        }
        Err(refusal) => {
            if let Some(refused) = lifecycle::to_journal(&order.command, &refusal) {
                table::advance(connection, head, &lifecycle::refuse(&handoff, refused, at))?;
            }
            Ok(Err(refusal.into()))
        }
    }
}

/// Does what follows from a transition inside the same transaction.
pub(super) fn follow(batch: &Batch<'_>, transition: &Transition, at: Timestamp) -> Result<(), Error> {
    for action in &transition.actions {
        match action {
            Action::Return { to, result } => return_to(batch, &transition.handoff, to, result.as_ref(), at)?,
            Action::Announce { .. }
            | Action::TellFinished
            | Action::Verify
            | Action::AskPerson { .. }
            | Action::Unblock { .. }
            | Action::StopAttempt { .. } => batch.announce(),
        }
    }
    Ok(())
}

/// Lets the blocked caller go on with the result. If it does not wait any more, the result stands for itself.
fn return_to(
    batch: &Batch<'_>,
    done: &Handoff,
    to: &HandoffId,
    result: Option<&Written>,
    at: Timestamp,
) -> Result<(), Error> {
    let Some(row) = table::find(batch.connection, to)? else { return Ok(()) };
    let caller = row.handoff()?;
    let reported = match result {
        Some(written) => Some(written.clone()),
        None => last_report(batch.connection, done)?,
    };
    let resolution = reported.map_or_else(|| format!("{} is completed", done.id), |written| written.text);
    let resume = Command::Resume(Resume { by: done.terms.to.clone(), resolution });
    let (head, latest) = table::head(batch.connection, &caller.run)?;
    let at = latest.map_or(at, |latest| latest.max(at));
    if let Ok(transition) = lifecycle::apply(&caller, resume, at) {
        table::advance(batch.connection, head, &transition)?;
        follow(batch, &transition, at)?;
    }
    Ok(())
}

/// Returns the latest report of a handoff.
fn last_report(connection: &Connection, handoff: &Handoff) -> Result<Option<Written>, Error> {
    let sql =
        "SELECT detail FROM events WHERE run = ?1 AND handoff = ?2 AND kind = 'reported' ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let detail: Option<String> = statement
        .query_row(params![handoff.run.as_str(), handoff.id.as_str()], |row| row.get(0))
        .optional()
        .map_err(translate)?;
    match detail.map(|detail| Fact::read("reported", &detail)).transpose().map_err(Error::Damaged)? {
        Some(Fact::Happened(Command::Report(report))) => Ok(Some(report.document)),
        _ => Ok(None),
    }
}

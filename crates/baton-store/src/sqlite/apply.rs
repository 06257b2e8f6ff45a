//! Applying a command, with everything that follows from it, in one transaction.

use baton_engine::HandoffId;
use baton_engine::handoff::{Handoff, Written};
use baton_engine::journal::{Fact, Head};
use baton_engine::lifecycle::{self, Action, Command, Resume};
use baton_engine::store::{Error, Order};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::table::{self, Change};
use super::writer::Batch;
use super::{accept, translate};
use crate::own::Own;

/// A change that was decided before it was anybody's turn to write.
pub(super) struct Prepared {
    /// The last event that it starts from.
    head: Head,
    pub(super) change: Change,
    actions: Vec<Action>,
}

/// Decides about a handoff that this process has claimed, as it was then. What is refused is not decided here: only the
/// row can tell why.
pub(super) fn prepare(own: &Own, order: &Order, at: Timestamp) -> Option<Prepared> {
    let (handoff, head) = own.take(&order.id)?;
    let transition = lifecycle::apply(&handoff, order.command.clone(), at).ok()?;
    let actions = transition.actions.clone();
    order.next.is_empty().then(|| Prepared { head, change: Change::of(transition, head), actions })
}

/// Writes what was prepared, if the handoff and its journal are still as they were then.
pub(super) fn write(batch: &Batch<'_>, prepared: &Prepared, at: Timestamp) -> Result<bool, Error> {
    let Prepared { head, change, actions } = prepared;
    let unchanged = table::head(batch.connection, &change.handoff.run)?.0 == *head;
    if !unchanged || !table::update(batch.connection, change)? {
        return Ok(false);
    }
    follow(batch, &change.handoff, actions, at)?;
    Ok(true)
}

/// Applies a command. A refusal is an answer; whatever was journalled about it stays.
pub(super) fn apply(batch: &Batch<'_>, order: &Order, at: Timestamp) -> Result<Result<Change, Error>, Error> {
    let connection = batch.connection;
    let Some(row) = table::find(connection, &order.id)? else { return Err(Error::NotFound(order.id.clone())) };
    let handoff = row.handoff()?;
    let (head, latest) = table::head(connection, &handoff.run)?;
    let at = latest.map_or(at, |latest| latest.max(at));
    match lifecycle::apply(&handoff, order.command.clone(), at) {
        Ok(transition) => {
            let actions = transition.actions.clone();
            let change = table::advance(connection, head, transition)?;
            follow(batch, &change.handoff, &actions, at)?;
            accept::accept(batch, &order.next, None, at)?;
            Ok(Ok(change))
        }
        Err(refusal) => {
            if let Some(refused) = lifecycle::to_journal(&order.command, &refusal) {
                table::advance(connection, head, lifecycle::refuse(&handoff, refused, at))?;
            }
            Ok(Err(refusal.into()))
        }
    }
}

/// Does what follows from a transition inside the same transaction.
pub(super) fn follow(batch: &Batch<'_>, handoff: &Handoff, actions: &[Action], at: Timestamp) -> Result<(), Error> {
    for action in actions {
        match action {
            Action::Return { to } => return_to(batch, handoff, to, at)?,
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

/// Lets the caller go on with what came out. If it is finished itself, nobody waits any more.
fn return_to(batch: &Batch<'_>, done: &Handoff, to: &HandoffId, at: Timestamp) -> Result<(), Error> {
    let Some(row) = table::find(batch.connection, to)? else { return Ok(()) };
    let caller = row.handoff()?;
    let report = last_report(batch.connection, done)?;
    let resume = Command::Resume(Resume::after(done, report.as_ref()));
    let (head, latest) = table::head(batch.connection, &caller.run)?;
    let at = latest.map_or(at, |latest| latest.max(at));
    if let Ok(transition) = lifecycle::apply(&caller, resume, at) {
        let actions = transition.actions.clone();
        let change = table::advance(batch.connection, head, transition)?;
        follow(batch, &change.handoff, &actions, at)?;
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

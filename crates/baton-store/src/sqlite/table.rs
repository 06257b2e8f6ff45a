//! The rows of the tables: one function per statement that more than one verb needs.

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::Transition;
use baton_engine::queue::Queue;
use baton_engine::store::StoreError;
use baton_engine::stored::body;
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::translate;
use crate::plan::Made;
use crate::rows::{self, Columns, Row, signed};

/// The columns of a [`Row`], in the order in which [`row`] reads them.
macro_rules! columns {
    () => {
        "id, run, version, fence, accepted_seq, last_seq, head, body"
    };
}
pub(super) use columns;

/// Reads a row.
pub(super) fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        id: row.get(0)?,
        run: row.get(1)?,
        version: row.get(2)?,
        fence: row.get(3)?,
        accepted_seq: row.get(4)?,
        last_seq: row.get(5)?,
        head: row.get(6)?,
        body: row.get(7)?,
    })
}

/// A handoff as it will be, with the event that makes it so. Everything but the writing is done.
pub(super) struct Change {
    pub(super) handoff: Handoff,
    pub(super) event: Event,
    body: String,
}

impl Change {
    /// Takes a transition to be written after the last event of its run.
    pub(super) fn of(transition: Transition, head: Head) -> Change {
        let handoff = transition.handoff;
        let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
        Change { body: body::write(&handoff), handoff, event }
    }

    /// Returns the handoff and its last event.
    pub(super) fn after(&self) -> (Handoff, Head) {
        (self.handoff.clone(), self.event.head())
    }
}

/// Finds the row of a handoff.
pub(super) fn find(connection: &Connection, id: &HandoffId) -> Result<Option<Row>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM handoffs WHERE id = ?1");
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([id.as_str()], row).optional().map_err(translate)
}

/// Returns the request of a handoff, from the event with which it was accepted.
pub(super) fn request(connection: &Connection, row: &Row) -> Result<WrittenDocument, StoreError> {
    let sql = "SELECT kind, detail FROM events WHERE run = ?1 AND seq = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let (kind, detail): (String, String) = statement
        .query_row(params![row.run, row.accepted_seq], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => {
                StoreError::Damaged(format!("event {} of run `{}` is missing", row.accepted_seq, row.run))
            }
            error => translate(error),
        })?;
    match Fact::read(&kind, &detail) {
        Ok(Fact::Accepted(accept)) => Ok(accept.request),
        Ok(fact) => Err(StoreError::Damaged(format!("handoff `{}` begins with `{}`", row.id, fact.kind()))),
        Err(why) => Err(why.at(&format!("event {} of run `{}`", row.accepted_seq, row.run))),
    }
}

/// Returns the last event of a run and its time.
pub(super) fn head(connection: &Connection, run: &RunId) -> Result<(Head, Option<Timestamp>), StoreError> {
    let sql = "SELECT seq, hash, at FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let found = statement
        .query_row([run.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, i64>(2)?)))
        .optional()
        .map_err(translate)?;
    let Some((seq, hash, at)) = found else { return Ok((Head::START, None)) };
    Ok((Head { seq: rows::unsigned(seq)?, hash: rows::hash(&hash)? }, Some(rows::time(at)?)))
}

/// Writes an event.
fn record(connection: &Connection, event: &Event) -> Result<(), StoreError> {
    record_all(connection, std::slice::from_ref(event))
}

/// Writes events in their order.
fn record_all(connection: &Connection, events: &[Event]) -> Result<(), StoreError> {
    let sql = "INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    for event in events {
        statement
            .execute(params![
                event.run.as_str(),
                signed(event.seq),
                event.handoff.as_str(),
                signed(event.version),
                event.at.as_microsecond(),
                event.kind,
                event.detail,
                event.hash.0
            ])
            .map_err(translate)?;
    }
    Ok(())
}

/// Writes a handoff that has changed, with its event.
pub(super) fn advance(connection: &Connection, head: Head, transition: Transition) -> Result<Change, StoreError> {
    let change = Change::of(transition, head);
    // Nobody else writes inside our transaction, so the row can only be another if the file is wrong.
    if !update(connection, &change)? {
        let (id, version) = (&change.handoff.id, change.handoff.version - 1);
        return Err(StoreError::Damaged(format!("handoff `{id}` is not at version {version}")));
    }
    Ok(change)
}

/// Writes a handoff that is new, with its event. Returns whether it was new.
pub(super) fn insert(connection: &Connection, change: &Change) -> Result<bool, StoreError> {
    let Change { handoff, event, body } = change;
    let inserted = insert_row(connection, handoff, event.seq, event.head(), body)?;
    if inserted {
        record(connection, event)?;
    }
    Ok(inserted)
}

/// Writes a handoff that has changed, with its event, if it is still what it was before. Returns whether it was.
pub(super) fn update(connection: &Connection, change: &Change) -> Result<bool, StoreError> {
    let Change { handoff, event, body } = change;
    let updated = update_row(connection, handoff, handoff.version - 1, event.head(), body)?;
    if updated {
        record(connection, event)?;
    }
    Ok(updated)
}

/// Writes what was planned: each row once, and all events.
pub(super) fn write(connection: &Connection, made: &Made) -> Result<(), StoreError> {
    for (row, head) in made.changed() {
        let (handoff, body) = (&row.handoff, body::write(&row.handoff));
        let written = match row.before {
            Some(before) => update_row(connection, handoff, before, head, &body)?,
            None => insert_row(connection, handoff, row.accepted_seq, head, &body)?,
        };
        // Nobody else writes inside our transaction, so the row can only be another if the file is wrong.
        if !written {
            let (id, version) = (&handoff.id, row.before.unwrap_or_default());
            return Err(StoreError::Damaged(format!("handoff `{id}` is not at version {version}")));
        }
    }
    record_all(connection, &made.events)
}

fn insert_row(
    connection: &Connection,
    handoff: &Handoff,
    accepted_seq: u64,
    head: Head,
    body: &str,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at,
                                     key, accepted_seq, last_seq, head, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
               ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let columns = Columns::of(handoff);
    let inserted = statement
        .execute(params![
            handoff.id.as_str(),
            handoff.run.as_str(),
            columns.agent,
            columns.priority,
            columns.state,
            signed(handoff.version),
            signed(handoff.fence.0),
            columns.ready_at,
            columns.wake_at,
            columns.finished_at,
            columns.key,
            signed(accepted_seq),
            signed(head.seq),
            head.hash.0,
            body,
        ])
        .map_err(translate)?;
    Ok(inserted == 1)
}

fn update_row(
    connection: &Connection,
    handoff: &Handoff,
    before: u64,
    head: Head,
    body: &str,
) -> Result<bool, StoreError> {
    let sql = "UPDATE handoffs SET state = ?1, version = ?2, fence = ?3, ready_at = ?4, wake_at = ?5, finished_at = ?6,
                                   last_seq = ?7, head = ?8, body = ?9
               WHERE id = ?10 AND version = ?11";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let columns = Columns::of(handoff);
    let updated = statement
        .execute(params![
            columns.state,
            signed(handoff.version),
            signed(handoff.fence.0),
            columns.ready_at,
            columns.wake_at,
            columns.finished_at,
            signed(head.seq),
            head.hash.0,
            body,
            handoff.id.as_str(),
            signed(before),
        ])
        .map_err(translate)?;
    Ok(updated == 1)
}

/// Returns the settings of an agent's queue.
pub(super) fn queue(connection: &Connection, agent: &str) -> Result<Queue, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT paused, concurrency FROM queues WHERE agent = ?1").map_err(translate)?;
    let found = statement
        .query_row([agent], |row| Ok(Queue { agent: agent.to_owned(), paused: row.get(0)?, concurrency: row.get(1)? }))
        .optional()
        .map_err(translate)?;
    Ok(found.unwrap_or_else(|| Queue::open(agent)))
}

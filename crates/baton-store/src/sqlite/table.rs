//! The rows of the tables: one function per statement that more than one verb needs.

use baton_engine::handoff::Handoff;
use baton_engine::journal::{Event, Head};
use baton_engine::lifecycle::Transition;
use baton_engine::queue::Queue;
use baton_engine::store::Error;
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::translate;
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

/// Finds the row of a handoff.
pub(super) fn find(connection: &Connection, id: &HandoffId) -> Result<Option<Row>, Error> {
    let sql = concat!("SELECT ", columns!(), " FROM handoffs WHERE id = ?1");
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([id.as_str()], row).optional().map_err(translate)
}

/// Returns the last event of a run and its time.
pub(super) fn head(connection: &Connection, run: &RunId) -> Result<(Head, Option<Timestamp>), Error> {
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
pub(super) fn record(connection: &Connection, event: &Event) -> Result<(), Error> {
    let sql = "INSERT INTO events (run, seq, handoff, version, at, kind, detail, hash)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
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
    Ok(())
}

/// Writes a handoff that has changed, with its event, if it is still what it was before.
pub(super) fn advance(connection: &Connection, head: Head, transition: &Transition) -> Result<Head, Error> {
    let handoff = &transition.handoff;
    let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
    update(connection, handoff, event.head())?;
    record(connection, &event)?;
    Ok(event.head())
}

/// Writes a handoff that is new; says whether it was.
pub(super) fn insert(connection: &Connection, handoff: &Handoff, head: Head) -> Result<bool, Error> {
    let sql = "INSERT INTO handoffs (id, run, agent, priority, state, version, fence, ready_at, wake_at, finished_at,
                                     key, accepted_seq, last_seq, head, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14)
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
            signed(handoff.fence),
            columns.ready_at,
            columns.wake_at,
            columns.finished_at,
            columns.key,
            signed(head.seq),
            head.hash.0,
            rows::body(handoff),
        ])
        .map_err(translate)?;
    Ok(inserted == 1)
}

/// Writes a handoff that has changed, if it is still what it was before.
fn update(connection: &Connection, handoff: &Handoff, head: Head) -> Result<(), Error> {
    let sql = "UPDATE handoffs SET state = ?1, version = ?2, fence = ?3, ready_at = ?4, wake_at = ?5, finished_at = ?6,
                                   last_seq = ?7, head = ?8, body = ?9
               WHERE id = ?10 AND version = ?2 - 1";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let columns = Columns::of(handoff);
    let updated = statement
        .execute(params![
            columns.state,
            signed(handoff.version),
            signed(handoff.fence),
            columns.ready_at,
            columns.wake_at,
            columns.finished_at,
            signed(head.seq),
            head.hash.0,
            rows::body(handoff),
            handoff.id.as_str(),
        ])
        .map_err(translate)?;
    // Nobody else writes inside our transaction, so the row can only be missing if the file is wrong.
    if updated != 1 {
        return Err(Error::Damaged(format!("handoff `{}` is not at version {}", handoff.id, handoff.version - 1)));
    }
    Ok(())
}

/// Returns the settings of an agent's queue.
pub(super) fn queue(connection: &Connection, agent: &str) -> Result<Queue, Error> {
    let mut statement =
        connection.prepare_cached("SELECT paused, concurrency FROM queues WHERE agent = ?1").map_err(translate)?;
    let found = statement
        .query_row([agent], |row| Ok(Queue { agent: agent.to_owned(), paused: row.get(0)?, concurrency: row.get(1)? }))
        .optional()
        .map_err(translate)?;
    Ok(found.unwrap_or_else(|| Queue::open(agent)))
}

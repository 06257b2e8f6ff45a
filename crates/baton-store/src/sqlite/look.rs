//! Looking: what is there, without changing it.

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Head};
use baton_engine::queue::Queue;
use baton_engine::store::{Checkup, PositionedEvent, StoreError};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, Params, Row as SqlRow, params};

use super::{migrate, table, translate};
use crate::rows;

/// Returns all rows of a query.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let rows = statement.query_map(parameters, read).map_err(translate)?;
    rows.collect::<Result<_, _>>().map_err(translate)
}

/// Returns the ids that begin like this.
pub(super) fn ids_beginning_with(
    connection: &Connection,
    prefix: &str,
    limit: u32,
) -> Result<Vec<HandoffId>, StoreError> {
    // A range, not LIKE: it uses the index, and `%` and `_` are letters like any other. No id is longer than its end.
    let sql =
        "SELECT id FROM handoffs WHERE id BETWEEN ?1 AND ?2 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT ?3";
    let end = format!("{prefix}{}", "\u{10ffff}".repeat(32));
    let ids: Vec<String> = all(connection, sql, params![prefix, end, limit], |row| row.get(0))?;
    ids.into_iter().map(|id| HandoffId::parse(id).map_err(StoreError::damaged)).collect()
}

/// Returns what is asked in a handoff.
pub(super) fn request(connection: &Connection, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
    table::find(connection, id)?.map(|row| table::request(connection, &row)).transpose()
}

/// Returns the events of a run after a number.
pub(super) fn history(connection: &Connection, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
    let sql = "SELECT seq, handoff, version, at, kind, detail, hash FROM events
               WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    events(connection, sql, run, params![run.as_str(), rows::signed(after), limit])
}

/// Returns the events about a handoff.
pub(super) fn history_of(connection: &Connection, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
    let Some(row) = table::find(connection, id)? else { return Ok(Vec::new()) };
    let sql = "SELECT seq, handoff, version, at, kind, detail, hash FROM events
               WHERE run = ?1 AND seq BETWEEN ?2 AND ?3 AND handoff = ?4 ORDER BY seq";
    let run = RunId::parse(row.run).map_err(StoreError::damaged)?;
    events(connection, sql, &run, params![run.as_str(), row.accepted_seq, row.last_seq, id.as_str()])
}

fn events(connection: &Connection, sql: &str, run: &RunId, parameters: impl Params) -> Result<Vec<Event>, StoreError> {
    type Parts = (i64, String, i64, i64, String, String, Vec<u8>);
    let parts: Vec<Parts> = all(connection, sql, parameters, |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
    })?;
    let event = |(seq, handoff, version, at, kind, detail, hash): Parts| {
        Ok(Event {
            run: run.clone(),
            seq: rows::unsigned(seq)?,
            handoff: HandoffId::parse(handoff).map_err(StoreError::damaged)?,
            version: rows::unsigned(version)?,
            at: rows::time(at)?,
            kind,
            detail,
            hash: rows::hash(&hash)?,
        })
    };
    parts.into_iter().map(event).collect()
}

/// Returns the events of all runs behind a position.
pub(super) fn events_after(
    connection: &Connection,
    position: u64,
    limit: u32,
) -> Result<Vec<PositionedEvent>, StoreError> {
    let places = "SELECT position, run FROM events WHERE position > ?1 ORDER BY position LIMIT ?2";
    let read = |row: &SqlRow<'_>| Ok((row.get(0)?, row.get(1)?));
    let places: Vec<(i64, String)> = all(connection, places, params![rows::signed(position), limit], read)?;
    let one = "SELECT seq, handoff, version, at, kind, detail, hash FROM events WHERE position = ?1";
    let mut found = Vec::with_capacity(places.len());
    for (position, run) in places {
        let run = RunId::parse(run).map_err(StoreError::damaged)?;
        let event = events(connection, one, &run, params![position])?.pop();
        found.extend(event.map(|event| PositionedEvent { position: position.unsigned_abs(), event }));
    }
    Ok(found)
}

/// Returns the position of the latest event.
pub(super) fn last_position(connection: &Connection) -> Result<u64, StoreError> {
    let last: Vec<Option<i64>> = all(connection, "SELECT max(position) FROM events", [], |row| row.get(0))?;
    rows::unsigned(last.into_iter().flatten().next().unwrap_or(0))
}

/// Returns the runs after one.
pub(super) fn runs(connection: &Connection, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
    // By the journal, and by the handoffs, in case a journal is gone.
    let sql = "SELECT run FROM (SELECT DISTINCT run FROM events WHERE run > ?1 ORDER BY run LIMIT ?2)
               UNION SELECT run FROM (SELECT run FROM handoffs WHERE id > ?1 AND run = id ORDER BY id LIMIT ?2)
               UNION SELECT run FROM (SELECT DISTINCT run FROM handoffs WHERE run > ?1 AND run <> id ORDER BY run LIMIT ?2)
               ORDER BY run LIMIT ?2";
    let after = after.map_or("", RunId::as_str);
    let runs: Vec<String> = all(connection, sql, params![after, limit], |row| row.get(0))?;
    runs.into_iter().map(|run| RunId::parse(run).map_err(StoreError::damaged)).collect()
}

/// Returns the handoffs of a run, each with the last event that its row knows of.
pub(super) fn handoffs_of(connection: &Connection, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
    // A handoff of its own is found by its id, those of a run together by the run.
    let sql = concat!(
        "SELECT ",
        table::columns!(),
        ", agent, priority, state, ready_at, wake_at, finished_at, key
          FROM (SELECT rowid AS place, * FROM handoffs WHERE id = ?1 AND run = ?1
                UNION ALL SELECT rowid AS place, * FROM handoffs WHERE run = ?1 AND run <> id) ORDER BY place"
    );
    let read = |row: &SqlRow<'_>| {
        let columns = rows::StoredColumns {
            agent: row.get(8)?,
            priority: row.get(9)?,
            state: row.get(10)?,
            ready_at: row.get(11)?,
            wake_at: row.get(12)?,
            finished_at: row.get(13)?,
            key: row.get(14)?,
        };
        Ok((table::row(row)?, columns))
    };
    let sound = |(row, columns): &(rows::Row, rows::StoredColumns)| {
        let handoff = row.handoff()?;
        columns.agree_with(&handoff)?;
        Ok((handoff, row.head()?))
    };
    all(connection, sql, [run.as_str()], read)?.iter().map(sound).collect()
}

/// Returns the settings of all queues.
pub(super) fn queues(connection: &Connection) -> Result<Vec<Queue>, StoreError> {
    let sql = "SELECT agent, paused, concurrency FROM queues ORDER BY agent";
    all(connection, sql, [], |row| Ok(Queue { agent: row.get(0)?, paused: row.get(1)?, concurrency: row.get(2)? }))
}

/// Returns when something will be ready for the agent, or due for anybody.
pub(super) fn next_due(connection: &Connection, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
    let wake = "SELECT min(wake_at) FROM handoffs WHERE wake_at IS NOT NULL";
    let ready = "SELECT min(ready_at) FROM handoffs WHERE state = 'pending' AND agent = ?1 AND priority = ?2";
    let mut times: Vec<Option<i64>> = all(connection, wake, [], |row| row.get(0))?;
    if let Some(agent) = agent {
        for priority in 0..=3 {
            let ready: Vec<Option<i64>> = all(connection, ready, params![agent, priority], |row| row.get(0))?;
            times.extend(ready);
        }
    }
    times.into_iter().flatten().min().map(rows::time).transpose()
}

/// Returns the time of the last change.
pub(super) fn time(connection: &Connection) -> Result<Option<Timestamp>, StoreError> {
    // Callers who write at the same moment may be a little out of order.
    let last = "SELECT max(at) FROM (SELECT at FROM events ORDER BY position DESC LIMIT 256)";
    let times: Vec<Option<i64>> = all(connection, last, [], |row| row.get(0))?;
    times.into_iter().flatten().next().map(rows::time).transpose()
}

/// Looks whether the file is sound, page by page.
pub(super) fn checkup(connection: &Connection, place: String) -> Result<Checkup, StoreError> {
    let said: Vec<String> = all(connection, "PRAGMA integrity_check(20)", [], |row| row.get(0))?;
    let faults = said.into_iter().filter(|line| line != "ok").collect();
    let (migration, migration_known) = (migrate::current(connection)?, migrate::known());
    Ok(Checkup { place: format!("SQLite {place}"), migration, migration_known, faults })
}

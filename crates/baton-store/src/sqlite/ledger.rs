//! The ledger. Only one process writes at a time, so its end cannot move between looking and writing.

use baton_engine::RunId;
use baton_engine::journal::Head;
use baton_engine::ledger::{LedgerEnd, LedgerEntry, Occasion};
use baton_engine::store::{AnchoredEntry, StoreError};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row as SqlRow, params};

use super::writer::Batch;
use super::{table, translate};
use crate::rows::{self, LedgerRow};

/// The columns of a [`LedgerRow`], in the order in which [`row`] reads them.
macro_rules! columns {
    () => {
        "number, at, occasion, run, events, head, digest"
    };
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<LedgerRow> {
    Ok(LedgerRow {
        number: row.get(0)?,
        at: row.get(1)?,
        occasion: row.get(2)?,
        run: row.get(3)?,
        events: row.get(4)?,
        head: row.get(5)?,
        digest: row.get(6)?,
    })
}

fn entries(connection: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<LedgerEntry>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let found = statement.query_map(parameters, row).map_err(translate)?;
    found.map(|row| row.map_err(translate)?.entry()).collect()
}

/// Returns the entries after a number.
pub(super) fn ledger(connection: &Connection, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM ledger WHERE number > ?1 ORDER BY number LIMIT ?2");
    entries(connection, sql, params![rows::signed(after), limit])
}

/// Returns the entries about a run.
pub(super) fn ledger_of(connection: &Connection, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM ledger WHERE run = ?1 ORDER BY number");
    entries(connection, sql, [run.as_str()])
}

/// Enters how far the journals of runs have come.
pub(super) fn enter(batch: &Batch<'_>, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
    let last_of_run = concat!("SELECT ", columns!(), " FROM ledger WHERE run = ?1 ORDER BY number DESC LIMIT 1");
    let mut end = end(batch.connection)?;
    let mut entered = Vec::new();
    for run in runs {
        let (head, _) = table::head(batch.connection, run)?;
        let last = entries(batch.connection, last_of_run, [run.as_str()])?.pop();
        if head == Head::START || last.is_some_and(|last| last.occasion == Occasion::Reached && last.head == head) {
            continue;
        }
        let entry = end.next(run, head, Occasion::Reached, at);
        write(batch.connection, &entry)?;
        end = entry.end();
        entered.push(entry);
    }
    Ok(entered)
}

/// Enters that a run is removed, while its journal is still there.
pub(super) fn enter_removal(batch: &Batch<'_>, run: &RunId, at: Timestamp) -> Result<(), StoreError> {
    let (head, _) = table::head(batch.connection, run)?;
    if head == Head::START {
        return Ok(());
    }
    write(batch.connection, &end(batch.connection)?.next(run, head, Occasion::Removed, at))
}

/// Returns the last entry that was delivered to a place.
pub(super) fn anchored(connection: &Connection, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT number, digest FROM anchors WHERE place = ?1").map_err(translate)?;
    let found: Option<(i64, Vec<u8>)> =
        statement.query_row([place], |row| Ok((row.get(0)?, row.get(1)?))).optional().map_err(translate)?;
    let read = |(number, digest): (i64, Vec<u8>)| {
        Ok(AnchoredEntry { number: rows::unsigned(number)?, digest: rows::hash(&digest)? })
    };
    found.map(read).transpose()
}

/// Remembers what was delivered to a place.
pub(super) fn set_anchored(batch: &Batch<'_>, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
    let sql = "INSERT INTO anchors (place, number, digest) VALUES (?1, ?2, ?3)
               ON CONFLICT (place) DO UPDATE SET number = excluded.number, digest = excluded.digest";
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    statement.execute(params![place, rows::signed(anchored.number), anchored.digest.0]).map_err(translate)?;
    Ok(())
}

fn end(connection: &Connection) -> Result<LedgerEnd, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM ledger ORDER BY number DESC LIMIT 1");
    Ok(entries(connection, sql, [])?.pop().map_or(LedgerEnd::START, |entry| entry.end()))
}

fn write(connection: &Connection, entry: &LedgerEntry) -> Result<(), StoreError> {
    let sql = concat!("INSERT INTO ledger (", columns!(), ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement
        .execute(params![
            rows::signed(entry.number),
            entry.at.as_microsecond(),
            entry.occasion.as_str(),
            entry.run.as_str(),
            rows::signed(entry.head.seq),
            entry.head.hash.0,
            entry.digest.0
        ])
        .map_err(translate)?;
    Ok(())
}

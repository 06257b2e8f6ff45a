//! Removing runs that are finished.

use baton_engine::RunId;
use baton_engine::store::StoreError;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::writer::Batch;
use super::{ledger, translate};

/// Returns the runs whose handoffs were all finished before a time.
pub(super) fn finished_runs(connection: &Connection, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
    // From the oldest on, so that a batch costs the same however many are left.
    let sql = "SELECT DISTINCT run FROM handoffs AS done WHERE finished_at < ?1 AND NOT EXISTS (
                   SELECT 1 FROM handoffs AS other WHERE other.run = done.run AND other.run <> other.id
                   AND (other.finished_at IS NULL OR other.finished_at >= ?1)) AND NOT EXISTS (
                   SELECT 1 FROM handoffs AS other WHERE other.id = done.run AND other.run = done.run
                   AND (other.finished_at IS NULL OR other.finished_at >= ?1))
               LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let rows = statement.query_map(params![before.as_microsecond(), limit], |row| row.get(0)).map_err(translate)?;
    rows.map(|run: rusqlite::Result<String>| RunId::parse(run.map_err(translate)?).map_err(StoreError::damaged))
        .collect()
}

/// Removes a run with its journal, if everything in it was finished before that time.
pub(super) fn remove_run(batch: &Batch<'_>, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
    let of_run = "rowid IN (SELECT rowid FROM handoffs WHERE id = ?1 AND run = ?1
                            UNION ALL SELECT rowid FROM handoffs WHERE run = ?1 AND run <> id)";
    let open = format!("SELECT count(*) FROM handoffs WHERE {of_run} AND (finished_at IS NULL OR finished_at >= ?2)");
    let mut statement = batch.connection.prepare_cached(&open).map_err(translate)?;
    let open: i64 =
        statement.query_row(params![run.as_str(), before.as_microsecond()], |row| row.get(0)).map_err(translate)?;
    if open > 0 {
        return Ok(0);
    }
    ledger::enter_removal(batch, run, at)?;
    let handoffs = format!("DELETE FROM handoffs WHERE {of_run}");
    let removed = batch.connection.prepare_cached(&handoffs).and_then(|mut sql| sql.execute([run.as_str()]));
    let removed = removed.map_err(translate)?;
    for sql in ["DELETE FROM events WHERE run = ?1", "DELETE FROM contents WHERE run = ?1"] {
        let forgotten = batch.connection.prepare_cached(sql).and_then(|mut sql| sql.execute([run.as_str()]));
        forgotten.map_err(translate)?;
    }
    Ok(removed as u64)
}

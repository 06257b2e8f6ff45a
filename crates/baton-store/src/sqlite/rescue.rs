//! Rescuing: leases, timeouts and deadlines that have ended.

use baton_engine::HandoffId;
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{Command, Expire};
use baton_engine::store::StoreError;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::writer::Batch;
use super::{apply, translate};

/// Returns whether anything is due.
pub(super) fn is_due(connection: &Connection, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM handoffs WHERE wake_at <= ?1)";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([at.as_microsecond()], |row| row.get(0)).map_err(translate)
}

/// Expires what is due.
pub(super) fn rescue(batch: &Batch<'_>, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
    let due = due(batch.connection, limit, at)?;
    let expire = Command::Expire(Expire { dice, for_good: false, fence: None });
    let mut plan = apply::begin(batch);
    let mut rescued = Vec::new();
    for id in &due {
        // What came back to it a moment ago may have changed it, so each is looked at in its turn.
        rescued.extend(plan.apply(id, &expire, at)?.ok());
    }
    apply::write_plan(batch, plan)?;
    Ok(rescued)
}

fn due(connection: &Connection, limit: u32, at: Timestamp) -> Result<Vec<HandoffId>, StoreError> {
    let sql = "SELECT id FROM handoffs WHERE wake_at <= ?1 ORDER BY wake_at, id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let rows = statement.query_map(params![at.as_microsecond(), limit], |row| row.get(0)).map_err(translate)?;
    rows.map(|id: rusqlite::Result<String>| HandoffId::parse(id.map_err(translate)?).map_err(StoreError::damaged))
        .collect()
}

//! Rescuing: leases, time-outs and deadlines that have ended.

use baton_engine::HandoffId;
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{self, Command, Expire};
use baton_engine::store::Error;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::writer::Batch;
use super::{apply, table, translate};

/// Says whether anything is due.
pub(super) fn is_due(connection: &Connection, at: Timestamp) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM handoffs WHERE wake_at <= ?1)";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([at.as_microsecond()], |row| row.get(0)).map_err(translate)
}

/// Expires what is due.
pub(super) fn rescue(batch: &Batch<'_>, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Error> {
    let mut rescued = Vec::new();
    for id in due(batch.connection, limit, at)? {
        // What came back to it a moment ago may have changed it, so each is looked at in its turn.
        let Some(row) = table::find(batch.connection, &id)? else { continue };
        let handoff = row.handoff()?;
        let (head, latest) = table::head(batch.connection, &handoff.run)?;
        let expire = Command::Expire(Expire { dice });
        let at = latest.map_or(at, |latest| latest.max(at));
        if let Ok(transition) = lifecycle::apply(&handoff, expire, at) {
            let actions = transition.actions.clone();
            let change = table::advance(batch.connection, head, transition)?;
            apply::follow(batch, &change.handoff, &actions, at)?;
            rescued.push(change.handoff);
        }
    }
    Ok(rescued)
}

fn due(connection: &Connection, limit: u32, at: Timestamp) -> Result<Vec<HandoffId>, Error> {
    let sql = "SELECT id FROM handoffs WHERE wake_at <= ?1 ORDER BY wake_at, id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let rows = statement.query_map(params![at.as_microsecond(), limit], |row| row.get(0)).map_err(translate)?;
    rows.map(|id: rusqlite::Result<String>| HandoffId::parse(id.map_err(translate)?).map_err(Error::Damaged)).collect()
}

//! Claiming: what is ready for an agent, the most urgent first.

use baton_engine::journal::Head;
use baton_engine::lifecycle::{self, Command};
use baton_engine::store::{ClaimRequest, ClaimedHandoff, StoreError};
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::writer::Batch;
use super::{table, translate};
use crate::rows::Row;

/// Claims what is ready, as far as the queue of the agent has room. Each comes with its last event.
pub(super) fn claim(
    batch: &Batch<'_>,
    wish: &ClaimRequest,
    at: Timestamp,
) -> Result<Vec<(ClaimedHandoff, Head)>, StoreError> {
    let queue = table::queue(batch.connection, &wish.agent)?;
    let claimed = if queue.concurrency.is_some() { claimed(batch.connection, &wish.agent)? } else { 0 };
    let room = queue.room(wish.count, claimed);
    let rows = ready(batch.connection, &wish.agent, room, at)?;
    rows.iter().filter_map(|row| claim_one(batch, row, wish, at).transpose()).collect()
}

/// Claims a handoff, unless nobody wants it any more.
fn claim_one(
    batch: &Batch<'_>,
    row: &Row,
    wish: &ClaimRequest,
    at: Timestamp,
) -> Result<Option<(ClaimedHandoff, Head)>, StoreError> {
    let handoff = row.handoff()?;
    let (head, latest) = table::head(batch.connection, &handoff.run)?;
    let claim = Command::Claim(wish.claim());
    let Ok(transition) = lifecycle::apply(&handoff, claim, latest.map_or(at, |latest| latest.max(at))) else {
        return Ok(None);
    };
    let change = table::advance(batch.connection, head, transition)?;
    let claimed = ClaimedHandoff { request: table::request(batch.connection, row)?, handoff: change.handoff };
    Ok(Some((claimed, change.event.head())))
}

/// Returns what can be claimed. One look into the index per priority finds exactly what is ready by now, so what waits
/// for later costs nothing.
fn ready(connection: &Connection, agent: &str, count: u32, at: Timestamp) -> Result<Vec<Row>, StoreError> {
    let sql = concat!(
        "SELECT ",
        table::columns!(),
        " FROM handoffs WHERE state = 'pending' AND agent = ?1 AND priority = ?2 AND ready_at <= ?3
          ORDER BY ready_at, id LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let mut found = Vec::new();
    for priority in (0..=3).rev() {
        let left = count as usize - found.len();
        if left == 0 {
            break;
        }
        let rows = statement
            .query_map(params![agent, priority, at.as_microsecond(), left as i64], table::row)
            .map_err(translate)?;
        for row in rows {
            found.push(row.map_err(translate)?);
        }
    }
    Ok(found)
}

/// Counts what the agent has claimed. Everything claimed has a time to wake, so this reads an index of open leases only.
fn claimed(connection: &Connection, agent: &str) -> Result<u32, StoreError> {
    let sql = "SELECT count(*) FROM handoffs WHERE wake_at IS NOT NULL AND agent = ?1 AND state = 'claimed'";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([agent], |row| row.get(0)).map_err(translate)
}

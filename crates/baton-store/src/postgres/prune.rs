//! Removing runs that are finished.

use baton_engine::RunId;
use jiff::Timestamp;

use super::fault::Fault;
use super::look::run_ids;
use super::{Node, ledger};
use crate::rows;

/// Returns the runs whose handoffs were all finished before a time.
pub(super) async fn finished_runs(node: &Node, before: Timestamp, limit: u32) -> Result<Vec<RunId>, Fault> {
    // From the oldest on, so that a batch costs the same however many are left. The journal finds the other handoffs
    // of the run by its index.
    let sql = "WITH RECURSIVE each (run) AS (
            (SELECT run FROM events ORDER BY run LIMIT 1)
            UNION ALL
            SELECT (SELECT run FROM events WHERE run > each.run ORDER BY run LIMIT 1) FROM each
            WHERE each.run IS NOT NULL
        )
        SELECT run FROM each WHERE run IS NOT NULL AND NOT EXISTS (
            SELECT FROM events JOIN handoffs ON handoffs.id = events.handoff
            WHERE events.run = each.run AND (handoffs.finished_at IS NULL OR handoffs.finished_at >= $1))
        LIMIT $2";
    let session = node.session().await?;
    run_ids(&session.query(sql, &[&before.as_microsecond(), &i64::from(limit)]).await?)
}

/// Removes a run with its journal, if everything in it was finished before that time. Returns how many handoffs.
pub(super) async fn remove_run(node: &Node, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, Fault> {
    // Whoever wants to accept something in this run waits for the same lock.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))";
    let members = "SELECT finished_at < $2 FROM handoffs
        WHERE id IN (SELECT id FROM handoffs WHERE run = $1 AND run <> id UNION SELECT $1) AND run = $1
        ORDER BY id FOR UPDATE";
    let remove = "WITH removed AS (
            DELETE FROM handoffs
            WHERE id IN (SELECT id FROM handoffs WHERE run = $1 AND run <> id UNION SELECT $1) AND run = $1 RETURNING 1
        ), forgotten AS (
            DELETE FROM events WHERE run = $1
        ), dropped AS (
            DELETE FROM contents WHERE run = $1
        )
        SELECT count(*) FROM removed";
    let mut session = node.session().await?;
    let (lock, members) = (session.prepare(lock).await?, session.prepare(members).await?);
    let name = run.as_str();
    let found = session.begin(Some((&lock, &[&name])), (&members, &[&name, &before.as_microsecond()])).await?;
    let over = found.iter().map(|row| row.try_get::<_, Option<bool>>(0)).collect::<Result<Vec<_>, _>>()?;
    if over.iter().any(|over| *over != Some(true)) {
        session.roll_back().await?;
        return Ok(0);
    }
    ledger::enter_removal(&session, run, at).await?;
    let removed = session.query(remove, &[&name]).await?;
    session.commit(None, None).await?;
    let count: i64 = removed.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(rows::unsigned(count)?)
}

//! Looking: what is there, without changing it.

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Head};
use baton_engine::store::{PositionedEvent, StoreError};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::fault::Fault;
use super::session::TIME;
use super::table;
use crate::rows;

/// Finds a handoff.
pub(super) async fn find(node: &Node, id: &HandoffId) -> Result<Option<Handoff>, Fault> {
    table::find(&node.session().await?, id).await
}

/// Finds several handoffs.
pub(super) async fn find_all(node: &Node, ids: &[HandoffId]) -> Result<Vec<Handoff>, Fault> {
    table::find_all(&node.session().await?, ids).await
}

/// Returns the ids that begin like this.
pub(super) async fn ids_beginning_with(node: &Node, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, Fault> {
    if table::is_unknowable(prefix) {
        return Ok(Vec::new());
    }
    // A range, not LIKE: it uses the index, and `%` and `_` are letters like any other.
    let (session, limit) = (node.session().await?, i64::from(limit));
    let found = match first_after(prefix) {
        Some(end) => {
            let sql = "SELECT id FROM handoffs WHERE id >= $1 AND id < $3 ORDER BY id LIMIT $2";
            session.query(sql, &[&prefix, &limit, &end]).await?
        }
        None => {
            session.query("SELECT id FROM handoffs WHERE id >= $1 ORDER BY id LIMIT $2", &[&prefix, &limit]).await?
        }
    };
    found.iter().map(|row| Ok(HandoffId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?)).collect()
}

/// Returns the first text after all that begin like this, or nothing if there is none.
fn first_after(prefix: &str) -> Option<String> {
    let kept = prefix.trim_end_matches(char::MAX);
    let last = kept.chars().next_back()?;
    let next = (last..=char::MAX).nth(1)?;
    Some(format!("{}{next}", &kept[..kept.len() - last.len_utf8()]))
}

/// Returns what is asked in a handoff.
pub(super) async fn request(node: &Node, id: &HandoffId) -> Result<Option<WrittenDocument>, Fault> {
    let sql = "SELECT h.run, first.kind, first.detail FROM handoffs AS h
               LEFT JOIN events AS first ON first.run = h.run AND first.seq = h.accepted_seq WHERE h.id = $1";
    let found = node.session().await?.query(sql, &[&id.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let run = RunId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?;
    Ok(Some(table::accepted(row, 1, &run)?.request))
}

/// Returns the events of a run after a number.
pub(super) async fn history(node: &Node, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, Fault> {
    let sql = "SELECT seq, handoff, version, at, kind, detail, hash FROM events
               WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let session = node.session().await?;
    let found = session.query(sql, &[&run.as_str(), &rows::signed(after), &i64::from(limit)]).await?;
    found.iter().map(|row| event(run, row)).collect()
}

/// Returns the events about a handoff.
pub(super) async fn history_of(node: &Node, id: &HandoffId) -> Result<Vec<Event>, Fault> {
    let sql = "SELECT e.seq, e.handoff, e.version, e.at, e.kind, e.detail, e.hash, e.run FROM handoffs AS h
               JOIN events AS e ON e.run = h.run AND e.seq BETWEEN h.accepted_seq AND h.last_seq AND e.handoff = h.id
               WHERE h.id = $1 ORDER BY e.seq";
    let found = node.session().await?.query(sql, &[&id.as_str()]).await?;
    let of_run = |row: &SqlRow| event(&RunId::parse(row.try_get::<_, &str>(7)?).map_err(StoreError::damaged)?, row);
    found.iter().map(of_run).collect()
}

/// Returns the events of all runs behind a position.
pub(super) async fn events_after(node: &Node, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, Fault> {
    let sql = "SELECT seq, handoff, version, at, kind, detail, hash, run, position FROM events
               WHERE position > $1 ORDER BY position LIMIT $2";
    let found = node.session().await?.query(sql, &[&rows::signed(position), &i64::from(limit)]).await?;
    let positioned = |row: &SqlRow| {
        let run = RunId::parse(row.try_get::<_, &str>(7)?).map_err(StoreError::damaged)?;
        Ok(PositionedEvent { position: rows::unsigned(row.try_get(8)?)?, event: event(&run, row)? })
    };
    found.iter().map(positioned).collect()
}

/// Returns the position of the latest event. The sequence knows it without looking at events; what it has given out and was
/// not committed is a gap.
pub(super) async fn last_position(node: &Node) -> Result<u64, Fault> {
    let sql = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'position')::regclass), 0)";
    let found = node.session().await?.query(sql, &[]).await?;
    let last: i64 = found.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(rows::unsigned(last)?)
}

fn event(run: &RunId, row: &SqlRow) -> Result<Event, Fault> {
    Ok(Event {
        run: run.clone(),
        seq: rows::unsigned(row.try_get(0)?)?,
        handoff: HandoffId::parse(row.try_get::<_, &str>(1)?).map_err(StoreError::damaged)?,
        version: rows::unsigned(row.try_get(2)?)?,
        at: rows::time(row.try_get(3)?)?,
        kind: row.try_get(4)?,
        detail: row.try_get(5)?,
        hash: rows::hash(row.try_get(6)?)?,
    })
}

/// Reads the ids of runs.
pub(super) fn run_ids(found: &[SqlRow]) -> Result<Vec<RunId>, Fault> {
    found.iter().map(|row| Ok(RunId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?)).collect()
}

/// Returns the runs after one.
pub(super) async fn runs(node: &Node, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, Fault> {
    // Differs from SQLite: one step into the index per run, whatever the length of its journal.
    let sql = "WITH RECURSIVE each (run) AS (
            (SELECT run FROM events WHERE run > $1 ORDER BY run LIMIT 1)
            UNION ALL
            SELECT (SELECT run FROM events WHERE run > each.run ORDER BY run LIMIT 1) FROM each
            WHERE each.run IS NOT NULL
        )
        SELECT run FROM each WHERE run IS NOT NULL LIMIT $2";
    let after = after.map_or("", RunId::as_str);
    run_ids(&node.session().await?.query(sql, &[&after, &i64::from(limit)]).await?)
}

/// Returns the handoffs of a run, each with the last event that its row knows of.
pub(super) async fn handoffs_of(node: &Node, run: &RunId) -> Result<Vec<(Handoff, Head)>, Fault> {
    // A handoff of its own is found by its id, those of a run together by the run.
    let sql = concat!(
        "SELECT ",
        table::columns!(),
        ", h.agent, h.priority, h.state, h.ready_at, h.wake_at, h.finished_at, h.key FROM handoffs AS h
          WHERE h.id IN (SELECT id FROM handoffs WHERE run = $1 AND run <> id UNION SELECT $1) AND h.run = $1
          ORDER BY h.position"
    );
    let found = node.session().await?.query(sql, &[&run.as_str()]).await?;
    let read = |row: &SqlRow| {
        let columns = rows::StoredColumns {
            agent: row.try_get(8)?,
            priority: row.try_get(9)?,
            state: row.try_get(10)?,
            ready_at: row.try_get(11)?,
            wake_at: row.try_get(12)?,
            finished_at: row.try_get(13)?,
            key: row.try_get(14)?,
        };
        let row = table::row(row)?;
        let handoff = row.handoff()?;
        columns.agree_with(&handoff)?;
        Ok((handoff, row.head()?))
    };
    found.iter().map(read).collect()
}

/// Returns when something will be ready for the agent, or due for anybody.
pub(super) async fn next_due(node: &Node, agent: Option<&str>) -> Result<Option<Timestamp>, Fault> {
    // Each minimum is one step into an index.
    let sql = "SELECT least(
            (SELECT min(wake_at) FROM handoffs WHERE wake_at IS NOT NULL),
            (SELECT min(first.ready_at)
             FROM (VALUES (3::smallint), (2::smallint), (1::smallint), (0::smallint)) AS urgency (priority)
             CROSS JOIN LATERAL (
                SELECT ready_at FROM handoffs WHERE agent = $1 AND state = 'pending' AND priority = urgency.priority
                ORDER BY ready_at LIMIT 1
             ) AS first))";
    let agent = agent.filter(|agent| !table::is_unknowable(agent));
    let found = node.session().await?.query(sql, &[&agent]).await?;
    let due: Option<i64> = found.first().map_or(Ok(None), |row| row.try_get(0))?;
    Ok(due.map(rows::time).transpose()?)
}

/// Returns the time of the server.
pub(super) async fn time(node: &Node) -> Result<Option<Timestamp>, Fault> {
    // Differs from SQLite: a server has a clock that everybody shares.
    let found = node.session().await?.query(TIME, &[]).await?;
    let now: Option<i64> = found.first().map(|row| row.try_get(0)).transpose()?;
    Ok(now.map(rows::time).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_prefix_is_after_everything_with_it() {
        assert_eq!(first_after("ab").as_deref(), Some("ac"));
        assert_eq!(first_after("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(first_after("\u{d7ff}").as_deref(), Some("\u{e000}"));
        assert_eq!((first_after(""), first_after("\u{10ffff}")), (None, None));
    }
}

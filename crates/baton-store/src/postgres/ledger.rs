//! The ledger. Nodes queue up for its end: whoever writes an entry holds a lock until it is committed.
//!
//! Without the lock two nodes would read entry 7 as the last one, and both bind an entry 8 to it.

use baton_engine::RunId;
use baton_engine::journal::Head;
use baton_engine::ledger::{LedgerEnd, LedgerEntry, Occasion};
use baton_engine::store::{AnchoredEntry, StoreError};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::fault::Fault;
use super::session::Session;
use crate::rows::{self, LedgerRow};

/// The columns of a [`LedgerRow`], in the order in which [`entry`] reads them.
macro_rules! columns {
    () => {
        "number, at, occasion, run, events, head, digest"
    };
}

/// Keeps everybody else from adding to the ledger until the transaction ends.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('baton ledger', 0))";

const LAST: &str = concat!("SELECT ", columns!(), " FROM ledger ORDER BY number DESC LIMIT 1");

fn entry(row: &SqlRow) -> Result<LedgerEntry, Fault> {
    let row = LedgerRow {
        number: row.try_get(0)?,
        at: row.try_get(1)?,
        occasion: row.try_get(2)?,
        run: row.try_get(3)?,
        events: row.try_get(4)?,
        head: row.try_get(5)?,
        digest: row.try_get(6)?,
    };
    Ok(row.entry()?)
}

/// Returns the entries after a number.
pub(super) async fn ledger(node: &Node, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM ledger WHERE number > $1 ORDER BY number LIMIT $2");
    let found = node.session().await?.query(sql, &[&rows::signed(after), &i64::from(limit)]).await?;
    found.iter().map(entry).collect()
}

/// Returns the entries about a run.
pub(super) async fn ledger_of(node: &Node, run: &RunId) -> Result<Vec<LedgerEntry>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM ledger WHERE run = $1 ORDER BY number");
    node.session().await?.query(sql, &[&run.as_str()]).await?.iter().map(entry).collect()
}

/// Enters how far the journals of runs have come.
pub(super) async fn enter(node: &Node, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, Fault> {
    let mut session = node.session().await?;
    let (lock, last) = (session.prepare(LOCK).await?, session.prepare(LAST).await?);
    let found = session.begin(Some((&lock, &[])), (&last, &[])).await?;
    let mut end = end(&found)?;
    let names: Vec<&str> = runs.iter().map(RunId::as_str).collect();
    let mut entered = Vec::new();
    for (run, head) in heads_to_enter(&session, &names).await? {
        let entry = end.next(&run, head, Occasion::Reached, at);
        end = entry.end();
        entered.push(entry);
    }
    write(&session, &entered).await?;
    session.commit(None, None).await?;
    Ok(entered)
}

/// Returns the heads that the ledger does not know yet, in the order of the runs.
async fn heads_to_enter(session: &Session, runs: &[&str]) -> Result<Vec<(RunId, Head)>, Fault> {
    let sql = "SELECT wanted.run, event.seq, event.hash
        FROM unnest($1::text[]) WITH ORDINALITY AS wanted (run, place)
        CROSS JOIN LATERAL (
            SELECT seq, hash FROM events WHERE events.run = wanted.run ORDER BY seq DESC LIMIT 1
        ) AS event
        LEFT JOIN LATERAL (
            SELECT occasion, events, head FROM ledger WHERE ledger.run = wanted.run ORDER BY number DESC LIMIT 1
        ) AS entry ON true
        WHERE entry.events IS NULL OR entry.occasion <> 'reached' OR entry.events <> event.seq OR entry.head <> event.hash
        ORDER BY wanted.place";
    let found = session.query(sql, &[&runs]).await?;
    let mut heads: Vec<(RunId, Head)> = Vec::new();
    for row in &found {
        let run = RunId::parse(row.try_get::<_, &str>(0)?).map_err(StoreError::damaged)?;
        let head = Head { seq: rows::unsigned(row.try_get(1)?)?, hash: rows::hash(row.try_get(2)?)? };
        if !heads.iter().any(|(known, _)| *known == run) {
            heads.push((run, head));
        }
    }
    Ok(heads)
}

/// Enters that a run is removed, inside a transaction in which its journal is still there.
pub(super) async fn enter_removal(session: &Session, run: &RunId, at: Timestamp) -> Result<(), Fault> {
    session.query(LOCK, &[]).await?;
    let end = end(&session.query(LAST, &[]).await?)?;
    let sql = "SELECT seq, hash FROM events WHERE run = $1 ORDER BY seq DESC LIMIT 1";
    let Some(last) = session.query(sql, &[&run.as_str()]).await?.pop() else { return Ok(()) };
    let head = Head { seq: rows::unsigned(last.try_get(0)?)?, hash: rows::hash(last.try_get(1)?)? };
    write(session, &[end.next(run, head, Occasion::Removed, at)]).await
}

/// Returns the last entry that was delivered to a place.
pub(super) async fn anchored(node: &Node, place: &str) -> Result<Option<AnchoredEntry>, Fault> {
    let found = node.session().await?.query("SELECT number, digest FROM anchors WHERE place = $1", &[&place]).await?;
    let read = |row: &SqlRow| {
        Ok(AnchoredEntry { number: rows::unsigned(row.try_get(0)?)?, digest: rows::hash(row.try_get(1)?)? })
    };
    found.first().map(read).transpose()
}

/// Remembers what was delivered to a place.
pub(super) async fn set_anchored(node: &Node, place: &str, anchored: AnchoredEntry) -> Result<(), Fault> {
    let sql = "INSERT INTO anchors (place, number, digest) VALUES ($1, $2, $3)
               ON CONFLICT (place) DO UPDATE SET number = excluded.number, digest = excluded.digest";
    let digest: &[u8] = &anchored.digest.0;
    node.session().await?.query(sql, &[&place, &rows::signed(anchored.number), &digest]).await?;
    Ok(())
}

fn end(found: &[SqlRow]) -> Result<LedgerEnd, Fault> {
    Ok(found.first().map(entry).transpose()?.map_or(LedgerEnd::START, |entry| entry.end()))
}

async fn write(session: &Session, entries: &[LedgerEntry]) -> Result<(), Fault> {
    if entries.is_empty() {
        return Ok(());
    }
    let sql = concat!(
        "INSERT INTO ledger (",
        columns!(),
        ") SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bytea[], $7::bytea[])"
    );
    let numbers: Vec<i64> = entries.iter().map(|entry| rows::signed(entry.number)).collect();
    let times: Vec<i64> = entries.iter().map(|entry| entry.at.as_microsecond()).collect();
    let occasions: Vec<&str> = entries.iter().map(|entry| entry.occasion.as_str()).collect();
    let runs: Vec<&str> = entries.iter().map(|entry| entry.run.as_str()).collect();
    let events: Vec<i64> = entries.iter().map(|entry| rows::signed(entry.head.seq)).collect();
    let heads: Vec<&[u8]> = entries.iter().map(|entry| &entry.head.hash.0[..]).collect();
    let digests: Vec<&[u8]> = entries.iter().map(|entry| &entry.digest.0[..]).collect();
    session.query(sql, &[&numbers, &times, &occasions, &runs, &events, &heads, &digests]).await?;
    Ok(())
}

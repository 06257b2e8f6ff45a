//! Rescuing: leases, time-outs and deadlines that have ended. Every node may do it; none waits for another.

use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{self, Command, Expire};
use baton_engine::store::Error;
use jiff::Timestamp;

use super::Postgres;
use super::accept::LOCK_RUNS;
use super::fault::{Fault, Patience};
use super::table::{self, Arrays, Change, ENDS, Ends, UPDATE, UPDATE_PARAMETERS};

/// Takes what is due.
///
/// Differs from SQLite: rows that somebody else rescues at the moment are skipped.
const DUE: &str = concat!(
    "SELECT ",
    table::columns!(),
    " FROM handoffs AS h WHERE wake_at <= $1 ORDER BY wake_at, id LIMIT $2 FOR UPDATE SKIP LOCKED"
);

/// Says whether anything is due. Looking costs no transaction: mostly nothing is.
const IS_DUE: &str = "SELECT EXISTS (SELECT FROM handoffs WHERE wake_at <= $1)";

/// Expires what is due.
///
/// If the connection is lost while this is committed, what was rescued is not returned; it is rescued all the same.
pub(super) async fn rescue(store: &Postgres, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Error> {
    let mut patience = Patience::new();
    loop {
        match attempt(store, limit, dice, at).await {
            Ok(rescued) => return Ok(rescued),
            Err(fault) => patience.after(fault).await?,
        }
    }
}

async fn attempt(store: &Postgres, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Fault> {
    let mut session = store.session().await?;
    let until = at.as_microsecond();
    let is_due = session.query(IS_DUE, &[&until]).await?.first().map_or(Ok(false), |row| row.try_get(0))?;
    if !is_due {
        return Ok(Vec::new());
    }
    let due = session.prepare(DUE).await?;
    let rows = session.begin(None, (&due, &[&until, &i64::from(limit)])).await?;
    let handoffs = rows.iter().map(table::handoff).collect::<Result<Vec<Handoff>, Fault>>()?;
    let runs: Vec<&str> = handoffs.iter().map(|handoff| handoff.run.as_str()).collect();
    session.query(LOCK_RUNS, &[&runs]).await?;
    let mut ends = Ends::default();
    table::ends(&session.query(ENDS, &[&runs]).await?, &mut ends)?;
    let mut changes = Vec::new();
    for handoff in &handoffs {
        let expire = Command::Expire(Expire { dice });
        if let Ok(transition) = lifecycle::apply(handoff, expire, ends.at(&handoff.run, at)) {
            changes.push(Change::of(transition, &mut ends));
        }
    }
    let (update, notify) = (session.prepare(UPDATE).await?, store.wake.statement(&session).await?);
    let arrays = Arrays::of(&changes);
    let parameters = arrays.parameters();
    let bound = (&update, &parameters[..UPDATE_PARAMETERS]);
    session.commit(Some(bound), Some((&notify, &store.wake.parameters()))).await?;
    if !changes.is_empty() {
        store.wake.ring();
    }
    Ok(changes.into_iter().map(|change| change.handoff).collect())
}

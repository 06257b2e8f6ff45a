//! Rescuing: leases, timeouts and deadlines that have ended. Every node may do it; none waits for another.

use std::sync::Arc;

use baton_engine::HandoffId;
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{self, Action, Command, Expire, Transition};
use baton_engine::store::{Order, StoreError};
use jiff::Timestamp;

use super::Node;
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

/// Whether anything is due. Looking costs no transaction: mostly nothing is.
const IS_DUE: &str = "SELECT EXISTS (SELECT FROM handoffs WHERE wake_at <= $1)";

/// Expires what is due.
///
/// If the connection is lost while this is committed, what was rescued is not returned; it is rescued all the same.
pub(super) async fn rescue(node: &Arc<Node>, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
    let mut patience = Patience::new();
    loop {
        match attempt(node, limit, dice, at).await {
            Ok(Attempt::Rescued(rescued)) => return Ok(rescued),
            Ok(Attempt::OneByOne(due)) => {
                let mut rescued = Vec::new();
                for id in due {
                    // Somebody else may have been faster, or what came back a moment ago has changed it.
                    let expire = Order::new(id, Command::Expire(Expire { dice, for_good: false, fence: None }));
                    rescued.extend(super::apply::apply(node, expire, at).await.ok());
                }
                return Ok(rescued);
            }
            Err(fault) => patience.after(fault).await?,
        }
    }
}

/// Expires what is due in one transaction, unless others wait for some of it: that takes more than one row each.
async fn attempt(node: &Node, limit: u32, dice: f64, at: Timestamp) -> Result<Attempt, Fault> {
    let mut session = node.session().await?;
    let until = at.as_microsecond();
    let is_due = session.query(IS_DUE, &[&until]).await?.first().map_or(Ok(false), |row| row.try_get(0))?;
    if !is_due {
        return Ok(Attempt::Rescued(Vec::new()));
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
        let expire = Command::Expire(Expire { dice, for_good: false, fence: None });
        match lifecycle::apply(handoff, expire, ends.at(&handoff.run, at)) {
            Ok(transition) if returns(&transition) => {
                session.roll_back().await?;
                return Ok(Attempt::OneByOne(handoffs.into_iter().map(|handoff| handoff.id).collect()));
            }
            Ok(transition) => changes.push(Change::of(transition, &mut ends)),
            Err(_) => {}
        }
    }
    let (update, notify) = (session.prepare(UPDATE).await?, node.wake.statement(&session).await?);
    let arrays = Arrays::of(&changes);
    let parameters = arrays.parameters();
    let bound = (&update, &parameters[..UPDATE_PARAMETERS]);
    session.commit(Some(bound), Some((&notify, &node.wake.parameters()))).await?;
    if !changes.is_empty() {
        node.wake.ring();
    }
    Ok(Attempt::Rescued(changes.into_iter().map(|change| change.handoff).collect()))
}

/// What came of an attempt.
enum Attempt {
    /// These were rescued.
    Rescued(Vec<Handoff>),
    /// These are due, and must be rescued one by one.
    OneByOne(Vec<HandoffId>),
}

/// Returns whether somebody waits for what comes out.
fn returns(transition: &Transition) -> bool {
    transition.actions.iter().any(|action| matches!(action, Action::Return { .. }))
}

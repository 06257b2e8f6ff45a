//! Applying a command, or several steps, with everything that follows from it, in one transaction.

use std::collections::HashMap;

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Head};
use baton_engine::lifecycle::{self, Action};
use baton_engine::store::{Order, StoreError, TransactionStep};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::table::{self, Change};
use super::writer::Batch;
use super::{accept, translate};
use crate::claim_cache::ClaimCache;
use crate::plan::{self, End, Lookup, Plan};

/// A change that was decided before it was anybody's turn to write.
pub(super) struct Prepared {
    /// The last event that it starts from.
    head: Head,
    pub(super) change: Change,
    news: bool,
}

/// Decides about a handoff that this process has claimed, as it was then. What is refused is not decided here: only the
/// row can tell why.
pub(super) fn prepare(own: &ClaimCache, order: &Order, at: Timestamp) -> Option<Prepared> {
    let (handoff, head) = own.take(&order.id)?;
    let transition = lifecycle::apply(&handoff, order.command.clone(), at).ok()?;
    let returns = transition.actions.iter().any(|action| matches!(action, Action::Return { .. }));
    let news = !transition.actions.is_empty();
    (!returns).then(|| Prepared { head, change: Change::of(transition, head), news })
}

/// Writes what was prepared, if the handoff and its journal are still as they were then.
pub(super) fn write(batch: &Batch<'_>, prepared: &Prepared) -> Result<bool, StoreError> {
    let Prepared { head, change, news } = prepared;
    let unchanged = table::head(batch.connection, &change.handoff.run)?.0 == *head;
    if !unchanged || !table::update(batch.connection, change)? {
        return Ok(false);
    }
    if *news {
        batch.announce();
    }
    Ok(true)
}

/// A handoff as it was left, with the last event of its run.
pub(super) type Left = (Handoff, Head);

/// Applies a command. A refusal is an answer; whatever was journalled about it stays.
pub(super) fn apply(batch: &Batch<'_>, order: &Order, at: Timestamp) -> Result<Result<Left, StoreError>, StoreError> {
    let mut plan = begin(batch);
    let applied = plan.apply_or_journal(&order.id, &order.command, at)?;
    let WrittenPlan { left, .. } = write_plan(batch, plan)?;
    match applied {
        Ok(handoff) => {
            let head = left.into_iter().find(|(left, _)| left.id == handoff.id).map(|(_, head)| head);
            Ok(Ok((handoff, head.unwrap_or(Head::START))))
        }
        Err(refusal) => Ok(Err(refusal.into())),
    }
}

/// Carries out steps, all of them or none. Each handoff that they have looked at comes with the last event of its run.
pub(super) fn carry_out(
    batch: &Batch<'_>,
    steps: &[TransactionStep],
    remembered: &HashMap<HandoffId, Left>,
    at: Timestamp,
) -> Result<(Vec<Handoff>, WrittenPlan), StoreError> {
    let mut plan = Plan::new(SqliteLookup(batch.connection), remembered.clone());
    let handoffs = plan.carry_out(steps, at)?;
    Ok((handoffs, write_plan(batch, plan)?))
}

/// Begins a plan for what is written in this transaction.
pub(super) fn begin<'c>(batch: &Batch<'c>) -> Plan<SqliteLookup<'c>> {
    Plan::new(SqliteLookup(batch.connection), HashMap::new())
}

/// What has become of a plan.
pub(super) struct WrittenPlan {
    /// How every handoff was left that it has to do with.
    pub(super) left: Vec<Left>,
    pub(super) events: Vec<Event>,
}

/// Writes what was planned.
pub(super) fn write_plan(batch: &Batch<'_>, plan: Plan<SqliteLookup<'_>>) -> Result<WrittenPlan, StoreError> {
    let mut made = plan.made();
    table::write(batch.connection, &made)?;
    if made.news {
        batch.announce();
    }
    let events = std::mem::take(&mut made.events);
    Ok(WrittenPlan { left: made.left().collect(), events })
}

/// Looks into the database inside a transaction.
#[derive(Debug)]
pub(super) struct SqliteLookup<'c>(&'c Connection);

impl Lookup for SqliteLookup<'_> {
    type Fault = StoreError;

    fn find(&mut self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        table::find(self.0, id)?.map(|row| row.handoff()).transpose()
    }

    fn with_key(&mut self, key: &str) -> Result<Option<Handoff>, StoreError> {
        accept::id_of_key(self.0, key)?.map_or(Ok(None), |id| self.find(&id))
    }

    fn end(&mut self, run: &RunId) -> Result<End, StoreError> {
        let (head, at) = table::head(self.0, run)?;
        Ok(End { head, at })
    }

    fn last_report(&mut self, handoff: &Handoff) -> Result<Option<WrittenDocument>, StoreError> {
        let sql =
            "SELECT detail FROM events WHERE run = ?1 AND handoff = ?2 AND kind = 'reported' ORDER BY seq DESC LIMIT 1";
        let mut statement = self.0.prepare_cached(sql).map_err(translate)?;
        let detail: Option<String> = statement
            .query_row(params![handoff.run.as_str(), handoff.id.as_str()], |row| row.get(0))
            .optional()
            .map_err(translate)?;
        detail.map_or(Ok(None), |detail| plan::reported_in(&detail))
    }
}

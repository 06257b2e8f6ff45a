//! Applying a command, or several steps, with everything that follows from it, in one transaction.
//!
//! Usually a command is one look and one guarded statement. What returns to somebody, what raced with somebody else, and
//! steps that belong together go the careful way.

use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{self, Action, Transition};
use baton_engine::store::{Error, Order, Step};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Postgres;
use super::careful::{Gap, Memory, Seen, Wanted, carefully};
use super::fault::{Fault, Patience};
use super::session::sent_behind;
use super::table::{self, Arrays, Change, Ends, Sent, UPDATE, UPDATE_PARAMETERS};
use crate::plan::Plan;

/// Finds a handoff and where the journal of its run ends.
const LOOK: &str = concat!(
    "SELECT ",
    table::columns!(),
    ", ",
    table::end_columns!(),
    " FROM handoffs AS h ",
    table::join_end!(),
    " WHERE h.id = $1"
);

/// The column at which [`LOOK`] begins with the end of the journal.
const END: usize = 8;

/// What a command comes to.
struct Outcome {
    /// What must be written.
    transition: Option<Transition>,
    /// What the caller is told.
    answer: Result<Handoff, Error>,
}

/// Applies a command.
pub(super) async fn apply(store: &Postgres, order: &Order, at: Timestamp) -> Result<Handoff, Error> {
    let mut patience = Patience::new();
    let mut memory = Memory::default();
    loop {
        // After a loss our own command may still be on its way: only who holds the row can tell.
        let attempt = match patience.has_raced() || memory.unsure {
            false => at_once(store, order, at, &mut memory).await,
            true => alone(store, order, at, &mut memory).await,
        };
        match attempt {
            Ok(answer) => return answer,
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

/// Carries out steps, all of them or none.
pub(super) async fn carry_out(store: &Postgres, steps: &[Step], at: Timestamp) -> Result<Vec<Handoff>, Error> {
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = Wanted::by_steps(steps);
    store.own.take_all(steps.iter().filter_map(Step::applies_to));
    let mut patience = Patience::new();
    let mut memory = Memory::default();
    loop {
        let carry_out = |plan: &mut Plan<&Seen>| plan.carry_out(steps, at).map(Ok);
        match carefully(store, &wanted, carry_out, &mut memory).await {
            Ok(answer) => return answer,
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

/// One look, one statement.
async fn at_once(
    store: &Postgres,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory<Handoff>,
) -> Result<Result<Handoff, Error>, Fault> {
    let session = store.session().await?;
    let mut ends = Ends::default();
    let outcome = match own(store, order, &mut ends, at) {
        Some(outcome) => outcome,
        None => {
            let look = session.prepare(LOOK).await?;
            let found = session.client().query_opt(&look, &[&order.id.as_str()]).await?;
            decide(order, found.as_ref(), &mut ends, at)?
        }
    };
    let Some(transition) = outcome.transition else { return Ok(outcome.answer) };
    if transition.actions.iter().any(|action| matches!(action, Action::Return { .. })) {
        drop(session);
        return alone(store, order, at, memory).await;
    }
    let news = !transition.actions.is_empty();
    let changes = [Change::of(transition, &mut ends)];
    memory.expect(Sent::of(changes.iter().map(|change| &change.event)), outcome.answer.clone());
    let arrays = Arrays::of(&changes);
    let parameters = arrays.parameters();
    let update = session.prepare(UPDATE).await?;
    let written = session.client().execute(&update, &parameters[..UPDATE_PARAMETERS]);
    let written = match news && store.wake.notifies_now(&store.pool) {
        true => {
            let notify = store.wake.statement(&session).await?;
            sent_behind(written, session.client().execute(&notify, &store.wake.parameters())).await?
        }
        false => written.await?,
    };
    if written == 0 {
        return Err(Fault::Raced);
    }
    let [change] = changes;
    store.own.remember(&change.handoff, change.event.head());
    if news {
        store.wake.ring();
    }
    Ok(outcome.answer)
}

/// Decides about a handoff that this process has claimed, as it was then. What is refused is not decided here: only the
/// row can tell why.
fn own(store: &Postgres, order: &Order, ends: &mut Ends, at: Timestamp) -> Option<Outcome> {
    let (handoff, head) = store.own.take(&order.id)?;
    let transition = lifecycle::apply(&handoff, order.command.clone(), at).ok()?;
    ends.know(&handoff, head);
    Some(Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition) })
}

/// Decides what a command comes to.
fn decide(order: &Order, found: Option<&SqlRow>, ends: &mut Ends, at: Timestamp) -> Result<Outcome, Fault> {
    let Some(found) = found else { return Err(Error::NotFound(order.id.clone()).into()) };
    let handoff = table::handoff(found)?;
    ends.read(&handoff.run, found, END)?;
    let at = ends.at(&handoff.run, at);
    Ok(match lifecycle::apply(&handoff, order.command.clone(), at) {
        Ok(transition) => Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition) },
        Err(refusal) => {
            let refused = lifecycle::to_journal(&order.command, &refusal);
            let transition = refused.map(|refused| lifecycle::refuse(&handoff, refused, at));
            Outcome { answer: Err(refusal.into()), transition }
        }
    })
}

/// The careful way for a single command.
async fn alone(
    store: &Postgres,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory<Handoff>,
) -> Result<Result<Handoff, Error>, Fault> {
    let Order { id, command } = order;
    let apply = |plan: &mut Plan<&Seen>| {
        let applied = plan.apply_or_journal(id, command, at)?;
        Ok::<_, Gap>(applied.map_err(Error::from))
    };
    carefully(store, &Wanted::by_id(id), apply, memory).await
}

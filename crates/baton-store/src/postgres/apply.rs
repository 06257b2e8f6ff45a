//! Applying commands, or several steps that belong together, with everything that follows from them.
//!
//! Usually a command is one look and one guarded statement. What returns to somebody, what raced with somebody else, and
//! steps that belong together go the careful way.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::{self, Action, Transition};
use baton_engine::store::{Order, StoreError, TransactionStep};
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::careful::{Gap, Piece, SeenRows, Wanted, all_carefully, carefully};
use super::desk::{Attempt, Desk, Shared, share};
use super::fault::{Fault, Patience};
use super::memory::{Memory, Sent};
use super::session::Session;
use super::table::{self, Arrays, Change, Ends, UPDATE, UPDATE_PARAMETERS};
use crate::plan::Plan;

/// What a command comes to.
struct Outcome {
    /// What must be written.
    transition: Option<Transition>,
    /// What the caller is told.
    answer: Result<Handoff, StoreError>,
    /// Where the journal of its run ends.
    ends: Ends,
}

/// Applies a command.
pub(super) async fn apply(node: &Arc<Node>, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
    let order = Arc::new(order);
    let mut patience = Patience::new();
    let Attempt { mut result, mut memory } = share(node, NewOrder { order: Arc::clone(&order), at }).await;
    loop {
        if let Some(answer) = patience.answer(result, &mut memory).await? {
            return answer;
        }
        // After a loss our own command may still be on its way: only who holds the row can tell.
        result = alone(node, &order, at, &mut memory).await;
    }
}

/// Carries out steps, all of them or none.
pub(super) async fn carry_out(
    node: &Arc<Node>,
    steps: Vec<TransactionStep>,
    at: Timestamp,
) -> Result<Vec<Handoff>, StoreError> {
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let steps = Arc::new(steps);
    node.own.take_all(steps.iter().filter_map(TransactionStep::applies_to));
    let mut patience = Patience::new();
    let Attempt { mut result, mut memory } = share(node, NewSteps { steps: Arc::clone(&steps), at }).await;
    loop {
        if let Some(answer) = patience.answer(result, &mut memory).await? {
            return answer;
        }
        let carry_out = |plan: &mut Plan<&SeenRows>| plan.carry_out(&steps, at).map(Ok);
        result = carefully(node, &Wanted::by_steps(&*steps), carry_out, &mut memory).await;
    }
}

/// Steps that belong together.
pub(super) struct NewSteps {
    steps: Arc<Vec<TransactionStep>>,
    at: Timestamp,
}

impl Shared for NewSteps {
    type Answer = Vec<Handoff>;

    fn desk(node: &Node) -> &Desk<NewSteps> {
        &node.carrying_out
    }

    /// One transaction, in which those that come later see what those before them came to.
    async fn together(node: &Node, pieces: &[NewSteps], attempts: &mut [Attempt<Vec<Handoff>>]) -> Result<(), Fault> {
        let wanted = Wanted::by_steps(pieces.iter().flat_map(|piece| piece.steps.iter()));
        let decisions: Vec<_> = pieces
            .iter()
            .map(|NewSteps { steps, at }| move |plan: &mut Plan<&SeenRows>| plan.carry_out(steps, *at).map(Ok))
            .collect();
        let mut careful: Vec<Piece<'_, Vec<Handoff>>> = decisions
            .iter()
            .zip(attempts.iter_mut())
            .map(|(decide, attempt)| Piece { decide, memory: &mut attempt.memory })
            .collect();
        let answers = all_carefully(node, &wanted, &mut careful).await?;
        for (answer, attempt) in answers.into_iter().zip(attempts) {
            attempt.result = answer;
        }
        Ok(())
    }
}

/// A command that was given just now.
pub(super) struct NewOrder {
    order: Arc<Order>,
    at: Timestamp,
}

impl Shared for NewOrder {
    type Answer = Handoff;

    fn desk(node: &Node) -> &Desk<NewOrder> {
        &node.applying
    }

    /// One look, one statement. Of each run only one command is taken: the journal has one end.
    async fn together(node: &Node, pieces: &[NewOrder], attempts: &mut [Attempt<Handoff>]) -> Result<(), Fault> {
        let session = node.session().await?;
        let (mut changes, mut runs) = (BTreeMap::new(), HashSet::new());
        for (place, outcome) in outcomes(node, &session, pieces).await?.into_iter().enumerate() {
            let attempt = &mut attempts[place];
            match outcome {
                Err(fault) => attempt.result = Err(fault),
                Ok(Outcome { transition: None, answer, .. }) => attempt.result = Ok(answer),
                Ok(Outcome { transition: Some(transition), answer, mut ends }) => {
                    let returns = transition.actions.iter().any(|action| matches!(action, Action::Return { .. }));
                    if returns || !runs.insert(transition.handoff.run.clone()) {
                        continue;
                    }
                    let news = !transition.actions.is_empty();
                    let change = Change::of(transition, &mut ends);
                    attempt.memory.expect(Sent::of([&change.event]), answer);
                    changes.insert(change.handoff.id.clone(), (place, change, news));
                }
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        let (update, notify) = (session.prepare(UPDATE).await?, node.wake.statement(&session).await?);
        let arrays = Arrays::of(changes.values().map(|(_, change, _)| change));
        let (parameters, channel) = (arrays.parameters(), node.wake.parameters());
        let news = changes.values().any(|(_, _, news)| *news);
        let behind = (news && node.wake.notifies_now(&node.pool)).then_some((&notify, &channel[..]));
        let written = session.write((&update, &parameters[..UPDATE_PARAMETERS]), behind).await?;
        let written = table::written(&written)?;
        for (id, (place, change, _)) in &changes {
            attempts[*place].result = if written.contains(id.as_str()) {
                node.own.remember(&change.handoff, change.event.head());
                Ok(attempts[*place].memory.take().unwrap_or_else(|| Ok(change.handoff.clone())))
            } else {
                Err(Fault::Raced)
            };
        }
        if news {
            node.wake.ring();
        }
        Ok(())
    }
}

/// Decides what commands come to, each by itself. What this process has not claimed is looked up, all of it at once.
async fn outcomes(node: &Node, session: &Session, pieces: &[NewOrder]) -> Result<Vec<Result<Outcome, Fault>>, Fault> {
    let own: Vec<Option<Outcome>> = pieces.iter().map(|piece| own(node, &piece.order, piece.at)).collect();
    let unknown = pieces.iter().zip(&own).filter(|(_, own)| own.is_none());
    let unknown: Vec<&str> = unknown.map(|(piece, _)| piece.order.id.as_str()).collect();
    let found = if unknown.is_empty() { Vec::new() } else { session.query(table::look!(), &[&unknown]).await? };
    let found: HashMap<&str, &SqlRow> =
        found.iter().map(|row| Ok((row.try_get(0)?, row))).collect::<Result<_, Fault>>()?;
    let decide = |(piece, own): (&NewOrder, Option<Outcome>)| match own {
        Some(outcome) => Ok(outcome),
        None => decide(&piece.order, found.get(piece.order.id.as_str()).copied(), piece.at),
    };
    Ok(pieces.iter().zip(own).map(decide).collect())
}

/// Decides about a handoff that this process has claimed, as it was then. What is refused is not decided here: only the
/// row can tell why.
fn own(node: &Node, order: &Order, at: Timestamp) -> Option<Outcome> {
    let (handoff, head) = node.own.take(&order.id)?;
    let transition = lifecycle::apply(&handoff, order.command.clone(), at).ok()?;
    let mut ends = Ends::default();
    ends.know(&handoff, head);
    Some(Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition), ends })
}

/// Decides what a command comes to.
fn decide(order: &Order, found: Option<&SqlRow>, at: Timestamp) -> Result<Outcome, Fault> {
    let Some(found) = found else { return Err(StoreError::NotFound(order.id.clone()).into()) };
    let handoff = table::handoff(found)?;
    let mut ends = Ends::default();
    ends.read(&handoff.run, found, table::END)?;
    let at = ends.at(&handoff.run, at);
    Ok(match lifecycle::apply(&handoff, order.command.clone(), at) {
        Ok(transition) => Outcome { answer: Ok(transition.handoff.clone()), transition: Some(transition), ends },
        Err(refusal) => {
            let refused = lifecycle::to_journal(&order.command, &refusal);
            let transition = refused.map(|refused| lifecycle::refuse(&handoff, refused, at));
            Outcome { answer: Err(refusal.into()), transition, ends }
        }
    })
}

/// The careful way for a single command.
async fn alone(
    node: &Node,
    order: &Order,
    at: Timestamp,
    memory: &mut Memory<Handoff>,
) -> Result<Result<Handoff, StoreError>, Fault> {
    let Order { id, command } = order;
    let apply = |plan: &mut Plan<&SeenRows>| {
        let applied = plan.apply_or_journal(id, command, at)?;
        Ok::<_, Gap>(applied.map_err(StoreError::from))
    };
    carefully(node, &Wanted::by_id(id), apply, memory).await
}

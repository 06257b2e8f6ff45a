//! Accepting: a request becomes a handoff with its first event.
//!
//! A retry after an unknown outcome is safe: the id is the caller's, so the request finds its own handoff again.

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_engine::RunId;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{AcceptedHandoff, StoreError};
use jiff::Timestamp;

use super::Node;
use super::careful::{Gap, SeenRows, Wanted, carefully};
use super::desk::{Attempt, Desk, Shared, share};
use super::fault::{Fault, Patience};
use super::memory::Memory;
use super::table::{self, Arrays, Change, Ends, INSERT};
use crate::plan::Plan;

/// Accepts requests, all of them or none.
pub(super) async fn accept(
    node: &Arc<Node>,
    requests: Vec<Accept>,
    at: Timestamp,
) -> Result<Vec<AcceptedHandoff>, StoreError> {
    let requests: Vec<Arc<Accept>> = requests.into_iter().map(Arc::new).collect();
    let mut patience = Patience::new();
    // What may have been written by us before the connection was lost is ours, and not there before.
    let mut memory = Memory::default();
    let mut attempt = match &requests[..] {
        [] => return Ok(Vec::new()),
        [only] if RunId::alone(&only.id) == only.run => {
            let attempt = share(node, NewRequest { request: Arc::clone(only), at }).await;
            attempt.result.and_then(|accepted| Ok(vec![accepted?]))
        }
        _ => together(node, &requests, at, &mut memory).await,
    };
    loop {
        if let Some(accepted) = patience.answer(attempt, &mut memory).await? {
            let ours = |accepted: AcceptedHandoff, request: &Accept| {
                let existing = accepted.existing && !(memory.unsure && accepted.handoff.id == request.id);
                AcceptedHandoff { existing, ..accepted }
            };
            return Ok(accepted.into_iter().zip(&requests).map(|(done, request)| ours(done, request)).collect());
        }
        attempt = together(node, &requests, at, &mut memory).await;
    }
}

/// A request that begins a run of its own.
pub(super) struct NewRequest {
    request: Arc<Accept>,
    at: Timestamp,
}

impl Shared for NewRequest {
    type Answer = AcceptedHandoff;

    fn desk(node: &Node) -> &Desk<NewRequest> {
        &node.accepting
    }

    /// One statement, in the hope that nobody knows any of them yet.
    async fn together(
        node: &Node,
        pieces: &[NewRequest],
        attempts: &mut [Attempt<AcceptedHandoff>],
    ) -> Result<(), Fault> {
        let session = node.session().await?;
        let mut changes = BTreeMap::new();
        for (place, NewRequest { request, at }) in pieces.iter().enumerate() {
            match request.check() {
                Err(why) => attempts[place].result = Ok(Err(StoreError::invalid(why))),
                // Whoever sends the same once more is told by the careful way whose it is.
                Ok(()) if changes.contains_key(&request.id) => {}
                Ok(()) => {
                    let change = Change::of((**request).clone().apply(*at), &mut Ends::default());
                    changes.insert(&request.id, (place, change));
                }
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        let (insert, notify) = (session.prepare(INSERT).await?, node.wake.statement(&session).await?);
        let arrays = Arrays::of(changes.values().map(|(_, change)| change));
        let (parameters, channel) = (arrays.parameters(), node.wake.parameters());
        let behind = node.wake.notifies_now(&node.pool).then_some((&notify, &channel[..]));
        let inserted = session.write((&insert, &parameters), behind).await?;
        let inserted = table::written(&inserted)?;
        drop(arrays);
        for (id, (place, change)) in changes {
            attempts[place].result = if inserted.contains(id.as_str()) {
                Ok(Ok(AcceptedHandoff { handoff: change.handoff, existing: false }))
            } else {
                // The id or the key is known: the careful way finds out whose it is.
                Err(Fault::Raced)
            };
        }
        node.wake.ring();
        Ok(())
    }
}

/// Accepts requests in one transaction.
async fn together(
    node: &Node,
    requests: &[Arc<Accept>],
    at: Timestamp,
    memory: &mut Memory<Vec<AcceptedHandoff>>,
) -> Result<Vec<AcceptedHandoff>, Fault> {
    let wanted = Wanted::by_requests(requests);
    let accept = |plan: &mut Plan<&SeenRows>| {
        let accepted: Result<Vec<AcceptedHandoff>, Gap> =
            requests.iter().map(|request| plan.accept(request, at)).collect();
        accepted.map(Ok)
    };
    Ok(carefully(node, &wanted, accept, memory).await??)
}

/// Lets nobody else accept something in these runs, or remove them, until the transaction ends.
pub(super) const LOCK_RUNS: &str = "SELECT pg_advisory_xact_lock(hashtextextended(run, 0))
    FROM (SELECT DISTINCT run FROM unnest($1::text[]) AS wanted (run) ORDER BY run) AS runs";

//! Accepting: a request becomes a handoff with its first event.
//!
//! A retry after an unknown outcome is safe: the id is the caller's, so the request finds its own handoff again.

use baton_engine::RunId;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{Accepted, Error};
use jiff::Timestamp;

use super::Postgres;
use super::careful::{Gap, Memory, Seen, Wanted, carefully};
use super::fault::{Fault, Patience};
use super::session::sent_behind;
use super::table::{Arrays, Change, Ends, INSERT};
use crate::plan::Plan;

/// Accepts requests, all of them or none.
pub(super) async fn accept(store: &Postgres, requests: &[Accept], at: Timestamp) -> Result<Vec<Accepted>, Error> {
    let mut patience = Patience::new();
    // What may have been written by us before the connection was lost is ours, and not there before.
    let mut memory = Memory::default();
    loop {
        let attempt = match requests {
            [] => return Ok(Vec::new()),
            [only] if RunId::alone(&only.id) == only.run && !patience.has_raced() => alone(store, only, at).await,
            _ => together(store, requests, at, &mut memory).await,
        };
        match attempt {
            Ok(accepted) => {
                let ours = |accepted: Accepted, request: &Accept| {
                    let existing = accepted.existing && !(memory.unsure && accepted.handoff.id == request.id);
                    Accepted { existing, ..accepted }
                };
                return Ok(accepted.into_iter().zip(requests).map(|(done, request)| ours(done, request)).collect());
            }
            Err(fault) => {
                memory.unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

/// Accepts a request that begins a run of its own, in one statement, in the hope that nobody knows it yet.
async fn alone(store: &Postgres, request: &Accept, at: Timestamp) -> Result<Vec<Accepted>, Fault> {
    request.check().map_err(Error::Invalid)?;
    let session = store.session().await?;
    let change = Change::of(request.clone().apply(at), &mut Ends::default());
    let changes = [change];
    let arrays = Arrays::of(&changes);
    let (insert, notify) = (session.prepare(INSERT).await?, store.wake.statement(&session).await?);
    let parameters = arrays.parameters();
    let inserted = session.client().execute(&insert, &parameters);
    let news = store.wake.parameters();
    let inserted = match store.wake.notifies_now(&store.pool) {
        true => sent_behind(inserted, session.client().execute(&notify, &news)).await?,
        false => inserted.await?,
    };
    if inserted == 0 {
        // The id or the key is known: the careful way finds out whose it is.
        return Err(Fault::Raced);
    }
    store.wake.ring();
    let [change] = changes;
    Ok(vec![Accepted { handoff: change.handoff, existing: false }])
}

/// Accepts requests in one transaction.
async fn together(
    store: &Postgres,
    requests: &[Accept],
    at: Timestamp,
    memory: &mut Memory<Vec<Accepted>>,
) -> Result<Vec<Accepted>, Fault> {
    let wanted = Wanted::by_requests(requests);
    let accept = |plan: &mut Plan<&Seen>| {
        let accepted: Result<Vec<Accepted>, Gap> = requests.iter().map(|request| plan.accept(request, at)).collect();
        accepted.map(Ok)
    };
    Ok(carefully(store, &wanted, accept, memory).await??)
}

/// Lets nobody else accept something in these runs, or remove them, until the transaction ends.
pub(super) const LOCK_RUNS: &str = "SELECT pg_advisory_xact_lock(hashtextextended(run, 0))
    FROM (SELECT DISTINCT run FROM unnest($1::text[]) AS wanted (run) ORDER BY run) AS runs";

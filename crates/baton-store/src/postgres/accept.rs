//! Accepting: a request becomes a handoff with its first event.
//!
//! A retry after an unknown outcome is safe: the id is the caller's, so the request finds its own handoff again.

use std::collections::HashMap;

use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{Accepted, Error};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;

use super::Postgres;
use super::fault::{Fault, Patience};
use super::session::{Guarded, Session, sent_behind};
use super::table::{self, Arrays, Change, ENDS, Ends, INSERT};

/// Accepts requests, all of them or none.
pub(super) async fn accept(store: &Postgres, requests: &[Accept], at: Timestamp) -> Result<Vec<Accepted>, Error> {
    requests.iter().try_for_each(Accept::check).map_err(Error::Invalid)?;
    let mut patience = Patience::new();
    // What may have been written by us before the connection was lost is ours, and not there before.
    let mut unsure = false;
    loop {
        let attempt = match requests {
            [] => return Ok(Vec::new()),
            [only] if RunId::alone(&only.id) == only.run && !patience.has_raced() => alone(store, only, at).await,
            _ => together(store, requests, at).await,
        };
        match attempt {
            Ok(accepted) => {
                let ours = |accepted: Accepted, request: &Accept| {
                    let existing = accepted.existing && !(unsure && accepted.handoff.id == request.id);
                    Accepted { existing, ..accepted }
                };
                return Ok(accepted.into_iter().zip(requests).map(|(done, request)| ours(done, request)).collect());
            }
            Err(fault) => {
                unsure |= matches!(fault, Fault::Lost(_));
                patience.after(fault).await?;
            }
        }
    }
}

/// Accepts a request that begins a run of its own, in one statement, in the hope that nobody knows it yet.
async fn alone(store: &Postgres, request: &Accept, at: Timestamp) -> Result<Vec<Accepted>, Fault> {
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
async fn together(store: &Postgres, requests: &[Accept], at: Timestamp) -> Result<Vec<Accepted>, Fault> {
    let mut session = store.session().await?;
    let runs: Vec<&str> = requests.iter().map(|request| request.run.as_str()).collect();
    let (lock, ends) = (session.prepare(LOCK_RUNS).await?, session.prepare(ENDS).await?);
    let found = session.begin(Some((&lock, &[&runs])), (&ends, &[&runs])).await?;
    let mut ends = Ends::default();
    table::ends(&found, &mut ends)?;
    let known = Known::look(&session, requests).await?;
    let (accepted, changes) = match known.plan(requests, &mut ends, at) {
        Ok(planned) => planned,
        Err(taken) => {
            session.roll_back().await?;
            return Err(taken.into());
        }
    };
    let arrays = Arrays::of(&changes);
    let (insert, notify) = (session.prepare(INSERT).await?, store.wake.statement(&session).await?);
    let inserts = Guarded { bound: (&insert, &arrays.parameters()), rows: changes.len() as u64 };
    let nothing = Guarded { rows: 0, ..inserts };
    session.write(inserts, nothing).await?;
    session.commit(None, Some((&notify, &store.wake.parameters()))).await?;
    store.wake.ring();
    Ok(accepted)
}

/// Lets nobody else accept something in these runs, or remove them, until the transaction ends.
pub(super) const LOCK_RUNS: &str = "SELECT pg_advisory_xact_lock(hashtextextended(run, 0))
    FROM (SELECT DISTINCT run FROM unnest($1::text[]) AS wanted (run) ORDER BY run) AS runs";

/// The handoffs that have the id or the key of a request.
#[derive(Default)]
pub(super) struct Known {
    by_id: HashMap<HandoffId, Handoff>,
    by_key: HashMap<String, HandoffId>,
}

/// What becomes of requests, and what must be written for it.
pub(super) type Plan = (Vec<Accepted>, Vec<Change>);

impl Known {
    /// Looks for the ids and keys of requests.
    pub(super) async fn look(session: &Session, requests: &[Accept]) -> Result<Known, Fault> {
        let sql = concat!(
            "SELECT ",
            table::columns!(),
            " FROM (SELECT * FROM handoffs WHERE id = ANY ($1) UNION ALL SELECT * FROM handoffs WHERE key = ANY ($2)) AS h"
        );
        let ids: Vec<&str> = requests.iter().map(|request| request.id.as_str()).collect();
        let keys: Vec<&str> = requests.iter().filter_map(|request| request.terms.key.as_deref()).collect();
        let mut known = Known::default();
        for row in session.query(sql, &[&ids, &keys]).await? {
            known.add(table::handoff(&row)?);
        }
        Ok(known)
    }

    /// Decides what becomes of requests: those that are known give what is there, the others are made.
    pub(super) fn plan(mut self, requests: &[Accept], ends: &mut Ends, at: Timestamp) -> Result<Plan, Error> {
        let (mut accepted, mut changes): Plan = (Vec::new(), Vec::new());
        for request in requests {
            if let Some(handoff) = self.existing(request)? {
                accepted.push(Accepted { handoff, existing: true });
                continue;
            }
            let transition = request.clone().apply(ends.at(&request.run, at));
            self.add(transition.handoff.clone());
            accepted.push(Accepted { handoff: transition.handoff.clone(), existing: false });
            changes.push(Change::of(transition, ends));
        }
        Ok((accepted, changes))
    }

    fn add(&mut self, handoff: Handoff) {
        if let Some(key) = &handoff.terms.key {
            self.by_key.insert(key.clone(), handoff.id.clone());
        }
        self.by_id.insert(handoff.id.clone(), handoff);
    }

    /// Returns the handoff with the id or the key of a request, if it is the same request.
    fn existing(&self, request: &Accept) -> Result<Option<Handoff>, Error> {
        let by_id = || Some(("id", request.id.to_string(), self.by_id.get(&request.id)?));
        let by_key = || {
            let key = request.terms.key.as_ref()?;
            Some(("key", key.clone(), self.by_id.get(self.by_key.get(key)?)?))
        };
        let Some((what, value, handoff)) = by_key().or_else(by_id) else { return Ok(None) };
        match handoff.terms == request.terms && handoff.request == request.request.digest() {
            true => Ok(Some(handoff.clone())),
            false => Err(Error::Taken { what, value, existing: handoff.id.clone() }),
        }
    }
}

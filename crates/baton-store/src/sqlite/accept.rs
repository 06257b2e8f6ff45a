//! Accepting: a request becomes a handoff with its first event.

use baton_engine::journal::Head;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{AcceptedHandoff, StoreError};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::table::{self, Change};
use super::translate;
use super::writer::Batch;

/// Prepares a request that begins a run of its own, before it is anybody's turn to write.
pub(super) fn prepare(requests: &[Accept], at: Timestamp) -> Option<Change> {
    match requests {
        [only] if only.check().is_ok() && RunId::alone(&only.id) == only.run => {
            Some(Change::of(only.clone().apply(at), Head::START))
        }
        _ => None,
    }
}

/// Accepts requests, all of them or none. The first may be prepared.
pub(super) fn accept(
    batch: &Batch<'_>,
    requests: &[Accept],
    prepared: Option<&Change>,
    at: Timestamp,
) -> Result<Vec<AcceptedHandoff>, StoreError> {
    if let Some(change) = prepared
        && table::head(batch.connection, &change.handoff.run)?.0 == Head::START
        && table::insert(batch.connection, change)?
    {
        batch.announce();
        return Ok(vec![AcceptedHandoff { handoff: change.handoff.clone(), existing: false }]);
    }
    requests.iter().map(|request| accept_one(batch, request, at)).collect()
}

fn accept_one(batch: &Batch<'_>, request: &Accept, at: Timestamp) -> Result<AcceptedHandoff, StoreError> {
    request.check().map_err(StoreError::invalid)?;
    let (head, latest) = table::head(batch.connection, &request.run)?;
    let change = Change::of(request.clone().apply(latest.map_or(at, |latest| latest.max(at))), head);
    if !table::insert(batch.connection, &change)? {
        return existing(batch.connection, request);
    }
    batch.announce();
    Ok(AcceptedHandoff { handoff: change.handoff, existing: false })
}

/// The id or the key is known: either it is the same request again, or somebody else's.
fn existing(connection: &Connection, request: &Accept) -> Result<AcceptedHandoff, StoreError> {
    let key = request.terms.key.as_deref();
    let with_key = key.map(|key| id_of_key(connection, key)).transpose()?.flatten();
    let (what, value) = match (&with_key, key) {
        (Some(_), Some(key)) => ("key", key.to_owned()),
        _ => ("id", request.id.to_string()),
    };
    let row = table::find(connection, with_key.as_ref().unwrap_or(&request.id))?;
    let missing = || StoreError::Failed(format!("handoff `{}` was refused by the database", request.id));
    let row = row.ok_or_else(missing)?;
    let handoff = row.handoff()?;
    let same = *handoff.terms == request.terms && handoff.request == request.request.digest();
    if same {
        Ok(AcceptedHandoff { handoff, existing: true })
    } else {
        Err(StoreError::Taken { what, value, existing: handoff.id })
    }
}

pub(super) fn id_of_key(connection: &Connection, key: &str) -> Result<Option<HandoffId>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM handoffs WHERE key = ?1").map_err(translate)?;
    let id: Option<String> = statement.query_row([key], |row| row.get(0)).optional().map_err(translate)?;
    id.map(HandoffId::parse).transpose().map_err(StoreError::damaged)
}

//! Accepting: a request becomes a handoff with its first event.

use baton_engine::HandoffId;
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{Accepted, Error};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::writer::Batch;
use super::{table, translate};

/// Accepts requests, all of them or none.
pub(super) fn accept(batch: &Batch<'_>, requests: &[Accept], at: Timestamp) -> Result<Vec<Accepted>, Error> {
    requests.iter().map(|request| accept_one(batch, request, at)).collect()
}

fn accept_one(batch: &Batch<'_>, request: &Accept, at: Timestamp) -> Result<Accepted, Error> {
    request.check().map_err(Error::Invalid)?;
    let connection = batch.connection;
    let (head, latest) = table::head(connection, &request.run)?;
    let transition = request.clone().apply(latest.map_or(at, |latest| latest.max(at)));
    let handoff = transition.handoff;
    let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
    if !table::insert(connection, &handoff, event.head())? {
        return existing(connection, request, &handoff);
    }
    table::record(connection, &event)?;
    batch.announce();
    Ok(Accepted { handoff, existing: false })
}

/// The id or the key is known: either it is the same request again, or somebody else's.
fn existing(connection: &Connection, request: &Accept, wanted: &Handoff) -> Result<Accepted, Error> {
    let (what, value, row) = match table::find(connection, &request.id)? {
        Some(row) => ("id", request.id.to_string(), row),
        None => {
            let key = request.terms.key.clone().unwrap_or_default();
            let id = id_of_key(connection, &key)?;
            let row = id.map(|id| table::find(connection, &id)).transpose()?.flatten();
            let missing = || Error::Failed(format!("handoff `{}` was refused by the database", request.id));
            ("key", key, row.ok_or_else(missing)?)
        }
    };
    let handoff = row.handoff()?;
    let same = handoff.terms == wanted.terms && handoff.request == wanted.request;
    if same {
        Ok(Accepted { handoff, existing: true })
    } else {
        Err(Error::Taken { what, value, existing: handoff.id })
    }
}

fn id_of_key(connection: &Connection, key: &str) -> Result<Option<HandoffId>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM handoffs WHERE key = ?1").map_err(translate)?;
    let id: Option<String> = statement.query_row([key], |row| row.get(0)).optional().map_err(translate)?;
    id.map(HandoffId::parse).transpose().map_err(Error::Damaged)
}

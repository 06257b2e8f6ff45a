//! Keeps handoffs and their journal: SQLite and PostgreSQL behind the port of `baton_engine::store`.
//!
//! `rows` says how a handoff is stored, for both; `sqlite` and `postgres` contain SQL and binding only.

mod location;
#[expect(dead_code, reason = "the stores come next")]
mod rows;

use std::sync::Arc;

use baton_engine::Store;
use baton_engine::store::Error;

pub use location::Location;

/// Opens a store, and makes it if it is not there.
pub async fn open(location: &Location) -> Result<Arc<dyn Store>, Error> {
    Err(Error::Unreachable(format!("{location}: there is no such store yet")))
}

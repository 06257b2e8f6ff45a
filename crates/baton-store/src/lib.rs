//! Keeps handoffs and their journal: SQLite, PostgreSQL and a Baton server behind the port of `baton_engine::store`.
//!
//! `rows` says how a handoff is stored and `plan` what a transaction comes to, for both; `sqlite` and `postgres` contain
//! SQL and binding only. `remote` asks a server that has one of the two.

#![warn(clippy::match_bool)]

mod authorities;
mod boot_time;
mod claim_cache;
mod location;
mod plan;
pub mod postgres;
pub mod remote;
mod rows;
mod server_clock;
pub mod sqlite;

use std::sync::Arc;

use baton_engine::Store;
use baton_engine::store::StoreError;

pub use authorities::{Authorities, AuthoritiesFault};
pub use boot_time::boot_time;
pub use location::{Location, LocationFault};
use remote::{RemoteStore, ServerAccess};

/// Opens a store, and makes it if it is not there. A server is asked without a token; [`remote::RemoteStore::reach`] takes one.
pub async fn open(location: &Location) -> Result<Arc<dyn Store>, StoreError> {
    match location {
        Location::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path)?)),
        Location::Postgres(url) => Ok(Arc::new(postgres::Postgres::connect(url).await?)),
        Location::Server(address) => {
            let access = ServerAccess { address: address.clone(), token: None, authorities: None };
            Ok(Arc::new(RemoteStore::reach(access).await?))
        }
    }
}

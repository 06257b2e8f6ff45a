//! Migrations: forward only, numbered like those of PostgreSQL. The number is SQLite's `user_version`.

use baton_engine::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use super::translate;

/// The migrations, in their order; the first has the number 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_handoffs.sql"),
    include_str!("../../migrations/sqlite/0002_contents.sql"),
    include_str!("../../migrations/sqlite/0003_ledger.sql"),
    include_str!("../../migrations/sqlite/0004_tokens.sql"),
    include_str!("../../migrations/sqlite/0005_finished.sql"),
];

/// Marks the file as ours: "bton".
const APPLICATION_ID: i32 = 0x6274_6f6e;

/// The number of the last migration that we know.
pub(super) fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Returns the number of the last migration of the database.
pub(super) fn current(connection: &Connection) -> Result<u32, StoreError> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(translate)
}

/// Refuses a database that is newer than we are, or is not ours. Nothing in it is changed.
pub(super) fn refuse_strangers(connection: &Connection) -> Result<(), StoreError> {
    let found = current(connection)?;
    if found > known() {
        return Err(StoreError::TooNew { found, known: known() });
    }
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(translate)?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(translate)?;
    if id != APPLICATION_ID && (found > 0 || tables > 0) {
        return Err(StoreError::Damaged("this SQLite database belongs to another program".to_owned()));
    }
    Ok(())
}

/// Brings the database up to date.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if current(connection)? == known() {
        return Ok(());
    }
    // Another process may have been faster: what is to be done is decided inside the transaction.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(translate)?;
    let found = current(&transaction)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration).map_err(translate)?;
    }
    transaction.pragma_update(None, "user_version", known()).map_err(translate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(translate)?;
    transaction.commit().map_err(translate)
}

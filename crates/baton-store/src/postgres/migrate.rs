//! Migrations: forward only, numbered and named like those of SQLite. Many nodes may start at once; one migrates.

use baton_engine::store::StoreError;
use tokio_postgres::error::SqlState;

use super::fault::Fault;
use super::session::Session;

/// A step from one form of the database to the next.
struct Migration {
    name: &'static str,
    sql: &'static str,
}

/// The migrations, in their order; the first has the number 1.
const MIGRATIONS: &[Migration] = &[
    Migration { name: "handoffs", sql: include_str!("../../migrations/postgres/0001_handoffs.sql") },
    Migration { name: "contents", sql: include_str!("../../migrations/postgres/0002_contents.sql") },
    Migration { name: "ledger", sql: include_str!("../../migrations/postgres/0003_ledger.sql") },
    Migration { name: "tokens", sql: include_str!("../../migrations/postgres/0004_tokens.sql") },
    Migration { name: "finished", sql: include_str!("../../migrations/postgres/0005_finished.sql") },
];

/// Where applied migrations are noted.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS baton_migrations (
    number     bigint NOT NULL PRIMARY KEY CHECK (number >= 1),
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)";

/// The number of the last migration that we know.
pub(super) fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Returns the number of the last migration of the database.
pub(super) async fn current(session: &Session) -> Result<u32, Fault> {
    let found = session.client().query_one("SELECT coalesce(max(number), 0) FROM baton_migrations", &[]).await;
    let number: i64 = match found {
        Ok(row) => row.try_get(0)?,
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => 0,
        Err(error) => return Err(error.into()),
    };
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Brings the database up to date; refuses one that is newer than we are.
pub(super) async fn migrate(session: &Session) -> Result<(), Fault> {
    let known = known();
    let found = current(session).await?;
    if found > known {
        return Err(StoreError::TooNew { found, known }.into());
    }
    if found == known {
        return Ok(());
    }
    let done = under_lock(session).await;
    if done.is_err() {
        session.client().batch_execute("ROLLBACK").await?;
    }
    done
}

/// Another node may have been faster: what is to be done is decided under the lock.
async fn under_lock(session: &Session) -> Result<(), Fault> {
    let client = session.client();
    let lock = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('baton migrations', 0))";
    client.batch_execute(lock).await?;
    client.batch_execute(TABLE).await?;
    let found = current(session).await?;
    for (number, migration) in (1_i64..).zip(MIGRATIONS).skip(found as usize) {
        client.batch_execute(migration.sql).await?;
        let sql = "INSERT INTO baton_migrations (number, name) VALUES ($1, $2)";
        client.execute(sql, &[&number, &migration.name]).await?;
    }
    Ok(client.batch_execute("COMMIT").await?)
}

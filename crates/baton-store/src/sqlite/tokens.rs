//! Tokens of a server.

use baton_engine::journal::Hash;
use baton_engine::store::StoreError;
use baton_engine::token::AccessToken;
use jiff::Timestamp;
use rusqlite::{Connection, Params, Row as SqlRow, params};

use super::translate;
use super::writer::Batch;
use crate::rows::TokenRow;

/// The columns of a [`TokenRow`], in the order in which [`row`] reads them.
macro_rules! columns {
    () => {
        "id, name, role, agent, digest, created_at, expires_at, revoked_at"
    };
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<TokenRow> {
    Ok(TokenRow {
        id: row.get(0)?,
        name: row.get(1)?,
        role: row.get(2)?,
        agent: row.get(3)?,
        digest: row.get(4)?,
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
        revoked_at: row.get(7)?,
    })
}

fn found(connection: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<AccessToken>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    let found = statement.query_map(parameters, row).map_err(translate)?;
    found.map(|row| row.map_err(translate)?.token()).collect()
}

/// Returns all tokens.
pub(super) fn all(connection: &Connection) -> Result<Vec<AccessToken>, StoreError> {
    found(connection, concat!("SELECT ", columns!(), " FROM tokens ORDER BY created_at, id"), [])
}

/// Finds a token by its digest.
pub(super) fn with(connection: &Connection, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM tokens WHERE digest = ?1");
    Ok(found(connection, sql, params![digest.0])?.pop())
}

/// Finds a token by its id.
pub(super) fn named(connection: &Connection, id: &str) -> Result<Option<AccessToken>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM tokens WHERE id = ?1");
    Ok(found(connection, sql, params![id])?.pop())
}

/// Removes sessions that are over: their ids have a colon.
pub(super) fn remove_ended_sessions(batch: &Batch<'_>, now: Timestamp) -> Result<u64, StoreError> {
    let sql = "DELETE FROM tokens WHERE instr(id, ':') > 0 AND (revoked_at IS NOT NULL OR expires_at <= ?1)";
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    Ok(statement.execute(params![now.as_microsecond()]).map_err(translate)? as u64)
}

/// Keeps a new token.
pub(super) fn add(batch: &Batch<'_>, token: &AccessToken) -> Result<(), StoreError> {
    let sql =
        concat!("INSERT INTO tokens (", columns!(), ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING");
    let TokenRow { id, name, role, agent, digest, created_at, expires_at, revoked_at } = TokenRow::of(token);
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    let values = params![id, name, role, agent, digest, created_at, expires_at, revoked_at];
    match statement.execute(values).map_err(translate)? {
        0 => Err(TokenRow::taken()),
        _ => Ok(()),
    }
}

/// Takes a token back.
pub(super) fn revoke(batch: &Batch<'_>, id: &str, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1";
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    Ok(statement.execute(params![id, at.as_microsecond()]).map_err(translate)? > 0)
}

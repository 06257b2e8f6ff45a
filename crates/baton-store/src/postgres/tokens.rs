//! Tokens of a server.

use baton_engine::journal::Hash;
use baton_engine::token::AccessToken;
use jiff::Timestamp;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::fault::Fault;
use super::table;
use crate::rows::TokenRow;

/// The columns of a [`TokenRow`], in the order in which [`token`] reads them.
macro_rules! columns {
    () => {
        "id, name, role, agent, digest, created_at, expires_at, revoked_at"
    };
}

fn token(row: &SqlRow) -> Result<AccessToken, Fault> {
    let row = TokenRow {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        role: row.try_get(2)?,
        agent: row.try_get(3)?,
        digest: row.try_get(4)?,
        created_at: row.try_get(5)?,
        expires_at: row.try_get(6)?,
        revoked_at: row.try_get(7)?,
    };
    Ok(row.token()?)
}

/// Returns all tokens.
pub(super) async fn all(node: &Node) -> Result<Vec<AccessToken>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM tokens ORDER BY created_at, id");
    node.session().await?.query(sql, &[]).await?.iter().map(token).collect()
}

/// Finds a token by its digest.
pub(super) async fn with(node: &Node, digest: &Hash) -> Result<Option<AccessToken>, Fault> {
    let sql = concat!("SELECT ", columns!(), " FROM tokens WHERE digest = $1");
    let digest: &[u8] = &digest.0;
    node.session().await?.query(sql, &[&digest]).await?.first().map(token).transpose()
}

/// Finds a token by its id.
pub(super) async fn named(node: &Node, id: &str) -> Result<Option<AccessToken>, Fault> {
    if table::is_unknowable(id) {
        return Ok(None);
    }
    let sql = concat!("SELECT ", columns!(), " FROM tokens WHERE id = $1");
    node.session().await?.query(sql, &[&id]).await?.first().map(token).transpose()
}

/// Removes sessions that are over: their ids have a colon.
pub(super) async fn remove_ended_sessions(node: &Node, now: Timestamp) -> Result<u64, Fault> {
    let sql =
        "DELETE FROM tokens WHERE strpos(id, ':') > 0 AND (revoked_at IS NOT NULL OR expires_at <= $1) RETURNING id";
    Ok(node.session().await?.query(sql, &[&now.as_microsecond()]).await?.len() as u64)
}

/// Keeps a new token.
pub(super) async fn add(node: &Node, token: &AccessToken) -> Result<(), Fault> {
    let sql = concat!(
        "INSERT INTO tokens (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id"
    );
    let TokenRow { id, name, role, agent, digest, created_at, expires_at, revoked_at } = TokenRow::of(token);
    let session = node.session().await?;
    let added =
        session.query(sql, &[&id, &name, &role, &agent, &digest, &created_at, &expires_at, &revoked_at]).await?;
    if added.is_empty() { Err(TokenRow::taken().into()) } else { Ok(()) }
}

/// Takes a token back.
pub(super) async fn revoke(node: &Node, id: &str, at: Timestamp) -> Result<bool, Fault> {
    if table::is_unknowable(id) {
        return Ok(false);
    }
    let sql = "UPDATE tokens SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING id";
    Ok(!node.session().await?.query(sql, &[&id, &at.as_microsecond()]).await?.is_empty())
}

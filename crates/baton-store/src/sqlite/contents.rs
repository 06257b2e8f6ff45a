//! Files that reports name, as they were when they were looked at.

use baton_engine::RunId;
use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;
use baton_engine::store::Error;
use rusqlite::{Connection, OptionalExtension, params};

use super::translate;
use super::writer::Batch;

/// Keeps what is not kept yet, as far as there is room for it.
pub(super) fn keep(batch: &Batch<'_>, run: &RunId, contents: &[Content], bytes_max: u64) -> Result<(), Error> {
    let sql = "INSERT OR IGNORE INTO contents (run, digest, bytes) SELECT ?1, ?2, ?3
               WHERE (SELECT coalesce(sum(length(bytes)), 0) FROM contents WHERE run = ?1) + length(?3) <= ?4";
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    let room = i64::try_from(bytes_max).unwrap_or(i64::MAX);
    for Content { digest, bytes } in contents {
        statement.execute(params![run.as_str(), digest.0, bytes, room]).map_err(translate)?;
    }
    Ok(())
}

/// Finds a file by what identifies it.
pub(super) fn find(connection: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT bytes FROM contents WHERE digest = ?1 LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([&digest.0], |row| row.get(0)).optional().map_err(translate)
}

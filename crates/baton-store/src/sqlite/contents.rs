//! Files that reports name, as they were when they were looked at.

use baton_engine::RunId;
use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;
use baton_engine::store::Error;
use rusqlite::{Connection, OptionalExtension, params};

use super::translate;
use super::writer::Batch;
use crate::rows::unsigned;

/// Keeps what is not kept yet, as far as there is room for it.
pub(super) fn keep(batch: &Batch<'_>, run: &RunId, contents: &[Content], bytes_max: u64) -> Result<(), Error> {
    let sum = "SELECT coalesce(sum(length(bytes)), 0) FROM contents WHERE run = ?1";
    let mut sum = batch.connection.prepare_cached(sum).map_err(translate)?;
    let kept: i64 = sum.query_row([run.as_str()], |row| row.get(0)).map_err(translate)?;
    let mut room = bytes_max.saturating_sub(unsigned(kept)?);
    let insert = "INSERT OR IGNORE INTO contents (run, digest, bytes) VALUES (?1, ?2, ?3)";
    let mut insert = batch.connection.prepare_cached(insert).map_err(translate)?;
    for Content { digest, bytes } in contents {
        let length = bytes.len() as u64;
        if length <= room && insert.execute(params![run.as_str(), digest.0, bytes]).map_err(translate)? > 0 {
            room -= length;
        }
    }
    Ok(())
}

/// Finds a file by what identifies it.
pub(super) fn find(connection: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT bytes FROM contents WHERE digest = ?1 LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([&digest.0], |row| row.get(0)).optional().map_err(translate)
}

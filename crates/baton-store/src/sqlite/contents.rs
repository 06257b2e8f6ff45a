//! Files that reports name, as they were when they were looked at.

use baton_engine::RunId;
use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;
use baton_engine::store::{KeptContents, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

use super::translate;
use super::writer::Batch;
use crate::rows::unsigned;

/// Keeps what is not kept yet, as far as there is room for it.
pub(super) fn keep(
    batch: &Batch<'_>,
    run: &RunId,
    contents: &[Content],
    bytes_max: u64,
) -> Result<KeptContents, StoreError> {
    let sum = "SELECT coalesce(sum(length(bytes)), 0) FROM contents WHERE run = ?1";
    let mut sum = batch.connection.prepare_cached(sum).map_err(translate)?;
    let kept: i64 = sum.query_row([run.as_str()], |row| row.get(0)).map_err(translate)?;
    let mut room = bytes_max.saturating_sub(unsigned(kept)?);
    let insert = "INSERT OR IGNORE INTO contents (run, digest, bytes) VALUES (?1, ?2, ?3)";
    let mut insert = batch.connection.prepare_cached(insert).map_err(translate)?;
    let mut digests = Vec::new();
    for Content { digest, bytes } in contents {
        let length = bytes.len() as u64;
        if length <= room {
            let inserted = insert.execute(params![run.as_str(), digest.0, bytes]).map_err(translate)?;
            room -= if inserted > 0 { length } else { 0 };
            digests.push(digest.clone());
        } else if find(batch.connection, run, digest)?.is_some() {
            digests.push(digest.clone());
        }
    }
    Ok(KeptContents { digests, room })
}

/// Finds a file by what identifies it.
pub(super) fn find(connection: &Connection, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT bytes FROM contents WHERE run = ?1 AND digest = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.query_row([run.as_str(), &digest.0], |row| row.get(0)).optional().map_err(translate)
}

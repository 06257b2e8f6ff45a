//! Files that reports name, as they were when they were looked at.

use baton_engine::RunId;
use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;

use super::Node;
use super::fault::Fault;

/// Keeps what is not kept yet, as far as there is room for it.
pub(super) async fn keep(node: &Node, run: &RunId, contents: &[Content], bytes_max: u64) -> Result<(), Fault> {
    let sql = "INSERT INTO contents (run, digest, bytes) SELECT $1::text, $2::text, $3::bytea
        WHERE (SELECT coalesce(sum(length(bytes)), 0) FROM contents WHERE run = $1) + length($3) <= $4::bigint
        ON CONFLICT DO NOTHING";
    let session = node.session().await?;
    let statement = session.prepare(sql).await?;
    let room = i64::try_from(bytes_max).unwrap_or(i64::MAX);
    for Content { digest, bytes } in contents {
        session.client().execute(&statement, &[&run.as_str(), &digest.0, bytes, &room]).await?;
    }
    Ok(())
}

/// Finds a file by what identifies it.
pub(super) async fn find(node: &Node, digest: &Digest) -> Result<Option<Vec<u8>>, Fault> {
    let session = node.session().await?;
    let found = session.query("SELECT bytes FROM contents WHERE digest = $1 LIMIT 1", &[&digest.0]).await?;
    Ok(found.first().map(|row| row.try_get(0)).transpose()?)
}

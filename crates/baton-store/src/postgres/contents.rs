//! Files that reports name, as they were when they were looked at.

use baton_engine::RunId;
use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;
use baton_engine::store::KeptContents;

use super::Node;
use super::fault::Fault;
use crate::rows;

/// Keeps what is not kept yet, as far as there is room for it.
pub(super) async fn keep(
    node: &Node,
    run: &RunId,
    contents: &[Content],
    bytes_max: u64,
) -> Result<KeptContents, Fault> {
    let session = node.session().await?;
    let sum = "SELECT coalesce(sum(length(bytes)), 0) FROM contents WHERE run = $1";
    let kept = session.query(sum, &[&run.as_str()]).await?;
    let kept: i64 = kept.first().map_or(Ok(0), |row| row.try_get(0))?;
    let mut room = bytes_max.saturating_sub(rows::unsigned(kept)?);
    let insert = "INSERT INTO contents (run, digest, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let insert = session.prepare(insert).await?;
    let known = "SELECT 1 FROM contents WHERE run = $1 AND digest = $2";
    let mut digests = Vec::new();
    for Content { digest, bytes } in contents {
        let length = bytes.len() as u64;
        if length <= room {
            let inserted = session.client().execute(&insert, &[&run.as_str(), &digest.0, bytes]).await?;
            room -= if inserted > 0 { length } else { 0 };
            digests.push(digest.clone());
        } else if !session.query(known, &[&run.as_str(), &digest.0]).await?.is_empty() {
            digests.push(digest.clone());
        }
    }
    Ok(KeptContents { digests, room })
}

/// Finds a file by what identifies it.
pub(super) async fn find(node: &Node, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, Fault> {
    let session = node.session().await?;
    let found =
        session.query("SELECT bytes FROM contents WHERE run = $1 AND digest = $2", &[&run.as_str(), &digest.0]).await?;
    Ok(found.first().map(|row| row.try_get(0)).transpose()?)
}

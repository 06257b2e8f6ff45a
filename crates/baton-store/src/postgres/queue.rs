//! The settings of queues.

use baton_engine::queue::Queue;
use baton_engine::store::StoreError;
use tokio_postgres::Row as SqlRow;

use super::Node;
use super::fault::Fault;
use super::session::{Parameters, sent_behind};
use super::table;

/// Reads settings: whether it is paused, and its limit.
pub(super) fn read(agent: &str, row: &SqlRow) -> Result<Queue, Fault> {
    let concurrency: Option<i64> = row.try_get(1)?;
    let limit = |limit: i64| u32::try_from(limit).map_err(|_| StoreError::Damaged(format!("the limit {limit}")));
    Ok(Queue { agent: agent.to_owned(), paused: row.try_get(0)?, concurrency: concurrency.map(limit).transpose()? })
}

/// Returns the settings of an agent's queue.
pub(super) async fn queue(node: &Node, agent: &str) -> Result<Queue, Fault> {
    if table::is_unknowable(agent) {
        return Ok(Queue::open(agent));
    }
    let session = node.session().await?;
    let found = session.query("SELECT paused, concurrency FROM queues WHERE agent = $1", &[&agent]).await?;
    found.first().map_or_else(|| Ok(Queue::open(agent)), |row| read(agent, row))
}

/// Returns the settings of all queues.
pub(super) async fn queues(node: &Node) -> Result<Vec<Queue>, Fault> {
    let sql = "SELECT paused, concurrency, agent FROM queues ORDER BY agent";
    let found = node.session().await?.query(sql, &[]).await?;
    found.iter().map(|row| read(row.try_get(2)?, row)).collect()
}

/// Changes the settings of an agent's queue.
pub(super) async fn set_queue(node: &Node, queue: &Queue) -> Result<(), Fault> {
    queue.check().map_err(StoreError::invalid)?;
    let sql = "INSERT INTO queues (agent, paused, concurrency) VALUES ($1, $2, $3)
               ON CONFLICT (agent) DO UPDATE SET paused = excluded.paused, concurrency = excluded.concurrency";
    let session = node.session().await?;
    let (set, notify) = (session.prepare(sql).await?, node.wake.statement(&session).await?);
    let concurrency = queue.concurrency.map(i64::from);
    let settings: Parameters<'_> = &[&queue.agent, &queue.paused, &concurrency];
    let client = session.client();
    let written = client.execute(&set, settings);
    sent_behind(written, client.execute(&notify, &node.wake.parameters())).await?;
    node.wake.ring();
    Ok(())
}

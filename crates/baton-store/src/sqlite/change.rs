//! Changing the settings of a queue.

use baton_engine::queue::Queue;
use baton_engine::store::StoreError;
use rusqlite::params;

use super::translate;
use super::writer::Batch;

/// Changes the settings of an agent's queue.
pub(super) fn set_queue(batch: &Batch<'_>, queue: &Queue) -> Result<(), StoreError> {
    queue.check().map_err(StoreError::invalid)?;
    let sql = "INSERT INTO queues (agent, paused, concurrency) VALUES (?1, ?2, ?3)
               ON CONFLICT (agent) DO UPDATE SET paused = excluded.paused, concurrency = excluded.concurrency";
    let mut statement = batch.connection.prepare_cached(sql).map_err(translate)?;
    statement.execute(params![queue.agent, queue.paused, queue.concurrency]).map_err(translate)?;
    batch.announce();
    Ok(())
}

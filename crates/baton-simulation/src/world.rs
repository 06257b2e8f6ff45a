//! Worlds.

use std::future::Future;

/// Lets something happen in one thread, under simulated time.
///
/// # Panics
/// If there is no runtime for it.
pub fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

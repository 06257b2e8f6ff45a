//! Being told to stop: the first signal ends claiming, the second one ends what runs.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::worker_output::WorkerOutput;
use crate::command_error::CommandError;

/// How far the worker is with stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Not at all.
    Go,
    /// Claims nothing more; what runs may finish.
    Drain,
    /// What runs is killed.
    Kill,
}

/// Listens to SIGTERM and SIGINT from now on.
pub(super) fn listen(output: WorkerOutput) -> Result<watch::Receiver<Stop>, CommandError> {
    let failed = |error| CommandError::internal(format!("cannot listen to signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (sender, receiver) = watch::channel(Stop::Go);
    tokio::spawn(async move {
        for stop in [Stop::Drain, Stop::Kill] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            output.note(match stop {
                Stop::Go | Stop::Drain => "stopping: running commands may finish; another signal kills them",
                Stop::Kill => "killed the running commands; their leases expire",
            });
            sender.send_replace(stop);
        }
        // The receivers must not see the end of the channel as another change.
        sender.closed().await;
    });
    Ok(receiver)
}

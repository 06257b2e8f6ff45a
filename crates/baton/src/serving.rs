//! What `baton serve` needs of this machine: workflow files and workspaces, and drivers for its runs.

mod machine;
mod served_runs;

pub(crate) use machine::ServerMachine;
pub(crate) use served_runs::ServedRuns;

//! Agents as real processes: those that work, and those that hang, flood, lie still or leave things behind.

#[path = "agents/bench.rs"]
mod bench;
#[path = "agents/ends.rs"]
mod ends;
#[path = "agents/folders.rs"]
mod folders;
#[path = "agents/killing.rs"]
mod killing;
#[path = "agents/odd_streams.rs"]
mod odd_streams;
#[path = "agents/output_files.rs"]
mod output_files;
#[path = "agents/profiles.rs"]
mod profiles;
#[path = "agents/prompts.rs"]
mod prompts;
#[path = "agents/recorded.rs"]
mod recorded;

//! Reports that lie and reports that do not, with real repositories, files, commands and transcripts.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "evidence/artifacts.rs"]
mod artifacts;
#[path = "evidence/both_ways.rs"]
mod both_ways;
#[path = "evidence/changes.rs"]
mod changes;
#[path = "evidence/checks.rs"]
mod checks;
#[path = "evidence/honesty.rs"]
mod honesty;
#[path = "evidence/skills.rs"]
mod skills;
#[path = "evidence/stage.rs"]
mod stage;

//! Reaching agents: [`directory`] hands work over through folders of JSON files.

pub mod directory;

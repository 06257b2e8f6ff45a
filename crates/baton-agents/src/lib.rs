//! Reaching agents, and seeing what they did.
//!
//! - [`directory`] hands work over through folders of JSON files
//! - [`workspace`] looks at what stands in the folder where agents work
//! - [`evidence`] compares what a report claims with what can be seen

pub mod directory;
pub mod evidence;
pub mod workspace;

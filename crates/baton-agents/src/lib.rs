//! Reaching agents: [`command`] runs programs, [`directory`] hands work over through folders of JSON files.
//!
//! [`process`] is what runs under a command: started, fed, read within bounds, killed with everything it has started.
//! `profile` knows the flags and the output of common coding agents.

pub mod command;
pub mod directory;
pub mod process;
mod profile;

pub use command::CommandAgent;

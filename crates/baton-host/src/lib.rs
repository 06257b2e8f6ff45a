//! What the machine offers: files that survive a crash, processes, programs, the shell. Knows nothing about handoffs.
//!
//! It is a crate because the store, the agents and the program need the same, and none of them may know the others.

#![warn(clippy::match_bool)]

pub mod atomic_file;
pub mod folders;
mod json_text;
mod own_output;
mod process_stat;
mod program;
mod shared_folder;
mod shell;

pub use json_text::whole_json;
pub use own_output::OwnOutput;
pub use process_stat::ProcessStat;
pub use program::{find_program, is_program};
pub use shared_folder::{SharedFolder, UnfitEntry, open_followed, open_regular};
pub use shell::quoted;

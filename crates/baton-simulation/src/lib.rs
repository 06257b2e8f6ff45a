//! Runs the whole engine in one thread under simulated time: drivers, agents, workers, people, clocks and a store, all
//! chance from one seed. The same seed gives the same journal, byte for byte.
//!
//! - [`Memory`]: a store in memory, and [`Model`], which says what every store must do
//! - [`faulty::Faulty`]: a store as one party meets it, with [`fault`]s
//! - [`puppet::Puppet`]: a process that can be killed and paused
//! - [`witness::Witness`] and [`promises`]: what must hold, at each transaction and afterwards
//! - [`single::run`]: one run and one fault; [`world::live`]: everything at once, from a seed

pub mod cells;
pub mod chance;
pub mod fault;
pub mod faulty;
pub mod figures;
pub mod flows;
mod keeper;
mod memory;
pub mod mind;
mod model;
pub mod moods;
pub mod outsiders;
pub mod promises;
pub mod puppet;
pub mod random;
pub mod saying;
pub mod single;
pub mod stage;
pub mod time;
pub mod witness;
pub mod world;

pub use memory::{Memory, Transaction, Watcher};
pub use model::{Change, Model};

//! Runs the whole engine in one thread under simulated time: drivers, agents, workers, people, clocks and a store, all
//! chance from one seed. The same seed gives the same journal, byte for byte.
//!
//! - [`faulty::Faulty`]: the engine's store in memory as one party meets it, with [`fault`]s
//! - [`puppet::Puppet`]: a process that can be killed and paused
//! - [`witness::Witness`] and [`promises`]: what must hold, at each transaction and afterwards
//! - [`single::run`]: one run and one fault; [`world::live`]: everything at once, from a seed

pub mod chance;
pub mod fault;
pub mod faulty;
pub mod figures;
pub mod flows;
mod keeper;
pub mod mind;
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

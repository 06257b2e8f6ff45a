//! What happens next: the lifecycle of a handoff, and the ports that its surroundings provide.
//!
//! [`lifecycle`] decides: a pure function from a handoff and a command to the handoff after it. [`store`] is the port
//! that keeps handoffs and their [`journal`]; [`clock`] is the only way to know the time. Nothing here does I/O.

pub mod agent;
pub mod answer;
pub mod asked;
pub mod audit;
pub mod clock;
pub mod evidence;
pub mod failure;
pub mod handoff;
pub mod id;
pub mod journal;
pub mod lifecycle;
pub mod people;
pub mod queue;
pub mod retry;
pub mod step;
pub mod store;

pub use clock::Clock;
pub use failure::{Code, Failure};
pub use handoff::{Handoff, Priority, State, Terms};
pub use id::{HandoffId, RunId};
pub use lifecycle::{Command, Refusal};
pub use store::Store;

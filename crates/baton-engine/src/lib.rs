//! What happens next: the lifecycle of a handoff, and the ports that its surroundings provide.
//!
//! Nothing here does I/O.

pub mod failure;
pub mod id;
pub mod retry;

pub use failure::{Code, Failure};
pub use id::{HandoffId, RunId};

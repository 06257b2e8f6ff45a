//! What happens next: the lifecycle of a handoff, and the ports that its surroundings provide.
//!
//! [`lifecycle`] decides: a pure function from a handoff and a command to the handoff after it. [`store`] is the port
//! that keeps handoffs and their [`journal`]; [`clock`] is the only way to know the time. Nothing here does I/O.

pub mod agent;
pub mod answer;
pub mod approval;
pub mod asked;
pub mod audit;
pub mod clock;
pub mod definition;
pub mod door;
pub mod draft;
pub mod driver;
pub mod engine;
mod event_kind;
pub mod evidence;
pub mod expression;
pub mod failure;
pub mod fence;
pub mod flow;
pub mod handoff;
pub mod handover;
pub mod id;
pub mod journal;
pub mod known;
pub mod ledger;
pub mod ledger_keeper;
pub mod lifecycle;
mod overlap;
pub mod pages;
pub mod people;
pub mod prompt;
pub mod protection;
pub mod queue;
pub mod rehearsal;
pub mod retry;
pub mod route;
pub mod run;
pub mod sabotage;
pub mod ssh;
mod state_folder;
pub mod step;
pub mod store;
pub mod stored;
pub mod view;

pub use clock::Clock;
pub use engine::Engine;
pub use event_kind::EventKind;
pub use failure::{Code, Failure};
pub use fence::Fence;
pub use handoff::{Handoff, Priority, State, Terms};
pub use id::{HandoffId, RunId};
pub use lifecycle::{Command, Refusal};
pub use state_folder::StateFolder;
pub use store::Store;

//! What happens next: lifecycle, journal, workflows, routes; and the ports that the surroundings provide. Nothing here does
//! I/O, and time and chance come in as arguments.
//!
//! **One handoff.** [`lifecycle`] decides: a pure function from a [`handoff`] and a command to the handoff after it, or to a
//! refusal. What was decided becomes an event of the [`journal`], in a form of its own ([`stored`]); replaying the events
//! gives the handoff again. [`approval`], [`known`] and [`ssh`] say whose decision counts; [`ledger`] and [`audit`] prove
//! that nobody has changed what was written.
//!
//! **What doors call.** [`Engine`] has the verbs of every door: `send`, `report`, `decide`, `cancel` and so on. Each judges
//! what comes in by a yardstick, asks what the document means ([`asked`], [`answer`]), and has an effect or a
//! [`Problem`](engine::Problem).
//!
//! **A run.** A workflow runs as handoffs that share one journal. [`definition`] is what the run was started with, [`run`]
//! is what its journal tells. [`draft`] is a transaction in the making: commands are tried on a copy of the run, and
//! [`flow`] adds what follows until nothing is open, with a [`route`] for every outcome and what is handed over
//! ([`handover`]). All of that is pure; [`rehearsal`] does it without a store.
//!
//! ```text
//!    journal ──absorb──▶ Run ──▶ Draft ──flow::settle──▶ steps ──carry_out──▶ store ──▶ journal
//! ```
//!
//! **Driving it.** [`driver`] holds the lease of a run and is the only one who waits: it carries out drafts, lets agents
//! work with a [`prompt`], has their claims examined, asks people, and begins again with what the journal says.
//!
//! **The ports.** [`store`] keeps handoffs and journal, [`clock`] is the only way to know the time, [`people`] can be asked,
//! [`agent`] is told something and reports, [`evidence`] looks at what a report claims. With the feature `test-support`
//! the module `memory` has a store and all the others for tests.

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
#[cfg(any(test, feature = "test-support"))]
pub mod memory;
pub mod output_directory;
mod overlap;
pub mod pages;
pub mod people;
pub mod playthrough;
pub mod prompt;
pub mod protection;
pub mod queue;
pub mod rehearsal;
pub mod report_contract;
pub mod retry;
pub mod route;
pub mod run;
pub mod runs;
pub mod sabotage;
pub mod session;
pub mod ssh;
mod state_folder;
pub mod step;
pub mod store;
pub mod stored;
pub mod token;
pub mod trace;
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

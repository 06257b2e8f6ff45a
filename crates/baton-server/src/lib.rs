//! The HTTP door: an API over the engine, live events, and the driving of runs.
//!
//! Everything here translates: a request into a call of `Engine` or `Runs`, what `baton-views` makes of the answer into JSON,
//! a `Problem` into a status. No rule about handoffs lives here, and nothing here knows files, processes or the terminal:
//! what the machine must provide comes in through [`ServerHost`].
//!
//! | what | where |
//! |---|---|
//! | what a server consists of, and its start and end | [`Server`], [`serve`] |
//! | who asks, and what they may do | `access` |
//! | what is answered, and in which form | `answer_form` |
//! | one module per resource | `api` |
//! | why a request had no effect | `problem_json` |
//! | the journal, read once for everybody who waits; as a stream | `event_hub`, `event_stream` |
//! | runs that this server drives | [`RunDriving`] |
//! | figures for Prometheus | `metrics` |

#![warn(clippy::match_bool)]

mod access;
mod answer_form;
mod api;
mod event_hub;
mod event_stream;
mod host;
mod incoming;
mod metrics;
mod problem_json;
mod run_driving;
mod server;
mod tls_listener;

pub use access::Exposure;
pub use api::openapi_json;
pub use host::{ClaimBriefing, HostProblem, KnownWorkflow, RunStart, ServerHost};
pub use run_driving::{DRIVER_PREFIX, RunDriving};
pub use server::{Server, ServerParts, serve};
pub use tls_listener::{TlsFault, TlsListener};

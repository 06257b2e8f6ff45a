//! The HTTP door: an API over the engine, the page for people, live events, and the driving of runs.
//!
//! Everything here translates: a request into a call of `Engine` or `Runs`, what `baton-views` makes of the answer into JSON,
//! what `baton-page` makes of it into a page, a `Problem` into a status. No rule about handoffs lives here, and nothing here knows files, processes or the terminal:
//! what the machine must provide comes in through [`ServerHost`].
//!
//! | what | where |
//! |---|---|
//! | what a server consists of, and its start and end | [`Server`], [`serve`] |
//! | connections, and how long they may take; TLS | [`ServerLimits`], [`TlsIdentity`] |
//! | who asks, and what they may do; wrong tokens | `access`, `wrong_tokens` |
//! | everything that is answered | `router` |
//! | the API: one module per resource; in which form it answers; what it has handed out | `api`, `answer_form`, `claimed_work` |
//! | the page: one module per part of the site; logging in, forms, errors | `web` |
//! | what both do and look at | `acting`, `looking` |
//! | why a request had no effect | `problem_json` |
//! | the journal, read once for everybody who waits, with what became of handoffs; as a stream | `event_hub`, `known_handoffs`, `event_stream` |
//! | runs that this server drives | [`RunDriving`] |
//! | figures for Prometheus | `metrics` |

#![warn(clippy::match_bool)]

mod access;
mod acting;
mod agent_figures;
mod answer_form;
mod api;
mod claimed_work;
mod connections;
mod event_hub;
mod event_stream;
mod host;
mod incoming;
mod known_handoffs;
mod looking;
mod metrics;
mod problem_json;
mod router;
mod run_driving;
mod server;
mod tls;
mod web;
mod wrong_tokens;

pub use access::{Exposure, Transport};
pub use api::openapi_json;
pub use baton_page::exhibit::{Exhibit, ExhibitContent, LAST_COMMIT, LAST_DECISION, NOW};
pub use connections::ServerLimits;
pub use host::{
    AttemptFile, AttemptTexts, ClaimBriefing, HostProblem, KnownInput, KnownWorkflow, RunStart, ServerHost,
};
pub use run_driving::{DRIVER_PREFIX, RunDriving};
pub use server::{Server, ServerParts, serve};
pub use tls::{TlsFault, TlsIdentity};

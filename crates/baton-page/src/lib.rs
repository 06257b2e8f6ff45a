//! The web page: pure functions from values of the engine to HTML, with one style sheet and one script.
//!
//! Nothing here knows HTTP, a store, files or a clock: whoever serves the page fetches the data, and now is an argument.
//! Every page works without JavaScript and under a policy that forbids inline code and inline styles. Text of documents
//! appears as text only: [`layout`] finishes every page and every fragment in one place, and makes what could turn or hide
//! text visible.
//!
//! | what | where |
//! |---|---|
//! | who looks, the frame around every page, themes | [`layout`] |
//! | addresses of pages and forms; the fragments that change while somebody looks | [`address`], [`live`] |
//! | style sheet and script, under names with their hash | [`assets`] |
//! | what waits for people, and one question with the forms that decide | [`inbox`], [`question`] |
//! | what has changed since the same was decided about last | [`since`] |
//! | agents; a pasted document and the rules; two runs side by side | [`agents`], [`check`], [`comparison`] |
//! | logging in, and why something cannot be shown | [`entrance`] |
//! | the same as plain text | [`plain`] |
//! | one handoff, with the files that it is about | [`handoff`], [`exhibit`] |
//! | the form that starts a run | [`starting`] |
//! | the list of runs; one run with its flow, its handoffs and its journal | [`runs`], [`run`], [`journal`] |

//!
//! ```
//! use baton_page::layout::{Theme, Viewer};
//!
//! let now = "2026-05-04T15:42:00Z".parse().expect("a time");
//! let viewer = Viewer {
//!     name: Some("ana"), may_decide: true, may_start: true, may_control: false, csrf: "token", runs: "/runs",
//!     waiting: 2,
//!     theme: Theme::System, now,
//! };
//! let page = baton_page::entrance::not_found(&viewer, "There is no run <9>.").into_string();
//! assert!(page.contains("There is no run &lt;9&gt;."));
//! ```

#![warn(clippy::match_bool)]

pub mod address;
pub mod agents;
pub mod assets;
pub mod check;
pub mod comparison;
mod document;
pub mod entrance;
pub mod exhibit;
pub mod handoff;
pub mod inbox;
pub mod journal;
pub mod layout;
pub mod live;
mod markdown;
mod pieces;
pub mod plain;
pub mod question;
mod root_cause;
pub mod run;
pub mod run_actions;
pub mod run_state;
pub mod runs;
pub mod since;
pub mod starting;
mod timeline;

//! What doors show: one JSON form, one run summary, one question, one timeline, one sentence and one picture for all of them.
//!
//! Pure functions from values of the engine to values, words and pictures. Nothing here knows a terminal or HTTP, files or
//! processes: a door lays the result out in its own way. JSON forms are promises: members are added, never changed.
//!
//! | what | where |
//! |---|---|
//! | a handoff, its documents and what is recorded about it | [`handoff`] |
//! | an event of the journal: as JSON, in words, and worth telling while a run goes on | [`event`], [`timeline`], [`sentence`] |
//! | what an agent does while it works | [`activity`] |
//! | a question to a person | [`question`] |
//! | what the rules say about a document | [`diagnostic`] |
//! | the queue of an agent | [`queue`] |
//! | a run: where it stands, phase by phase, as a picture | [`standing`], [`run_summary`], [`graph`] |
//! | everything about one handoff or one run, and a list of runs | [`details`] |
//! | what stays of a handoff in a folder | [`archive`] |
//!
//! ```
//! use baton_engine::{HandoffId, RunId};
//! use baton_engine::journal::{Event, Hash};
//!
//! let event = Event {
//!     run: RunId::parse("letter-1").expect("safe"),
//!     seq: 4,
//!     handoff: HandoffId::parse("letter-1.write.1").expect("safe"),
//!     version: 2,
//!     at: "2026-05-01T12:00:00Z".parse().expect("a time"),
//!     kind: "cancelled".to_owned(),
//!     detail: r#"{"by":"ana","reason":"not needed"}"#.to_owned(),
//!     hash: Hash([0; 32]),
//! };
//! assert_eq!(baton_views::timeline::in_words(&event), "by ana: not needed");
//! let form = baton_views::event::json(&event, Some("write"));
//! assert_eq!((&form["event"], &form["detail"]["by"]), (&"cancelled".into(), &"ana".into()));
//! ```

#![warn(clippy::match_bool)]

pub mod activity;
pub mod archive;
pub mod details;
pub mod diagnostic;
pub mod event;
pub mod graph;
pub mod handoff;
pub mod question;
pub mod queue;
mod run_outline;
pub mod run_summary;
pub mod sentence;
pub mod standing;
pub mod step_name;
pub mod timeline;
pub mod words;

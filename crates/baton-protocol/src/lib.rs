//! What a handoff is: documents, dialects and rules. Pure: no I/O, no clock, no randomness.
//!
//! The way of a document: [`reading::read`] finds and parses it (`read`, `tree`), its [`dialect`] turns it into
//! the canonical [`model`], and [`judge::judge`] applies the [`rules`]. [`convert`] writes it in another dialect.
//!
//! ```
//! use baton_protocol::{Dialect, Hints, Settings, Surroundings};
//!
//! let text = br#"{"task_id": "csv-07", "phase": "write", "status": "done"}"#;
//! let reading = baton_protocol::read(text, Hints::default());
//! assert_eq!(reading.dialect, Some(Dialect::Task));
//!
//! let judgement = baton_protocol::judge(text, &reading, &Surroundings::default(), &Settings::default());
//! assert!(!judgement.valid);
//! let status = judgement.diagnostics.iter().find(|found| found.code == "unknown-status").expect("the status is unknown");
//! assert_eq!((status.pointer.as_str(), status.line, status.column), ("/status", 1, 51));
//! ```

#![warn(clippy::match_bool)]

pub mod convert;
pub mod diagnostic;
pub mod dialect;
pub mod duration;
pub mod judge;
pub mod model;
mod positions;
mod printable;
pub mod prose;
pub mod read;
pub mod reading;
pub mod rules;
pub mod schema;
pub mod settings;
pub mod surroundings;
pub mod tokens;
pub mod tree;
pub mod wire;
pub mod workflow;

pub use diagnostic::{Diagnostic, Severity};
pub use dialect::Dialect;
pub use judge::{AllowedFinding, Judgement, judge};
pub use model::{Document, Kind};
pub use printable::{is_printable, printable, printable_json};
pub use reading::{Hints, Reading, read};
pub use settings::Settings;
pub use surroundings::Surroundings;

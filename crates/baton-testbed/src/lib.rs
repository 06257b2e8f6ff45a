//! Real servers, folders and processes for tests, benchmarks and torture. Reaches no user.
//!
//! - [`PostgresServer`]: a throw-away PostgreSQL server that can be killed and comes back
//! - [`Scratch`]: a folder that is removed at the end
//! - [`Process`]: a child that is killed at the end, read line by line
//! - [`isolate`]: lets a program see nothing of the user who runs the tests
//! - [`Maker`]: documents made at random from a JSON Schema
//! - [`Dice`]: random numbers that come again with the same seed
//! - [`gauge`]: percentiles, rates, what a process uses, and a table of it
//!
//! Everything here panics when the machine does not do its part: that is how a test fails.

mod children;
mod dice;
mod documents;
pub mod gauge;
mod isolation;
mod lines;
mod postgres;
mod process;
mod scratch;

pub use dice::Dice;
pub use documents::Maker;
pub use isolation::{account, isolate, state_home};
pub use lines::{ChildLines, Silence};
pub use postgres::{Endpoint, MOVABLE_CLOCK, PostgresServer, ServerSettings, query};
pub use process::{Process, kill, lives};
pub use scratch::Scratch;

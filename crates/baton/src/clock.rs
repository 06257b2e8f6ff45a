//! The machine's clock. Everything below is told the time.

use jiff::Timestamp;

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "this is the clock that the others are given")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

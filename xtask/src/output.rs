//! The only place of xtask that prints: results on stdout, everything else on stderr.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the output module")]

use std::time::Duration;

/// Prints what was asked for.
pub(crate) fn result(text: &str) {
    println!("{text}");
}

/// Prints what is going on.
pub(crate) fn note(text: &str) {
    eprintln!("xtask: {text}");
}

/// Prints why the program stops.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}

/// Returns a duration as a person reads it.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

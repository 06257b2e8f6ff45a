//! A failure that the person at the terminal can act on: what happened, what to do, which exit code.
//!
//! Every other error is our own mistake and exits with 70.

use std::fmt;

/// The answer is no: a step failed or a check found something.
const NO: u8 = 1;
/// Wrong usage, or the machine lacks something.
const USAGE: u8 = 2;
/// Our mistake.
const INTERNAL: u8 = 70;

/// Something went wrong and we know what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit_code: u8,
    what: String,
    hint: String,
}

impl Failure {
    /// Reports that a check or a step did not pass.
    pub(crate) fn no(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit_code: NO, what: what.into(), hint: hint.into() }
    }

    /// Reports wrong arguments or a machine that is not set up.
    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit_code: USAGE, what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for Failure {}

/// Returns the exit code that this error ends the program with.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<Failure>().map_or(INTERNAL, |failure| failure.exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_keeps_its_exit_code_below_added_context() {
        let error = anyhow::Error::from(Failure::usage("no git", "install git")).context("set-up");
        assert_eq!(exit_code(&error), 2);
    }

    #[test]
    fn any_other_error_is_our_mistake() {
        assert_eq!(exit_code(&anyhow::anyhow!("unforeseen")), 70);
    }

    #[test]
    fn message_ends_with_the_hint() {
        let failure = Failure::no("`cargo fmt` failed", "run: cargo fmt --all");
        assert_eq!(failure.to_string(), "`cargo fmt` failed\nhint: run: cargo fmt --all");
    }
}

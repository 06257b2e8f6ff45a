//! What went wrong in an attempt, and whether trying again makes sense.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest message that is kept; the rest belongs into a log.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// What the failure of a report with errors begins with; the findings follow on lines of their own.
pub const UNFIT_REPORT: &str = "the report is not valid:";

/// Which kind of failure: one of the five known codes, or the agent's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Code(String);

/// Why a text is not a code: it is not made of capital letters, digits and `_`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown error code `{0}`: use {known}, or capital letters of your own", known = known_codes())]
pub struct InvalidCode(String);

fn known_codes() -> String {
    Code::known().collect::<Vec<_>>().join(", ")
}

/// Whether trying again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transience {
    /// It may work next time.
    Transient,
    /// It would fail again in the same way.
    Permanent,
}

/// Where a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandStream {
    /// To standard output.
    Stdout,
    /// To standard error.
    Stderr,
}

/// What went wrong in an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Whether trying again makes sense.
    pub chance: Transience,
    /// Where the command wrote the lines that the message ends with.
    pub stream: Option<CommandStream>,
}

/// The five codes of the mailbox, and whether each is worth another attempt.
///
/// The input of a request never changes, so breaking its schema is permanent; a missing dependency may appear, and an
/// agent whose output was refused may do better.
const KNOWN: [(&str, Transience); 5] = [
    ("SCHEMA_VALIDATION_FAILED", Transience::Permanent),
    ("PROCESSING_ERROR", Transience::Transient),
    ("TIMEOUT", Transience::Transient),
    ("DEPENDENCY_MISSING", Transience::Transient),
    ("VALIDATION_FAILED", Transience::Transient),
];

impl Code {
    /// Reads a code: capital letters, digits and `_`, at most 64 of them.
    pub fn parse(text: &str) -> Result<Code, InvalidCode> {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) || !text.as_bytes()[0].is_ascii_uppercase() {
            return Err(InvalidCode(text.to_owned()));
        }
        Ok(Code(text.to_owned()))
    }

    /// Input that does not match its schema.
    pub fn schema_validation_failed() -> Code {
        Code("SCHEMA_VALIDATION_FAILED".to_owned())
    }

    /// The agent failed while it worked.
    pub fn processing_error() -> Code {
        Code("PROCESSING_ERROR".to_owned())
    }

    /// Whoever ran the attempt is gone; the agent itself may have done nothing wrong.
    pub fn abandoned() -> Code {
        Code("ABANDONED".to_owned())
    }

    /// The agent did not finish in time.
    pub fn timeout() -> Code {
        Code("TIMEOUT".to_owned())
    }

    /// The agent did not say in time that it understood.
    pub fn not_acknowledged() -> Code {
        Code("NOT_ACKNOWLEDGED".to_owned())
    }

    /// Something that the work needs is not there.
    pub fn dependency_missing() -> Code {
        Code("DEPENDENCY_MISSING".to_owned())
    }

    /// Output that was refused.
    pub fn validation_failed() -> Code {
        Code("VALIDATION_FAILED".to_owned())
    }

    /// A person said no.
    pub fn rejected() -> Code {
        Code("REJECTED".to_owned())
    }

    /// The agent says that it must not go on.
    pub fn stopped() -> Code {
        Code("STOPPED".to_owned())
    }

    /// Returns the known codes.
    pub fn known() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(code, _)| *code)
    }

    /// Returns the code as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether trying again makes sense after such a failure; an unknown code is given another chance.
    pub fn chance(&self) -> Transience {
        KNOWN.iter().find(|(code, _)| *code == self.0).map_or(Transience::Transient, |(_, chance)| *chance)
    }
}

impl Failure {
    /// Describes what went wrong; the code says whether another attempt makes sense.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        let chance = code.chance();
        let mut message = message.into();
        if message.len() > MESSAGE_BYTES_MAX {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
            message.push('…');
        }
        Failure { code, message, chance, stream: None }
    }
}

impl TryFrom<String> for Code {
    type Error = InvalidCode;

    fn try_from(text: String) -> Result<Self, InvalidCode> {
        Code::parse(&text)
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_decides_whether_to_try_again() {
        assert_eq!(Code::schema_validation_failed().chance(), Transience::Permanent);
        assert_eq!(Code::timeout().chance(), Transience::Transient);
        assert_eq!(Code::parse("OUT_OF_TOKENS").expect("own code").chance(), Transience::Transient);
    }

    #[test]
    fn code_is_capital_letters() {
        for wrong in ["", "timeout", "9LIVES", "A B", "DROP;TABLE", &"A".repeat(65)] {
            assert!(Code::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_message_is_cut_between_characters() {
        let failure = Failure::new(Code::timeout(), "ü".repeat(MESSAGE_BYTES_MAX));
        assert!(failure.message.len() <= MESSAGE_BYTES_MAX + 4 && failure.message.ends_with('…'));
    }
}

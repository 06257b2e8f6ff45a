//! What went wrong in an attempt, and whether trying again makes sense.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest message that is kept, with the output below it; the rest belongs in a log.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

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

/// What is shown of whatever failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureOutput {
    /// The last lines of its output.
    LastLines(String),
    /// What is wrong with its report, a line for each finding.
    Findings(String),
    /// Each member of a group that failed: how, its command, the last lines of its output, its log. It is put together for people.
    Members(String),
}

/// What went wrong in an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub code: Code,
    /// What happened, without what the other fields say.
    pub message: String,
    /// What was written last, or what was found.
    pub output: Option<FailureOutput>,
    /// What Baton advises to do about it.
    pub help: Option<String>,
    /// Whether trying again makes sense.
    pub chance: Transience,
    /// Where the command wrote what tells most about it.
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

impl FailureOutput {
    /// Returns the lines.
    pub fn text(&self) -> &str {
        match self {
            FailureOutput::LastLines(text) | FailureOutput::Findings(text) | FailureOutput::Members(text) => text,
        }
    }

    /// Returns the label before them.
    pub fn label(&self) -> &'static str {
        match self {
            FailureOutput::LastLines(_) => "output",
            FailureOutput::Findings(_) => "findings",
            FailureOutput::Members(_) => "members",
        }
    }

    /// Returns the line that matters most: a program says at its end why it failed, of findings the first is the worst.
    pub fn telling_line(&self) -> Option<&str> {
        let mut lines = self.text().lines().map(str::trim).filter(|line| !line.is_empty());
        match self {
            FailureOutput::LastLines(_) => lines.next_back(),
            FailureOutput::Findings(_) => lines.next(),
            FailureOutput::Members(_) => None,
        }
    }
}

impl Failure {
    /// Describes what went wrong; the code says whether another attempt makes sense.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        let chance = code.chance();
        let message = shortened(message.into(), MESSAGE_BYTES_MAX);
        Failure { code, message, output: None, help: None, chance, stream: None }
    }

    /// Adds what stands below the message.
    #[must_use]
    pub fn with_output(self, output: FailureOutput) -> Failure {
        let room = MESSAGE_BYTES_MAX.saturating_sub(self.message.len());
        let output = match output {
            FailureOutput::LastLines(text) => FailureOutput::LastLines(shortened(text, room)),
            FailureOutput::Findings(text) => FailureOutput::Findings(shortened(text, room)),
            FailureOutput::Members(text) => FailureOutput::Members(shortened(text, room)),
        };
        Failure { output: Some(output), ..self }
    }

    /// Returns all of it in one text, except for the code: what happened, what was said, what helps.
    pub fn text(&self) -> String {
        let mut text = self.message.clone();
        if let Some(output) = &self.output {
            text.push_str(self.announcement());
            text.push_str(output.text());
        }
        if let Some(help) = &self.help {
            text.push_str("\nhelp: ");
            text.push_str(help);
        }
        text
    }

    /// Returns what stands between the message and the output in the whole text.
    pub(crate) fn announcement(&self) -> &'static str {
        match (&self.output, self.stream) {
            (None, _) => "",
            (Some(FailureOutput::Findings(_) | FailureOutput::Members(_)), _) => ":\n",
            (Some(FailureOutput::LastLines(_)), Some(CommandStream::Stdout)) => "; it said last on stdout:\n",
            (Some(FailureOutput::LastLines(_)), _) => "; it said last:\n",
        }
    }

    /// Returns what happened, in a line with the code, and what stands below it. Whoever fails may write a message of several
    /// lines.
    pub fn what_and_output(&self) -> (String, Option<FailureOutput>) {
        let (what, more) = self.message.split_once('\n').unwrap_or((&self.message, ""));
        let more = Some(more.trim()).filter(|more| !more.is_empty());
        let what = format!("{}: {}", self.code, what.trim_end().trim_end_matches(':'));
        (what, self.output.clone().or_else(|| more.map(|more| FailureOutput::LastLines(more.to_owned()))))
    }

    /// Returns what happened, and what tells most of what was said about it, in one line.
    pub fn in_one_line(&self) -> String {
        let (what, output) = self.what_and_output();
        match (&output, output.as_ref().and_then(FailureOutput::telling_line)) {
            // What was found says better what is wrong than that something was found.
            (Some(FailureOutput::Findings(_)), Some(line)) => format!("{}: {line}", self.code),
            (_, Some(line)) => format!("{what}: {line}"),
            (_, None) => what,
        }
    }
}

fn shortened(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push('…');
    }
    text
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
        write!(formatter, "{}: {}", self.code, self.text())
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
    fn the_line_that_matters_is_the_last_one_that_was_said() {
        let failure = |message: &str| Failure::new(Code::processing_error(), message);
        let ended = failure("the command ended with 3");
        assert_eq!(ended.in_one_line(), "PROCESSING_ERROR: the command ended with 3");
        let said = ended.clone().with_output(FailureOutput::LastLines("one\nthe index is gone\n".to_owned()));
        assert_eq!(said.in_one_line(), "PROCESSING_ERROR: the command ended with 3: the index is gone");
        let found = ended.with_output(FailureOutput::Findings("one\nanother".to_owned()));
        assert_eq!(found.in_one_line(), "PROCESSING_ERROR: one");
        let several = failure("they are wrong:\n/a: no\n/b: no");
        assert_eq!(several.in_one_line(), "PROCESSING_ERROR: they are wrong: /b: no");
    }

    #[test]
    fn words_of_an_agent_do_not_announce_its_output() {
        let failure = Failure::new(Code::processing_error(), "bad tool use; it said last week that ALL IS LOST");
        let told = "PROCESSING_ERROR: bad tool use; it said last week that ALL IS LOST";
        assert_eq!(failure.what_and_output(), (told.to_owned(), None));
        assert_eq!(failure.to_string(), told);
    }

    #[test]
    fn long_message_is_cut_between_characters() {
        let failure = Failure::new(Code::timeout(), "ü".repeat(MESSAGE_BYTES_MAX));
        assert!(failure.message.len() <= MESSAGE_BYTES_MAX + 4 && failure.message.ends_with('…'));
    }
}

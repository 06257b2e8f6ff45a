//! What stands in many things that are stored: documents, notes and failures.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::failure::{Code, CommandStream, Failure, FailureOutput, Transience};
use crate::handoff::{About, Note, WrittenDocument};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredWritten<'s> {
    dialect: Cow<'s, str>,
    text: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    warnings: Cow<'s, [String]>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredNote<'s> {
    about: About,
    from: Cow<'s, str>,
    text: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<Cow<'s, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFailure<'s> {
    code: Cow<'s, Code>,
    message: Cow<'s, str>,
    chance: Transience,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<CommandStream>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<StoredParts>,
}

/// Where the parts of a message are, in bytes. The message itself is the whole text, as it was before it had parts: what is
/// made of it, such as notes and digests, is the same for a program that does not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoredParts {
    /// Where what happened ends.
    what: usize,
    /// From where to where what was said last is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<(usize, usize)>,
    /// The same for what was found in a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    findings: Option<(usize, usize)>,
    /// Where the advice begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    help: Option<usize>,
}

/// Returns the stored form of each.
pub(super) fn stored<'s, D, S: From<&'s D>>(domain: &'s [D]) -> Vec<S> {
    domain.iter().map(S::from).collect()
}

/// Returns what each stored form says.
pub(super) fn owned<S, D: From<S>>(stored: Vec<S>) -> Vec<D> {
    stored.into_iter().map(D::from).collect()
}

impl<'s> From<&'s WrittenDocument> for StoredWritten<'s> {
    fn from(written: &'s WrittenDocument) -> Self {
        let WrittenDocument { dialect, text, path, warnings } = written;
        StoredWritten {
            dialect: dialect.into(),
            text: text.into(),
            path: path.as_deref().map(Cow::Borrowed),
            warnings: Cow::Borrowed(warnings),
        }
    }
}

impl StoredWritten<'_> {
    /// Returns a copy that borrows nothing.
    pub(super) fn into_owned(self) -> StoredWritten<'static> {
        let StoredWritten { dialect, text, path, warnings } = self;
        StoredWritten {
            dialect: dialect.into_owned().into(),
            text: text.into_owned().into(),
            path: path.map(|path| path.into_owned().into()),
            warnings: warnings.into_owned().into(),
        }
    }
}

impl From<StoredWritten<'_>> for WrittenDocument {
    fn from(stored: StoredWritten<'_>) -> Self {
        let StoredWritten { dialect, text, path, warnings } = stored;
        WrittenDocument {
            dialect: dialect.into_owned(),
            text: text.into_owned(),
            path: path.map(Cow::into_owned),
            warnings: warnings.into_owned().into(),
        }
    }
}

impl<'s> From<&'s Note> for StoredNote<'s> {
    fn from(note: &'s Note) -> Self {
        let Note { about, from, text, question } = note;
        StoredNote {
            about: *about,
            from: from.into(),
            text: text.into(),
            question: question.as_deref().map(Cow::Borrowed),
        }
    }
}

impl From<StoredNote<'_>> for Note {
    fn from(stored: StoredNote<'_>) -> Self {
        let StoredNote { about, from, text, question } = stored;
        Note { about, from: from.into_owned(), text: text.into_owned(), question: question.map(Cow::into_owned) }
    }
}

impl<'s> From<&'s Failure> for StoredFailure<'s> {
    fn from(failure: &'s Failure) -> Self {
        let Failure { code, message, output, help, chance, stream } = failure;
        let whole: Cow<'_, str> = match (output, help) {
            (None, None) => message.into(),
            _ => failure.text().into(),
        };
        let from = message.len() + failure.announcement().len();
        let place = |text: &String| (from, from + text.len());
        let parts = StoredParts {
            what: message.len(),
            output: output.as_ref().and_then(|output| match output {
                FailureOutput::LastLines(text) => Some(place(text)),
                FailureOutput::Findings(_) | FailureOutput::Members(_) => None,
            }),
            findings: output.as_ref().and_then(|output| match output {
                FailureOutput::Findings(text) => Some(place(text)),
                FailureOutput::LastLines(_) | FailureOutput::Members(_) => None,
            }),
            help: help.as_ref().map(|help| whole.len() - help.len()),
        };
        // What can be told from the message is not written: older versions did not, and what they wrote stays as it is.
        let told = StoredParts::of_old(&whole, *stream);
        let is_told = Some(&parts).filter(|parts| parts.what < whole.len()) == told.as_ref();
        let parts = (!is_told).then_some(parts);
        StoredFailure { code: Cow::Borrowed(code), message: whole, chance: *chance, stream: *stream, parts }
    }
}

impl StoredParts {
    /// Finds the parts of a message that was written before they were stored.
    fn of_old(message: &str, stream: Option<CommandStream>) -> Option<StoredParts> {
        let (first, _) = message.split_once('\n')?;
        let on_stdout = stream == Some(CommandStream::Stdout);
        let announced = if on_stdout { "; it said last on stdout:" } else { "; it said last:" };
        let range = Some((first.len() + 1, message.len()));
        let parts = StoredParts { what: 0, output: None, findings: None, help: None };
        if first == "the report is not valid:" {
            return Some(StoredParts { what: first.len() - 1, findings: range, ..parts });
        }
        Some(StoredParts { what: first.strip_suffix(announced)?.len(), output: range, ..parts })
    }
}

impl From<StoredFailure<'_>> for Failure {
    fn from(stored: StoredFailure<'_>) -> Self {
        let StoredFailure { code, message, chance, stream, parts } = stored;
        let parts = parts.or_else(|| StoredParts::of_old(&message, stream));
        let part = |from: usize, to: usize| message.get(from..to).map(str::to_owned);
        let said = parts.and_then(|parts| parts.output).and_then(|(from, to)| part(from, to));
        let found = parts.and_then(|parts| parts.findings).and_then(|(from, to)| part(from, to));
        let output = said.map(FailureOutput::LastLines).or(found.map(FailureOutput::Findings));
        let help = parts.and_then(|parts| parts.help).and_then(|from| part(from, message.len()));
        let message = parts.and_then(|parts| part(0, parts.what)).unwrap_or_else(|| message.clone().into_owned());
        Failure { code: code.into_owned(), message, output, help, chance, stream }
    }
}

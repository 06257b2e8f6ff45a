//! What stands in many things that are stored: documents, notes and failures.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::failure::{Code, CommandStream, Failure, Transience};
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
        let Failure { code, message, chance, stream } = failure;
        StoredFailure { code: Cow::Borrowed(code), message: message.into(), chance: *chance, stream: *stream }
    }
}

impl From<StoredFailure<'_>> for Failure {
    fn from(stored: StoredFailure<'_>) -> Self {
        let StoredFailure { code, message, chance, stream } = stored;
        Failure { code: code.into_owned(), message: message.into_owned(), chance, stream }
    }
}

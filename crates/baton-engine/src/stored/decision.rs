//! Decisions about a handoff from outside: by a person, by the run, or by the handoff that it waited for.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::document::StoredWritten;
use crate::Fence;
use crate::door::Door;
use crate::handoff::{Digest, WrittenDocument};
use crate::known::{CommandAuthor, HowKnown};
use crate::lifecycle::{Cancel, Decide, Decision, RefusedCommand, Requeue, Resume, Route, SkippedPhase};
use crate::ssh::Signature;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredDecide<'s> {
    by: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "StoredKnown::is_unproven")]
    known: StoredKnown<'s>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<Cow<'s, str>>,
    door: Door,
    shown: Cow<'s, Digest>,
    decision: StoredDecision<'s>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Cow<'s, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredDecision<'s> {
    Approve,
    Reject { feedback: Cow<'s, str> },
    Answer { answers: Cow<'s, str> },
    Ask { question: Cow<'s, str> },
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredKnown<'s> {
    #[default]
    Unproven,
    Account,
    Token(Cow<'s, str>),
    Signature(StoredSignature<'s>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSignature<'s> {
    key: Cow<'s, str>,
    armoured: Cow<'s, str>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredCancel<'s> {
    by: Cow<'s, str>,
    reason: Option<Cow<'s, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRequeue<'s> {
    by: Cow<'s, str>,
    note: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    inputs: Cow<'s, Map<String, Value>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredResume<'s> {
    by: Cow<'s, str>,
    resolution: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<Cow<'s, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRoute<'s> {
    to: Cow<'s, str>,
    why: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead_of: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRefused<'s> {
    command: Cow<'s, str>,
    fence: Fence,
    why: Cow<'s, str>,
    document: Option<StoredWritten<'s>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
}

/// Who sent a command, and through which interface.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredAuthor<'s> {
    name: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "StoredKnown::is_unproven")]
    known: StoredKnown<'s>,
    door: Door,
}

impl<'s> StoredAuthor<'s> {
    /// Returns how an author is stored, if there is one.
    pub(super) fn of(author: &'s Option<Arc<CommandAuthor>>) -> Option<StoredAuthor<'s>> {
        let CommandAuthor { name, known, door } = author.as_deref()?;
        Some(StoredAuthor { name: name.into(), known: known.into(), door: *door })
    }

    /// Returns the author.
    pub(super) fn author(self) -> Arc<CommandAuthor> {
        let StoredAuthor { name, known, door } = self;
        Arc::new(CommandAuthor { name: name.into_owned(), known: known.into(), door })
    }
}

impl StoredKnown<'_> {
    fn is_unproven(&self) -> bool {
        matches!(self, StoredKnown::Unproven)
    }
}

impl<'s> From<&'s Decide> for StoredDecide<'s> {
    fn from(decide: &'s Decide) -> Self {
        let Decide { by, known, label, door, shown, decision, note, asked } = decide;
        StoredDecide {
            by: by.into(),
            known: known.into(),
            label: label.as_deref().map(Cow::Borrowed),
            door: *door,
            shown: Cow::Borrowed(shown),
            decision: decision.into(),
            note: note.as_deref().map(Cow::Borrowed),
            asked: asked.as_deref().map(Cow::Borrowed),
        }
    }
}

impl From<StoredDecide<'_>> for Decide {
    fn from(stored: StoredDecide<'_>) -> Self {
        let StoredDecide { by, known, label, door, shown, decision, note, asked } = stored;
        Decide {
            by: by.into_owned(),
            known: known.into(),
            label: label.map(Cow::into_owned),
            door,
            shown: shown.into_owned(),
            decision: decision.into(),
            note: note.map(Cow::into_owned),
            asked: asked.map(Cow::into_owned),
        }
    }
}

impl<'s> From<&'s Decision> for StoredDecision<'s> {
    fn from(decision: &'s Decision) -> Self {
        match decision {
            Decision::Approve => StoredDecision::Approve,
            Decision::Reject { feedback } => StoredDecision::Reject { feedback: feedback.into() },
            Decision::Answer { answers } => StoredDecision::Answer { answers: answers.into() },
            Decision::Ask { question } => StoredDecision::Ask { question: question.into() },
        }
    }
}

impl From<StoredDecision<'_>> for Decision {
    fn from(stored: StoredDecision<'_>) -> Self {
        match stored {
            StoredDecision::Approve => Decision::Approve,
            StoredDecision::Reject { feedback } => Decision::Reject { feedback: feedback.into_owned() },
            StoredDecision::Answer { answers } => Decision::Answer { answers: answers.into_owned() },
            StoredDecision::Ask { question } => Decision::Ask { question: question.into_owned() },
        }
    }
}

impl<'s> From<&'s HowKnown> for StoredKnown<'s> {
    fn from(known: &'s HowKnown) -> Self {
        match known {
            HowKnown::Unproven => StoredKnown::Unproven,
            HowKnown::Account => StoredKnown::Account,
            HowKnown::Token(token) => StoredKnown::Token(token.into()),
            HowKnown::Signature(signature) => StoredKnown::Signature(signature.as_ref().into()),
        }
    }
}

impl From<StoredKnown<'_>> for HowKnown {
    fn from(stored: StoredKnown<'_>) -> Self {
        match stored {
            StoredKnown::Unproven => HowKnown::Unproven,
            StoredKnown::Account => HowKnown::Account,
            StoredKnown::Token(token) => HowKnown::Token(token.into_owned()),
            StoredKnown::Signature(signature) => HowKnown::Signature(Box::new(signature.into())),
        }
    }
}

impl<'s> From<&'s Signature> for StoredSignature<'s> {
    fn from(signature: &'s Signature) -> Self {
        let Signature { key, armoured } = signature;
        StoredSignature { key: key.into(), armoured: armoured.into() }
    }
}

impl From<StoredSignature<'_>> for Signature {
    fn from(stored: StoredSignature<'_>) -> Self {
        let StoredSignature { key, armoured } = stored;
        Signature { key: key.into_owned(), armoured: armoured.into_owned() }
    }
}

impl<'s> From<&'s Cancel> for StoredCancel<'s> {
    fn from(cancel: &'s Cancel) -> Self {
        let Cancel { by, reason } = cancel;
        StoredCancel { by: by.into(), reason: reason.as_deref().map(Cow::Borrowed) }
    }
}

impl From<StoredCancel<'_>> for Cancel {
    fn from(stored: StoredCancel<'_>) -> Self {
        let StoredCancel { by, reason } = stored;
        Cancel { by: by.into_owned(), reason: reason.map(Cow::into_owned) }
    }
}

impl<'s> From<&'s Requeue> for StoredRequeue<'s> {
    fn from(requeue: &'s Requeue) -> Self {
        let Requeue { by, note, from, inputs, seen: _ } = requeue;
        let text = |text: &'s Option<String>| text.as_deref().map(Cow::Borrowed);
        StoredRequeue { by: by.into(), note: text(note), from: text(from), inputs: Cow::Borrowed(inputs) }
    }
}

impl From<StoredRequeue<'_>> for Requeue {
    fn from(stored: StoredRequeue<'_>) -> Self {
        let StoredRequeue { by, note, from, inputs } = stored;
        let (note, from) = (note.map(Cow::into_owned), from.map(Cow::into_owned));
        Requeue { by: by.into_owned(), note, from, inputs: inputs.into_owned(), seen: None }
    }
}

impl<'s> From<&'s Resume> for StoredResume<'s> {
    fn from(resume: &'s Resume) -> Self {
        let Resume { by, resolution, question } = resume;
        StoredResume { by: by.into(), resolution: resolution.into(), question: question.as_deref().map(Cow::Borrowed) }
    }
}

impl From<StoredResume<'_>> for Resume {
    fn from(stored: StoredResume<'_>) -> Self {
        let StoredResume { by, resolution, question } = stored;
        Resume { by: by.into_owned(), resolution: resolution.into_owned(), question: question.map(Cow::into_owned) }
    }
}

impl<'s> From<&'s Route> for StoredRoute<'s> {
    fn from(route: &'s Route) -> Self {
        let Route { to, why, instead_of, skipped } = route;
        StoredRoute {
            to: to.into(),
            why: why.into(),
            instead_of: instead_of.as_deref().map(Cow::Borrowed),
            skipped: skipped.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<StoredRoute<'_>> for Route {
    fn from(stored: StoredRoute<'_>) -> Self {
        let StoredRoute { to, why, instead_of, skipped } = stored;
        Route {
            to: to.into_owned(),
            why: why.into_owned(),
            instead_of: instead_of.map(Cow::into_owned),
            skipped: skipped.iter().map(|text| SkippedPhase::parse(text)).collect(),
        }
    }
}

impl<'s> From<&'s RefusedCommand> for StoredRefused<'s> {
    fn from(refused: &'s RefusedCommand) -> Self {
        let RefusedCommand { command, fence, why, document, by, author } = refused;
        StoredRefused {
            command: command.into(),
            fence: *fence,
            why: why.into(),
            document: document.as_ref().map(StoredWritten::from),
            by: by.as_deref().map(Cow::Borrowed),
            author: StoredAuthor::of(author),
        }
    }
}

impl From<StoredRefused<'_>> for RefusedCommand {
    fn from(stored: StoredRefused<'_>) -> Self {
        let StoredRefused { command, fence, why, document, by, author } = stored;
        RefusedCommand {
            command: command.into_owned(),
            fence,
            why: why.into_owned(),
            document: document.map(WrittenDocument::from),
            by: by.map(Cow::into_owned),
            author: author.map(StoredAuthor::author),
        }
    }
}

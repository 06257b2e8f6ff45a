//! People, as a port: somebody who is asked, and may decide.

use async_trait::async_trait;

use crate::evidence::Examined;
use crate::handoff::{Ask, Digest, Written};
use crate::id::{HandoffId, RunId};
use crate::lifecycle::Decision;

/// Asks people. Dropping the future takes the question back: it was decided elsewhere.
#[async_trait]
pub trait People: Send + Sync {
    /// Asks for a decision; `None` if nobody can be asked here, or nobody wants to decide now.
    async fn decide(&self, question: &Question) -> Option<Said>;
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The handoff that waits.
    pub handoff: HandoffId,
    /// Its run.
    pub run: RunId,
    /// The path of the phase, such as `tools/get-issue/review`; empty outside of a workflow.
    pub phase: String,
    /// The agent that asks, or whose work it is.
    pub agent: String,
    /// What the person is asked for.
    pub ask: Ask,
    /// What it is about, in one line.
    pub title: String,
    /// What happened, for people.
    pub text: String,
    /// What to look at.
    pub items: Vec<String>,
    /// What must be answered.
    pub questions: Vec<String>,
    /// What can be chosen: the word, and what it means.
    pub choices: Vec<(String, String)>,
    /// The document that is decided about.
    pub document: Option<Written>,
    /// What was seen of what the document claims.
    pub examined: Vec<Examined>,
    /// Identifies what is shown.
    pub shown: Digest,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What was decided.
    pub decision: Decision,
    /// What was said beyond that.
    pub note: Option<String>,
    /// Who decided.
    pub by: String,
    /// Through which door.
    pub door: String,
}

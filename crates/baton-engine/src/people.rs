//! People, as a port: somebody who can be asked while a run goes on.

use async_trait::async_trait;

use crate::evidence::Examined;
use crate::handoff::{Ask, Digest, Written};
use crate::id::{HandoffId, RunId};
use crate::lifecycle::Decision;

/// Asks people. Dropping the future takes the question back: it was decided elsewhere.
#[async_trait]
pub trait People: Send + Sync {
    /// Asks for a decision; `None` if nobody can be asked here.
    async fn decide(&self, question: &Question) -> Option<Said>;
}

/// What a person is asked. It is recorded before it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The handoff that waits.
    pub handoff: HandoffId,
    /// Its run.
    pub run: RunId,
    /// The path of the phase.
    pub phase: String,
    /// The agent that the question is about.
    pub agent: String,
    /// What is asked for.
    pub ask: Ask,
    /// The question in one line.
    pub title: String,
    /// What happened.
    pub text: String,
    /// What to look at.
    pub items: Vec<String>,
    /// What the agent asks.
    pub questions: Vec<String>,
    /// What can be chosen, and what each choice means.
    pub choices: Vec<(String, String)>,
    /// The document that is decided about.
    pub document: Option<Written>,
    /// What the evidence showed.
    pub examined: Vec<Examined>,
    /// What identifies what is shown.
    pub shown: Digest,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What was decided.
    pub decision: Decision,
    /// What was said beyond that.
    pub note: Option<String>,
    /// Who said it.
    pub by: String,
    /// Through which door.
    pub door: String,
}

//! People, as a port: somebody who can be asked while a run goes on, and what they are asked.

mod meaning;

pub(crate) use meaning::named;
pub use meaning::{NotOffered, choice, choice_or_number};

use std::path::PathBuf;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::approval::{Approval, Vote};
use crate::door::Door;
use crate::evidence::ExaminedClaim;
use crate::failure::FailureOutput;
use crate::handoff::{Ask, Digest, Handoff, State, Terms, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::known::Decider;
use crate::lifecycle::{Decide, Decision, Refusal};
use crate::step::Role;

/// Asks people. Dropping the future takes the question back: it was decided elsewhere.
#[async_trait]
pub trait People: Send + Sync {
    /// Asks for a decision; `None` if nobody can be asked here.
    async fn decide(&self, question: &Question) -> Option<Response>;
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
    /// What replies are possible.
    pub reply: ExpectedReply,
    /// The question in one line.
    pub title: String,
    /// What happened.
    pub text: String,
    /// What to look at.
    pub items: Vec<String>,
    /// What the agent asks.
    pub questions: Vec<AgentQuestion>,
    /// What can be chosen, and what each choice means.
    pub choices: Vec<(String, String)>,
    /// The document that is decided about.
    pub document: Option<WrittenDocument>,
    /// What the agent that the question is about has handed in, where that is another document.
    pub handed_in: Option<WrittenDocument>,
    /// What went wrong.
    pub trouble: Option<FailedCommand>,
    /// What the evidence showed.
    pub examined: Vec<ExaminedClaim>,
    /// Which phases of the run were not fully caged, and why.
    pub gaps: Vec<String>,
    /// What the run was given.
    pub inputs: Map<String, Value>,
    /// What people have decided about it before, and what they said then.
    pub decided_before: Vec<String>,
    /// Who may decide, and how many must.
    pub approval: Option<Approval>,
    /// Who has decided already, where that takes several.
    pub approvals: Vec<Vote>,
    /// What identifies what is shown.
    pub shown: Digest,
    /// When it continues without an answer: only an advisory gate does.
    pub lapses_at: Option<Timestamp>,
}

/// One question of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentQuestion {
    /// The question.
    pub text: String,
    /// What the agent offers as an answer, and what each means. Other answers are answers as well.
    pub options: Vec<(String, String)>,
}

/// Something that failed, for the person who must decide what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCommand {
    /// What failed: of a group the only member that did, else the group.
    pub handoff: HandoffId,
    /// The command that failed.
    pub command: Option<String>,
    /// How it failed, in one line.
    pub what: String,
    /// The last that it said, or what was found in its report, or the same of several members of a group.
    pub output: Option<FailureOutput>,
    /// What helps.
    pub help: Option<String>,
    /// Where all that it said is.
    pub log: Option<PathBuf>,
}

/// What replies a question takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedReply {
    /// Work is approved, rejected or asked about.
    Review,
    /// An agent's questions are answered; it goes on with the answers.
    Clarification,
    /// A blocked agent waits for an answer; it can be rejected or asked about, too.
    Escalation,
    /// One of the choices, and nothing else: how the run goes on after a failure or at a limit.
    Choice,
    /// One of the choices of a gate, or it is rejected.
    GateChoice,
    /// Yes or no.
    Approval,
    /// A request to a person: yes, no, or an answer in words.
    Request,
}

impl ExpectedReply {
    /// Returns what a handoff that waits for a person expects; `None` if it does not wait for one.
    pub fn of(handoff: &Handoff) -> Option<ExpectedReply> {
        let State::AwaitingPerson { ask } = handoff.state else { return None };
        let terms = &handoff.terms;
        let is_gate = terms.step.as_ref().is_some_and(|step| step.role == Role::Gate);
        Some(match ask {
            Ask::Review => ExpectedReply::Review,
            Ask::Clarification => ExpectedReply::Clarification,
            Ask::Gate if terms.returns_to.is_some() => ExpectedReply::Escalation,
            Ask::Gate if !terms.choices.is_empty() && is_the_runs_own(terms) => ExpectedReply::Choice,
            Ask::Gate if !terms.choices.is_empty() => ExpectedReply::GateChoice,
            Ask::Gate if is_gate => ExpectedReply::Approval,
            Ask::Gate => ExpectedReply::Request,
        })
    }

    /// Returns whether there are words to choose from.
    pub fn is_choice(self) -> bool {
        matches!(self, ExpectedReply::Choice | ExpectedReply::GateChoice)
    }

    /// Returns whether an agent waits for an answer in words.
    pub fn is_answer(self) -> bool {
        matches!(self, ExpectedReply::Clarification | ExpectedReply::Escalation)
    }

    /// Returns whether such a decision can be made, whatever its words are.
    pub fn takes(self, decision: &Decision) -> bool {
        use ExpectedReply::{Approval, Choice, Clarification, Escalation, Request, Review};
        match decision {
            Decision::Approve => matches!(self, Review | Approval | Request),
            Decision::Reject { .. } => !matches!(self, Clarification | Choice),
            Decision::Answer { .. } => !matches!(self, Review | Approval),
            Decision::Ask { .. } => matches!(self, Review | Escalation),
        }
    }
}

/// Returns whether the run itself asks how it goes on, not a workflow or an agent.
fn is_the_runs_own(terms: &Terms) -> bool {
    terms.step.as_ref().is_some_and(|step| matches!(step.role, Role::Failure | Role::Limit))
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// What was decided.
    pub decision: Decision,
    /// What was said beyond that.
    pub note: Option<String>,
    /// Who said it, and how that is known.
    pub by: Decider,
    /// Through which interface.
    pub door: Door,
}

impl Question {
    /// Returns the decision as it is recorded: what it means, with what was shown, and what was asked. What is not offered is
    /// for the lifecycle to refuse.
    pub fn decided(&self, said: Response) -> Decide {
        let Response { decision, note, by: Decider { name, known, label }, door } = said;
        let decision = self.meaning(decision).unwrap_or_else(|none| none.given);
        Decide { by: name, known, label, door, shown: self.shown.clone(), decision, note, asked: self.in_words() }
    }

    /// Returns whether somebody can decide this; the error says why not. Nobody is asked for what would not count.
    pub fn is_for(&self, decider: &Decider) -> Result<(), Refusal> {
        let Some(approval) = self.approval.as_ref().filter(|_| self.ask != Ask::Clarification) else { return Ok(()) };
        approval.admits(&decider.name, &decider.known)?;
        if self.approvals.iter().any(|vote| vote.by == decider.name) {
            return Err(Refusal::Twice { by: decider.name.clone() });
        }
        Ok(())
    }

    /// Returns what an agent asked, in words; `None` if no agent waits for an answer.
    fn in_words(&self) -> Option<String> {
        let texts: Vec<&str> = self.questions.iter().map(|question| question.text.trim()).collect();
        match texts[..] {
            _ if !self.reply.is_answer() => None,
            [] => Some(self.title.clone()),
            [only] => Some(only.to_owned()),
            _ => Some(numbered(&texts)),
        }
    }
}

/// Numbers texts from 1, a line each; further lines of a text are indented.
pub fn numbered<T: AsRef<str>>(texts: &[T]) -> String {
    let line = |(index, text): (usize, &T)| {
        let number = format!("{}. ", index + 1);
        let gap = format!("\n{}", " ".repeat(number.len()));
        format!("{number}{}", text.as_ref().trim().replace('\n', &gap))
    };
    texts.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Writes a value as people would.
pub fn plain_words(value: &Value) -> String {
    let member = |object: &Map<String, Value>, name: &str| object.get(name)?.as_str().map(str::to_owned);
    match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => {
            let named = ["label", "option", "description", "meaning"].iter().find_map(|name| member(object, name));
            named.unwrap_or_else(|| value.to_string())
        }
        other => other.to_string(),
    }
}

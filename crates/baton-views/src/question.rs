//! What a person is asked: the JSON form, what kind of question it is, and what is asked in one line.

use baton_engine::Handoff;
use baton_engine::approval::Approval;
use baton_engine::failure::FailureOutput;
use baton_engine::handoff::{Ask, Digest};
use baton_engine::people::{ExpectedReply, FailedCommand, Question};
use baton_engine::step::{ORCHESTRATOR, Role};
use baton_protocol::model::Document;
use serde_json::{Value, json};

use crate::handoff::{ask_word, document, examined, votes};

/// What kind of question it is, as people sort them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// Work is to be approved or rejected.
    Review,
    /// An agent has questions.
    Clarification,
    /// The workflow wants a decision.
    Gate,
    /// A limit of the run is reached.
    Limit,
    /// Something has failed for good.
    Failure,
    /// A blocked agent needs an answer.
    Escalation,
}

impl QuestionKind {
    /// Returns what kind of question a handoff asks.
    pub fn of(handoff: &Handoff, ask: Ask) -> QuestionKind {
        match (ask, handoff.terms.step.as_ref().map(|step| step.role)) {
            (Ask::Gate, Some(Role::Limit)) => QuestionKind::Limit,
            (Ask::Gate, Some(Role::Failure)) => QuestionKind::Failure,
            (Ask::Gate, Some(Role::Escalation)) => QuestionKind::Escalation,
            (Ask::Gate, _) => QuestionKind::Gate,
            (Ask::Review, _) => QuestionKind::Review,
            (Ask::Clarification, _) => QuestionKind::Clarification,
        }
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            QuestionKind::Review => ask_word(Ask::Review),
            QuestionKind::Clarification => ask_word(Ask::Clarification),
            QuestionKind::Gate => ask_word(Ask::Gate),
            QuestionKind::Limit => "limit",
            QuestionKind::Failure => "failure",
            QuestionKind::Escalation => "escalation",
        }
    }
}

/// Returns the JSON form of a question. How it is answered differs from door to door, and each adds that itself.
pub fn json(handoff: &Handoff, question: &Question) -> Value {
    let choice = |(word, meaning): &(String, String)| json!({ "choice": word, "meaning": meaning });
    let Digest(digest) = &question.shown;
    json!({
        "id": question.handoff.as_str(),
        "run": question.run.as_str(),
        "phase": Some(&question.phase).filter(|phase| !phase.is_empty()),
        "ask": QuestionKind::of(handoff, question.ask).as_str(),
        "agent": question.agent,
        "since": handoff.changed_at,
        "title": question.title,
        "items": question.items,
        "questions": question.questions.iter().map(|asked| &asked.text).collect::<Vec<_>>(),
        "options": question.questions.iter().map(|asked| choice_words(&asked.options)).collect::<Vec<_>>(),
        "choices": question.choices.iter().map(choice).collect::<Vec<_>>(),
        "trouble": question.trouble.as_ref().map(trouble),
        "examined": examined(&question.examined),
        "not_caged": question.gaps,
        "inputs": question.inputs,
        "decided_before": question.decided_before,
        "approval": question.approval.as_ref().map(approval),
        "approvals": votes(&question.approvals),
        "lapses_at": question.lapses_at,
        "document": question.document.as_ref().map(document),
        "digest": digest,
    })
}

/// Returns what is demanded of whoever decides.
fn approval(approval: &Approval) -> Value {
    let names: Vec<&str> = approval.approvers.iter().map(|approver| approver.name.as_str()).collect();
    json!({ "at_least": approval.at_least, "signed": approval.signed, "approvers": names })
}

fn trouble(trouble: &FailedCommand) -> Value {
    json!({
        "handoff": trouble.handoff.as_str(),
        "command": trouble.command,
        "failure": trouble.what,
        "output": trouble.output.as_ref().map_or("", FailureOutput::text),
        "help": trouble.help,
        "log": trouble.log.as_ref().map(|log| log.to_string_lossy()),
    })
}

/// Returns the words that can be chosen, without what they mean.
pub fn choice_words(options: &[(String, String)]) -> Vec<&str> {
    options.iter().map(|(word, _)| word.as_str()).collect()
}

/// Writes in one line what is asked, and by whom.
pub fn heading(question: &Question) -> String {
    let place = match question.phase.as_str() {
        "" => question.handoff.to_string(),
        phase => format!("{phase} ({})", question.handoff),
    };
    let agent = &question.agent;
    match question.reply {
        ExpectedReply::Review => format!("{place}: work of {agent}, to be reviewed"),
        ExpectedReply::Clarification => format!("{place}: {agent} has questions"),
        ExpectedReply::Escalation => format!("{place}: {agent} is blocked and waits for an answer"),
        ExpectedReply::Approval | ExpectedReply::GateChoice if agent == ORCHESTRATOR => {
            format!("{place}: your decision")
        }
        ExpectedReply::Choice | ExpectedReply::GateChoice | ExpectedReply::Approval | ExpectedReply::Request => {
            format!("{place}: {agent} asks for a decision")
        }
    }
}

/// Returns what was done, where that is to be judged.
pub fn work(question: &Question) -> Option<String> {
    match (question.reply, question.document.as_ref()?.read()?) {
        (ExpectedReply::Review, Document::Report(report)) => report.summary,
        (ExpectedReply::Approval, Document::Request(request)) => request.context?.summary,
        _ => None,
    }
}

/// Returns the documents that it is about, as they were written.
pub fn whole(question: &Question) -> String {
    let written = question.handed_in.iter().chain(&question.document);
    written.map(|written| written.text.trim_end()).collect::<Vec<_>>().join("\n\n")
}

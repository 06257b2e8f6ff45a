//! What a play looks like to a reader: who was asked, and what followed from what.

use baton_engine::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Decision};
use baton_protocol::Dialect;
use serde_json::{Value, json};

use super::play::{Act, Play};

impl Play {
    /// Returns what happened: `phase.visit to receiver` when something was asked, `phase.visit -> where` when it was
    /// decided what follows, and how it ended or who is waited for.
    pub(crate) fn story(&self) -> String {
        let mut lines: Vec<String> = self.ledger.events.iter().filter_map(line).collect();
        let root = &self.run.root().handoff;
        match &root.state {
            State::Claimed { .. } => {
                let waiting = self.run.waiting().map(|tracked| name(tracked.handoff.id.as_str()).to_owned());
                lines.extend(waiting.map(|id| format!("{id} waits for a person")));
            }
            State::Failed { .. } => {
                let why = root.last_failure.as_ref().map(|failure| failure.message.clone()).unwrap_or_default();
                lines.push(format!("failed: {why}"));
            }
            state => lines.push(state.name().to_string()),
        }
        lines.join("\n")
    }
}

fn name(id: &str) -> &str {
    id.strip_prefix("r.").unwrap_or(id)
}

fn line(event: &Event) -> Option<String> {
    let id = event.handoff.as_str();
    if id == "r" {
        return None;
    }
    let id = name(id);
    match event.fact().unwrap() {
        Fact::Accepted(accept) => Some(format!("{id} to {}", accept.terms.to)),
        Fact::Happened(Command::Route(route)) => {
            let instead = route.instead_of.map(|advice| format!(" instead of {advice}"));
            let skipped: Vec<String> = route.skipped.iter().map(ToString::to_string).collect();
            let skipped = (!skipped.is_empty()).then(|| format!(" without {}", skipped.join("; ")));
            Some(format!("{id} -> {}{}{}", route.to, instead.unwrap_or_default(), skipped.unwrap_or_default()))
        }
        Fact::Happened(Command::Fail(_)) => Some(format!("{id} fails")),
        Fact::Happened(Command::Cancel(_)) => Some(format!("{id} cancelled")),
        Fact::Happened(Command::Resume(resume)) => Some(format!("{id} resumed by {}", resume.by)),
        Fact::Happened(Command::Decide(decide)) => Some(match decide.decision {
            Decision::Approve => format!("{id} approved"),
            Decision::Reject { feedback } => format!("{id} rejected: {feedback}"),
            Decision::Answer { answers } => format!("{id} answered: {answers}"),
            Decision::Ask { question } => format!("{id} asked: {question}"),
        }),
        Fact::Happened(_) | Fact::Refused(_) => None,
    }
}

/// Compares a story with what it should be, without regard to how it is indented.
#[track_caller]
pub(crate) fn assert_story(play: &Play, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(play.story(), expected.join("\n"));
}

/// A complete report that says something to the next agent.
pub(crate) fn complete(summary: &str) -> Act {
    Act::Says(json!({"outcome": "complete", "summary": summary}))
}

/// A complete report with a verdict.
pub(crate) fn verdict(verdict: &str, summary: &str) -> Act {
    Act::Says(json!({"outcome": "complete", "verdict": verdict, "summary": summary}))
}

pub(crate) fn blocked(reason: &str) -> Act {
    let needs = json!({"context": "I need the scope of the token."});
    Act::Says(json!({"outcome": "blocked", "blocked_reason": reason, "attempted": ["asked the API"], "next": needs}))
}

/// A package that delegates to somebody.
pub(crate) fn delegates(to: &str) -> Act {
    let package = json!({"handoff": {
        "id": "HO-1", "timestamp": "2026-01-05T09:00:00Z", "type": "delegation",
        "from": {"agent": "dev"}, "to": {"agent": to},
        "context": {"summary": "The tokens are stored in clear text."},
        "expectations": {"deliverable": "A decision about the storage of tokens"},
    }});
    Act::Writes(Dialect::Package, package.to_string())
}

pub(crate) fn approves() -> Act {
    Act::Decides(Decision::Approve, None)
}

pub(crate) fn rejects(feedback: &str) -> Act {
    Act::Decides(Decision::Reject { feedback: feedback.to_owned() }, None)
}

pub(crate) fn answers(answers: &str) -> Act {
    Act::Decides(Decision::Answer { answers: answers.to_owned() }, None)
}

pub(crate) fn asks(question: &str) -> Act {
    Act::Decides(Decision::Ask { question: question.to_owned() }, None)
}

/// Returns what a group found, in the form of the task dialect.
pub(crate) fn findings(play: &Play, name: &str) -> Value {
    use baton_protocol::wire::Wire as _;
    play.find(name).report().and_then(|report| report.findings.as_ref()).map_or(Value::Null, |found| found.write())
}

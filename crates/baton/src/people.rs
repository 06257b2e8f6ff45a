//! Ways to be asked while something runs: at the terminal, by a file of answers, elsewhere, or not at all.

pub(crate) mod answers;
mod entry;
pub(crate) mod keyboard;
mod menu;
mod pager;
pub(crate) mod talk;
pub(crate) mod terminal;

use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::people::{People, Question, Response};

use self::answers::Answers;
use self::talk::Screen;
use self::terminal::Terminal;
use crate::exhibits::Exhibits;
use crate::guard::Person;

/// Asks several in turn; the first who decides counts. Without any, nobody can be asked.
pub(crate) struct InTurn(Vec<Arc<dyn People>>);

impl InTurn {
    /// Asks the file of answers first, then whoever sits before the screen. Without both, nobody can be asked.
    pub(crate) fn new(
        person: Person,
        answers: Option<Arc<Answers>>,
        screen: Option<Arc<dyn Screen>>,
        exhibits: Exhibits,
    ) -> InTurn {
        let answers = answers.map(|answers| answers as Arc<dyn People>);
        let terminal = screen.map(|screen| Arc::new(Terminal::new(screen, person, exhibits)) as Arc<dyn People>);
        InTurn(answers.into_iter().chain(terminal).collect())
    }

    /// Waits after that until somebody decides elsewhere.
    pub(crate) fn or_elsewhere(mut self) -> InTurn {
        self.0.push(Arc::new(Elsewhere));
        self
    }

    /// Asks nobody.
    pub(crate) fn nobody() -> InTurn {
        InTurn(Vec::new())
    }
}

/// People who decide elsewhere. Whoever asks takes the question back when they have.
struct Elsewhere;

#[async_trait]
impl People for Elsewhere {
    async fn decide(&self, _question: &Question) -> Option<Response> {
        std::future::pending().await
    }
}

#[async_trait]
impl People for InTurn {
    async fn decide(&self, question: &Question) -> Option<Response> {
        for people in &self.0 {
            if let Some(said) = people.decide(question).await {
                return Some(said);
            }
        }
        None
    }
}

#[cfg(test)]
mod sample {
    //! Questions for tests.

    use baton_engine::handoff::{Ask, WrittenDocument};
    use baton_engine::people::{AgentQuestion, ExpectedReply, Question};
    use baton_engine::{HandoffId, RunId};
    use baton_protocol::Dialect;

    /// What replies a question may take.
    pub(super) const EVERY_REPLY: [ExpectedReply; 7] = [
        ExpectedReply::Review,
        ExpectedReply::Clarification,
        ExpectedReply::Escalation,
        ExpectedReply::Choice,
        ExpectedReply::GateChoice,
        ExpectedReply::Approval,
        ExpectedReply::Request,
    ];

    /// Questions of an agent, each with its options.
    pub(super) fn asked(questions: &[(&str, &[&str])]) -> Vec<AgentQuestion> {
        let option = |word: &&str| ((*word).to_owned(), String::new());
        let asked = |(text, options): &(&str, &[&str])| AgentQuestion {
            text: (*text).to_owned(),
            options: options.iter().map(option).collect(),
        };
        questions.iter().map(asked).collect()
    }

    /// A question about a report that says next to nothing.
    pub(super) fn question(phase: &str, reply: ExpectedReply) -> Question {
        let ask = match reply {
            ExpectedReply::Review => Ask::Review,
            ExpectedReply::Clarification => Ask::Clarification,
            ExpectedReply::Escalation
            | ExpectedReply::Choice
            | ExpectedReply::GateChoice
            | ExpectedReply::Approval
            | ExpectedReply::Request => Ask::Gate,
        };
        let text = r#"{"baton": 1, "document": "report", "outcome": "complete", "summary": "All rows are written."}"#;
        let document = WrittenDocument::new(Dialect::Native, text);
        Question {
            handoff: HandoffId::parse(format!("run-1.{}", phase.replace('/', "."))).expect("safe"),
            run: RunId::parse("run-1").expect("safe"),
            phase: phase.to_owned(),
            agent: "writer".to_owned(),
            ask,
            reply,
            title: "All rows are written.".to_owned(),
            text: String::new(),
            items: Vec::new(),
            questions: Vec::new(),
            choices: Vec::new(),
            shown: document.digest(),
            document: Some(document),
            handed_in: None,
            trouble: None,
            examined: Vec::new(),
            gaps: Vec::new(),
            inputs: serde_json::Map::new(),
            decided_before: Vec::new(),
            approval: None,
            approvals: Vec::new(),
            lapses_at: None,
        }
    }
}

//! What was decided in a run and what is still open. It belongs to the run: it stays until somebody closes it.

use baton_protocol::model::request::{DecisionMade, OpenQuestion};

use super::Told;
use crate::id::HandoffId;

/// What was decided and what is open, with the handoff that said so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    decisions: Vec<(HandoffId, DecisionMade)>,
    /// The line of phases that each decision was made in, among those that go on at the same time.
    lanes: Vec<String>,
    questions: Vec<(HandoffId, OpenQuestion)>,
}

impl Agenda {
    /// Returns the decisions that stand, the oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = &(HandoffId, DecisionMade)> {
        self.decisions.iter()
    }

    /// Returns the questions that nobody has closed, the oldest first.
    pub fn questions(&self) -> impl Iterator<Item = &(HandoffId, OpenQuestion)> {
        self.questions.iter()
    }

    /// Takes what an agent has handed over. A decision takes the place of an earlier one with the same identifier, unless
    /// that was made at the same time in another lane; and a decision that repeats a question closes it.
    pub(super) fn take(&mut self, by: &HandoffId, lane: &str, told: &Told) {
        let package = told.package.as_ref().and_then(|package| package.context.as_ref());
        let own = (&told.report.decisions, &told.report.open_questions);
        let (decisions, questions) = package.map_or(own, |context| (&context.decisions, &context.open_questions));
        for made in decisions {
            let follows = |earlier: &str| lane.starts_with(earlier) || earlier.starts_with(lane);
            let replaced = |index: usize, earlier: &DecisionMade| {
                made.id.is_some() && earlier.id == made.id && follows(&self.lanes[index])
            };
            let kept: Vec<usize> =
                (0..self.decisions.len()).filter(|index| !replaced(*index, &self.decisions[*index].1)).collect();
            self.lanes = kept.iter().map(|index| self.lanes[*index].clone()).collect();
            self.decisions = kept.iter().map(|index| self.decisions[*index].clone()).collect();
            self.decisions.push((by.clone(), made.clone()));
            self.lanes.push(lane.to_owned());
            [&made.decision, &made.rationale]
                .into_iter()
                .flatten()
                .for_each(|text| self.close(text, |text, question| text.starts_with(question)));
        }
        for open in questions {
            self.questions.retain(|(_, earlier)| earlier.question != open.question);
            self.questions.push((by.clone(), open.clone()));
        }
    }

    /// Closes the questions that a person was asked.
    pub(super) fn answered(&mut self, asked: &str) {
        self.close(asked, |text, question| text.contains(question));
    }

    /// Closes the questions that a text repeats. A decision must begin with the question: one that only mentions it may
    /// leave it open.
    fn close(&mut self, text: &str, repeats: impl Fn(&str, &str) -> bool) {
        let text = folded(text);
        let is_repeated = |open: &OpenQuestion| {
            let question = open.question.as_deref().map(folded).unwrap_or_default();
            !question.is_empty() && repeats(&text, &question)
        };
        self.questions.retain(|(_, open)| !is_repeated(open));
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('?').to_lowercase()
}

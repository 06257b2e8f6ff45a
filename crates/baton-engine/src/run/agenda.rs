//! What was decided in a run and what is still open. It belongs to the run: it stays until somebody closes it.

use baton_protocol::model::request::{DecisionMade, OpenQuestion};

use super::Told;
use crate::id::HandoffId;

/// What was decided and what is open, with the handoff that said so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    decisions: Vec<(HandoffId, DecisionMade)>,
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

    /// Takes what an agent has handed over. A decision with the same identifier takes the place of an earlier one, and a
    /// decision that repeats a question closes it.
    pub(super) fn take(&mut self, by: &HandoffId, told: &Told) {
        let package = told.package.as_ref().and_then(|package| package.context.as_ref());
        let own = (&told.report.decisions, &told.report.open_questions);
        let (decisions, questions) = package.map_or(own, |context| (&context.decisions, &context.open_questions));
        for made in decisions {
            self.decisions.retain(|(_, earlier)| made.id.is_none() || earlier.id != made.id);
            self.decisions.push((by.clone(), made.clone()));
            [&made.decision, &made.rationale].into_iter().flatten().for_each(|text| self.close(text));
        }
        for open in questions {
            self.questions.retain(|(_, earlier)| earlier.question != open.question);
            self.questions.push((by.clone(), open.clone()));
        }
    }

    /// Closes the questions that a text repeats.
    pub(super) fn close(&mut self, text: &str) {
        let text = folded(text);
        let is_repeated = |open: &OpenQuestion| {
            let question = open.question.as_deref().map(folded).unwrap_or_default();
            !question.is_empty() && text.contains(&question)
        };
        self.questions.retain(|(_, open)| !is_repeated(open));
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('?').to_lowercase()
}

//! What was decided in a run and what is still open. It belongs to the run: it stays until somebody closes it.

use std::sync::Arc;

use baton_protocol::model::request::{DecisionMade, OpenQuestion};
use rpds::RedBlackTreeMapSync;

use super::LastReport;
use crate::id::HandoffId;

/// What was decided and what is open, with the handoff that said so. A copy shares it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    /// How much was ever said.
    said: u64,
    decisions: RedBlackTreeMapSync<u64, Arc<Decided>>,
    /// The decisions that stand and have an identifier, by that and their lane.
    by_id: RedBlackTreeMapSync<(String, String), u64>,
    questions: RedBlackTreeMapSync<u64, Arc<Open>>,
}

#[derive(Debug, PartialEq)]
struct Decided {
    by: HandoffId,
    made: DecisionMade,
    /// The line of phases that it was made in, among those that go on at the same time.
    lane: String,
}

#[derive(Debug, PartialEq)]
struct Open {
    by: HandoffId,
    question: OpenQuestion,
    folded: String,
}

impl Agenda {
    /// Returns the decisions that stand, the oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = (&HandoffId, &DecisionMade)> {
        self.decisions.values().map(|decided| (&decided.by, &decided.made))
    }

    /// Returns the open questions, the oldest first.
    pub fn questions(&self) -> impl Iterator<Item = (&HandoffId, &OpenQuestion)> {
        self.questions.values().map(|open| (&open.by, &open.question))
    }

    /// Takes what an agent has handed over. A decision takes the place of an earlier one with the same identifier, unless
    /// that was made at the same time in another lane; and a decision that repeats a question closes it.
    pub(super) fn take(&mut self, by: &HandoffId, lane: &str, told: &LastReport) {
        let package = told.package.as_ref().and_then(|package| package.context.as_ref());
        let own = (&told.report.decisions, &told.report.open_questions);
        let (decisions, questions) = package.map_or(own, |context| (&context.decisions, &context.open_questions));
        for made in decisions {
            self.decide(Decided { by: by.clone(), made: made.clone(), lane: lane.to_owned() });
            [&made.decision, &made.rationale]
                .into_iter()
                .flatten()
                .for_each(|text| self.close(text, |text, question| text.starts_with(question)));
        }
        for open in questions {
            self.drop_questions(|earlier| earlier.question.question == open.question);
            let folded = open.question.as_deref().map(folded).unwrap_or_default();
            let open = Open { by: by.clone(), question: open.clone(), folded };
            self.said += 1;
            self.questions.insert_mut(self.said, Arc::new(open));
        }
    }

    fn decide(&mut self, decided: Decided) {
        self.said += 1;
        if let Some(id) = &decided.made.id {
            let lane = &decided.lane;
            let around = [0].into_iter().chain(lane.match_indices('/').map(|(end, _)| end + 1));
            let around = around.map(|end| (id.clone(), lane[..end].to_owned()));
            let inside = self.by_id.range((id.clone(), lane.clone())..).map(|(key, _)| key);
            let inside = inside.take_while(|(other, inner)| other == id && inner.starts_with(lane)).cloned();
            for key in around.chain(inside).collect::<Vec<_>>() {
                if let Some(replaced) = self.by_id.get(&key).copied() {
                    self.by_id.remove_mut(&key);
                    self.decisions.remove_mut(&replaced);
                }
            }
            self.by_id.insert_mut((id.clone(), lane.clone()), self.said);
        }
        self.decisions.insert_mut(self.said, Arc::new(decided));
    }

    /// Closes the questions that a person was asked.
    pub(super) fn answered(&mut self, asked: &str) {
        self.close(asked, |text, question| text.contains(question));
    }

    /// Closes the questions that a text repeats. A decision must begin with the question: one that only mentions it may
    /// leave it open.
    fn close(&mut self, text: &str, repeats: impl Fn(&str, &str) -> bool) {
        if self.questions.is_empty() {
            return;
        }
        let text = folded(text);
        self.drop_questions(|open| !open.folded.is_empty() && repeats(&text, &open.folded));
    }

    fn drop_questions(&mut self, is_dropped: impl Fn(&Open) -> bool) {
        let dropped: Vec<u64> =
            self.questions.iter().filter(|(_, open)| is_dropped(open)).map(|(number, _)| *number).collect();
        for number in dropped {
            self.questions.remove_mut(&number);
        }
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('?').to_lowercase()
}

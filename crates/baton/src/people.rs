//! Three ways to be asked while something runs: at the terminal, by a file of answers, or not at all.

pub(crate) mod answers;
mod entry;
pub(crate) mod keyboard;
mod menu;
pub(crate) mod reply;
pub(crate) mod talk;
pub(crate) mod terminal;

use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::people::{People, Question, Said};

/// Asks several in turn; the first who decides counts. Without any, nobody can be asked.
pub(crate) struct InTurn(pub(crate) Vec<Arc<dyn People>>);

#[async_trait]
impl People for InTurn {
    async fn decide(&self, question: &Question) -> Option<Said> {
        for people in &self.0 {
            if let Some(said) = people.decide(question).await {
                return Some(said);
            }
        }
        None
    }
}

//! Saying that a claimed request was understood, or not.

use baton_protocol::Dialect;
use baton_protocol::convert::{self, Form};
use baton_protocol::model::acknowledgment::Understanding;
use baton_protocol::model::{Acknowledgment, Document, Kind};

use super::{AppliedCommand, Engine, Problem, ValidDocument};
use crate::Fence;
use crate::answer;
use crate::handoff::{Handoff, WrittenDocument};
use crate::lifecycle::{Acknowledge, Command};

impl Engine {
    /// Acknowledges a claimed request; without a document, as understood.
    pub async fn acknowledge(
        &self,
        handoff: &Handoff,
        fence: Fence,
        given: Option<ValidDocument>,
    ) -> Result<AppliedCommand, Problem> {
        let (understood, document) = match given {
            None => (true, plain_acknowledgment(handoff)),
            Some(ValidDocument { document: Document::Acknowledgment(said), written, .. }) => {
                (answer::is_understood(&said), written)
            }
            Some(ValidDocument { document, .. }) => {
                return Err(Problem::WrongKind { found: document.kind(), wanted: Kind::Acknowledgment });
            }
        };
        self.apply(handoff, Command::Acknowledge(Acknowledge { fence, understood, document }), Vec::new()).await
    }
}

/// Writes the plain "understood, starting".
pub fn plain_acknowledgment(handoff: &Handoff) -> WrittenDocument {
    let acknowledgment = Acknowledgment {
        id: Some(handoff.id.to_string()),
        received: Some(true),
        from: Some(handoff.terms.from.clone()),
        understanding: Some(Understanding::Full),
        starting: Some(true),
        ..Acknowledgment::default()
    };
    let value = Dialect::Native.write(&Document::Acknowledgment(Box::new(acknowledgment)));
    WrittenDocument::new(Dialect::Native, convert::render(&value.unwrap_or_default(), Form::Json))
}

//! Saying that a claimed request was understood, or not.

use baton_protocol::Dialect;
use baton_protocol::convert::{self, Form};
use baton_protocol::model::acknowledgment::Understanding;
use baton_protocol::model::{Acknowledgment, Document, Kind};

use super::{AppliedCommand, Caller, Engine, IncomingDocument, Problem, ValidDocument, Yardstick};
use crate::Fence;
use crate::answer;
use crate::failure::{Code, Failure};
use crate::handoff::{Handoff, WrittenDocument};
use crate::lifecycle::{Acknowledge, Command};

/// What a valid acknowledgment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAcknowledgment {
    /// Whether the work may begin.
    pub understood: bool,
    /// The document as it was written.
    pub document: WrittenDocument,
}

impl GivenAcknowledgment {
    /// Judges what an agent wrote about having understood; one that is not valid fails the attempt.
    pub fn judge(text: &str, yardstick: &Yardstick) -> Result<GivenAcknowledgment, Failure> {
        let mut judged = yardstick.for_acknowledgments().judge(&IncomingDocument::of(text.as_bytes()));
        let given = match judged.valid.take() {
            Some(valid) => GivenAcknowledgment::of(valid).map_err(|problem| problem.to_string()),
            None => Err(format!("the acknowledgment is not valid:\n{}", judged.told_errors())),
        };
        given.map_err(|why| Failure::new(Code::validation_failed(), why))
    }

    /// Takes a valid document, which must be an acknowledgment.
    fn of(valid: ValidDocument) -> Result<GivenAcknowledgment, Problem> {
        match valid.document {
            Document::Acknowledgment(said) => {
                Ok(GivenAcknowledgment { understood: answer::is_understood(&said), document: valid.written })
            }
            other => Err(Problem::WrongKind { found: other.kind(), wanted: Kind::Acknowledgment }),
        }
    }
}

impl Engine {
    /// Acknowledges a claimed request; without a document, as understood.
    pub async fn acknowledge(
        &self,
        handoff: &Handoff,
        fence: Fence,
        given: Option<ValidDocument>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        let given = given.map(GivenAcknowledgment::of).transpose()?;
        let GivenAcknowledgment { understood, document } =
            given.unwrap_or_else(|| GivenAcknowledgment { understood: true, document: plain_acknowledgment(handoff) });
        let acknowledge = Acknowledge { fence, understood, document, author: None };
        self.apply(handoff, Command::Acknowledge(acknowledge), Vec::new(), caller).await
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

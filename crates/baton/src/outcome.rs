//! What a report does to its handoff: the same command, whoever hands it in.

use baton_engine::answer::{Answer, of_report};
use baton_engine::handoff::Written;
use baton_engine::lifecycle::{Command, Fail, Report};
use baton_protocol::model::{self, Document, Request};
use baton_protocol::{Dialect, Hints};

use crate::store::dice;

/// Returns the command that hands in a report; `None` if it does not say how the work ended, which is never guessed.
pub(crate) fn command(report: &model::Report, document: Written, fence: u64) -> Option<Command> {
    Some(match of_report(report)? {
        Answer::Ended(ending) => {
            Command::Report(Report { fence, ending, document, tokens_used: None, changed: Vec::new() })
        }
        Answer::Failed(failure) => {
            Command::Fail(Fail { fence, failure, document: Some(document), dice: dice(), changed: Vec::new() })
        }
    })
}

/// Reads the request that a report answers.
pub(crate) fn request(written: &Written) -> Option<Request> {
    let hints = Hints { format: None, dialect: Dialect::parse(&written.dialect) };
    match baton_protocol::read(written.text.as_bytes(), hints).document {
        Some(Document::Request(request)) => Some(*request),
        Some(Document::Report(_) | Document::Acknowledgment(_)) | None => None,
    }
}

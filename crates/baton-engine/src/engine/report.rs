//! Handing in what came out of an attempt: a report by what it says, a package by what it is handed over for.

use std::fmt;

use baton_protocol::Dialect;
use baton_protocol::model::request::Party;
use baton_protocol::model::terms::{AgentDecision, HandoffKind, Outcome};
use baton_protocol::model::{self, Document, Kind, Request};

use super::{AppliedCommand, Caller, Engine, Problem, ValidDocument, Yardstick};
use crate::Fence;
use crate::answer::{self, Answer, Successors};
use crate::handoff::WrittenDocument;
use crate::lifecycle::{Accept, Command, Ending, Fail, HandIn};
use crate::store::ClaimedHandoff;

/// Why a document does not end an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// It is of another kind.
    OtherKind(Kind),
    /// It is what was asked, handed back.
    RequestItself,
    /// It does not say how the work ended, which is never guessed.
    NoOutcome,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NoAnswer::OtherKind(Kind::Acknowledgment) => "this is an acknowledgment, not a report",
            NoAnswer::OtherKind(Kind::Request) => "this is a request, not a report",
            NoAnswer::OtherKind(Kind::Report) => "this report cannot be understood",
            NoAnswer::RequestItself => "this is the request itself, not an answer to it",
            NoAnswer::NoOutcome => "the report does not say how the work ended",
        })
    }
}

/// A valid document that somebody hands in for a claimed handoff.
pub struct HandedIn<'a> {
    /// The document.
    pub document: ValidDocument,
    /// The handoff that it ends an attempt at, and what it answers.
    pub claimed: &'a ClaimedHandoff,
    /// What it was judged by.
    pub yardstick: &'a Yardstick,
    /// The fence of the claim.
    pub fence: Fence,
    /// What has changed since the claim, as far as somebody looked.
    pub changed: Vec<String>,
}

impl<'a> HandedIn<'a> {
    /// Takes a document for the latest claim; nobody has looked yet what has changed since.
    pub fn of(claimed: &'a ClaimedHandoff, yardstick: &'a Yardstick, document: ValidDocument) -> HandedIn<'a> {
        HandedIn { document, claimed, yardstick, fence: claimed.handoff.fence, changed: Vec::new() }
    }

    /// Returns the command that hands it in; `dice` is for the jitter of a retry.
    pub fn command(self, dice: f64) -> Result<Command, NoAnswer> {
        let HandedIn { document: ValidDocument { document, written, .. }, claimed, yardstick, fence, changed } = self;
        let ClaimedHandoff { handoff, request } = claimed;
        let kind = document.kind();
        let mut escalates = false;
        if let Document::Request(package) = &document {
            // Only a package is written by somebody who has worked; other requests begin work.
            let is_package = written.dialect == Dialect::Package.as_str() || package.kind.is_some();
            if !is_package {
                return Err(NoAnswer::OtherKind(kind));
            }
            if is_same(package, request, &written) {
                return Err(NoAnswer::RequestItself);
            }
            escalates = package.told_kind() == HandoffKind::Escalation;
        }
        let (next, alone) = (Successors::Agents(&yardstick.following), handoff.terms.step.is_none());
        let understood = answer::understand(document, next).ok_or(NoAnswer::OtherKind(kind))?;
        let ending = match answer::of_report(&understood.report).ok_or(NoAnswer::NoOutcome)? {
            // In a run the driver finds out who helps, and asks what follows when somebody says stop. Here nobody would
            // ever look, so a person is asked at once.
            Answer::Ended(Ending::Blocked { .. }) if escalates && alone => Ending::NeedsClarification,
            Answer::Failed(_) if stops(&understood.report) && alone => Ending::NeedsReview,
            Answer::Ended(ending) => ending,
            Answer::Failed(failure) => {
                return Ok(Command::Fail(Fail { document: Some(written), changed, ..Fail::new(fence, failure, dice) }));
            }
        };
        Ok(Command::Report(HandIn { changed, ..HandIn::new(fence, ending, written) }))
    }
}

impl Engine {
    /// Hands in what came out of an attempt, and sends what comes next if it is complete.
    pub async fn report(
        &self,
        handed_in: HandedIn<'_>,
        next: Vec<Accept>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        let handoff = &handed_in.claimed.handoff;
        let command = handed_in.command(self.random.number()).map_err(|why| match why {
            NoAnswer::OtherKind(found) if found != Kind::Report => Problem::WrongKind { found, wanted: Kind::Report },
            why => Problem::NoAnswer(why),
        })?;
        let completes = matches!(command, Command::Report(HandIn { ending: Ending::Complete, .. }));
        if !next.is_empty() && !completes {
            return Err(Problem::NotComplete);
        }
        self.refuse_ids_of_runs(&next).await?;
        self.refuse_returns_to_drivers(&next).await?;
        self.apply(handoff, command, next, caller).await
    }
}

/// Returns whether somebody who has done the work says that nothing may follow from it.
fn stops(report: &model::Report) -> bool {
    let worked = matches!(report.outcome, Some(Outcome::Complete | Outcome::Partial | Outcome::NeedsReview));
    worked && report.decision == Some(AgentDecision::Stop)
}

/// Returns whether a package is the request that it should answer: it is, if it goes the same way.
fn is_same(package: &Request, asked: &WrittenDocument, written: &WrittenDocument) -> bool {
    if asked.text.trim() == written.text.trim() {
        return true;
    }
    let name = |party: &Option<Party>| party.as_ref().and_then(|party| party.agent.clone());
    let way = |request: &Request| (name(&request.from), name(&request.to));
    let (from, to) = way(package);
    from.is_some() && from != to && asked.read_request().is_some_and(|asked| way(&asked) == (from, to))
}

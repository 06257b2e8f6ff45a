//! What an answer does to its handoff: the same command, whoever hands it in.

use std::fmt;

use baton_engine::answer::{self, Answer, Successors};
use baton_engine::handoff::{Handoff, Written};
use baton_engine::lifecycle::{Command, Ending, Fail, Report};
use baton_protocol::model::request::Party;
use baton_protocol::model::terms::{Decision, HandoffKind, Outcome};
use baton_protocol::model::{self, Document, Kind, Request};
use baton_protocol::{Dialect, Hints, Surroundings};

use crate::store::dice;

/// Why a document does not end an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
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
pub(crate) struct HandedIn<'a> {
    /// What it says.
    pub document: Document,
    /// As it was written.
    pub written: Written,
    /// What it answers.
    pub request: &'a Written,
    /// The handoff that it ends an attempt at.
    pub handoff: &'a Handoff,
    /// The agents that come next anyway.
    pub following: &'a [String],
    /// The token of the claim.
    pub fence: u64,
    /// What has changed since the claim, as far as somebody looked.
    pub changed: Vec<String>,
}

impl HandedIn<'_> {
    /// Returns the command that hands it in: a report by what it says, a package by what it is handed over for.
    pub(crate) fn command(self) -> Result<Command, NoAnswer> {
        let HandedIn { document, written, request, handoff, following, fence, changed } = self;
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
        let (next, alone) = (Successors::Agents(following), handoff.terms.step.is_none());
        let understood = answer::understand(document, next).ok_or(NoAnswer::OtherKind(kind))?;
        let ending = match answer::of_report(&understood.report).ok_or(NoAnswer::NoOutcome)? {
            // In a run the driver finds out who helps, and asks what follows when somebody says stop. Here nobody would
            // ever look, so a person is asked at once.
            Answer::Ended(Ending::Blocked { .. }) if escalates && alone => Ending::NeedsClarification,
            Answer::Failed(_) if stops(&understood.report) && alone => Ending::NeedsReview,
            Answer::Ended(ending) => ending,
            Answer::Failed(failure) => {
                return Ok(Command::Fail(Fail { fence, failure, document: Some(written), dice: dice(), changed }));
            }
        };
        Ok(Command::Report(Report { fence, ending, document: written, tokens_used: None, changed, transcript: None }))
    }
}

/// Says whether somebody who has done the work says that nothing may follow from it.
fn stops(report: &model::Report) -> bool {
    let worked = matches!(report.outcome, Some(Outcome::Complete | Outcome::Partial | Outcome::NeedsReview));
    worked && report.decision == Some(Decision::Stop)
}

/// Says whether a package is the request that it should answer: it is, if it goes the same way.
fn is_same(package: &Request, asked: &Written, written: &Written) -> bool {
    if asked.text.trim() == written.text.trim() {
        return true;
    }
    let name = |party: &Option<Party>| party.as_ref().and_then(|party| party.agent.clone());
    let way = |request: &Request| (name(&request.from), name(&request.to));
    let (from, to) = way(package);
    from.is_some() && from != to && request(asked).is_some_and(|asked| way(&asked) == (from, to))
}

/// Returns whom a report must be from and what phase it must be about, if a run has asked for it.
pub(crate) fn surroundings(handoff: &Handoff) -> Surroundings<'_> {
    let Some(step) = &handoff.terms.step else { return Surroundings::default() };
    // Who helps works in a phase of somebody else's.
    let phase = step.role.is_phase().then_some(step.phase.as_str());
    Surroundings { agent: Some(&handoff.terms.to), phase, ..Surroundings::default() }
}

/// Reads the request that a report answers.
pub(crate) fn request(written: &Written) -> Option<Request> {
    let hints = Hints { format: None, dialect: Dialect::parse(&written.dialect) };
    match baton_protocol::read(written.text.as_bytes(), hints).document {
        Some(Document::Request(request)) => Some(*request),
        Some(Document::Report(_) | Document::Acknowledgment(_)) | None => None,
    }
}

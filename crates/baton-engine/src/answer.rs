//! What an answer means for its handoff: how a report ends an attempt, and whether an acknowledgment lets work begin.
//!
//! Every door asks here, so that the same document has the same effect wherever it comes in. Nothing is guessed in the
//! agent's favour: what is not clearly complete goes to a person.

use baton_protocol::model::acknowledgment::Understanding;
use baton_protocol::model::report::Report;
use baton_protocol::model::request::{OpenQuestion, Request};
use baton_protocol::model::terms::{AgentDecision, HandoffKind, Outcome};
use baton_protocol::model::{Acknowledgment, Document, PhaseFindings, report};
use baton_protocol::wire::{same_word, yes_or_no};

use crate::failure::{Code, Failure, Transience};
use crate::lifecycle::Ending;
use crate::step::ORCHESTRATOR;

/// What a report means for its handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The attempt ended like this.
    Ended(Ending),
    /// The attempt failed.
    Failed(Failure),
}

/// Returns what a report tells the next agent.
pub(crate) fn context(report: &Report) -> Option<&str> {
    report.next_context().or(report.summary.as_deref()).filter(|text| !text.trim().is_empty())
}

/// Returns what a report means; `None` if it does not say how the work ended.
pub fn of_report(report: &Report) -> Option<Answer> {
    let ending = match (report.outcome?, report.decision) {
        (Outcome::Failed, _) => return Some(Answer::Failed(failure(report))),
        (Outcome::NeedsClarification, _) => Ending::NeedsClarification,
        (_, Some(AgentDecision::Clarify)) => Ending::NeedsClarification,
        // Whoever says stop has found that it must not go on: there is nothing to approve and nothing to answer.
        (Outcome::Complete | Outcome::Partial | Outcome::Blocked | Outcome::NeedsReview, Some(AgentDecision::Stop)) => {
            return Some(Answer::Failed(stopped(report)));
        }
        (Outcome::Blocked, Some(AgentDecision::Proceed) | None) => Ending::Blocked { reason: reason(report) },
        // A part is not the whole, but it may be enough: a person approves it or sends it back.
        (Outcome::Partial | Outcome::NeedsReview, Some(AgentDecision::Proceed) | None) => Ending::NeedsReview,
        (Outcome::Complete, Some(AgentDecision::Proceed) | None) => Ending::Complete,
    };
    Some(Answer::Ended(ending))
}

/// A document that an agent handed in, as a report.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderstoodReport {
    /// The report.
    pub report: Report,
    /// The package, if it is one: a report has no place for all that a package says.
    pub package: Option<Box<Request>>,
    /// The agent that it asks for help, where it names one.
    pub asks: Option<String>,
}

/// Who comes after an agent anyway. A package to one of them hands the work on; it does not ask for help.
#[derive(Debug, Clone, Copy)]
pub enum Successors<'a> {
    /// It is unknown, or there is none.
    Nobody,
    /// These agents.
    Agents(&'a [String]),
    /// Whoever it names.
    Anybody,
}

impl Successors<'_> {
    fn includes(self, agent: &str) -> bool {
        match self {
            Successors::Nobody => false,
            Successors::Agents(agents) => agents.iter().any(|known| same_word(known, agent)),
            Successors::Anybody => true,
        }
    }
}

/// Understands a document as a report: a report as it is, a package by what it is handed over for.
pub fn understand(document: Document, next: Successors<'_>) -> Option<UnderstoodReport> {
    match document {
        Document::Report(report) => Some(UnderstoodReport { report: *report, package: None, asks: None }),
        Document::Request(request) => Some(of_package(*request, next)),
        Document::Acknowledgment(_) => None,
    }
}

fn of_package(request: Request, next: Successors<'_>) -> UnderstoodReport {
    let package = Some(Box::new(request.clone()));
    let to = request.to.as_ref().and_then(|party| party.agent.clone());
    // Without a word about its kind, a package to whoever comes next anyway hands the work on, whatever fields it has.
    let onward = |to: &str| next.includes(to) || same_word(to, ORCHESTRATOR);
    let onward = request.kind.is_none() && to.as_deref().is_some_and(onward);
    let kind = match request.told_kind() {
        HandoffKind::Delegation if onward => HandoffKind::Sequential,
        kind => kind,
    };
    let context = request.context.clone().unwrap_or_default();
    let question = |question: &OpenQuestion| report::ReportQuestion {
        fields: report::QuestionFields {
            question: question.question.clone(),
            options: question.options.clone(),
            ..Default::default()
        },
        bare: question.options.is_empty(),
    };
    let (outcome, blocked_reason) = match kind {
        HandoffKind::Sequential | HandoffKind::Return => (Outcome::Complete, None),
        HandoffKind::Delegation => (Outcome::Blocked, Some("delegation".to_owned())),
        HandoffKind::Escalation => (Outcome::Blocked, Some("escalation".to_owned())),
        HandoffKind::Gate => (Outcome::NeedsReview, None),
    };
    // What is asked of the next agent does not take the place of what was done; whoever helps needs it first.
    let asks = matches!(kind, HandoffKind::Delegation | HandoffKind::Escalation);
    let needs = request.expectations.as_ref().and_then(|expectations| expectations.deliverable.clone());
    // Whoever gets a result back, or a gate to decide, is not advised as the next agent.
    let advised = to.clone().filter(|_| !matches!(kind, HandoffKind::Return | HandoffKind::Gate));
    let next = report::SuggestedNext { agent: advised, phase: None, context: needs.filter(|_| asks) };
    let report = Report {
        id: request.id,
        from: request.from,
        timestamp: request.timestamp,
        outcome: Some(outcome),
        verdict: request.verdict,
        summary: context.summary,
        artifacts: context.artifacts,
        questions: context.open_questions.iter().map(question).collect(),
        blocked_reason,
        next: Some(next),
        ..Report::default()
    };
    UnderstoodReport { report, package, asks: to.filter(|_| kind == HandoffKind::Delegation) }
}

/// What a complete report says about the work that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opinion {
    /// Nothing against it.
    Good,
    /// It must be done again.
    Bad,
    /// An unknown verdict. Baton does not guess what it means.
    Unclear,
}

/// Returns the opinion that a complete report has of the work, by its verdict and its findings.
pub fn opinion(report: &Report) -> Opinion {
    let found = match &report.findings {
        Some(PhaseFindings::Validate(findings)) => {
            findings.overall_passed != Some(false) && findings.blocking_issues.is_empty()
        }
        Some(PhaseFindings::Parallel(findings)) => {
            findings.aggregation.as_ref().and_then(|aggregation| aggregation.overall_passed) != Some(false)
        }
        Some(PhaseFindings::Research(_) | PhaseFindings::Write(_)) | None => true,
    };
    match report.verdict.as_deref().map(str::trim).filter(|verdict| !verdict.is_empty()) {
        _ if !found => Opinion::Bad,
        None => Opinion::Good,
        Some(verdict) => match yes_or_no(verdict) {
            Some(true) => Opinion::Good,
            Some(false) => Opinion::Bad,
            None => Opinion::Unclear,
        },
    }
}

/// Returns whether the name of a phase or an agent says that it has an opinion of the work of others.
pub(crate) fn is_called_reviewer(name: &str) -> bool {
    let words = name.split(|character: char| !character.is_alphanumeric());
    words.into_iter().any(|word| ["review", "reviewer"].iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Returns whether what a complete report tells is good: no verdict, decision or finding against it.
pub fn passes(report: &Report) -> bool {
    opinion(report) == Opinion::Good
}

fn reason(report: &Report) -> String {
    let told = report.blocked_reason.clone();
    let first = || report.blockers.first().and_then(|blocker| blocker.r#type.clone());
    told.or_else(first).unwrap_or_else(|| "unknown".to_owned())
}

/// What somebody says who stops: the problems, or else the summary.
fn stopped(report: &Report) -> Failure {
    let blocking = match &report.findings {
        Some(PhaseFindings::Validate(findings)) => findings.blocking_issues.as_slice(),
        Some(PhaseFindings::Research(_) | PhaseFindings::Write(_) | PhaseFindings::Parallel(_)) | None => &[],
    };
    let problems: Vec<&str> = blocking.iter().chain(&report.issues).map(String::as_str).collect();
    let said = if problems.is_empty() { report.summary.clone().unwrap_or_default() } else { problems.join("\n") };
    Failure { chance: Transience::Permanent, ..Failure::new(Code::stopped(), said) }
}

fn failure(report: &Report) -> Failure {
    let error = report.error.as_ref();
    let code = error.and_then(|error| error.code.as_deref()).and_then(|code| Code::parse(code).ok());
    let message =
        error.and_then(|error: &report::ReportedFailure| error.message.clone()).or_else(|| report.summary.clone());
    let mut failure = Failure::new(
        code.unwrap_or_else(Code::processing_error),
        message.unwrap_or_else(|| "the agent reported that it failed, but not why".to_owned()),
    );
    if report.retry.as_ref().and_then(|retry| retry.available) == Some(false) {
        failure.chance = Transience::Permanent;
    }
    failure
}

/// Returns whether an acknowledgment lets the work begin; otherwise a person must clarify first.
pub fn is_understood(acknowledgment: &Acknowledgment) -> bool {
    let asks = acknowledgment.action.as_deref().is_some_and(|action| same_word(action, "request_clarification"));
    let understood = matches!(acknowledgment.understanding, None | Some(Understanding::Full));
    // Whoever begins in spite of a blocker or a question guesses.
    let open = !acknowledgment.blockers.is_empty() || !acknowledgment.questions.is_empty();
    acknowledgment.received != Some(false) && acknowledgment.starting != Some(false) && understood && !asks && !open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(outcome: Outcome, decision: Option<AgentDecision>) -> Option<Ending> {
        let report = Report { outcome: Some(outcome), decision, ..Report::default() };
        match of_report(&report)? {
            Answer::Ended(ending) => Some(ending),
            Answer::Failed(_) => None,
        }
    }

    #[test]
    fn only_complete_without_objection_completes() {
        assert_eq!(ending(Outcome::Complete, None), Some(Ending::Complete));
        assert_eq!(ending(Outcome::Complete, Some(AgentDecision::Proceed)), Some(Ending::Complete));
        assert_eq!(ending(Outcome::Complete, Some(AgentDecision::Clarify)), Some(Ending::NeedsClarification));
        assert_eq!(ending(Outcome::Partial, Some(AgentDecision::Proceed)), Some(Ending::NeedsReview));
    }

    #[test]
    fn blocked_work_is_never_put_up_for_approval() {
        assert_eq!(ending(Outcome::Blocked, None), Some(Ending::Blocked { reason: "unknown".to_owned() }));
    }

    #[test]
    fn stop_is_neither_approved_nor_answered() {
        for outcome in [Outcome::Complete, Outcome::Partial, Outcome::Blocked, Outcome::NeedsReview] {
            let issues = vec!["export.py exists already".to_owned()];
            let report =
                Report { outcome: Some(outcome), decision: Some(AgentDecision::Stop), issues, ..Report::default() };
            let Some(Answer::Failed(failure)) = of_report(&report) else { panic!("{outcome:?} goes on") };
            assert_eq!((failure.code, failure.chance), (Code::stopped(), Transience::Permanent));
            assert_eq!(failure.message, "export.py exists already");
        }
    }

    #[test]
    fn failure_keeps_code_message_and_chance() {
        let error = report::ReportedFailure {
            code: Some("TIMEOUT".to_owned()),
            message: Some("the index did not load".to_owned()),
            ..report::ReportedFailure::default()
        };
        let retry = report::ReportedRetry { available: Some(false), ..report::ReportedRetry::default() };
        let report =
            Report { outcome: Some(Outcome::Failed), error: Some(error), retry: Some(retry), ..Report::default() };
        let Some(Answer::Failed(failure)) = of_report(&report) else { panic!("it failed") };
        assert_eq!((failure.code, failure.chance), (Code::timeout(), Transience::Permanent));
        assert_eq!(failure.message, "the index did not load");
    }

    #[test]
    fn without_an_outcome_there_is_no_answer() {
        assert_eq!(of_report(&Report::default()), None);
    }

    #[test]
    fn verdict_that_nobody_knows_is_not_taken_for_a_yes() {
        let says = |word: &str| opinion(&Report { verdict: Some(word.to_owned()), ..Report::default() });
        for word in ["APPROVED", "approve", "Pass"] {
            assert_eq!(says(word), Opinion::Good, "{word}");
        }
        for word in ["CHANGES_REQUESTED", "REJECT", "not approved", "needs_work", "changes required"] {
            assert_eq!(says(word), Opinion::Bad, "{word}");
        }
        assert_eq!(says("hmm"), Opinion::Unclear);
        assert_eq!(opinion(&Report::default()), Opinion::Good);
    }

    #[test]
    fn doubt_asks_a_person() {
        let sound = Acknowledgment { received: Some(true), starting: Some(true), ..Acknowledgment::default() };
        assert!(is_understood(&sound));
        let doubts = [
            Acknowledgment { understanding: Some(Understanding::Partial), ..sound.clone() },
            Acknowledgment { action: Some("request_clarification".to_owned()), ..sound.clone() },
            Acknowledgment { starting: Some(false), ..sound.clone() },
            Acknowledgment { received: Some(false), ..sound.clone() },
            Acknowledgment { starting: None, blockers: vec!["no access".to_owned()], ..sound.clone() },
            Acknowledgment { blockers: vec!["no access".to_owned()], ..sound.clone() },
            Acknowledgment { questions: vec!["Which endpoints?".to_owned()], ..sound.clone() },
        ];
        for doubt in doubts {
            assert!(!is_understood(&doubt), "{doubt:?}");
        }
    }
}

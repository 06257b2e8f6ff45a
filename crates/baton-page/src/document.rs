//! The content of a document, member by member: what was asked, what came back, and the evidence for it.

use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::WrittenDocument;
use baton_engine::people::plain_words;
use baton_protocol::model::request::{DecisionMade, OpenQuestion};
use baton_protocol::model::{Acknowledgment, Document, Report, Request};
use maud::{Markup, html};

use crate::address;
use crate::markdown::spans;
use crate::pieces::{pill, prose, verbatim, verdict_sign};

/// How many members of a list are shown.
const LIST_MAX: usize = 30;

/// How many claims are shown.
const CLAIMS_MAX: usize = 60;

/// Shows a document in readable form, and all of it folded away. `id` tells its folds from those of others.
pub(crate) fn shown(id: &str, written: &WrittenDocument) -> Markup {
    shown_below(id, written, "")
}

/// Shows a document below a text, which is not repeated.
pub(crate) fn shown_below(id: &str, written: &WrittenDocument, above: &str) -> Markup {
    html! {
        @match written.read() {
            Some(Document::Request(asked)) => (request(id, &asked)),
            Some(Document::Report(told)) => (report(id, &told, above)),
            Some(Document::Acknowledgment(told)) => (acknowledgment(id, &told)),
            None => (verbatim(&written.text))
        }
        @if !written.warnings.is_empty() {
            (list("Warnings", written.warnings.iter().map(String::as_str)))
        }
        details.whole id={ (id) "-whole" } {
            summary { "The whole document" span.quiet { " (" (written.dialect) @if let Some(path) = &written.path { ", " (path) } ")" } }
            (verbatim(&written.text))
        }
    }
}

fn request(id: &str, request: &Request) -> Markup {
    let context = request.context.as_ref();
    html! {
        @if let Some(text) = &request.instructions { (prose(&format!("{id}-instructions"), text)) }
        @if let Some(text) = context.and_then(|context| context.summary.as_deref()) {
            h3 { "Summary" } (prose(&format!("{id}-summary"), text))
        }
        @if let Some(context) = context {
            (decisions(&context.decisions))
            (open_questions(&context.open_questions))
            (list("Files to look at", context.relevant_files.iter().map(String::as_str)))
            (list("Artifacts", context.artifacts.iter().map(|artifact| artifact.path())))
        }
        @if let Some(expected) = &request.expectations {
            @if let Some(text) = &expected.deliverable { h3 { "To deliver" } (prose(&format!("{id}-deliverable"), text)) }
            (list("Constraints", expected.constraints.iter().map(String::as_str)))
            (list("Success means", expected.success_criteria.iter().map(String::as_str)))
        }
        @if let Some(gate) = &request.gate {
            (list("Look at", gate.items.iter().map(String::as_str)))
        }
    }
}

fn report(id: &str, report: &Report, above: &str) -> Markup {
    let is_new = |text: &&str| text.trim() != above.trim();
    let summary = report.summary.as_deref().filter(is_new);
    let next =
        report.next_context().filter(|text| is_new(text) && summary.is_none_or(|told| told.trim() != text.trim()));
    let outcome = report.outcome.map(|outcome| outcome.as_str());
    html! {
        p.outcome {
            @if let Some(outcome) = outcome { (pill(outcome_class(outcome), &outcome.replace('_', " "))) }
            @if let Some(verdict) = &report.verdict { " " span.soft { "verdict: " (verdict) } }
            @if let Some(reason) = &report.blocked_reason { " " span.soft { (reason) } }
        }
        @if let Some(text) = summary { (prose(&format!("{id}-summary"), text)) }
        (questions(report))
        (decisions(&report.decisions))
        (open_questions(&report.open_questions))
        @if let Some(text) = next {
            h3 { "For the next" @if let Some(agent) = report.next_agent() { " (" (agent) ")" } }
            (prose(&format!("{id}-next"), text))
        }
        (list("Artifacts", report.artifacts.iter().map(|artifact| artifact.path())))
        (list("Changed", report.files_modified.iter().map(String::as_str)))
        (list("In the way", report.blockers.iter().filter_map(|blocker| blocker.description.as_deref())))
        (list("Tried", report.attempted.iter().map(String::as_str)))
        (list("Issues", report.issues.iter().map(String::as_str)))
        @if let Some(error) = &report.error {
            h3 { "Error" } p.bad { (error.code.as_deref().unwrap_or_default()) " " (error.message.as_deref().unwrap_or_default()) }
        }
    }
}

fn outcome_class(outcome: &str) -> &str {
    match outcome {
        "complete" => "done",
        "failed" => "failed",
        "blocked" => "blocked",
        _ => "waiting",
    }
}

fn acknowledgment(id: &str, told: &Acknowledgment) -> Markup {
    html! {
        @if let Some(task) = &told.task { (prose(&format!("{id}-task"), task)) }
        (list("Questions", told.questions.iter().map(String::as_str)))
        (list("In the way", told.blockers.iter().map(String::as_str)))
        (list("Constraints", told.constraints.iter().map(String::as_str)))
    }
}

fn questions(report: &Report) -> Markup {
    html! {
        @if !report.questions.is_empty() {
            h3 { "Questions" }
            ol { @for asked in report.questions.iter().take(LIST_MAX) {
                @let fields = &asked.fields;
                li {
                    (fields.question.as_deref().unwrap_or_default())
                    @if !fields.options.is_empty() { p.quiet { "Options: " (fields.options.iter().map(plain_words).collect::<Vec<_>>().join(" | ")) } }
                    @if let Some(impact) = &fields.impact { p.quiet { "Depends on it: " (impact) } }
                    @if let Some(assumed) = &fields.default_assumption { p.quiet { "Without an answer: " (assumed) } }
                }
            } }
        }
    }
}

fn decisions(decisions: &[DecisionMade]) -> Markup {
    html! {
        @if !decisions.is_empty() {
            h3 { "Decisions" }
            dl.agenda { @for made in decisions.iter().take(LIST_MAX) {
                div { dt { (made.decision.as_deref().unwrap_or_default()) } dd { (made.rationale.as_deref().unwrap_or_default()) } }
            } }
        }
    }
}

fn open_questions(questions: &[OpenQuestion]) -> Markup {
    list("Open questions", questions.iter().filter_map(|open| open.question.as_deref()))
}

/// Shows texts under a heading; nothing where there are none.
pub(crate) fn list<'t>(heading: &str, texts: impl Iterator<Item = &'t str>) -> Markup {
    let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
    let more = texts.len().saturating_sub(LIST_MAX);
    html! {
        @if !texts.is_empty() {
            h3 { (heading) }
            ul { @for text in texts.iter().take(LIST_MAX) { li { (text) } } @if more > 0 { li.quiet { "and " (more) " more" } } }
        }
    }
}

/// Shows what Baton has seen of each claim, what is wrong first.
pub(crate) fn evidence(examined: &[ExaminedClaim]) -> Markup {
    let rank = |claim: &&ExaminedClaim| match claim.verdict {
        ClaimFinding::Refuted => 0,
        ClaimFinding::Unverifiable => 1,
        ClaimFinding::Verified => 2,
    };
    let mut claims: Vec<&ExaminedClaim> = examined.iter().collect();
    claims.sort_by_key(rank);
    let more = claims.len().saturating_sub(CLAIMS_MAX);
    html! {
        @if !claims.is_empty() {
            ul.claims { @for claim in claims.iter().take(CLAIMS_MAX) { (one_claim(claim)) } }
            @if more > 0 { p.quiet { "and " (more) " more claims" } }
        }
    }
}

fn one_claim(claim: &ExaminedClaim) -> Markup {
    let (class, sign) = verdict_sign(claim.verdict);
    let word = match claim.verdict {
        ClaimFinding::Verified => "verified",
        ClaimFinding::Refuted => "refuted",
        ClaimFinding::Unverifiable => "not verifiable",
    };
    let is_wrong = claim.verdict == ClaimFinding::Refuted || claim.asks_person;
    html! {
        li.claim.(class) {
            span.sign aria-hidden="true" { (sign) }
            span {
                span.visually-hidden { (word) ": " }
                span.claim-text { (spans(&claim.claim)) } " " span.soft { (spans(&claim.seen)) }
                @if let Some(sha256) = &claim.sha256 { " " code title=(sha256) { (sha256.chars().take(12).collect::<String>()) } }
                @if let Some(mark) = &claim.mark { " " span.quiet { (mark) } }
                @if let Some(reason) = &claim.allowed { " " span.quiet { "allowed: " (reason) } }
                @if is_wrong { " " a.quiet href=(address::rule(&claim.rule)) { (claim.rule) } }
            }
        }
    }
}

//! The content of a document, member by member: what was asked, what came back, and the evidence for it.

use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::WrittenDocument;
use baton_engine::handover;
use baton_engine::people::plain_words;
use baton_protocol::model::report::ReportQuestion;
use baton_protocol::model::request::{Context, DecisionMade, Expectations};
use baton_protocol::model::terms::Outcome;
use baton_protocol::model::{Acknowledgment, Document, Extensions, Report, Request};
use baton_protocol::wire::Wire as _;
use baton_views::words;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::address;
use crate::markdown::spans;
use crate::pieces::{beginning, pill, prose, verbatim, verdict_sign};

/// How many members of a list are shown.
const LIST_MAX: usize = 30;

/// How many bytes of a list are shown.
const LIST_BYTES_MAX: usize = 4_000;

/// How many bytes of one member of a list are shown.
const MEMBER_BYTES_MAX: usize = 1_000;

/// How many claims are shown.
const CLAIMS_MAX: usize = 30;

/// Shows a document in readable form. `id` tells its folds from those of others, and `whole` is where all of it is.
pub(crate) fn shown(id: &str, written: &WrittenDocument, whole: &str) -> Markup {
    shown_below(id, written, whole, "")
}

/// Shows a document below a text, which is not repeated.
pub(crate) fn shown_below(id: &str, written: &WrittenDocument, whole: &str, above: &str) -> Markup {
    let place = ShownDocument { id, whole };
    html! {
        @match written.read() {
            Some(Document::Request(asked)) => (place.request(&asked)),
            Some(Document::Report(told)) => (place.report(&told, above)),
            Some(Document::Acknowledgment(told)) => (place.acknowledgment(&told)),
            None => (verbatim(&written.text, whole))
        }
        (list("Warnings", written.warnings.iter().map(String::as_str), whole))
        p.quiet { a href=(whole) { "The whole document" } " (" (written.dialect) @if let Some(path) = &written.path { ", " (path) } ")" }
    }
}

/// Where a document is shown. Its members are named one by one: one that is added to the model does not compile until somebody
/// decides where it stands.
struct ShownDocument<'d> {
    id: &'d str,
    whole: &'d str,
}

impl ShownDocument<'_> {
    fn request(&self, request: &Request) -> Markup {
        let Request {
            // Who, when and how long: the page of the handoff and the whole document have them.
            id: _,
            timestamp: _,
            kind: _,
            state: _,
            started_at: _,
            from: _,
            to: _,
            phase: _,
            workflow: _,
            timeout_seconds: _,
            priority: _,
            retry: _,
            retry_count: _,
            instructions,
            context,
            expectations,
            gate,
            verdict,
            input,
            extensions,
        } = request;
        html! {
            @if let Some(text) = instructions { (self.prose("instructions", text)) }
            (self.line("Verdict", verdict.as_deref()))
            @if let Some(context) = context { (self.context(context)) }
            @if let Some(expected) = expectations { (self.expectations(expected)) }
            @if let Some(gate) = gate {
                (self.list("Look at", &gate.items))
                (self.lines("Choices", gate.options.iter().map(|(word, meaning)| format!("{word}: {}", plain_words(meaning)))))
            }
            @if let Some(data) = input.as_ref().and_then(|input| input.data.as_ref()) { (self.value("Data", data)) }
            (self.extensions(extensions))
        }
    }

    fn context(&self, context: &Context) -> Markup {
        let Context {
            summary,
            feature,
            spec_path,
            relevant_files,
            decisions,
            artifacts,
            open_questions,
            facts,
            // It is shown as what those before have handed over.
            handed_over: _,
        } = context;
        html! {
            @if let Some(text) = summary { h3 { "Summary" } (self.prose("summary", text)) }
            (self.line("Feature", feature.as_deref()))
            (self.line("Specification", spec_path.as_deref()))
            (self.decisions(decisions))
            (self.lines("Open questions", open_questions.iter().map(handover::open_question)))
            (self.list("Files to look at", relevant_files))
            (self.lines("Artifacts", artifacts.iter().map(handover::artifact)))
            (self.lines("Facts", facts.iter().map(|(name, value)| format!("{name}: {}", plain_words(value)))))
        }
    }

    fn expectations(&self, expected: &Expectations) -> Markup {
        let Expectations { deliverable, constraints, success_criteria, output, schema, destination } = expected;
        html! {
            @if let Some(text) = deliverable { h3 { "To deliver" } (self.prose("deliverable", text)) }
            (self.list("Constraints", constraints))
            (self.list("Success means", success_criteria))
            (self.line("Form of the answer", output.as_deref()))
            (self.line("Schema", schema.as_deref()))
            (self.line("Where it belongs", destination.as_deref()))
        }
    }

    fn report(&self, report: &Report, above: &str) -> Markup {
        let Report {
            // Who, when and how much: the page of the handoff and the whole document have them.
            id: _,
            from: _,
            to: _,
            phase: _,
            output_type: _,
            timestamp: _,
            requested_at: _,
            started_at: _,
            retry: _,
            tokens_used: _,
            execution_time_seconds: _,
            outcome,
            verdict,
            decision,
            feature_directory,
            summary,
            skills_invoked,
            library_skills_read,
            source_files_verified,
            files_modified,
            artifacts,
            verification,
            validation,
            findings,
            blocked_reason,
            attempted,
            blockers,
            questions,
            decisions,
            open_questions,
            next,
            output,
            error,
            recovery_actions,
            next_steps,
            warnings,
            errors,
            issues,
            metrics,
            extensions,
        } = report;
        let is_new = |text: &&str| text.trim() != above.trim();
        let summary = summary.as_deref().filter(is_new);
        let context = next.as_ref().and_then(|next| next.context.as_deref());
        let context = context.filter(|text| is_new(text) && summary.is_none_or(|told| told.trim() != text.trim()));
        html! {
            p.outcome {
                @if let Some(outcome) = outcome { (pill(outcome_class(*outcome), &outcome.as_str().replace('_', " "))) }
                @if let Some(verdict) = verdict { " " span.soft { "verdict: " (verdict) } }
                @if let Some(decision) = decision { " " span.soft { "recommends: " (decision.as_str()) } }
                @if let Some(reason) = blocked_reason { " " span.soft { (reason) } }
            }
            @if let Some(text) = summary { (self.prose("summary", text)) }
            (self.questions(questions))
            (self.decisions(decisions))
            (self.lines("Open questions", open_questions.iter().map(handover::open_question)))
            @if let Some(text) = context {
                h3 { "For the next" @if let Some(agent) = report.next_agent() { " (" (agent) ")" } }
                (self.prose("next", text))
            }
            @if let Some(output) = output { (self.value("Result", &output.write())) }
            (self.lines("Artifacts", artifacts.iter().map(handover::artifact)))
            (self.list("Changed", files_modified))
            (self.line("Where the output is", feature_directory.as_deref()))
            (self.lines("In the way", blockers.iter().map(handover::blocker)))
            (self.list("Tried", attempted))
            (self.list("Issues", issues))
            @if let Some(error) = error {
                h3 { "Error" }
                p.bad { (error.code.as_deref().unwrap_or_default()) " " (self.cut(error.message.as_deref().unwrap_or_default())) }
            }
            (self.lines("Errors", errors.iter().map(plain_words)))
            (self.lines("Warnings of the agent", warnings.iter().map(plain_words)))
            (self.list("What would help", recovery_actions))
            (self.list("Next steps", next_steps))
            (self.map("Checked by the agent", verification))
            (self.map("Whether it is valid, as the agent says", validation))
            @if let Some(findings) = findings { (self.value("Found", &findings.write())) }
            (self.list("Looked at", source_files_verified))
            (self.list("Skills used", skills_invoked))
            (self.list("Library skills read", library_skills_read))
            (self.map("Measured", metrics))
            (self.extensions(extensions))
        }
    }

    fn acknowledgment(&self, told: &Acknowledgment) -> Markup {
        html! {
            @if let Some(task) = &told.task { (self.prose("task", task)) }
            (self.list("Questions", &told.questions))
            (self.list("In the way", &told.blockers))
            (self.list("Constraints", &told.constraints))
            (self.extensions(&told.extensions))
        }
    }

    fn questions(&self, questions: &[ReportQuestion]) -> Markup {
        let size = |asked: &ReportQuestion| asked.write().to_string().len();
        let shown = fitting(questions.iter().map(size));
        html! {
            @if !questions.is_empty() {
                h3 { "Questions" }
                ol { @for asked in &questions[..shown] {
                    @let fields = &asked.fields;
                    li {
                        (self.cut(fields.question.as_deref().unwrap_or_default()))
                        @if !fields.options.is_empty() { p.quiet { "Options: " (self.cut(&fields.options.iter().map(plain_words).collect::<Vec<_>>().join(" | "))) } }
                        @if let Some(impact) = &fields.impact { p.quiet { "Depends on it: " (self.cut(impact)) } }
                        @if let Some(assumed) = &fields.default_assumption { p.quiet { "Without an answer: " (self.cut(assumed)) } }
                    }
                } }
                (self.more(questions.len() - shown))
            }
        }
    }

    fn decisions(&self, decisions: &[DecisionMade]) -> Markup {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let shown = fitting(decisions.iter().map(|made| length(&made.decision) + length(&made.rationale)));
        html! {
            @if !decisions.is_empty() {
                h3 { "Decisions" }
                dl.agenda { @for made in &decisions[..shown] {
                    div {
                        dt { @if let Some(id) = &made.id { (id) ": " } (self.cut(made.decision.as_deref().unwrap_or_default())) }
                        dd { (self.cut(made.rationale.as_deref().unwrap_or_default())) }
                    }
                } }
                (self.more(decisions.len() - shown))
            }
        }
    }

    /// What the dialect has no name for.
    fn extensions(&self, extensions: &[Extensions]) -> Markup {
        let says_something = |value: &Value| match value {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            value => !value.is_null(),
        };
        let fields = extensions.iter().flat_map(|extensions| &extensions.fields);
        let fields = fields.filter(|(_, value)| says_something(value));
        self.lines("Also said", fields.map(|(pointer, value)| format!("{pointer}: {}", plain_words(value))))
    }

    fn map(&self, heading: &str, members: &Map<String, Value>) -> Markup {
        self.lines(heading, members.iter().map(|(name, value)| format!("{name}: {}", plain_words(value))))
    }

    fn value(&self, heading: &str, value: &Value) -> Markup {
        html! { h3 { (heading) } (verbatim(&format!("{value:#}"), self.whole)) }
    }

    fn line(&self, heading: &str, text: Option<&str>) -> Markup {
        html! { @if let Some(text) = text { h3 { (heading) } p { (self.cut(text)) } } }
    }

    fn list(&self, heading: &str, texts: &[String]) -> Markup {
        list(heading, texts.iter().map(String::as_str), self.whole)
    }

    fn lines(&self, heading: &str, texts: impl Iterator<Item = String>) -> Markup {
        self.list(heading, &texts.collect::<Vec<_>>())
    }

    fn prose(&self, member: &str, text: &str) -> Markup {
        prose(&format!("{}-{member}", self.id), text, self.whole)
    }

    fn cut(&self, text: &str) -> Markup {
        member(text, self.whole)
    }

    fn more(&self, left_out: usize) -> Markup {
        html! { @if left_out > 0 { p.quiet { (and_more(left_out, "", self.whole)) } } }
    }
}

fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "done",
        Outcome::Failed => "failed",
        Outcome::Blocked => "blocked",
        _ => "waiting",
    }
}

/// Returns how many members of a list are shown, of which these are the sizes; never none of them.
fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut bytes = 0;
    let has_room = |size: usize| {
        let has_room = bytes < LIST_BYTES_MAX;
        bytes += size.min(MEMBER_BYTES_MAX);
        has_room
    };
    sizes.take(LIST_MAX).map(has_room).take_while(|has_room| *has_room).count()
}

/// Shows one member of a list.
fn member(text: &str, whole: &str) -> Markup {
    let shown = beginning(text, MEMBER_BYTES_MAX);
    html! { (shown) @if shown.len() < text.len() { "… " a href=(whole) { "all of it" } } }
}

/// Says how many members are left out, and where they are.
pub(crate) fn and_more(left_out: usize, what: &str, whole: &str) -> Markup {
    html! { "and " a href=(whole) { (left_out) " more" @if !what.is_empty() { " " (what) } } }
}

/// Shows texts under a heading; nothing where there are none. `whole` is where all of them are.
pub(crate) fn list<'t>(heading: &str, texts: impl Iterator<Item = &'t str>, whole: &str) -> Markup {
    let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
    let shown = fitting(texts.iter().map(|text| text.len()));
    html! {
        @if !texts.is_empty() {
            h3 { (heading) }
            ul {
                @for text in &texts[..shown] { li { (member(text, whole)) } }
                @if shown < texts.len() { li.quiet { (and_more(texts.len() - shown, "", whole)) } }
            }
        }
    }
}

/// Shows what a run was given. `whole` is where all of it is.
pub(crate) fn inputs(inputs: &Map<String, Value>, whole: &str) -> Markup {
    let given = words::inputs(inputs);
    html! { @if !given.is_empty() { section { (list("Inputs", given.iter().map(String::as_str), whole)) } } }
}

/// Shows what Baton has seen of each claim, what is wrong first. `whole` is where all of them are.
pub(crate) fn evidence(examined: &[ExaminedClaim], whole: &str) -> Markup {
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
            @if more > 0 { p.quiet { (and_more(more, "claims", whole)) } }
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

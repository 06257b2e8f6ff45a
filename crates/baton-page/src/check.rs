//! Judges a pasted document, and the manual of the rules that judge it.

use baton_protocol::rules::{self, Group, Rule};
use baton_protocol::{Diagnostic, Dialect, Judgement, Severity};
use baton_views::words::{counted, one_line};
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{beginning, hidden, pill, typed_text};
use crate::{address, markdown};

/// The name of the field with the document.
pub const DOCUMENT_FIELD: &str = "document";

/// How many findings are shown.
const FINDINGS_MAX: usize = 100;

/// The longest line of a document that is repeated beside a finding.
const LINE_BYTES_MAX: usize = 160;

/// What is said about a pasted document.
#[derive(Debug, Clone, Copy)]
pub struct CheckedText<'c> {
    /// The findings.
    pub judgement: &'c Judgement,
    /// The dialect, where it was recognised.
    pub dialect: Option<Dialect>,
    /// What kind of document it is, in a word.
    pub kind: Option<&'c str>,
}

/// The form, and below it what is said about the text in it.
pub fn page(viewer: &Viewer<'_>, text: &str, checked: Option<&CheckedText<'_>>) -> Markup {
    let frame = Frame::still("Check", Section::Check, address::CHECK);
    layout::page(
        viewer,
        &frame,
        html! {
            h1 { "Check a handoff" }
            p.lead { "Paste a request, a report or an acknowledgment in any dialect. Nothing is stored." }
            @if let Some(checked) = checked { (findings(text, checked)) }
            form method="post" action=(address::CHECK) {
                (hidden("csrf", viewer.csrf))
                label.field { span { "Document" }
                    textarea.tall name=(DOCUMENT_FIELD) spellcheck="false" required placeholder="JSON, YAML, or Markdown with a fenced block" {
                        // The first line break of a field belongs to the markup, not to the text.
                        "\n" (typed_text(text))
                    } }
                button.main type="submit" { "Check" }
            }
            p { a href=(address::RULES) { "All " (rules::ALL.len()) " rules" } ", or " code { "baton check FILE" } " where the files are." }
        },
    )
}

fn findings(text: &str, checked: &CheckedText<'_>) -> Markup {
    let judgement = checked.judgement;
    let lines: Vec<&str> = text.lines().collect();
    let (errors, warnings) = (judgement.count(Severity::Error), judgement.count(Severity::Warning));
    let more = judgement.diagnostics.len().saturating_sub(FINDINGS_MAX);
    html! {
        section.checked aria-live="polite" {
            h2 {
                @if judgement.valid { (pill("done", "valid")) } @else { (pill("failed", "not valid")) }
                " " span.soft { (counted(errors, "error")) ", " (counted(warnings, "warning")) }
                @if let Some(dialect) = checked.dialect { span.quiet { " · " @if let Some(kind) = checked.kind { (kind) ", " } (dialect) } }
            }
            @if judgement.diagnostics.is_empty() { p { "Nothing to improve." } }
            @else {
                ol.findings { @for found in judgement.diagnostics.iter().take(FINDINGS_MAX) { (finding(found, &lines)) } }
                @if more > 0 { p.quiet { "and " (more) " more" } }
            }
            @for allowed in &judgement.allowed {
                p.quiet { "Allowed: " (allowed.diagnostic.message) " (" (allowed.reason) ")" }
            }
        }
    }
}

fn finding(found: &Diagnostic, lines: &[&str]) -> Markup {
    let line = found
        .line
        .checked_sub(1)
        .and_then(|index| lines.get(index))
        .map(|line| beginning(line.trim_end(), LINE_BYTES_MAX));
    html! {
        li.finding {
            p { (pill(found.severity.as_str(), found.severity.as_str())) " " b { (found.message) } " " a.quiet href=(address::rule(found.code)) { (found.code) } }
            p.quiet { "line " (found.line) ", column " (found.column) @if !found.pointer.is_empty() { " · " code { (found.pointer) } } }
            @if let Some(line) = line.filter(|line| !line.trim().is_empty()) { pre { (line) } }
            @if let Some(help) = &found.help { p { "→ " (help) } }
        }
    }
}

/// The list of all rules.
pub fn rules_page(viewer: &Viewer<'_>) -> Markup {
    let frame = Frame::still("Rules", Section::Check, address::RULES);
    let mut groups: Vec<Group> = Vec::new();
    for rule in rules::ALL {
        if !groups.contains(&rule.group) {
            groups.push(rule.group);
        }
    }
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::CHECK) { "Check" } }
            h1 { "Rules" }
            p.lead { "What every document is judged by." }
            nav.filters aria-label="Groups" { @for group in &groups { a.chip href={ "#" (group.as_str()) } { (group.as_str()) } } }
            @for group in groups {
                h2 id=(group.as_str()) { (group.as_str()) }
                ul.rules { @for rule in rules::ALL.iter().filter(|rule| rule.group == group) {
                    li data-item { a href=(address::rule(rule.name)) { (rule.name) } " " span.soft { (first_sentence(rule)) } }
                } }
            }
        },
    )
}

/// The manual of a rule.
pub fn rule_page(viewer: &Viewer<'_>, rule: &Rule) -> Markup {
    let here = address::rule(rule.name);
    let frame = Frame::still(rule.name, Section::Check, &here);
    let error_in: Vec<&str> = rule.error_in.iter().map(|dialect| dialect.as_str()).collect();
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::RULES) { "Rules" } " / " (rule.group.as_str()) }
            h1.run-title { (rule.name) " " (pill(rule.severity.as_str(), rule.severity.as_str())) }
            p.quiet {
                @if !error_in.is_empty() { "An error in " (error_in.join(", ")) ". " }
                @if rule.fixed { "Its severity cannot be changed." } @else { "Projects can change its severity." }
            }
            (markdown::shown(&rule.manual()))
        },
    )
}

/// Returns what a rule checks, in one sentence.
pub(crate) fn first_sentence(rule: &Rule) -> String {
    let manual = rule.manual();
    let is_around = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let paragraph = manual.lines().skip_while(is_around).take_while(|line| !line.trim().is_empty());
    let text = one_line(&paragraph.collect::<Vec<_>>().join(" "));
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].trim_end_matches([':', '.']).replace('`', "") + "."
}

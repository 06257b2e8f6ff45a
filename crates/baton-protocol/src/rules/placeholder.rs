//! Judges whether a text is still the template's. Never looks inside a text: only a whole value is a placeholder.

use std::fmt;

use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;
use crate::model::{Acknowledgment, Artifact, Report, Request};

rule! {
    /// ## What it checks
    /// Whether a text still has the placeholder of a template instead of content. A placeholder is a whole value of one
    /// of these forms: words in brackets (`[agent-id]`, `<summary>`, `{context}`), three dots, `TODO`, `TBD` or `TBC`,
    /// alternatives (`complete|blocked|needs_review`), or a type with a remark (`string (required)`). Brackets inside a
    /// text are fine: `[bug] login loops` and `api/users/{id}.ts` are not placeholders.
    ///
    /// It looks at identifiers, agents, summaries, contexts, instructions, reasons, decisions, questions,
    /// deliverables, constraints, criteria, attempts, blockers and paths in all dialects. It is a warning.
    ///
    /// ## Why it matters
    /// The shape of such a document is right, so every check of the shape passes, but it says nothing. A phase that
    /// begins with the context `[what was done]` begins with an invention.
    ///
    /// ## Example
    /// ```yaml
    /// handoff:
    ///   to:
    ///     agent: "[agent-id]"
    ///     reason: "[why this agent]"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// handoff:
    ///   to:
    ///     agent: payments-tester
    ///     reason: "Refunds are implemented and need end-to-end tests"
    /// ```
    "placeholder": Shape, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let mut look = |pointer: fmt::Arguments<'_>, text: &str| {
        if unfilled(text) {
            let message = format!("`{}` is a placeholder that was not filled in", excerpt(text));
            findings.add(&pointer.to_string(), message, "write the value, or leave the field out if it is optional");
        }
    };
    if let Some(request) = case.request() {
        look_at_request(request, &mut look);
    } else if let Some(report) = case.report() {
        look_at_report(report, &mut look);
    } else if let Some(acknowledgment) = case.acknowledgment() {
        look_at_acknowledgment(acknowledgment, &mut look);
    }
}

type Look<'l> = dyn FnMut(fmt::Arguments<'_>, &str) + 'l;

fn look_at_request(request: &Request, look: &mut Look<'_>) {
    one(look, "/id", &request.id);
    one(look, "/instructions", &request.instructions);
    if let Some(from) = &request.from {
        one(look, "/from/agent", &from.agent);
    }
    if let Some(to) = &request.to {
        one(look, "/to/agent", &to.agent);
        one(look, "/to/reason", &to.reason);
    }
    if let Some(context) = &request.context {
        one(look, "/context/summary", &context.summary);
        one(look, "/context/feature", &context.feature);
        one(look, "/context/spec_path", &context.spec_path);
        each(look, "/context/relevant_files", &context.relevant_files);
        artifacts(look, "/context/artifacts", &context.artifacts);
        for (index, made) in context.decisions.iter().enumerate() {
            at(look, format_args!("/context/decisions/{index}/id"), &made.id);
            at(look, format_args!("/context/decisions/{index}/decision"), &made.decision);
            at(look, format_args!("/context/decisions/{index}/rationale"), &made.rationale);
        }
        for (index, open) in context.open_questions.iter().enumerate() {
            at(look, format_args!("/context/open_questions/{index}/question"), &open.question);
            at(look, format_args!("/context/open_questions/{index}/context"), &open.context);
        }
    }
    if let Some(expected) = &request.expectations {
        one(look, "/expectations/deliverable", &expected.deliverable);
        each(look, "/expectations/constraints", &expected.constraints);
        each(look, "/expectations/success_criteria", &expected.success_criteria);
    }
    if let Some(workflow) = &request.workflow {
        one(look, "/workflow/name", &workflow.name);
    }
    if let Some(gate) = &request.gate {
        one(look, "/gate/name", &gate.name);
        each(look, "/gate/items", &gate.items);
    }
}

fn look_at_report(report: &Report, look: &mut Look<'_>) {
    one(look, "/id", &report.id);
    one(look, "/output_type", &report.output_type);
    one(look, "/feature_directory", &report.feature_directory);
    one(look, "/summary", &report.summary);
    one(look, "/blocked_reason", &report.blocked_reason);
    if let Some(from) = &report.from {
        one(look, "/from/agent", &from.agent);
    }
    if let Some(to) = &report.to {
        one(look, "/to/agent", &to.agent);
    }
    if let Some(next) = &report.next {
        one(look, "/next/agent", &next.agent);
        one(look, "/next/context", &next.context);
    }
    if let Some(output) = &report.output {
        one(look, "/output/artifact_path", &output.artifact_path);
    }
    each(look, "/skills_invoked", &report.skills_invoked);
    each(look, "/source_files_verified", &report.source_files_verified);
    each(look, "/files_modified", &report.files_modified);
    each(look, "/attempted", &report.attempted);
    artifacts(look, "/artifacts", &report.artifacts);
    for (index, blocker) in report.blockers.iter().enumerate() {
        at(look, format_args!("/blockers/{index}/description"), &blocker.description);
        at(look, format_args!("/blockers/{index}/resolution"), &blocker.resolution);
    }
}

fn look_at_acknowledgment(acknowledgment: &Acknowledgment, look: &mut Look<'_>) {
    one(look, "/id", &acknowledgment.id);
    one(look, "/from", &acknowledgment.from);
    one(look, "/task", &acknowledgment.task);
    each(look, "/constraints", &acknowledgment.constraints);
    each(look, "/questions", &acknowledgment.questions);
    each(look, "/blockers", &acknowledgment.blockers);
}

fn one(look: &mut Look<'_>, pointer: &str, text: &Option<String>) {
    at(look, format_args!("{pointer}"), text);
}

fn each(look: &mut Look<'_>, pointer: &str, texts: &[String]) {
    for (index, text) in texts.iter().enumerate() {
        look(format_args!("{pointer}/{index}"), text);
    }
}

fn artifacts(look: &mut Look<'_>, pointer: &str, artifacts: &[Artifact]) {
    for (index, artifact) in artifacts.iter().enumerate() {
        let member = if artifact.bare { "" } else { "/path" };
        at(look, format_args!("{pointer}/{index}{member}"), &artifact.fields.path);
        at(look, format_args!("{pointer}/{index}/type"), &artifact.fields.r#type);
        at(look, format_args!("{pointer}/{index}/description"), &artifact.fields.description);
    }
}

fn at(look: &mut Look<'_>, pointer: fmt::Arguments<'_>, text: &Option<String>) {
    if let Some(text) = text {
        look(pointer, text);
    }
}

/// Returns whether a whole text is an unfilled template.
pub(super) fn unfilled(text: &str) -> bool {
    let text = text.trim();
    match text.as_bytes() {
        [b'[', .., b']'] => is_hint(&text[1..text.len() - 1], ['[', ']']),
        // A single letter is a type parameter, not a word.
        [b'<', .., b'>'] => {
            let inside = &text[1..text.len() - 1];
            is_hint(inside, ['<', '>']) && inside.len() > 1 && !inside.contains(['@', '/', '='])
        }
        [b'{', .., b'}'] => is_hint(text.trim_start_matches('{').trim_end_matches('}'), ['{', '}']),
        [b'$', b'{', .., b'}'] => is_hint(&text[2..text.len() - 1], ['{', '}']),
        _ => is_ellipsis(text) || is_reminder(text) || is_choice(text) || is_type(text),
    }
}

/// Returns whether what is between brackets is a hint in words, and not data.
fn is_hint(inside: &str, brackets: [char; 2]) -> bool {
    let says_something = inside.contains(char::is_alphabetic) || is_ellipsis(inside);
    says_something && !inside.contains(brackets) && !inside.contains('"')
}

fn is_ellipsis(text: &str) -> bool {
    text == "…" || (text.len() >= 3 && text.bytes().all(|byte| byte == b'.'))
}

fn is_reminder(text: &str) -> bool {
    text.len() <= "TODO:".len()
        && ["TODO", "TBD", "TBC"]
            .iter()
            .any(|word| text.trim_end_matches(['.', ':', '!']).eq_ignore_ascii_case(word))
}

/// Returns whether this is a list of alternatives: `a|b`, or at least three with spaces around the bars.
fn is_choice(text: &str) -> bool {
    let spaced = text.contains(' ');
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    // Most texts have no bar at all.
    text.contains('|') && text.split('|').all(|part| is_word(part.trim())) && (!spaced || text.split('|').count() >= 3)
}

/// Returns whether a schema's description stands where a value should: `string (required)`, `string | null`.
fn is_type(text: &str) -> bool {
    ["string", "number", "boolean", "object"].iter().any(|name| {
        text.strip_prefix(name).is_some_and(|rest| {
            [" (required", " (optional", " | null", " - "].iter().any(|remark| rest.starts_with(remark))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::unfilled;

    #[test]
    fn whole_templates_are_placeholders() {
        for text in [
            "[agent-id]",
            "[N]",
            " [2-3 sentence summary of what was done]\n",
            "[spec | code | doc | config]",
            "[...]",
            "<why this agent>",
            "{handoff.context from above}",
            "{{summary}}",
            "${AGENT}",
            "...",
            "…",
            "TODO",
            "tbd.",
            "TODO:",
            "complete|blocked|needs_review",
            "high | medium | low",
            "string (required, max 500 tokens)",
            "string | null - Path to spec if exists",
        ] {
            assert!(unfilled(text), "{text}");
        }
    }

    #[test]
    fn brackets_bars_and_dots_inside_a_text_are_fine() {
        for text in [
            "",
            "[bug] login loops",
            "[bug] login loops [ios]",
            "[1, 2]",
            "[\"a\", \"b\"]",
            "[guide](docs/guide.md)",
            "<T>",
            "Option<T> is now Result<T, E>",
            "<https://example.com/spec>",
            "<br/>",
            "{\"id\": 7}",
            "{}",
            "api/users/{id}.ts",
            "{id}/index.ts",
            "Waiting for the vault ...",
            "TODO list of the editor",
            "ls | wc",
            "grep -c x|sort -u",
            "string interning",
        ] {
            assert!(!unfilled(text), "{text}");
        }
    }
}

//! A report that is still the example of the prompt.

use super::{Case, RuleFindings};

/// What the example of a prompt says in place of a summary.
pub const SUMMARY: &str = "<what you did and found, in one or two sentences with names and numbers>";

/// What it says in place of the context for the next agent.
pub const CONTEXT: &str = "<what the next agent must know to go on, with names, files and line numbers>";

/// What it says in place of a next step.
pub const NEXT_STEP: &str = "<what should happen next>";

/// What the example of an acknowledgment says in place of the task.
pub const TASK: &str = "<the task in your own words>";

rule! {
    /// ## What it checks
    /// Whether a summary, a context, a next step or the task of an acknowledgment is still what the example in Baton's
    /// prompt says in its place, such as `<what the next agent must know to go on, with names, files and line numbers>`. Only
    /// the words count, not case, brackets, punctuation and spaces; eight words of the example in a row are enough.
    ///
    /// ## Why it matters
    /// The example has the right form for this handoff. An agent that hands it in unchanged reports nothing, but would
    /// pass every other rule.
    ///
    /// ## Example
    /// ```json
    /// { "handoff": { "context": "<what the next agent must know to go on, with names, files and line numbers>" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "handoff": { "context": "Implement section 2 of DESIGN.md; count_words in count.py reads standard input." } }
    /// ```
    "copied-example": Shape, Error => check
}

/// How many words in a row are too many to agree by chance.
const COPIED_WORDS: usize = 8;

/// Returns whether a text is an example, or has a part of it.
fn copies(text: &str, example: &str) -> bool {
    let (text, example) = (words(text), words(example));
    let has = |part: &[String]| text.windows(COPIED_WORDS).any(|words| words == part);
    text == example || example.windows(COPIED_WORDS).any(has)
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let mut look = |pointer: &str, text: Option<&str>| {
        if text.is_some_and(|text| [SUMMARY, CONTEXT, NEXT_STEP, TASK].iter().any(|example| copies(text, example))) {
            let message = "this is still the example of the prompt, and says nothing about the work";
            findings.add(pointer, message, "replace it with what is true for this work");
        }
    };
    if let Some(report) = case.report() {
        look("/summary", report.summary.as_deref());
        look("/next/context", report.next_context());
        for (index, step) in report.next_steps.iter().enumerate() {
            look(&format!("/next_steps/{index}"), Some(step));
        }
    } else if let Some(request) = case.request() {
        look("/context/summary", request.context.as_ref().and_then(|context| context.summary.as_deref()));
    } else if let Some(acknowledgment) = case.acknowledgment() {
        look("/task", acknowledgment.task.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_changes_do_not_make_an_example_ones_own() {
        let copied = [
            (SUMMARY, "What I did and found, in one or two sentences with names and numbers."),
            (CONTEXT, "<what the next agent must know to go on, with names, files, line numbers> See above."),
            (NEXT_STEP, "what should happen next"),
        ];
        for (example, text) in copied {
            assert!(copies(text, example), "{text}");
        }
        let own = [
            (SUMMARY, "Found two names and numbers in one or two sentences of DESIGN.md."),
            (CONTEXT, "What the next agent must know: count.py reads standard input."),
            (NEXT_STEP, "What should happen next is a release."),
        ];
        for (example, text) in own {
            assert!(!copies(text, example), "{text}");
        }
    }
}

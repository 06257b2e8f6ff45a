//! Judges whether a summary summarises.

use super::summary_over_budget::{called, summaries};
use super::{Case, RuleFindings};
use crate::prose;

rule! {
    /// ## What it checks
    /// Whether a text that goes into the next agent's prompt is pasted raw material. It looks at the same fields as
    /// `summary-over-budget`. Raw material is any of these:
    ///
    /// - a fenced code block
    /// - eight or more lines that look like code: they end in `;`, `{` or `}`, begin with a keyword such as `import`,
    ///   `def`, `fn` or `const`, or are a tag
    /// - a diff hunk with its lines
    /// - a stack trace: a known header, or two frames
    /// - three or more log lines that begin with a time
    /// - 200 or more characters of base64 or hexadecimal in one run
    /// - ten or more quoted JSON keys
    /// - a phrase that announces pasted contents, such as "here is the full file"
    /// - three or more steps of the search told one by one: "I opened ... then I looked at ..."
    ///
    /// Bullets, identifiers, paths and short snippets inside a sentence are welcome. The sentences that the judges of
    /// prose are tested with are in `crates/baton-protocol/sentences/`. It is an error for task, whose protocol
    /// says "summarize, don't copy", and a warning elsewhere.
    ///
    /// ## Why it matters
    /// Pasted material floods the next agent's context with what it could read itself, where it needs it, and in its
    /// current state. The conclusion, which only the author knows, is missing.
    ///
    /// ## Example
    /// ```json
    /// { "context_summary": "I opened mail.py. I looked at send(). I searched for retries. Here is the full file:" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "context_summary": "send() in src/mail.py does not retry; wrap it like upload() in src/storage.py does." }
    /// ```
    "raw-dump-in-summary": Context, Warning, error_in [Task] => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    for (pointer, text) in summaries(case) {
        if let Some(reason) = prose::raw_dump(text) {
            let message = format!("{} {reason}", called(pointer));
            findings.add(pointer, message, "say what it means in a sentence, and refer to the file for the rest");
        }
    }
}

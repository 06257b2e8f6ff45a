//! An open question that does not say how much it matters.

use super::{Case, RuleFindings};
use crate::model::Kind;

rule! {
    /// ## What it checks
    /// An open question has no `priority` (`high`, `medium` or `low`). Applies to requests in the `package` and
    /// `native` dialects.
    ///
    /// ## Why it matters
    /// A `high` question blocks the receiver until somebody answers; a `low` one can wait. Without a priority the
    /// receiver either stops for a trifle or builds on an answer that nobody gave.
    ///
    /// ## Example
    /// ```yaml
    /// open_questions:
    ///   - question: "Do archived invoices count towards the quota?"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// open_questions:
    ///   - question: "Do archived invoices count towards the quota?"
    ///     priority: high
    /// ```
    "question-without-priority": Package, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(context) = case.package().and_then(|request| request.context.as_ref()) else {
        return;
    };
    for (index, question) in context.open_questions.iter().enumerate() {
        if question.priority.is_some() {
            continue;
        }
        // An unknown priority was reported while reading; a null counts as none.
        let pointer = format!("/context/open_questions/{index}");
        let written = case.dialect.source_pointer(Kind::Request, &format!("{pointer}/priority"));
        if case.kept(&written).is_none_or(|priority| priority.is_null()) {
            findings.add(
                &pointer,
                "this question does not say how much it matters",
                "add `priority`: `high` if the receiver cannot start without an answer, else `medium` or `low`",
            );
        }
    }
}

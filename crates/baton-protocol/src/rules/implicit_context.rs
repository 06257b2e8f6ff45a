//! A package whose summary says nothing, with nothing else to start from.

use super::{Case, RuleFindings};
use crate::model::request::Context;
use crate::prose;

rule! {
    /// ## What it checks
    /// The summary of a package is too vague to work from, and nothing else comes with it: no artifact, no decision
    /// and no open question. Applies to requests in the `package` and `native` dialects.
    ///
    /// ## Why it matters
    /// The receiver has not seen the work. With "It's finished" and no file to open it must guess, ask back, or do
    /// everything again.
    ///
    /// ## Example
    /// ```yaml
    /// context:
    ///   summary: "All finished"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// context:
    ///   summary: "Tariff import reads CSV and XLSX; 214 of 220 rows of the sample load, 6 lack a currency"
    ///   artifacts:
    ///     - path: "docs/tariff-import.md"
    /// ```
    "implicit-context": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(context) = case.package().and_then(|request| request.context.as_ref()) else {
        return;
    };
    if has_substance(context) {
        return;
    }
    if let Some(reason) = context.summary.as_deref().and_then(prose::vague) {
        findings.add(
            "/context/summary",
            format!("the summary {reason}, and there is nothing else to start from"),
            "say what was done and with what result, and list the artifacts, decisions and open questions",
        );
    }
}

/// A native request may have come from another dialect, whose context has other members.
fn has_substance(context: &Context) -> bool {
    !(context.artifacts.is_empty()
        && context.decisions.is_empty()
        && context.open_questions.is_empty()
        && context.relevant_files.is_empty()
        && context.spec_path.is_none()
        && context.facts.is_empty())
}

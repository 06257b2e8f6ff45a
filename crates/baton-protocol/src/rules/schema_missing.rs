//! A schema that is named but cannot be found.

use super::output_violates_schema::expected_schema;
use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;

rule! {
    /// ## What it checks
    /// A schema is named, for the input or for the expected output, but the known schemas do not include it.
    /// Applies to requests and reports in the `mailbox` and `native` dialects, and only where the schemas are known.
    ///
    /// ## Why it matters
    /// Data whose schema is missing is not checked at all. A slip in the name looks like perfect data.
    ///
    /// ## Example
    /// The folder of the schemas has `chart.input.schema.json` only.
    /// ```json
    /// { "input": { "schema": "charts.input.schema.json", "data": { "series": [] } } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "input": { "schema": "chart.input.schema.json", "data": { "series": [] } } }
    /// ```
    "schema-missing": Mailbox, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(schemas) = case.surroundings.schemas else { return };
    let mut require = |name: Option<&str>, pointer: &str, what: &str| {
        let Some(name) = name else { return };
        match schemas.find(name) {
            Some(Ok(_)) => {}
            Some(Err(why)) => findings.add(
                pointer,
                format!("the schema `{}` cannot be used, so the {what} is not checked: {}", excerpt(name), excerpt(&why.to_string())),
                "correct the schema",
            ),
            None => findings.add(
                pointer,
                format!("there is no schema `{}`, so the {what} is not checked", excerpt(name)),
                "correct the name, or put the schema beside the others",
            ),
        }
    };
    if let Some(request) = case.request() {
        let input = request.input.as_ref().and_then(|input| input.schema.as_deref());
        let output = request.expectations.as_ref().and_then(|expected| expected.schema.as_deref());
        require(input, "/input/schema", "input");
        require(output, "/expectations/schema", "output");
    } else if case.report().is_some_and(|report| report.output.is_some()) {
        require(expected_schema(case), "/output", "output");
    }
}

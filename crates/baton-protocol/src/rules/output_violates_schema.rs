//! Output that breaks the schema its request names.

use serde_json::Value;

use super::input_violates_schema::{Told, one_line, tell};
use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::Report;
use crate::surroundings::PathState;
use crate::wire::yes_or_no;

rule! {
    /// ## What it checks
    /// The output of a report does not satisfy its schema: `schema_compliance` says so itself (anything but `valid`,
    /// `compliant`, `passed` or `true`), or the artifact breaks the JSON Schema that the request expects. The second
    /// needs a workspace and the schemas; the request's `expected_output` may still stand in the same file. Applies
    /// to reports in the `mailbox` and `native` dialects.
    ///
    /// ## Why it matters
    /// The sender reads the artifact by its schema. If the artifact has another form, the sender fails, and it cannot
    /// repair it.
    ///
    /// ## Example
    /// ```json
    /// { "status": "completed", "output": { "artifact_path": "out/chart.json", "schema_compliance": "partial" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "status": "completed", "output": { "artifact_path": "out/chart.json", "schema_compliance": "valid" } }
    /// ```
    "output-violates-schema": Mailbox, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    let Some(output) = report.output.as_ref() else { return };
    if let Some(said) = output.schema_compliance.as_deref().filter(|said| yes_or_no(said) != Some(true)) {
        findings.add(
            "/output/schema_compliance",
            format!("the output does not satisfy its schema: it says `{said}`"),
            "make it satisfy the schema and say `valid`, or report a failure with VALIDATION_FAILED",
        );
    }
    check_artifact(case, report, findings);
}

fn check_artifact(case: &Case<'_>, report: &Report, findings: &mut RuleFindings<'_>) {
    let (Some(schemas), Some(workspace)) = (case.surroundings.schemas, case.surroundings.workspace) else {
        return;
    };
    let Some(path) = report.output.as_ref().and_then(|output| output.artifact_path.as_deref()) else {
        return;
    };
    let Some(name) = expected_schema(case) else { return };
    let Some(Ok(schema)) = schemas.find(name) else { return };
    let help = || format!("make the artifact satisfy `{name}`");
    let pointer = "/output/artifact_path";
    let Some(value) = workspace.read_json(path) else {
        // What is missing, empty or outside has rules of its own.
        if matches!(workspace.look(path), PathState::File { bytes: 1.. }) {
            findings.add(pointer, format!("`{path}` is not JSON, so it cannot satisfy `{name}`"), help());
        }
        return;
    };
    tell(&schema, &value, |told| match told {
        Told::One(violation) if violation.pointer.is_empty() => {
            findings.add(pointer, format!("in `{path}`: {}", one_line(&violation.message)), help());
        }
        Told::One(violation) => {
            let message = format!("in `{path}` at {}: {}", violation.pointer, one_line(&violation.message));
            findings.add(pointer, message, help());
        }
        Told::More(count) => {
            findings.add(pointer, format!("violations in `{path}` beyond those shown: {count}"), help())
        }
    });
}

/// Returns the schema that the output must satisfy, from the request or from what the file kept of it.
pub(super) fn expected_schema<'a>(case: &Case<'a>) -> Option<&'a str> {
    let asked = || case.surroundings.request?.expectations.as_ref()?.schema.as_deref();
    let in_file = || case.kept("/expected_output")?.get("schema").and_then(Value::as_str);
    asked().or_else(|| (case.dialect == Dialect::Mailbox).then(in_file)?)
}

//! The JSON form of a check. It is a promise: members are added, never changed.

use baton_protocol::Severity;
use baton_views::diagnostic;
use serde_json::{Value, json};

use crate::report::{CheckReport, Checked};

pub(crate) fn render(report: &CheckReport) -> String {
    let files: Vec<Value> = report.files.iter().map(file).collect();
    let problems: Vec<Value> =
        report.problems.iter().map(|problem| json!({ "path": problem.path, "message": problem.message })).collect();
    let result = json!({
        "version": 1,
        "files": files,
        "problems": problems,
        "skipped": report.skipped,
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
    });
    format!("{result:#}\n")
}

fn file(file: &Checked) -> Value {
    json!({
        "path": file.name,
        "dialect": file.dialect.map(|dialect| dialect.as_str()),
        "document": file.kind,
        "valid": file.judgement.valid,
        "diagnostics": file.judgement.diagnostics.iter().map(diagnostic::json).collect::<Vec<_>>(),
        "allowed": file.judgement.allowed.iter().map(diagnostic::allowed_json).collect::<Vec<_>>(),
    })
}

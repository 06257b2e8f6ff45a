//! SARIF 2.1.0, the exchange format of code scanners.

use baton_protocol::diagnostic::Lines;
use baton_protocol::rules::{self, Rule};
use baton_protocol::{Diagnostic, Severity};
use serde_json::{Value, json};

use super::rule::first_sentence;
use crate::report::{CheckReport, Checked};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(crate) fn render(report: &CheckReport) -> String {
    let notifications: Vec<Value> = report
        .problems
        .iter()
        .map(|problem| json!({ "level": "error", "message": { "text": format!("{}: {}", problem.path, problem.message) } }))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "baton",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules::ALL.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": report.files.iter().flat_map(results).collect::<Vec<_>>(),
            "invocations": [{
                "executionSuccessful": report.problems.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
        }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: &Rule) -> Value {
    let docs = rule.manual();
    json!({
        "id": rule.name,
        "shortDescription": { "text": first_sentence(rule) },
        "help": { "text": docs, "markdown": docs },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn results(file: &Checked) -> Vec<Value> {
    let lines = Lines::new(&file.bytes);
    let found = file.judgement.diagnostics.iter().map(|diagnostic| result(file, diagnostic, &lines));
    let allowed = file.judgement.allowed.iter().map(|allowed| {
        let mut value = result(file, &allowed.diagnostic, &lines);
        let kind = if allowed.by_project { "external" } else { "inSource" };
        value["suppressions"] = json!([{ "kind": kind, "justification": allowed.reason }]);
        value
    });
    found.chain(allowed).collect()
}

fn result(file: &Checked, diagnostic: &Diagnostic, lines: &Lines<'_>) -> Value {
    let text = match &diagnostic.help {
        Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let mut region = json!({ "startLine": diagnostic.line, "startColumn": diagnostic.column });
    let (end_line, end_column) = lines.position(diagnostic.span.end);
    if (end_line, end_column) > (diagnostic.line, diagnostic.column) {
        region["endLine"] = end_line.into();
        region["endColumn"] = end_column.into();
    }
    let mut location = json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(&file.name) }, "region": region },
    });
    if !diagnostic.pointer.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": diagnostic.pointer }]);
    }
    let index = rules::ALL.iter().position(|rule| rule.name == diagnostic.code);
    json!({
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": level(diagnostic.severity),
        "message": { "text": text },
        "locations": [location],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Writes a path as a relative URI reference.
fn uri(path: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| match keep(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

//! The JSON form of what the rules say about a document. It is a promise: members are added, never changed.

use baton_protocol::{AllowedFinding, Diagnostic};
use serde_json::{Value, json};

/// Returns the JSON form of a diagnostic.
pub fn json(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "pointer": diagnostic.pointer,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "help": diagnostic.help,
    })
}

/// Returns the JSON form of what somebody has allowed, with the reason.
pub fn allowed_json(allowed: &AllowedFinding) -> Value {
    let mut value = json(&allowed.diagnostic);
    value["reason"] = allowed.reason.as_str().into();
    value
}

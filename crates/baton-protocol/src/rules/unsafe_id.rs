//! Judges whether an identifier can be a file name on every system.

use super::{Case, RuleFindings};
use crate::model::Document;

rule! {
    /// ## What it checks
    /// Whether the identifier of the document (`id`, `task_id` or `handoff_id`) can safely be part of a file name.
    /// It must not be empty or longer than 128 bytes, must not begin with `.` or `-`, begin or end with white
    /// space, or contain `/ \ : * ? " < > |` or control characters, and must not be a name that Windows reserves
    /// for devices, such as `NUL` or `COM1`. It applies to every dialect with identifiers; the blocks have none.
    ///
    /// ## Why it matters
    /// Identifiers become file names: a request waits as `pending/ID.json`, and a package is archived as
    /// `handoffs/ID.yaml`. With `../` in it an identifier reaches files outside of its folder, and with a `-` in front
    /// it is an option to the next shell command.
    ///
    /// ## Example
    /// ```json
    /// { "handoff_id": "../completed/hoff-4", "status": "pending" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "handoff_id": "hoff-4", "status": "pending" }
    /// ```
    "unsafe-id": Shape, Error => check
}

/// The longest identifier that leaves room for a suffix in a file name.
const BYTES_MAX: usize = 128;

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let id = match case.document {
        Document::Request(request) => &request.id,
        Document::Acknowledgment(acknowledgment) => &acknowledgment.id,
        Document::Report(report) => &report.id,
    };
    if let Some(fault) = id.as_deref().and_then(fault) {
        findings.add(
            "/id",
            format!("this id cannot safely be a file name: {fault}"),
            "use letters, digits, `-`, `_` and `.`, and begin with a letter or a digit",
        );
    }
}

/// Returns why an identifier cannot safely be a file name.
pub fn fault(id: &str) -> Option<String> {
    if id.is_empty() {
        Some("it is empty".to_owned())
    } else if id.len() > BYTES_MAX {
        Some(format!("it has {} bytes, and at most {BYTES_MAX} are safe", id.len()))
    } else if id.trim() != id {
        Some("it begins or ends with white space".to_owned())
    } else if let Some(first) = id.chars().next().filter(|first| matches!(first, '.' | '-')) {
        Some(format!("it begins with `{first}`"))
    } else if id.contains(char::is_control) {
        Some("it has a control character".to_owned())
    } else if let Some(at) = id.find(['/', '\\', ':', '*', '?', '"', '<', '>', '|']) {
        Some(format!("it has `{}`", &id[at..=at]))
    } else {
        is_device(id).then(|| "Windows reserves it for a device".to_owned())
    }
}

/// Windows reserves these names also with an extension, in any case.
fn is_device(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or_default().trim_end();
    let is = |name: &str| stem.eq_ignore_ascii_case(name);
    let numbered = || {
        let mut rest = stem.get(3..).unwrap_or_default().chars();
        matches!((rest.next(), rest.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    };
    let begins = |name: &str| stem.get(..3).is_some_and(|head| head.eq_ignore_ascii_case(name));
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].into_iter().any(is)
        || ((begins("COM") || begins("LPT")) && numbered())
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn usual_ids_are_safe() {
        let long = "x".repeat(128);
        for id in ["HO-2026-017", "hoff-001-1705147200000", "auth.login_2", "01J9Z", "console", "COM10", "café", &long]
        {
            assert_eq!(fault(id), None, "{id}");
        }
    }

    #[test]
    fn what_no_file_can_be_called_is_unsafe() {
        let long = "x".repeat(129);
        for id in [
            "", " a", "a ", ".", "..", ".hidden", "-rf", "a/b", "a\\b", "a:b", "a*", "a?", "a\"b", "a<b", "a>b", "a|b",
            "a\nb", "a\0b", "nul", "NUL.json", "Com1", "lpt9.txt", "COM¹", &long,
        ] {
            assert!(fault(id).is_some(), "{id:?}");
        }
    }
}

//! An output directory that is not the one that was given.

use super::{Case, RuleFindings};

rule! {
    /// ## What it checks
    /// Whether `feature_directory` of a report is the output directory that the agent was given, relative to the
    /// workspace or absolute. It applies to metadata-block, phase-block and native reports of a run.
    ///
    /// ## Why it matters
    /// The next agent looks for files in the given directory. It does not find files elsewhere.
    ///
    /// ## Example
    /// The agent was given `.claude/.output/2026-03-02-quota`.
    /// ```json
    /// { "feature_directory": "/tmp/quota" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "feature_directory": ".claude/.output/2026-03-02-quota" }
    /// ```
    "other-output-directory": Context, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let said = case.report().and_then(|report| report.feature_directory.as_deref());
    if let (Some(said), Some(given)) = (said, case.surroundings.output_directory)
        && !is_same(said, given)
    {
        findings.add(
            "/feature_directory",
            format!("this is not the output directory that was given, `{given}`"),
            "write your files into the directory that was given, and name it",
        );
    }
}

/// Compares two paths; one that is relative is compared with the end of the other.
fn is_same(said: &str, given: &str) -> bool {
    let (shorter, longer) = (parts(said), parts(given));
    if said.trim().starts_with('/') == given.trim().starts_with('/') {
        shorter == longer
    } else {
        longer.ends_with(&shorter) || shorter.ends_with(&longer)
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.trim().split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn spelling_of_a_path_does_not_matter() {
        for said in ["/w/out/x", "/w/out/x/", "out/x", "./out/x/", " out/x "] {
            assert!(is_same(said, "/w/out/x"), "{said}");
        }
        assert!(is_same("/w/out/x", "out/x"));
        for said in ["/tmp/x", "out", "out/y", "w/out", "/out/x"] {
            assert!(!is_same(said, "/w/out/x"), "{said}");
        }
    }
}

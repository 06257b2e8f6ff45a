//! An artifact that lies outside the workspace.

use super::artifact_missing::each_artifact;
use super::{Case, RuleFindings};
use crate::surroundings::PathState;

rule! {
    /// ## What it checks
    /// The path of an artifact leads out of the workspace: by `..`, by an absolute path, or through a link.
    /// `artifact-missing` says what counts as an artifact. Applies to reports of every dialect and to requests in the
    /// `package` and `native` dialects; needs a workspace.
    ///
    /// ## Why it matters
    /// The next agent may run elsewhere and not see the file. And a handoff must not be a way to make others read
    /// what does not belong to the work.
    ///
    /// ## Example
    /// ```json
    /// { "artifacts": ["../shared/quota-plan.md"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "artifacts": ["docs/quota-plan.md"] }
    /// ```
    "artifact-outside-workspace": Evidence, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    each_artifact(case, |artifact| {
        if artifact.sight == PathState::Outside {
            findings.add(
                &artifact.pointer(),
                format!("`{}` lies outside the workspace", artifact.path),
                "put it into the workspace and name its path from there",
            );
        }
    });
}

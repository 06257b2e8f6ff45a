//! An artifact with nothing in it.

use super::artifact_missing::each_artifact;
use super::{Case, RuleFindings};
use crate::surroundings::PathState;

rule! {
    /// ## What it checks
    /// An artifact exists in the workspace, but the file has no bytes or the folder has no entries. `artifact-missing`
    /// says what counts as an artifact. Applies to reports of every dialect and to requests in the `package` and
    /// `native` dialects; needs a workspace.
    ///
    /// ## Why it matters
    /// An empty file passes every check that only asks whether it is there. It is what remains when an agent was
    /// interrupted between creating and writing.
    ///
    /// ## Example
    /// `docs/quota-plan.md` has 0 bytes.
    /// ```json
    /// { "artifacts": ["docs/quota-plan.md"] }
    /// ```
    ///
    /// ## Use instead
    /// Write the file first, or leave it out.
    /// ```json
    /// { "artifacts": [] }
    /// ```
    "artifact-empty": Evidence, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    each_artifact(case, |artifact| {
        let message = match artifact.sight {
            PathState::File { bytes: 0 } => format!("`{}` is an empty file", artifact.path),
            PathState::Folder { empty: true } => format!("`{}` is an empty folder", artifact.path),
            _ => return,
        };
        findings.add(&artifact.pointer(), message, "write what belongs there, or do not claim it");
    });
}

//! An artifact that does not exist.

use super::{Case, RuleFindings};
use crate::model;
use crate::surroundings::PathState;

rule! {
    /// ## What it checks
    /// An artifact does not exist in the workspace, or cannot be looked at. Artifacts are the `artifacts` of a report
    /// or a package, `output.artifact_path`, and the `files_created` and `tests_written` of a write phase; addresses
    /// with a scheme are left alone. Applies to reports of every dialect and to requests in the `package` and
    /// `native` dialects; needs a workspace.
    ///
    /// ## Why it matters
    /// A claim stays a claim until somebody looks. The next agent starts by opening these files.
    ///
    /// ## Example
    /// The workspace has `docs/quota-plan.md` only.
    /// ```json
    /// { "artifacts": ["docs/quota-design.md"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "artifacts": ["docs/quota-plan.md"] }
    /// ```
    "artifact-missing": Evidence, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    each_artifact(case, |artifact| match artifact.sight {
        PathState::Missing => findings.add(
            &artifact.pointer(),
            format!("`{}` does not exist in the workspace", artifact.path),
            "write the file, or name the path where it is, relative to the workspace",
        ),
        PathState::Unreadable => findings.add(
            &artifact.pointer(),
            format!("`{}` cannot be read", artifact.path),
            "make it readable for the user that runs the check",
        ),
        PathState::Outside | PathState::Folder { .. } | PathState::File { .. } => {}
    });
}

/// An artifact that a document claims, with what is at its path.
pub(super) struct Artifact<'a> {
    place: Place,
    /// The path, as the document has it.
    pub(super) path: &'a str,
    /// What is there.
    pub(super) sight: PathState,
}

/// Where the path of an artifact stands; pointers are made only for findings.
enum Place {
    Member(&'static str),
    Item(&'static str, usize),
    ItemPath(&'static str, usize),
}

impl Artifact<'_> {
    /// Returns the canonical pointer of the path.
    pub(super) fn pointer(&self) -> String {
        match self.place {
            Place::Member(pointer) => pointer.to_owned(),
            Place::Item(list, index) => format!("{list}/{index}"),
            Place::ItemPath(list, index) => format!("{list}/{index}/path"),
        }
    }
}

/// Looks at every artifact that the document claims; does nothing without a workspace.
pub(super) fn each_artifact<'a>(case: &Case<'a>, mut visit: impl FnMut(Artifact<'a>)) {
    let Some(workspace) = case.surroundings.workspace else { return };
    let mut look = |place: Place, path: &'a str| {
        if !path.trim().is_empty() && !path.contains("://") {
            visit(Artifact { place, path, sight: workspace.look(path) });
        }
    };
    let place = |list, index, artifact: &model::Artifact| {
        if artifact.bare { Place::Item(list, index) } else { Place::ItemPath(list, index) }
    };
    if let Some(context) = case.package().and_then(|request| request.context.as_ref()) {
        for (index, artifact) in context.artifacts.iter().enumerate() {
            look(place("/context/artifacts", index, artifact), artifact.path());
        }
    }
    let Some(report) = case.report() else { return };
    for (index, artifact) in report.artifacts.iter().enumerate() {
        look(place("/artifacts", index, artifact), artifact.path());
    }
    if let Some(path) = report.output.as_ref().and_then(|output| output.artifact_path.as_deref()) {
        look(Place::Member("/output/artifact_path"), path);
    }
    if let Some(model::PhaseFindings::Write(write)) = &report.findings {
        for (index, file) in write.files_created.iter().enumerate() {
            look(Place::ItemPath("/findings/files_created", index), file.path.as_deref().unwrap_or_default());
        }
        for (index, tests) in write.tests_written.iter().enumerate() {
            look(Place::ItemPath("/findings/tests_written", index), tests.path.as_deref().unwrap_or_default());
        }
    }
}

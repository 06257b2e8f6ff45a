//! Sources: the lines that an agent says it has read exist, or did before it changed the file.

use std::path::Path;

use baton_engine::evidence::ExaminedClaim;
use baton_protocol::model::{Report, SourceRange};
use baton_protocol::rules::source_lines_missing::{RULE, trouble_with};

use super::changes::{Change, Changes, Trace};
use super::entry::{refuted, unverifiable, verified};
use super::named;
use crate::workspace::WorkspaceFolder;

/// Looks at every source that a report names.
pub(super) fn examine(workspace: &WorkspaceFolder, report: &Report, changes: &Changes) -> Vec<ExaminedClaim> {
    let sources = report.source_files_verified.iter().filter(|source| !source.trim().is_empty());
    let examine = |source: &String| {
        let claim = format!("claims to have read `{source}`");
        let changed = || was_different(workspace.root(), changes, source);
        match trouble_with(source, workspace) {
            None => verified(&RULE, claim, "and these lines exist"),
            Some(trouble) if changed() => unverifiable(&RULE, claim, format!("{trouble}; it changed during the work")),
            Some(trouble) => refuted(&RULE, claim, trouble),
        }
    };
    sources.map(examine).collect()
}

/// Returns the path of a source in the workspace.
pub(super) fn path_of(root: &Path, source: &str) -> Option<String> {
    let first = source.split(',').next().unwrap_or(source);
    named::inside(root, Path::new(SourceRange::parse(first.trim()).path))
}

/// Returns whether a source was there before, with other content.
fn was_different(root: &Path, changes: &Changes, source: &str) -> bool {
    let trace = path_of(root, source).map(|path| changes.trace(root, &path));
    matches!(trace, Some(Trace::Changed(Change::Modified | Change::Deleted)))
}

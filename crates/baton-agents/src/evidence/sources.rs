//! Sources: the lines that an agent says it has read exist.

use baton_engine::evidence::Examined;
use baton_protocol::model::Report;
use baton_protocol::rules::source_lines_missing::{RULE, trouble_with};

use super::entry::{refuted, verified};
use crate::workspace::Folder;

/// Looks at every source that a report names.
pub(super) fn examine(workspace: &Folder, report: &Report) -> Vec<Examined> {
    let sources = report.source_files_verified.iter().filter(|source| !source.trim().is_empty());
    let examine = |source: &String| {
        let claim = format!("`{source}` was read");
        match trouble_with(source, workspace) {
            Some(trouble) => refuted(&RULE, claim, trouble),
            None => verified(&RULE, claim, "these lines exist"),
        }
    };
    sources.map(examine).collect()
}

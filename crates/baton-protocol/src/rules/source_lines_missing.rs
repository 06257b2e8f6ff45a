//! Source lines that an agent claims to have read, but that do not exist.

use super::{Case, RuleFindings};
use crate::model::SourceRange;
use crate::surroundings::{PathState, Workspace};

rule! {
    /// ## What it checks
    /// An entry of `source_files_verified` names a file that is missing, unreadable or outside the workspace, or lines
    /// that the file does not have. Entries look like `path`, `path:12`, `path:10-40` or `path:10-40,60-80`; lines
    /// count from 1. Applies to reports in the `metadata-block`, `phase-block` and `native` dialects; needs a
    /// workspace.
    ///
    /// ## Why it matters
    /// These ranges are the proof that the agent looked before it spoke. Lines that do not exist were not looked at,
    /// and what was concluded from them is made up.
    ///
    /// ## Example
    /// `src/quota.rs` has 80 lines.
    /// ```json
    /// { "source_files_verified": ["src/quota.rs:60-140"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "source_files_verified": ["src/quota.rs:60-80"] }
    /// ```
    "source-lines-missing": Evidence, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let (Some(report), Some(workspace)) = (case.report(), case.surroundings.workspace) else {
        return;
    };
    for (index, source) in report.source_files_verified.iter().enumerate() {
        if let Some(message) = trouble_with(source, workspace) {
            findings.add(
                &format!("/source_files_verified/{index}"),
                message,
                "name the lines that were read, as the file has them now, relative to the workspace",
            );
        }
    }
}

/// Returns what is wrong with an entry; each of its ranges is looked at, as in `path:10-40,60-80`.
pub fn trouble_with(source: &str, workspace: &dyn Workspace) -> Option<String> {
    if source.trim().is_empty() {
        return None;
    }
    let (first, others) = source.split_once(',').unwrap_or((source, ""));
    let range = SourceRange::parse(first.trim());
    // A comma without lines before it belongs to the name of the file.
    if range.lines.is_none() {
        return trouble(&SourceRange::parse(source.trim()), workspace);
    }
    let others = others.split(',').map(str::trim).filter(|lines| !lines.is_empty());
    let other = |lines: &str| trouble(&SourceRange::parse(&format!("{}:{lines}", range.path)), workspace);
    trouble(&range, workspace).or_else(|| others.into_iter().find_map(other))
}

fn trouble(range: &SourceRange<'_>, workspace: &dyn Workspace) -> Option<String> {
    let path = range.path;
    match workspace.look(path) {
        PathState::Missing => return Some(format!("`{path}` does not exist in the workspace")),
        PathState::Outside => return Some(format!("`{path}` lies outside the workspace")),
        PathState::Unreadable => return Some(format!("`{path}` cannot be read")),
        PathState::Folder { .. } => return range.lines.map(|_| format!("`{path}` is a folder and has no lines")),
        PathState::File { .. } => {}
    }
    let (first, last) = range.lines?;
    if first == 0 {
        return Some("lines count from 1".to_owned());
    }
    if first > last {
        return Some(format!("lines {first}-{last} end before they begin"));
    }
    match workspace.count_lines(path) {
        None => Some(format!("`{path}` cannot be read")),
        // Agents often count the end of a file as a line of its own.
        Some(count) => (last > count + 1).then(|| format!("`{path}` has {count} lines, but line {last} is claimed")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    struct OneFile;

    impl Workspace for OneFile {
        fn look(&self, path: &str) -> PathState {
            match path {
                "a.rs" => PathState::File { bytes: 900 },
                "src/" => PathState::Folder { empty: false },
                _ => PathState::Missing,
            }
        }

        fn count_lines(&self, path: &str) -> Option<usize> {
            (path == "a.rs").then_some(50)
        }

        fn read_json(&self, _: &str) -> Option<Value> {
            None
        }
    }

    #[test]
    fn lines_that_exist_are_fine() {
        for source in ["a.rs", "a.rs:1", "a.rs:1-50", "a.rs:L3-L9", "a.rs:1-9,20-50", "a.rs:1, 7", "a.rs:1-51", "src/"] {
            assert_eq!(trouble_with(source, &OneFile), None, "{source}");
        }
    }

    #[test]
    fn lines_that_do_not_exist_are_told() {
        for source in ["b.rs", "b,c.rs", "a.rs:52", "a.rs:40-90", "a.rs:0-3", "a.rs:9-3", "a.rs:1-9,20-52", "src/:1"] {
            assert!(trouble_with(source, &OneFile).is_some(), "{source}");
        }
    }
}

//! Judges whether paths mean the same file on another machine.

use std::fmt;

use crate::diagnostic::excerpt;
use super::{Case, RuleFindings};
use crate::model::{Artifact, PhaseFindings as Found};

rule! {
    /// ## What it checks
    /// Whether a path to a file of the work is absolute: it begins with `/`, `~`, `\` or a drive letter such as
    /// `C:\`. It looks at artifacts, `files_modified`, `source_files_verified`, `relevant_files`, `spec_path`, the
    /// `artifact_path` of an output and the files in the findings of a task, in every dialect that has them.
    ///
    /// `feature_directory` is never reported: it may be absolute. It is a warning, because the path may be right on
    /// the machine where it was written.
    ///
    /// ## Why it matters
    /// The next agent works in another checkout, another container or another machine. There
    /// `/home/kim/shop/cart.ts` is nothing, while `src/cart.ts` is the same file everywhere.
    ///
    /// ## Example
    /// ```json
    /// { "files_modified": ["/home/kim/shop/src/cart.ts"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "files_modified": ["src/cart.ts"] }
    /// ```
    "absolute-path": Shape, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let mut look = |pointer: fmt::Arguments<'_>, path: &str| {
        if is_absolute(path) {
            let message = format!("`{}` is an absolute path", excerpt(path));
            findings.add(&pointer.to_string(), message, "write it relative to the root of the workspace");
        }
    };
    if let Some(context) = case.request().and_then(|request| request.context.as_ref()) {
        look(format_args!("/context/spec_path"), context.spec_path.as_deref().unwrap_or_default());
        each(&mut look, "/context/relevant_files", &context.relevant_files);
        artifacts(&mut look, "/context/artifacts", &context.artifacts);
    }
    if let Some(report) = case.report() {
        let output = report.output.as_ref().and_then(|output| output.artifact_path.as_deref());
        look(format_args!("/output/artifact_path"), output.unwrap_or_default());
        each(&mut look, "/source_files_verified", &report.source_files_verified);
        each(&mut look, "/files_modified", &report.files_modified);
        artifacts(&mut look, "/artifacts", &report.artifacts);
        if let Some(found) = &report.findings {
            look_at_findings(&mut look, found);
        }
    }
}

type Look<'l> = dyn FnMut(fmt::Arguments<'_>, &str) + 'l;

fn each(look: &mut Look<'_>, pointer: &str, paths: &[String]) {
    for (index, path) in paths.iter().enumerate() {
        look(format_args!("{pointer}/{index}"), path);
    }
}

fn artifacts(look: &mut Look<'_>, pointer: &str, artifacts: &[Artifact]) {
    for (index, artifact) in artifacts.iter().enumerate() {
        let member = if artifact.bare { "" } else { "/path" };
        look(format_args!("{pointer}/{index}{member}"), artifact.path());
    }
}

fn look_at_findings(look: &mut Look<'_>, found: &Found) {
    let mut list = |name: &str, member: &str, paths: &mut dyn Iterator<Item = &Option<String>>| {
        for (index, path) in paths.enumerate() {
            look(format_args!("/findings/{name}/{index}/{member}"), path.as_deref().unwrap_or_default());
        }
    };
    match found {
        Found::Research(found) => {
            let existing = &found.existing_implementations;
            list("existing_implementations", "file", &mut existing.iter().map(|item| &item.file));
            list("patterns_found", "file", &mut found.patterns_found.iter().map(|item| &item.file));
        }
        Found::Write(found) => {
            list("files_created", "path", &mut found.files_created.iter().map(|item| &item.path));
            list("files_modified", "path", &mut found.files_modified.iter().map(|item| &item.path));
            list("tests_written", "path", &mut found.tests_written.iter().map(|item| &item.path));
        }
        Found::Validate(_) | Found::Parallel(_) => {}
    }
}

fn is_absolute(path: &str) -> bool {
    match path.as_bytes() {
        [b'/' | b'~' | b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_absolute;

    #[test]
    fn roots_homes_and_drives_are_absolute() {
        for path in ["/", "/srv/a", "~", "~/notes.md", "~kim/x", "\\\\host\\share", "\\temp", "C:\\a", "d:/a"] {
            assert!(is_absolute(path), "{path}");
        }
    }

    #[test]
    fn everything_else_is_relative() {
        for path in ["", ".", "../a", ".claude/x.md", "src/a.rs:1-20", "a:10", "https://example.com/a", "ä:/x"] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}

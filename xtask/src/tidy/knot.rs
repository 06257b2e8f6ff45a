//! The modules of a crate do not import each other in a circle: each can be read without the others above it.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::text_file::TextFile;

/// Modules that are one thing, and may import each other.
type Together = &'static [&'static str];

/// The crates that are looked at, each with what belongs together in it. The lists only become shorter.
const CRATES: [(&str, &[Together]); 9] = [
    // The command line names the options of every command, and commands print the help of the command line.
    ("baton", &[&["cli", "commands"]]),
    ("baton-agents", &[&["confinement", "evidence"]]),
    // What a handoff is and what happens to it; and whoever drives calls the verbs, which know what is driven.
    ("baton-engine", &[HANDOFF, &["driver", "engine"]]),
    ("baton-host", &[]),
    ("baton-page", &[&["journal", "run", "run_actions"]]),
    ("baton-simulation", &[]),
    ("baton-store", &[]),
    ("baton-testbed", &[]),
    ("baton-views", &[]),
];

/// What a handoff is, what happens to it, and how that is kept.
const HANDOFF: Together = &[
    "answer",
    "approval",
    "definition",
    "evidence",
    "handoff",
    "journal",
    "known",
    "ledger",
    "lifecycle",
    "protection",
    "queue",
    "run",
    "session",
    "ssh",
    "store",
    "stored",
    "token",
];

/// What each module imports.
type Imports<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// Reports every import that leads back to where it stands.
pub(crate) fn check(files: &[TextFile]) -> Vec<Violation> {
    CRATES.iter().flat_map(|(name, together)| check_crate(files, name, together)).collect()
}

fn check_crate(files: &[TextFile], name: &str, together: &[Together]) -> Vec<Violation> {
    let tests: BTreeSet<String> = files.iter().flat_map(tests_below).collect();
    let sources = files.iter().filter(|file| !tests.contains(&file.path));
    let sources: Vec<(&str, &TextFile)> = sources.filter_map(|file| Some((module(file, name)?, file))).collect();
    let lines = |file| imports(file).into_iter().map(move |(line, imported)| (line, imported, file));
    let all: Vec<(&str, usize, &str, &TextFile)> = sources
        .iter()
        .flat_map(|(module, file)| lines(*file).map(|(line, imported, file)| (*module, line, imported, file)))
        .filter(|(module, _, imported, _)| one(module, together) != one(imported, together))
        .filter(|(_, _, imported, _)| sources.iter().any(|(known, _)| known == imported))
        .collect();
    let mut graph: Imports<'_> = BTreeMap::new();
    for (module, _, imported, _) in &all {
        graph.entry(one(module, together)).or_default().insert(one(imported, together));
    }
    let leads_back =
        |module: &str, imported: &str| reachable(&graph, one(imported, together)).contains(one(module, together));
    let circles = all.iter().filter(|(module, _, imported, _)| leads_back(module, imported));
    let message = |module: &str, imported: &str| {
        format!("`{module}` imports `{imported}`, which leads back to `{module}`; move what both need below them")
    };
    circles.map(|(module, line, imported, file)| Violation::new(file, *line, message(module, imported))).collect()
}

/// Returns the name for all that belongs together with a module.
fn one<'m>(module: &'m str, together: &[Together]) -> &'m str {
    together.iter().find(|group| group.contains(&module)).map_or(module, |group| group[0])
}

/// Returns the top-level module of a crate that a file belongs to. Tests may look anywhere.
fn module<'f>(file: &'f TextFile, name: &str) -> Option<&'f str> {
    let inside = file.path.strip_prefix("crates/")?.strip_prefix(name)?.strip_prefix("/src/")?;
    if inside.ends_with("tests.rs") || inside.contains("/tests/") {
        return None;
    }
    let top = inside.split('/').next()?;
    Some(top.strip_suffix(".rs").unwrap_or(top)).filter(|name| !["main", "lib", "bin"].contains(name))
}

/// Returns the files that a file has as modules for tests only.
fn tests_below(file: &TextFile) -> Vec<String> {
    let folder = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let mut was_for_tests = false;
    let mut tests = Vec::new();
    for (_, line) in file.numbered_lines() {
        let name = line.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
        tests.extend(name.filter(|_| was_for_tests).map(|name| format!("{folder}/{name}.rs")));
        was_for_tests = line.trim_start().starts_with("#[cfg(") && line.contains("test");
    }
    tests
}

/// Returns the modules that a file names after `crate::`, with their lines. Tests, which stand last, may look anywhere.
fn imports(file: &TextFile) -> Vec<(usize, &str)> {
    let is_code = |line: &str| !line.trim_start().starts_with("//");
    let lines = file.numbered_lines().take_while(|(_, line)| *line != "#[cfg(test)]").filter(|(_, line)| is_code(line));
    lines.flat_map(|(number, line)| named(line).into_iter().map(move |name| (number, name))).collect()
}

fn named(line: &str) -> Vec<&str> {
    let word =
        |text: &'_ str| text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let mut names = Vec::new();
    for rest in line.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => names.extend(list.split(',').map(str::trim_start).map(|name| &name[..word(name)])),
            None => names.push(&rest[..word(rest)]),
        }
    }
    names
}

/// Returns every module that can be reached from one.
fn reachable<'f>(graph: &Imports<'f>, from: &'f str) -> BTreeSet<&'f str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(graph.get(module).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> =
            files.iter().map(|(path, text)| TextFile::new(format!("crates/baton/src/{path}"), *text)).collect();
        check(&files).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn imports_that_lead_down_pass() {
        let files = [
            ("store.rs", "use crate::output::Output;\n"),
            ("store/place.rs", "use crate::store;\nuse crate::config::Config;\n"),
            ("output.rs", "//! See crate::store.\n"),
            ("config.rs", "\n#[cfg(test)]\nmod tests {\n    use crate::store::Place;\n}\n"),
        ];
        assert!(reported(&files).is_empty());
    }

    #[test]
    fn every_import_of_a_circle_is_reported_where_it_stands() {
        let files = [
            ("store.rs", "//! A store.\nuse crate::{render, state};\n"),
            ("render/run.rs", "use crate::running::is_dead;\n"),
            ("running.rs", "fn open(session: &crate::store::Session) {}\n"),
            ("state.rs", ""),
        ];
        let found = reported(&files);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(
            found[0],
            "crates/baton/src/store.rs:2: `store` imports `render`, which leads back to `store`; move what both need \
             below them"
        );
    }

    #[test]
    fn what_belongs_together_leads_back_as_one() {
        let text = |path: &str, text: &str| TextFile::new(format!("crates/baton-engine/src/{path}"), text);
        let together = text("driver.rs", "use crate::engine;\nuse crate::flow;\n");
        let files = [together, text("engine.rs", ""), text("flow.rs", "use crate::engine::Engine;\n")];
        assert_eq!(check(&files).len(), 2, "the driver imports flow, which imports what belongs to the driver");
    }

    #[test]
    fn the_command_line_and_its_commands_belong_together() {
        assert!(reported(&[("cli.rs", "use crate::commands;\n"), ("commands.rs", "use crate::cli;\n")]).is_empty());
    }
}

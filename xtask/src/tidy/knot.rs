//! The modules of the program do not import each other in a circle: each can be read without the others above it.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::text_file::TextFile;

/// Where the modules are.
const SOURCES: &str = "crates/baton/src/";

/// The command line names the options of every command, and commands print the help of the command line.
const TOGETHER: [&str; 2] = ["cli", "commands"];

/// What each module imports.
type Imports<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// Reports every import that leads back to where it stands.
pub(crate) fn check(files: &[TextFile]) -> Vec<Violation> {
    let sources: Vec<(&str, &TextFile)> = files.iter().filter_map(|file| Some((module(file)?, file))).collect();
    let lines = |file| imports(file).into_iter().map(move |(line, imported)| (line, imported, file));
    let all: Vec<(&str, usize, &str, &TextFile)> = sources
        .iter()
        .flat_map(|(module, file)| lines(*file).map(|(line, imported, file)| (*module, line, imported, file)))
        .filter(|(module, _, imported, _)| module != imported && sources.iter().any(|(known, _)| known == imported))
        .filter(|(module, _, imported, _)| !(TOGETHER.contains(module) && TOGETHER.contains(imported)))
        .collect();
    let mut graph: Imports<'_> = BTreeMap::new();
    for (module, _, imported, _) in &all {
        graph.entry(module).or_default().insert(imported);
    }
    let circles = all.iter().filter(|(module, _, imported, _)| reachable(&graph, imported).contains(module));
    let message = |module: &str, imported: &str| {
        format!("`{module}` imports `{imported}`, which leads back to `{module}`; move what both need below them")
    };
    circles.map(|(module, line, imported, file)| Violation::new(file, *line, message(module, imported))).collect()
}

/// Returns the top-level module that a file belongs to.
fn module(file: &TextFile) -> Option<&str> {
    let inside = file.path.strip_prefix(SOURCES)?;
    let top = inside.split('/').next()?;
    Some(top.strip_suffix(".rs").unwrap_or(top)).filter(|name| *name != "main")
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
            files.iter().map(|(path, text)| TextFile::new(format!("{SOURCES}{path}"), *text)).collect();
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
    fn the_command_line_and_its_commands_belong_together() {
        assert!(reported(&[("cli.rs", "use crate::commands;\n"), ("commands.rs", "use crate::cli;\n")]).is_empty());
    }
}

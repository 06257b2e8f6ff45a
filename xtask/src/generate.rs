//! `cargo xtask generate`: files whose text comes from the program itself.
//!
//! The program prints, we compare and write. Nothing here knows what the files say.

mod difference;
mod program;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::failure::Failure;
use crate::output;
use crate::text_file::TextFile;
use difference::{Difference, Kind};
use program::Program;

pub(crate) use program::{Build, executable};

/// Each generated document, and the arguments that make the program print it.
const DOCUMENTS: &[(&str, &[&str])] = &[
    ("docs/rules.md", &["explain", "--all"]),
    ("docs/cli.md", &["help-markdown"]),
    ("docs/lifecycle.md", &["lifecycle-markdown"]),
    ("docs/openapi.json", &["openapi-json"]),
];

/// The folder with one generated file per schema; a `.json` file without a schema is superfluous.
const SCHEMA_FOLDER: &str = "schemas";

/// Writes every generated file that is not current, and removes those nobody generates any more.
pub(crate) fn write(root: &Path) -> Result<()> {
    let expected = expected(&Program::build(root, Build::Alone)?)?;
    for difference in differences(root, &expected)? {
        apply(root, &difference, &expected)?;
        output::note(&difference.done());
    }
    Ok(())
}

/// Reports every generated file that is not current.
pub(crate) fn check(root: &Path, build: Build) -> Result<()> {
    let expected = expected(&Program::build(root, build)?)?;
    let differences = differences(root, &expected)?;
    if differences.is_empty() {
        return Ok(());
    }
    for difference in &differences {
        output::result(&difference.to_string());
    }
    let what = format!("generated files that are not current: {}", differences.len());
    Err(Failure::no(what, "run: cargo xtask generate").into())
}

fn expected(program: &Program) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    for (path, arguments) in DOCUMENTS {
        files.push(TextFile::new(*path, program.stdout(arguments)?));
    }
    for name in schema_names(&program.stdout(&["schema", "--json"])?)? {
        let path = format!("{SCHEMA_FOLDER}/{name}.json");
        files.push(TextFile::new(path, program.stdout(&["schema", &name])?));
    }
    Ok(files)
}

/// Reads the answer of `baton schema --json`.
fn schema_names(answer: &str) -> Result<Vec<String>> {
    let answer: Value = serde_json::from_str(answer).context("`baton schema --json` is not JSON")?;
    let schemas = answer["schemas"].as_array().context("`baton schema --json` has no `schemas`")?;
    let name = |schema: &Value| schema["name"].as_str().map(str::to_owned);
    schemas.iter().map(|schema| name(schema).context("a schema has no `name`")).collect()
}

fn differences(root: &Path, expected: &[TextFile]) -> Result<Vec<Difference>> {
    let mut present = BTreeMap::new();
    let paths = expected.iter().map(|file| file.path.clone());
    for path in paths.chain(schema_files(root)?) {
        if let Some(file) = TextFile::read(root, &path)? {
            present.insert(path, file.text);
        }
    }
    Ok(difference::find(expected, &present))
}

fn schema_files(root: &Path) -> Result<Vec<String>> {
    let Ok(entries) = std::fs::read_dir(root.join(SCHEMA_FOLDER)) else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            paths.push(format!("{SCHEMA_FOLDER}/{name}"));
        }
    }
    Ok(paths)
}

fn apply(root: &Path, difference: &Difference, expected: &[TextFile]) -> Result<()> {
    let path = root.join(&difference.path);
    if difference.kind == Kind::Superfluous {
        return std::fs::remove_file(&path).context("a superfluous file could not be removed");
    }
    let file = expected.iter().find(|file| file.path == difference.path);
    let file = file.context("a difference names a file that is not generated")?;
    std::fs::create_dir_all(path.parent().unwrap_or(root))?;
    std::fs::write(&path, &file.text).with_context(|| format!("{} is not writable", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_names_come_in_the_order_of_the_program() {
        let answer = r#"{"schemas": [{"name": "request"}, {"name": "report", "version": 1}]}"#;
        assert_eq!(schema_names(answer).unwrap(), ["request", "report"]);
    }

    #[test]
    fn answer_without_schemas_is_an_error() {
        assert!(schema_names("{}").is_err());
        assert!(schema_names("request\nreport\n").is_err());
        assert!(schema_names(r#"{"schemas": [{"title": "request"}]}"#).is_err());
    }
}

//! `cargo xtask bench`: runs the benchmarks of the workspace one after the other, so that none disturbs another.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::failure::Failure;
use crate::{output, process, requirements};

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    name: Option<String>,
}

impl Options {
    /// Reads the arguments after `bench`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        match arguments {
            [] => Ok(Self { name: None }),
            [name] if !name.starts_with('-') => Ok(Self { name: Some((*name).to_owned()) }),
            [option, ..] if option.starts_with('-') => Err(wrong_usage(option)),
            [_, unexpected, ..] => Err(wrong_usage(unexpected)),
            [unexpected] => Err(wrong_usage(unexpected)),
        }
    }
}

/// A benchmark by its crate and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Benchmark {
    package: String,
    name: String,
}

/// Runs the chosen benchmark, or all of them.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    requirements::ensure(requirements::TEST)?;
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--locked", "--quiet"];
    let answer =
        process::stdout(&mut process::cargo(root, &arguments), "correct the manifest that Cargo reports above")?;
    let answer = serde_json::from_str(&answer).context("`cargo metadata` is not JSON")?;
    for benchmark in chosen(&benchmarks(&answer), options.name.as_deref())? {
        output::note(&format!("bench {} of {}", benchmark.name, benchmark.package));
        let arguments = ["bench", "--locked", "--package", &benchmark.package, "--bench", &benchmark.name];
        process::run(&mut process::cargo(root, &arguments), "a limit was broken or the benchmark failed; see above")?;
    }
    Ok(())
}

fn benchmarks(metadata: &Value) -> Vec<Benchmark> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_benchmark = target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"));
            if let (true, Some(package), Some(name)) = (is_benchmark, package["name"].as_str(), target["name"].as_str())
            {
                found.push(Benchmark { package: package.to_owned(), name: name.to_owned() });
            }
        }
    }
    found
}

fn chosen<'a>(all: &'a [Benchmark], wanted: Option<&str>) -> Result<Vec<&'a Benchmark>, Failure> {
    let chosen: Vec<&Benchmark> = all.iter().filter(|one| wanted.is_none_or(|wanted| wanted == one.name)).collect();
    match (wanted, chosen.is_empty()) {
        (_, false) => Ok(chosen),
        (None, true) => Err(Failure::usage("there are no benchmarks", "write one in the `benches` of a crate")),
        (Some(wanted), true) => {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            let hint = format!("choose one of: {}", names.join(", "));
            Err(Failure::usage(format!("there is no benchmark `{wanted}`"), hint))
        }
    }
}

fn wrong_usage(argument: &str) -> Failure {
    let what = format!("`cargo xtask bench` does not understand `{argument}`");
    Failure::usage(what, "write: cargo xtask bench [NAME]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<Benchmark> {
        benchmarks(&serde_json::json!({ "packages": [
            { "name": "one", "targets": [
                { "name": "one", "kind": ["lib"] },
                { "name": "judgement", "kind": ["bench"] },
            ] },
            { "name": "two", "targets": [{ "name": "claim", "kind": ["bench"] }] },
        ] }))
    }

    #[test]
    fn all_run_unless_one_is_named() {
        assert_eq!(Options::parse(&[]).unwrap(), Options { name: None });
        assert_eq!(Options::parse(&["claim"]).unwrap(), Options { name: Some("claim".to_owned()) });
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, named) in
            [(&["--fast"][..], "`--fast`"), (&["one", "two"], "`two`"), (&["--fast", "one"], "`--fast`")]
        {
            let message = Options::parse(arguments).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn benchmarks_are_found_in_every_crate() {
        let names: Vec<String> = two().iter().map(|one| format!("{}/{}", one.package, one.name)).collect();
        assert_eq!(names, ["one/judgement", "two/claim"]);
    }

    #[test]
    fn unknown_benchmark_is_answered_with_the_known_ones() {
        assert_eq!(chosen(&two(), Some("claim")).unwrap(), [&two()[1]]);
        assert_eq!(chosen(&two(), None).unwrap().len(), 2);
        let message = chosen(&two(), Some("clam")).unwrap_err().to_string();
        assert!(message.ends_with("choose one of: judgement, claim"));
    }
}

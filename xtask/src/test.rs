//! `cargo xtask test`: every check of this repository, one after the other, up to the first failure.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::postgres::Postgres;
use crate::{generate, output, process, requirements, tidy};

struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "set-up", run: set_up },
    Step { name: "format", run: format },
    Step { name: "lint", run: lint },
    Step { name: "test", run: test },
    Step { name: "planted bugs", run: planted_bugs },
    Step { name: "document", run: document },
    Step { name: "generate --check", run: generated_files },
    Step { name: "tidy", run: tidy::run },
];

/// Runs all steps.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut took = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        let title = format!("[{}/{}] {}", index + 1, STEPS.len(), step.name);
        took.push((step.name, timed(root, &title, step)?));
    }
    output::note(&summary(&took));
    Ok(())
}

fn timed(root: &Path, title: &str, step: &Step) -> Result<Duration> {
    output::note(title);
    let start = Instant::now();
    let result = (step.run)(root);
    let elapsed = start.elapsed();
    let verdict = if result.is_ok() { "passed" } else { "failed" };
    output::note(&format!("{title}: {verdict} in {}", output::seconds(elapsed)));
    result.map(|()| elapsed)
}

fn summary(took: &[(&str, Duration)]) -> String {
    let total = took.iter().map(|(_, duration)| duration).sum();
    let step = |(name, duration): &(&str, Duration)| format!("{name} {}", output::seconds(*duration));
    let steps: Vec<String> = took.iter().map(step).collect();
    format!("all steps passed in {}: {}", output::seconds(total), steps.join(", "))
}

fn set_up(root: &Path) -> Result<()> {
    requirements::ensure(requirements::TEST)?;
    requirements::ensure_components(root)
}

fn format(root: &Path) -> Result<()> {
    let mut command = process::cargo(root, &["fmt", "--all", "--check"]);
    process::run(&mut command, "run: cargo fmt --all")
}

fn lint(root: &Path) -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    let hint = "correct what is reported above; an exception is `#[expect(…, reason = \"…\")]`";
    process::run(&mut process::cargo(root, &arguments), hint)
}

fn test(root: &Path) -> Result<()> {
    let postgres = Postgres::start(root)?;
    let mut command = process::cargo(root, &["test", "--workspace", "--locked"]);
    if let Some(postgres) = &postgres {
        postgres.tell(&mut command);
    }
    process::run(&mut command, "run one test alone: cargo test --workspace NAME_OF_THE_TEST")
}

/// Bugs that are planted on purpose must be found. They are in a build of their own, so that nobody else's has them.
fn planted_bugs(root: &Path) -> Result<()> {
    let arguments = ["--package", "baton-simulation", "--features", "sabotage", "--test", "planted_bugs", "--locked"];
    let mut command = process::cargo(root, &[&["test"], &arguments[..]].concat());
    process::run(&mut command, "a bug that nobody finds: say in promises.rs or witness.rs what it breaks")
}

fn document(root: &Path) -> Result<()> {
    let mut command = process::cargo(root, &["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    process::run(&mut command, "correct the documentation comments reported above")
}

fn generated_files(root: &Path) -> Result<()> {
    generate::check(root, generate::Build::AsTested)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_lists_every_step_and_the_total() {
        let took = [("lint", Duration::from_millis(1500)), ("tidy", Duration::from_millis(250))];
        assert_eq!(summary(&took), "all steps passed in 1.8 s: lint 1.5 s, tidy 0.2 s");
    }
}

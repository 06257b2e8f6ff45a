//! Success criteria that carry a command, such as ``all tests pass: `cargo test` ``.

use std::time::Duration;

use baton_engine::evidence::{CheckCommand, Scene};

/// How long such a command may take; a criterion has no place to say it.
const TIMEOUT: Duration = Duration::from_secs(600);
/// What follows a command that must end well.
const ENDS_WELL: [&str; 9] = [
    "passes",
    "pass",
    "succeeds",
    "exits 0",
    "exits with 0",
    "exits with code 0",
    "exits with status 0",
    "returns 0",
    "is green",
];

/// Returns the commands among the criteria of a request, each with its criterion.
pub(super) fn commands(scene: &Scene) -> Vec<(&str, CheckCommand)> {
    let expectations = scene.request.as_ref().and_then(|request| request.expectations.as_ref());
    let criteria = expectations.map(|expectations| expectations.success_criteria.as_slice()).unwrap_or_default();
    let numbered = criteria.iter().enumerate();
    numbered.filter_map(|(index, criterion)| Some((criterion.as_str(), check(index, command(criterion)?)))).collect()
}

fn check(index: usize, command: &str) -> CheckCommand {
    let words = ["sh", "-c", command].map(str::to_owned).to_vec();
    CheckCommand { name: format!("criterion-{}", index + 1), words, timeout: TIMEOUT, ..CheckCommand::default() }
}

/// Returns the command of a criterion: in backquotes after a colon at the end, or followed by `passes` and the like.
fn command(criterion: &str) -> Option<&str> {
    let (rest, after) = criterion.rsplit_once('`')?;
    let (before, command) = rest.rsplit_once('`')?;
    let after = after.trim().trim_end_matches('.').to_ascii_lowercase();
    let ends = match after.as_str() {
        "" => before.trim_end().ends_with(':'),
        after => ENDS_WELL.iter().any(|words| after == *words || after.starts_with(&format!("{words} "))),
    };
    Some(command.trim()).filter(|command| ends && !command.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_recognised() {
        for criterion in [
            "All tests pass: `cargo test`",
            "`cargo test` passes",
            "`cargo test` exits with 0.",
            "With `x`, `cargo test` succeeds",
        ] {
            assert_eq!(command(criterion), Some("cargo test"), "{criterion}");
        }
    }

    #[test]
    fn names_and_files_are_no_commands() {
        for criterion in [
            "The endpoint is described in `docs/api.md`",
            "`limit` is 100",
            "no backquotes",
            "one ` only",
            "empty: ``",
            "`x` passes_through",
        ] {
            assert_eq!(command(criterion), None, "{criterion}");
        }
    }
}

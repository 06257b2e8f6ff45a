//! Tests wait on signals and move their own clock; they never sleep.

use super::{Violation, word};
use crate::text_file::TextFile;

/// Reports every sleep below a `tests` folder.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    if !file.is_rust() || !file.path.split('/').any(|part| part == "tests") {
        return Vec::new();
    }
    let sleeps = file.numbered_lines().filter(|(_, line)| word::starts(line, "sleep("));
    let message = "a test does not sleep; wait on a signal or move the clock";
    sleeps.map(|(number, _)| Violation::new(file, number, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, line: &str) -> usize {
        check(&TextFile::new(path, format!("//! A test.\n{line}\n"))).len()
    }

    #[test]
    fn sleeping_test_is_reported() {
        assert_eq!(found_in("crates/baton/tests/run.rs", "std::thread::sleep(pause);"), 1);
        assert_eq!(found_in("crates/baton/tests/run/claim.rs", "    sleep(pause).await;"), 1);
    }

    #[test]
    fn sleep_outside_tests_passes() {
        assert_eq!(found_in("crates/baton/src/scheduler.rs", "clock.sleep(pause).await;"), 0);
    }

    #[test]
    fn longer_names_and_shell_commands_pass() {
        assert_eq!(found_in("crates/baton/tests/run.rs", "never_sleep(pause);"), 0);
        assert_eq!(found_in("crates/baton/tests/run.rs", "command(\"sleep 5\");"), 0);
    }
}

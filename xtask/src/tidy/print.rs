//! The crates print in their output modules only, so that stdout stays data.
//!
//! Clippy knows the same rule, but an `expect` anywhere silences it; here the exceptions are one list.

use super::{Violation, word};
use crate::text_file::TextFile;

/// The files that may print.
const OUTPUT_MODULES: &[&str] = &["crates/baton/src/output.rs", "crates/baton-simulation/src/bin/simulate.rs"];

const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// Reports every line that prints where it must not.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    if !is_crate_source(file) || OUTPUT_MODULES.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let code = file.numbered_lines().filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter_map(|(number, line)| {
        let name = MACROS.iter().find(|name| word::starts(line, name))?;
        let message = format!("`{name}` outside the output module {}", OUTPUT_MODULES.join(", "));
        Some(Violation::new(file, number, message))
    })
    .collect()
}

/// Returns whether the file lies in `crates/*/src`.
fn is_crate_source(file: &TextFile) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src") && file.is_rust()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, line: &str) -> usize {
        check(&TextFile::new(path, format!("//! A file.\n{line}\n"))).len()
    }

    #[test]
    fn printing_in_a_crate_is_reported() {
        for name in MACROS {
            assert_eq!(found_in("crates/baton/src/commands/check.rs", &format!("    {name}(x);")), 1);
        }
    }

    #[test]
    fn output_module_and_other_folders_may_print() {
        assert_eq!(found_in("crates/baton/src/output.rs", "println!(x);"), 0);
        assert_eq!(found_in("crates/baton/tests/run.rs", "println!(x);"), 0);
        assert_eq!(found_in("xtask/src/output.rs", "println!(x);"), 0);
    }

    #[test]
    fn output_module_of_another_crate_may_not() {
        assert_eq!(found_in("crates/baton-engine/src/output.rs", "println!(x);"), 1);
    }

    #[test]
    fn example_in_a_comment_and_longer_names_pass() {
        assert_eq!(found_in("crates/baton/src/main.rs", "/// println!(x);"), 0);
        assert_eq!(found_in("crates/baton/src/main.rs", "pretty_print!(x);"), 0);
        assert_eq!(found_in("crates/baton/src/main.rs", "write!(out, x);"), 0);
    }
}

//! Replays what fuzzing has found, and every rule's fixtures, through the checks of the fuzz targets.

#[path = "../../../fuzz/checks.rs"]
pub mod checks;

use std::fs;
use std::path::{Path, PathBuf};

use baton_protocol::{Dialect, Hints};

/// Returns all files below a folder of the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("entry").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut found);
    assert!(!found.is_empty(), "{folder} is empty");
    found
}

/// Runs a check on every file and says which files failed; why is in the output above.
fn replay(files: Vec<PathBuf>, check: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let fails = |file: &PathBuf| {
        let bytes = fs::read(file).expect("readable");
        std::panic::catch_unwind(|| check(&bytes)).is_err()
    };
    let failed: Vec<PathBuf> = files.into_iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

const FIXTURES: &str = "crates/baton-protocol/tests/fixtures";

#[test]
fn any_file_is_read_and_judged() {
    replay(files("fuzz/seeds/read"), checks::read);
    replay(files(FIXTURES), checks::read);
}

#[test]
fn documents_survive_in_their_dialect() {
    replay(files("fuzz/seeds/dialects"), checks::dialects);
    replay(files(FIXTURES), |bytes| {
        let reading = baton_protocol::read(bytes, Hints::default());
        if let (Some(dialect), Some(block)) = (reading.dialect, &reading.block) {
            let choice = Dialect::ALL.iter().position(|known| *known == dialect).expect("a dialect");
            let choice = u8::try_from(choice).expect("there are few dialects");
            checks::dialects(&[&[choice], block.text.as_bytes()].concat());
        }
    });
}

#[test]
fn json_and_yaml_agree() {
    replay(files("fuzz/seeds/json_yaml"), checks::json_yaml);
    replay(files(FIXTURES), checks::json_yaml);
}

#[test]
fn any_text_is_judged_and_counted() {
    replay(files("fuzz/seeds/prose_tokens"), checks::prose_tokens);
    replay(files(FIXTURES), checks::prose_tokens);
}

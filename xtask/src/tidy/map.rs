//! ARCHITECTURE.md names every top-level module of our crates, and none that is not there.

use super::Violation;
use crate::text_file::TextFile;

/// The page with the map.
const MAP: &str = "ARCHITECTURE.md";

/// Reports modules that the map does not name, and names without a module.
pub(crate) fn check(files: &[TextFile]) -> Vec<Violation> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let named = named(map);
    let missing = files.iter().filter_map(|file| {
        let (folder, name) = module(file)?;
        let is_named = named.iter().any(|(_, place, module)| *place == folder && *module == name);
        let message = format!("{MAP} does not name `{name}` below `{folder}`; what does it own?");
        (!is_named).then(|| Violation::new(file, 1, message))
    });
    let gone = named.iter().filter_map(|(line, folder, name)| {
        let path = format!("{folder}/{name}");
        let is_there = files.iter().any(|file| file.path == path);
        (!is_there).then(|| Violation::new(map, *line, format!("there is no `{path}`")))
    });
    missing.chain(gone).collect()
}

/// Returns the folder and the name of a file that is a top-level module of a crate.
fn module(file: &TextFile) -> Option<(&str, &str)> {
    let (folder, name) = file.path.rsplit_once('/')?;
    let is_source = folder.starts_with("crates/") && folder.ends_with("/src") && folder.matches('/').count() == 2;
    (is_source && name.ends_with(".rs") && !["lib.rs", "main.rs"].contains(&name)).then_some((folder, name))
}

/// Lists the modules that the map names: the line, the folder from the heading above, and the file.
fn named(map: &TextFile) -> Vec<(usize, &str, &str)> {
    let mut folder = None;
    let mut named = Vec::new();
    for (number, line) in map.numbered_lines() {
        if line.starts_with('#') {
            folder = line.strip_prefix("### ").filter(|heading| heading.starts_with("crates/"));
        }
        let (Some(folder), Some(row)) = (folder, line.strip_prefix("| ")) else { continue };
        let first = row.split(" | ").next().unwrap_or_default();
        let words = first.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs"));
        named.extend(words.map(|word| (number, folder, word)));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(paths: &[&str]) -> Vec<String> {
        let map = "### crates/a/src\n\n| file | what it owns |\n|---|---|\n| `one.rs`, `one/`, `two.rs` | `x.rs` |\n\n## Rest\n";
        let mut files = vec![TextFile::new(MAP, map)];
        files.extend(paths.iter().map(|path| TextFile::new(*path, "")));
        check(&files).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn modules_that_are_named_pass_and_inner_ones_need_no_row() {
        let paths = ["crates/a/src/lib.rs", "crates/a/src/one.rs", "crates/a/src/one/in.rs", "crates/a/src/two.rs"];
        assert_eq!(reported(&paths), [""; 0]);
    }

    #[test]
    fn module_without_a_row_and_row_without_a_module_are_reported() {
        let found = reported(&["crates/a/src/one.rs", "crates/a/src/new.rs", "crates/b/src/one.rs"]);
        assert_eq!(
            found,
            [
                "crates/a/src/new.rs:1: ARCHITECTURE.md does not name `new.rs` below `crates/a/src`; what does it own?",
                "crates/b/src/one.rs:1: ARCHITECTURE.md does not name `one.rs` below `crates/b/src`; what does it own?",
                "ARCHITECTURE.md:5: there is no `crates/a/src/two.rs`",
            ]
        );
    }
}

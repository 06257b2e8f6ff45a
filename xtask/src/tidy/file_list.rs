//! The files of the repository: everything that git tracks or would track.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::process;

const HINT: &str = "the list of files comes from git; is it installed?";

/// Returns the path of each file, from the root of the repository.
pub(crate) fn read(root: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let answer = process::stdout(repository(root)?.args(arguments), HINT)?;
    let paths = paths(&answer);
    if paths.is_empty() {
        return Err(Failure::no("git lists no files", "is the folder ignored by git?").into());
    }
    Ok(paths)
}

/// Returns a git that sees this tree, whoever owns it and whether or not it was cloned.
fn repository(root: &Path) -> Result<Command> {
    if !root.join(".git").exists() {
        return unpacked(root);
    }
    let mut git = Command::new("git");
    // Git refuses a checkout that belongs to another user, which is how containers often see it.
    git.arg("-C").arg(root).arg("-c").arg(format!("safe.directory={}", root.display()));
    Ok(git)
}

/// Lets git see a tree that was unpacked from an archive, through an empty repository of its own.
fn unpacked(root: &Path) -> Result<Command> {
    let empty = root.join("target/empty.git");
    process::run(Command::new("git").args(["init", "--quiet", "--bare"]).arg(&empty), HINT)?;
    let mut git = Command::new("git");
    git.arg("-C").arg(root).arg("--git-dir").arg(&empty).arg("--work-tree").arg(root);
    Ok(git)
}

/// Reads git's answer. A path in a merge is listed once per side.
fn paths(answer: &str) -> Vec<String> {
    let mut paths: Vec<String> = answer.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_split_sorted_and_without_repetition() {
        assert_eq!(paths("b c.md\0a.rs\0a.rs\0"), ["a.rs", "b c.md"]);
    }

    #[test]
    fn empty_answer_has_no_paths() {
        assert!(paths("").is_empty());
    }
}

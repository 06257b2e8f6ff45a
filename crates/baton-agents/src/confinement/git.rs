//! Where git keeps what belongs to a workspace, if that is not in the workspace.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use baton_host::open_regular;

/// How long the file is at most that says where a folder of git is.
const LINE_BYTES: u64 = 64 * 1024;

/// Returns the folders outside of a workspace that a commit changes.
///
/// What is in the workspace is the work of agents, and is not believed: a link to a folder of git counts only if that
/// folder, which they cannot change, links back.
pub(super) fn folders_outside(workspace: &Path) -> Vec<PathBuf> {
    let Some(link) = workspace.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists()) else {
        return Vec::new();
    };
    if link.is_dir() {
        return if link.starts_with(workspace) { Vec::new() } else { vec![link] };
    }
    worktree(&link).unwrap_or_default()
}

/// Returns the folder of a worktree and the one of its repository.
fn worktree(link: &Path) -> Option<Vec<PathBuf>> {
    let named = line(link)?;
    let folder = fs::canonicalize(link.parent()?.join(named.strip_prefix("gitdir:")?.trim())).ok()?;
    let back = line(&folder.join("gitdir"))?;
    let is_ours = fs::canonicalize(back.trim()).ok()? == fs::canonicalize(link).ok()?;
    let repository = folder.parent().filter(|parent| parent.ends_with("worktrees"))?.parent()?.to_owned();
    (is_ours && repository.join("objects").is_dir()).then_some(vec![repository])
}

/// Reads a short file. An agent may have put a pipe in its place, or a file without an end.
fn line(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path).ok()?.take(LINE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn repository_of_a_worktree_counts_if_it_links_back() {
        let scratch = Scratch::new();
        let at = |path: &str| scratch.path(path).display().to_string();
        scratch.folder("repo/.git/objects").folder("tree").folder("home/worktrees/x").folder("home/objects");
        scratch.write("repo/.git/worktrees/x/gitdir", at("tree/.git") + "\n");
        scratch.write("tree/.git", format!("gitdir: {}\n", at("repo/.git/worktrees/x")));
        assert_eq!(folders_outside(&scratch.path("tree")), [scratch.path("repo/.git")]);
        scratch.write("tree/.git", format!("gitdir: {}\n", at("home/worktrees/x")));
        assert!(folders_outside(&scratch.path("tree")).is_empty(), "nobody there knows of this workspace");
    }

    #[test]
    fn repository_above_the_workspace_counts_and_one_inside_needs_nothing() {
        let scratch = Scratch::new();
        scratch.folder("repo/.git").folder("repo/part");
        assert_eq!(folders_outside(&scratch.path("repo/part")), [scratch.path("repo/.git")]);
        assert!(folders_outside(&scratch.path("repo")).is_empty());
    }
}

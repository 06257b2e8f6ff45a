//! Where Baton keeps what no agent may reach: a folder for each project and each workspace, below the user's state folder.
//!
//! Only names are made here; whoever knows the environment says where the state folder is, and nothing is looked at.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::Fence;
use crate::id::{HandoffId, RunId};

/// How many characters of a folder's name are kept, for people who look for it.
const NAME_CHARACTERS: usize = 32;

/// How many bytes of the hash distinguish folders of the same name.
const HASH_BYTES: usize = 6;

/// The folder that holds one folder for each project and workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    root: PathBuf,
}

impl StateFolder {
    /// Takes this folder; it need not exist.
    pub fn at(root: impl Into<PathBuf>) -> StateFolder {
        StateFolder { root: root.into() }
    }

    /// Returns the folder itself: everything that is out of the agents' reach is in it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of a project or a workspace, which is known by its path without symbolic links.
    pub fn of(&self, place: &Path) -> PathBuf {
        let name: String = place.file_name().map(readable).unwrap_or_default();
        let hash = Sha256::digest(place.as_os_str().as_encoded_bytes());
        let hash: String = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let name = if name.is_empty() { "root".to_owned() } else { name };
        self.root.join(format!("{name}-{hash}"))
    }

    /// Returns the folder of what the attempts of a run are measured with.
    pub fn run(&self, workspace: &Path, run: &RunId) -> PathBuf {
        self.measures(workspace, &workspace.join(".baton/runs").join(run.as_str()))
    }

    /// Returns the folder of what agents were seen to do in a run. It stays when the run is over.
    pub fn activities(&self, workspace: &Path, run: &RunId) -> PathBuf {
        self.of(workspace).join("activity").join(run.as_str())
    }

    /// Returns the file of what an agent was seen to do in an attempt.
    pub fn activity(&self, workspace: &Path, run: &RunId, handoff: &HandoffId, fence: Fence) -> PathBuf {
        self.activities(workspace, run).join(format!("{handoff}.{fence}.jsonl"))
    }

    /// Returns the folder of what an attempt is measured with, given its own folder, which the agent can write to.
    pub fn measures(&self, workspace: &Path, attempt: &Path) -> PathBuf {
        match attempt.strip_prefix(workspace.join(".baton")) {
            Ok(below) => self.of(workspace).join(below),
            Err(_) => self.of(attempt),
        }
    }
}

/// Returns the beginning of a name with what is safe in any shell and on any file system.
fn readable(name: &OsStr) -> String {
    let safe = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = name.to_string_lossy().chars().take(NAME_CHARACTERS).map(safe).collect();
    // A name that begins with a dot is easily overlooked, and one with a hyphen is taken for an option.
    name.trim_start_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn name(place: &[u8]) -> String {
        let folder = StateFolder::at("/state").of(Path::new(OsStr::from_bytes(place)));
        folder.file_name().expect("a name").to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn folder_is_named_after_the_project_and_its_path() {
        assert!(name(b"/home/ana/shop").starts_with("shop-"));
        assert_ne!(name(b"/home/ana/shop"), name(b"/home/ben/shop"));
        assert_eq!(name(b"/home/ana/shop"), name(b"/home/ana/shop"));
        assert!(name("/home/ana/Bücher".as_bytes()).starts_with("Bücher-"));
        assert!(name(b"/").starts_with("root-"));
        assert!(name(b"/home/ana/.dotfiles").starts_with("dotfiles-"));
    }

    #[test]
    fn what_an_attempt_is_measured_with_lies_outside_of_the_workspace() {
        let (state, run) = (StateFolder::at("/state"), RunId::parse("r").expect("safe"));
        let kept = state.measures(Path::new("/w"), Path::new("/w/.baton/runs/r/build.1/2"));
        assert_eq!(kept, state.of(Path::new("/w")).join("runs/r/build.1/2"));
        assert!(kept.starts_with(state.run(Path::new("/w"), &run)));
        assert!(state.measures(Path::new("/w"), Path::new("/elsewhere/2")).starts_with("/state"));
    }

    #[test]
    fn hostile_names_are_harmless() {
        let long = [b"/".to_vec(), b"x".repeat(255)].concat();
        for place in [&b"/a b\n$(rm -rf ~)"[..], b"/--help", b"/\xff\xfe", b"/..", &long] {
            let name = name(place);
            assert!(name.len() < 200 && !name.starts_with(['.', '-']), "{name}");
            assert!(name.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter)), "{name}");
        }
        assert_ne!(name(b"/\xff"), name(b"/\xfe"), "a name that is not text has its own folder, too");
    }
}

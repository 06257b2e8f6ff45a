//! What a process may see and change of the file system. The most specific place counts.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::mounts;

/// What may be done with a place and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It is not there.
    Hidden,
    /// It can be read.
    ReadOnly,
    /// It can be read and changed.
    Writable,
}

/// What a process may see and change. Where no place says otherwise, it can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cage {
    /// A folder comes before what lies in it.
    pub(super) places: BTreeMap<PathBuf, Access>,
    /// Whether there is a network.
    pub(super) network: bool,
    /// Whether somebody has named what may be changed in the workspace, rather than all of it.
    pub(super) has_named_writes: bool,
}

impl Cage {
    /// Everything can be seen, and nothing changed.
    pub fn read_only() -> Cage {
        Cage { places: BTreeMap::new(), network: true, has_named_writes: false }
    }

    /// Notes that what may be changed in the workspace is named.
    pub fn note_named_writes(&mut self) {
        self.has_named_writes = true;
    }

    /// Takes the network away.
    pub fn cut_off(&mut self) {
        self.network = false;
    }

    /// Takes a file or folder out of sight.
    pub fn hide(&mut self, path: &Path) {
        self.put(path, Access::Hidden);
    }

    /// Takes it out of sight in the other places, too, where the same part of its file system is mounted.
    pub(super) fn hide_aliases(&mut self) {
        let mounts = mounts::all();
        let hidden: Vec<PathBuf> =
            self.places.iter().filter(|(_, access)| **access == Access::Hidden).map(|(path, _)| path.clone()).collect();
        hidden.iter().flat_map(|path| mounts::aliases(&mounts, path)).for_each(|alias| self.hide(&alias));
    }

    /// Keeps a file or folder as it is.
    pub fn close(&mut self, path: &Path) {
        self.put(path, Access::ReadOnly);
    }

    /// Lets a file or folder be changed.
    pub fn open_up(&mut self, path: &Path) {
        self.put(path, Access::Writable);
    }

    /// Returns whether a file or folder can be changed.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| self.access(&path) == Access::Writable)
    }

    /// Returns the places and, where one that cannot be changed lies in one that can, the folders between them. Whoever
    /// could rename such a folder would put another one in its place; what is a place of its own cannot be renamed.
    ///
    /// A place that only repeats what holds around it is left out: each place costs mounts.
    pub(super) fn pinned(&self) -> BTreeMap<&Path, Access> {
        let mut pinned: BTreeMap<&Path, Access> = BTreeMap::new();
        for (path, access) in &self.places {
            let around = path.parent().map_or(Access::ReadOnly, |above| self.access(above));
            if *access == around {
                continue;
            }
            pinned.insert(path, *access);
            // A socket stays hidden wherever its folder is moved. Other programs clear such folders away at any time, and a cage
            // for which one must be there would not be made.
            let is_socket = fs::metadata(path).is_ok_and(|there| there.file_type().is_socket());
            if *access != Access::Writable && !is_socket {
                let above = path.ancestors().skip(1).filter(|above| self.access(above) == Access::Writable);
                pinned.extend(above.map(|above| (above, Access::Writable)));
            }
        }
        pinned
    }

    fn access(&self, path: &Path) -> Access {
        path.ancestors().find_map(|place| self.places.get(place)).copied().unwrap_or(Access::ReadOnly)
    }

    /// What is not there cannot be put anywhere. Links are followed now, so that nobody can move them later.
    fn put(&mut self, path: &Path, access: Access) {
        if let Ok(path) = fs::canonicalize(path) {
            self.places.insert(path, access);
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn most_specific_place_counts_and_links_are_followed() {
        let scratch = Scratch::new();
        scratch.folder("work/src/deep").folder("secret");
        std::os::unix::fs::symlink(scratch.path("secret"), scratch.path("link")).unwrap();
        let mut cage = Cage::read_only();
        cage.open_up(&scratch.path("work"));
        cage.close(&scratch.path("work/src"));
        cage.open_up(&scratch.path("work/src/deep"));
        cage.hide(&scratch.path("link"));
        cage.hide(&scratch.path("nowhere"));
        let of = |path: &str| cage.access(&scratch.path(path));
        assert_eq!([of("work/new"), of("work/src/deep/a")], [Access::Writable; 2]);
        assert_eq!([of("work/src/a"), of("other")], [Access::ReadOnly; 2]);
        assert_eq!(of("secret/key"), Access::Hidden);
    }

    #[test]
    fn place_that_repeats_what_holds_around_it_takes_no_mount_of_its_own() {
        let scratch = Scratch::new();
        scratch.folder("work/flow").folder("work/src/kept").folder("work/src/made").folder("secret/deep");
        let mut cage = Cage::read_only();
        cage.close(&scratch.path("work"));
        cage.close(&scratch.path("work/flow"));
        cage.open_up(&scratch.path("work/src"));
        cage.open_up(&scratch.path("work/src/made"));
        cage.close(&scratch.path("work/src/kept"));
        cage.hide(&scratch.path("secret"));
        cage.hide(&scratch.path("secret/deep"));
        let pinned: Vec<String> = cage.pinned().keys().map(|path| path.display().to_string()).collect();
        assert_eq!(
            pinned,
            ["secret", "work/src", "work/src/kept"].map(|path| scratch.path(path).display().to_string())
        );
    }

    #[test]
    fn folders_above_what_cannot_be_changed_cannot_be_renamed() {
        let scratch = Scratch::new();
        scratch.folder("work/state/deep/store").folder("other/deep/secret");
        let mut cage = Cage::read_only();
        cage.open_up(&scratch.path("work"));
        cage.hide(&scratch.path("work/state/deep/store"));
        cage.hide(&scratch.path("other/deep/secret"));
        let pinned: Vec<String> = cage.pinned().keys().map(|path| path.display().to_string()).collect();
        let expected = ["other/deep/secret", "work", "work/state", "work/state/deep", "work/state/deep/store"];
        assert_eq!(pinned, expected.map(|path| scratch.path(path).display().to_string()));
    }
}

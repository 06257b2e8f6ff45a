//! What Landlock can keep apart, where there is no bubblewrap: files that may not be read or changed, signals, the network.
//!
//! It only allows, so whatever is to stay out of reach is left out of what is allowed. What cannot be said like that stays
//! reachable: a closed or hidden place inside of one that may be changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, RestrictionStatus,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};

use super::cage::{Access, Cage};

/// The newest rules that we know; an older kernel enforces those that it has.
const RULES: ABI = ABI::V6;

/// What a program writes to wherever it runs.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Returns whether the kernel has Landlock; the error says why it has not.
pub(super) fn try_out() -> Result<(), &'static str> {
    // Only a thread that restricts itself is told.
    let restricted = std::thread::spawn(|| enforce(&Cage::read_only())).join();
    match restricted {
        Ok(Ok(RestrictionStatus { landlock: LandlockStatus::Available { .. }, .. })) => Ok(()),
        Ok(Ok(RestrictionStatus { landlock: LandlockStatus::NotEnabled, .. })) => {
            Err("Landlock is switched off in the kernel")
        }
        _ => Err("the kernel has no Landlock"),
    }
}

/// Restricts this thread and whatever it starts, for ever.
pub(super) fn restrict(cage: &Cage) -> io::Result<()> {
    enforce(cage).map_err(|error| io::Error::other(format!("Landlock: {error}")))?;
    drop_capabilities()
}

/// Takes all capabilities from this thread and whatever it starts: Landlock is about files, but root also makes devices,
/// loads modules and gives files away.
fn drop_capabilities() -> io::Result<()> {
    // Root gets at every start whatever is in the bounding set. Who may not change that set is told so at the first one.
    for number in 0..u64::BITS {
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)).is_err() {
            break;
        }
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

fn enforce(cage: &Cage) -> Result<RestrictionStatus, RulesetError> {
    let everything = AccessFs::from_all(RULES);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(everything)?;
    ruleset = ruleset.scope(Scope::from_all(RULES))?;
    if !cage.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(RULES))?;
    }
    let reading: BitFlags<AccessFs> = AccessFs::Execute | AccessFs::ReadFile;
    ruleset
        .create()?
        // Names may be listed everywhere: a folder that holds something hidden must still be a folder.
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(visible(cage, Path::new("/")), reading))?
        .add_rules(path_beneath_rules(DEVICES, everything))?
        .add_rules(path_beneath_rules(writable(cage), everything & !(AccessFs::MakeBlock | AccessFs::MakeChar)))?
        .restrict_self()
}

fn writable(cage: &Cage) -> Vec<PathBuf> {
    cage.places.iter().filter(|(_, access)| **access == Access::Writable).map(|(path, _)| path.clone()).collect()
}

/// Returns what covers everything below a folder but what is hidden.
fn visible(cage: &Cage, folder: &Path) -> Vec<PathBuf> {
    let hidden = || cage.places.iter().filter(|(_, access)| **access == Access::Hidden).map(|(path, _)| path);
    if hidden().any(|path| path == folder) {
        return Vec::new();
    }
    if !hidden().any(|path| path.starts_with(folder)) {
        return vec![folder.to_owned()];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    // A link is looked at where it leads to.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.flat_map(|entry| visible(cage, &entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn everything_but_the_hidden_is_visible() {
        let scratch = Scratch::new();
        scratch.write("home/.ssh/key", "").write("home/notes.txt", "").folder("home/work").folder("other");
        let mut cage = Cage::read_only();
        cage.hide(&scratch.path("home/.ssh"));
        let mut found = visible(&cage, scratch.root());
        found.sort();
        assert_eq!(found, ["home/notes.txt", "home/work", "other"].map(|path| scratch.path(path)));
    }
}

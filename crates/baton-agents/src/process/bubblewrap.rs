//! The cage as bubblewrap makes it: namespaces of its own for files, processes and, if wanted, the network.
//!
//! The program inside has a session of its own and no capability. It sees no process but those that it has started, and
//! when it ends, or Baton does, the kernel ends them all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cage::{Access, Cage};
use super::refused_calls;

/// What every cage has.
const ALWAYS: [&str; 6] = ["--unshare-pid", "--unshare-ipc", "--new-session", "--die-with-parent", "--cap-drop", "ALL"];

/// Devices that programs may need beside the harmless ones that every cage has. Terminals and disks are not among them.
const DEVICES: [&str; 4] = ["/dev/kvm", "/dev/dri", "/dev/fuse", "/dev/net"];

/// The program that makes cages, and works here.
#[derive(Debug)]
pub(super) struct Bubblewrap {
    program: PathBuf,
    /// Whether it must be asked for a namespace of users: root without capabilities can make no other one.
    own_users: bool,
}

impl Bubblewrap {
    /// Looks whether a program makes cages here; the error says why it does not.
    pub(super) fn try_out(program: Option<&Path>) -> Result<Bubblewrap, String> {
        let Some(program) = program else { return Err("bubblewrap is not installed".to_owned()) };
        let mut complaint = String::new();
        for own_users in [false, true] {
            let bubblewrap = Bubblewrap { program: program.to_owned(), own_users };
            // Where the kernel takes no filter of calls, there is no cage either.
            let refused_calls = refused_calls::open();
            let option = refused_calls.as_ref().map(|_| ["--seccomp".to_owned(), "0".to_owned()]);
            let words = bubblewrap.words(&Cage::read_only(), option.as_ref().map_or(&[], |option| &option[..]));
            let input = refused_calls.map_or_else(|_| Stdio::null(), Stdio::from);
            let ended = Command::new(&words[0]).args(&words[1..]).arg("true").stdin(input).output();
            match ended {
                Ok(ended) if ended.status.success() => return Ok(bubblewrap),
                Ok(ended) => complaint = String::from_utf8_lossy(&ended.stderr).trim().to_owned(),
                Err(error) => complaint = error.to_string(),
            }
        }
        Err(format!("bubblewrap cannot make namespaces here: {}", complaint.trim_start_matches("bwrap: ")))
    }

    /// Returns the words before a command that put it into a cage.
    pub(super) fn words(&self, cage: &Cage, options: &[String]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        let mut add = |some: &[&dyn AsRef<std::ffi::OsStr>]| words.extend(some.iter().map(|word| word.as_ref().into()));
        for word in ALWAYS {
            add(&[&word]);
        }
        for option in options {
            add(&[option]);
        }
        if self.own_users {
            add(&[&"--unshare-user"]);
        }
        if !cage.network {
            add(&[&"--unshare-net"]);
        }
        add(&[&"--ro-bind", &"/", &"/"]);
        // The terminals of the user are not among these devices, so nobody can write a question to them.
        add(&[&"--dev", &"/dev"]);
        for device in DEVICES {
            add(&[&"--dev-bind-try", &device, &device]);
        }
        add(&[&"--proc", &"/proc"]);
        // Root may set the kernel without any capability, and bubblewrap does not cover a folder that seems to be read-only.
        if rustix::process::geteuid().is_root() {
            add(&[&"--ro-bind", &"/proc/sys", &"/proc/sys"]);
        }
        let pinned = cage.pinned();
        for (path, access) in &pinned {
            match access {
                // It may be gone by now, with what is hidden in it: other programs clear away their temporary folders.
                Access::Writable => add(&[&"--bind-try", path, path]),
                Access::ReadOnly => add(&[&"--ro-bind", path, path]),
                Access::Hidden if path.is_dir() => add(&[&"--tmpfs", path]),
                Access::Hidden => add(&[&"--ro-bind", &"/dev/null", path]),
            }
        }
        // What is written into a hidden folder would be gone without a word.
        for (path, _) in pinned.iter().filter(|(path, access)| **access == Access::Hidden && path.is_dir()) {
            add(&[&"--remount-ro", path]);
        }
        add(&[&"--"]);
        words
    }
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn what_goes_away_before_the_cage_is_made_does_not_matter() {
        let scratch = Scratch::new();
        let gone = scratch.folder("gone").path("gone");
        let _listener = std::os::unix::net::UnixListener::bind(gone.join("listener")).expect("our own folder");
        let mut cage = Cage::read_only();
        cage.open_up(&scratch.path(""));
        cage.hide(&gone.join("listener"));
        let bubblewrap = Bubblewrap { program: "bwrap".into(), own_users: !rustix::process::geteuid().is_root() };
        let words = bubblewrap.words(&cage, &[]);
        let is_needed = |word: &OsString| Path::new(word) == gone;
        assert!(!words.iter().any(is_needed), "it could go away in the middle, too: {words:?}");
        std::fs::remove_dir_all(&gone).expect("our own folder");
        let ended = Command::new(&words[0]).args(&words[1..]).arg("true").output().expect("bubblewrap starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}

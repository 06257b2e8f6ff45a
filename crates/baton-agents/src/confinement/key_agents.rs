//! Where programs listen that hold unlocked keys: SSH agents, GnuPG, keyrings and password managers. Whoever reaches one of
//! them can sign in the name of the user without seeing a key.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What the names of such sockets in temporary folders begin with.
const TEMPORARY_NAMES: [&str; 4] = ["ssh-", "vscode-ssh-auth-", "gpg-", "keyring-"];

/// What the names of such sockets and folders in the folder of a session begin with.
const SESSION_NAMES: [&str; 7] =
    ["ssh-agent", "openssh_agent", "gcr", "gnupg", "keyring", "vscode-ssh-auth-", "yubikey-agent"];

/// Where password managers listen, in the home folder.
const MANAGERS: [&str; 4] = [
    ".1password",
    ".bitwarden-ssh-agent.sock",
    "snap/bitwarden/current/.bitwarden-ssh-agent.sock",
    ".var/app/com.bitwarden.desktop/data/.bitwarden-ssh-agent.sock",
];

/// Names that tell what listens there, in the last two parts of a path.
const TELLING: [&str; 5] = ["ssh", "gpg", "gnupg", "keyring", "1password"];

/// Returns the usual places that exist.
pub(super) fn places(home: Option<&Path>, temporary: &[PathBuf]) -> Vec<PathBuf> {
    let session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut places: Vec<PathBuf> =
        temporary.iter().flat_map(|folder| beginning_with(folder, &TEMPORARY_NAMES)).collect();
    places.extend(session.iter().flat_map(|folder| beginning_with(folder, &SESSION_NAMES)));
    places.extend(home.into_iter().flat_map(|home| MANAGERS.iter().map(|path| home.join(path))));
    places
}

fn beginning_with(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let fits = |name: &OsStr| names.iter().any(|begin| name.as_bytes().starts_with(begin.as_bytes()));
    entries.filter(|entry| fits(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Returns whether a path tells that a key agent listens there.
pub(super) fn is_telling(path: &Path) -> bool {
    let mut names = path.iter().rev().take(2);
    names.any(|name| {
        let name = name.to_string_lossy().to_lowercase();
        TELLING.iter().any(|telling| name.contains(telling))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_two_names_of_a_path_tell_what_listens_there() {
        for path in ["/home/kim/my keys/ssh.sock", "/srv/gnupg/S.agent"] {
            assert!(is_telling(Path::new(path)), "{path}");
        }
        for path in ["/run/postgresql/.s.PGSQL.5432", "/srv/ssh/a/b/c.sock"] {
            assert!(!is_telling(Path::new(path)), "{path}");
        }
    }
}

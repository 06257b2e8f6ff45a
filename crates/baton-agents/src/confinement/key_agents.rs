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

/// The flag of a socket that somebody listens at, in `/proc/net/unix`.
const LISTENS: &[u8] = b"00010000";

/// Returns the usual places that exist, and every socket that somebody listens at now whose name tells that it is one.
pub(super) fn places(home: Option<&Path>, temporary: &[PathBuf]) -> Vec<PathBuf> {
    let session = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut places: Vec<PathBuf> =
        temporary.iter().flat_map(|folder| beginning_with(folder, &TEMPORARY_NAMES)).collect();
    places.extend(session.iter().flat_map(|folder| beginning_with(folder, &SESSION_NAMES)));
    places.extend(home.into_iter().flat_map(|home| MANAGERS.iter().map(|path| home.join(path))));
    // The kernel lists them wherever they lie, unless the agent is in a container of its own.
    let listed = fs::read("/proc/net/unix").unwrap_or_default();
    places.extend(listening(&listed).filter(|path| is_telling(path)).map(Path::to_owned));
    places
}

fn beginning_with(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let fits = |name: &OsStr| names.iter().any(|begin| name.as_bytes().starts_with(begin.as_bytes()));
    entries.filter(|entry| fits(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Reads the paths that somebody listens at. Names without a file begin with `@`.
fn listening(listed: &[u8]) -> impl Iterator<Item = &Path> {
    listed.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.splitn(4, |byte| *byte == b' ');
        let flags = words.nth(3)?.split(|byte| *byte == b' ').next()?;
        let path = &line[line.iter().position(|byte| *byte == b'/')?..];
        let is_named = !line.contains(&b'@');
        (flags == LISTENS && is_named).then(|| Path::new(OsStr::from_bytes(path)))
    })
}

fn is_telling(path: &Path) -> bool {
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
    fn listening_sockets_whose_names_tell_what_they_are_are_found_wherever_they_lie() {
        let listed = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12 /home/kim/my keys/ssh.sock\n\
            0000000000000000: 00000002 00000000 00000000 0001 03 13 /home/kim/ssh-client.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 14 @/tmp/ssh-abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 15 /srv/gnupg/S.agent\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 16 /run/postgresql/.s.PGSQL.5432\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 17\n";
        let found: Vec<&Path> = listening(listed).filter(|path| is_telling(path)).collect();
        assert_eq!(found, ["/home/kim/my keys/ssh.sock", "/srv/gnupg/S.agent"].map(Path::new));
    }
}

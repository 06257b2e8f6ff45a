//! Where PostgreSQL is installed, and as whom it may run.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::geteuid;

use super::must_succeed;

/// Where Debian and its relatives put the programs that are not for everybody's PATH, below the version.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

/// The user that Debian's package creates; PostgreSQL refuses to run as root.
const UNPRIVILEGED_USER: &str = "postgres";

const INSTALL: &str = "install PostgreSQL; on Debian: apt-get install postgresql";

/// The programs of one version of PostgreSQL.
#[derive(Debug)]
pub(super) struct Installation {
    folder: PathBuf,
    psql: PathBuf,
    /// Whom to run as if we are root.
    user: Option<User>,
}

#[derive(Debug, Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl Installation {
    /// Finds the server on the PATH, or else the newest that Debian has installed.
    pub(super) fn find() -> Self {
        let folder = find_folder().unwrap_or_else(|| panic!("there is no `initdb` and `postgres`; {INSTALL}"));
        let user = geteuid().is_root().then(unprivileged_user);
        Installation { folder, psql: find_psql(), user }
    }

    pub(super) fn psql(&self) -> &Path {
        &self.psql
    }

    /// Gives a folder to the user that the server runs as.
    pub(super) fn hand_over(&self, folder: &Path) {
        if let Some(user) = self.user {
            chown(folder, Some(user.id), Some(user.group)).expect("root may give a folder away");
        }
    }

    /// Returns a call of one of the programs in this folder, as the right user, without input.
    pub(super) fn command(&self, program: &str, folder: &Path) -> Command {
        self.unprivileged(&self.folder.join(program), folder)
    }

    /// Returns a call of any program as the right user. The process is the program itself, not one around it.
    pub(super) fn unprivileged(&self, program: &Path, folder: &Path) -> Command {
        let mut command = match self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={}", user.id)).arg(format!("--regid={}", user.group));
                command.args(["--clear-groups", "--"]).arg(program);
                command
            }
        };
        command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
        command
    }
}

/// Finds the client.
pub(super) fn find_psql() -> PathBuf {
    let beside = find_folder().map(|folder| folder.join("psql")).filter(|file| file.is_file());
    let psql =
        beside.or_else(|| search_path().into_iter().map(|folder| folder.join("psql")).find(|file| file.is_file()));
    psql.unwrap_or_else(|| panic!("there is no `psql`; {INSTALL}"))
}

fn find_folder() -> Option<PathBuf> {
    let on_path = search_path().into_iter().find(|folder| has_server(folder));
    // Links on the PATH lead to where the other programs are.
    let on_path = on_path.and_then(|folder| folder.join("initdb").canonicalize().ok()?.parent().map(PathBuf::from));
    on_path.filter(|folder| has_server(folder)).or_else(|| newest(Path::new(DEBIAN_FOLDER)))
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn has_server(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

/// Returns the programs of the highest version below a folder.
fn newest(parent: &Path) -> Option<PathBuf> {
    let entries = parent.read_dir().ok()?.filter_map(Result::ok);
    let versions = entries.filter_map(|entry| {
        let version: f64 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    let servers = versions.filter(|(_, folder)| has_server(folder));
    servers.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, folder)| folder)
}

fn unprivileged_user() -> User {
    let number = |option: &str| {
        let output = must_succeed(Command::new("id").args([option, UNPRIVILEGED_USER]));
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().expect("`id` prints a number")
    };
    User { id: number("-u"), group: number("-g") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn newest_complete_version_is_chosen() {
        let scratch = Scratch::new();
        for version in ["9.6", "15", "16"] {
            scratch.write(format!("{version}/bin/initdb"), "").write(format!("{version}/bin/postgres"), "");
        }
        scratch.write("17/bin/psql", "").folder("lib/bin");
        assert_eq!(newest(scratch.root()), Some(scratch.path("16/bin")));
        assert_eq!(newest(&scratch.path("absent")), None);
    }
}

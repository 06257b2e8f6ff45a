//! Programs under test see nothing of the user who runs the tests, and leave nothing behind.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the user may have set, and what would change what programs do.
const UNWANTED: [&str; 4] = ["BATON_STORE", "NO_COLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"];

/// Lets a program of a test, whose files are in `root`, run with a state folder of its own. A variable lies about the user.
pub fn isolate<'c>(command: &'c mut Command, root: &Path) -> &'c mut Command {
    UNWANTED.iter().for_each(|name| _ = command.env_remove(name));
    command.env("XDG_STATE_HOME", state_home(root)).env("USER", "mallory")
}

/// Returns the name of the account that runs the tests, and with it the programs under test.
pub fn account() -> String {
    let id = Command::new("id").arg("-un").output().expect("`id` is everywhere");
    let name = String::from_utf8_lossy(&id.stdout).trim().to_owned();
    if name.is_empty() { format!("uid-{}", rustix::process::getuid().as_raw()) } else { name }
}

/// Returns what stands for the user's folder of state: beside the files of the test, so that nobody takes it for one of
/// them.
pub fn state_home(root: &Path) -> PathBuf {
    let mut path = root.components().as_path().as_os_str().to_owned();
    path.push(".state");
    path.into()
}

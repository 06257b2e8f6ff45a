//! Stops the server and removes its folder when our process ends, however it ends.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use super::installation::Installation;

/// Waits for the end of its input; then stops the server, if it is still that of this folder, and removes the folder.
const SCRIPT: &str = r#"
folder=$PWD
cat >/dev/null
process=$(head -n 1 data/postmaster.pid 2>/dev/null)
if [ -n "$process" ] && [ "$(readlink "/proc/$process/cwd")" = "$folder/data" ]; then
    kill -QUIT "$process"
    tries=0
    while [ -e data/postmaster.pid ] && [ "$tries" -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
fi
cd /
rm -rf "$folder"
"#;

/// A shell that holds the other end of a pipe to us.
#[derive(Debug)]
pub(super) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Starts to watch over the server in this folder, as the user of the server.
    pub(super) fn start(installation: &Installation, folder: &Path) -> Self {
        let mut command = installation.unprivileged(Path::new("/bin/sh"), folder);
        command.args(["-c", SCRIPT]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let shell = command.spawn().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        Watchdog { shell }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

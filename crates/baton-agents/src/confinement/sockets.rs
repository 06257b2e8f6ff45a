//! Sockets of programs that would do something outside of the cage for whoever asks: multiplexers and desktops type into
//! terminals, editors and daemons start programs.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::{getgid, getgroups, getuid};

/// Those of other users that start programs for whoever may reach them.
const DAEMONS: [&str; 14] = [
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/podman/podman.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/libvirt",
    "/run/lxd.socket",
    "/run/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/run/screen",
    "/tmp/screens",
];

/// What shows to a display that somebody is the user, in the home folder.
const DISPLAY_KEYS: [&str; 2] = [".Xauthority", ".ICEauthority"];

/// Where displays listen.
const DISPLAYS: &str = "/tmp/.X11-unix";

/// The flag of a socket that somebody listens at, in `/proc/net/unix`.
const LISTENS: &[u8] = b"00010000";

/// Whoever may write to a socket may connect to it.
const EVERYBODY_WRITES: u32 = 0o002;

/// Returns the usual places, which need not exist.
pub(super) fn usual(home: Option<&Path>) -> Vec<PathBuf> {
    let user = getuid().as_raw();
    let named = |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut places: Vec<PathBuf> = DAEMONS.map(PathBuf::from).into();
    places.extend([format!("/run/user/{user}"), format!("/tmp/tmux-{user}")].map(PathBuf::from));
    places.extend(named("TMUX_TMPDIR").map(|folder| folder.join(format!("tmux-{user}"))));
    // The socket comes first, then two numbers.
    let socket = |tmux: PathBuf| Some(PathBuf::from(tmux.to_str()?.rsplitn(3, ',').last()?));
    places.extend(named("TMUX").and_then(socket));
    places.extend(["SCREENDIR", "XAUTHORITY", "ICEAUTHORITY"].into_iter().filter_map(named));
    places.extend(home.into_iter().flat_map(|home| DISPLAY_KEYS.map(|path| home.join(path))));
    // A display of its own listens beside the others.
    let displays = fs::read_dir(DISPLAYS).into_iter().flatten().filter_map(Result::ok);
    places.extend(displays.map(|entry| entry.path()));
    places
}

/// Returns every socket that somebody listens at now, wherever it lies, unless that is in a container of its own.
pub(super) fn listening() -> Vec<PathBuf> {
    paths(&fs::read("/proc/net/unix").unwrap_or_default()).map(Path::to_owned).collect()
}

/// Returns whether a socket belongs to our user, or is for a group of ours and not for everybody.
pub(super) fn is_ours(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let mut groups = getgroups().unwrap_or_default().into_iter().chain([getgid()]).map(|group| group.as_raw());
    let is_for_few = |metadata: &Metadata| metadata.mode() & EVERYBODY_WRITES == 0;
    metadata.file_type().is_socket()
        && (metadata.uid() == getuid().as_raw() || is_for_few(&metadata) && groups.any(|group| group == metadata.gid()))
}

/// Reads the paths that somebody listens at. Names without a file begin with `@`.
fn paths(listed: &[u8]) -> impl Iterator<Item = &Path> {
    listed.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.splitn(4, |byte| *byte == b' ');
        let flags = words.nth(3)?.split(|byte| *byte == b' ').next()?;
        let path = &line[line.iter().position(|byte| *byte == b'/')?..];
        let is_named = !line.contains(&b'@');
        (flags == LISTENS && is_named).then(|| Path::new(OsStr::from_bytes(path)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_with_a_file_that_somebody_listens_at_count() {
        let listed = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12 /home/kim/my keys/ssh.sock\n\
            0000000000000000: 00000002 00000000 00000000 0001 03 13 /home/kim/ssh-client.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 14 @/tmp/ssh-abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 16 /run/postgresql/.s.PGSQL.5432\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 17\n";
        let found: Vec<&Path> = paths(listed).collect();
        assert_eq!(found, ["/home/kim/my keys/ssh.sock", "/run/postgresql/.s.PGSQL.5432"].map(Path::new));
    }
}

//! The other places where a file or folder can be reached: the same part of a file system may be mounted several times.

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// A mount: the file system, what of it is mounted, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    device: String,
    root: PathBuf,
    place: PathBuf,
}

/// Lists what is mounted here, in the order in which it was.
pub(super) fn all() -> Vec<Mount> {
    let told = fs::read("/proc/self/mountinfo").unwrap_or_default();
    told.split(|byte| *byte == b'\n').filter_map(read).collect()
}

/// Reads a line such as `36 35 98:0 /mnt1 /mnt2 rw,noatime …`.
fn read(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8_lossy(fields.next()?).into_owned();
    Some(Mount { device, root: unescaped(fields.next()?), place: unescaped(fields.next()?) })
}

/// Blanks and the like stand as three octal digits, such as `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Returns where else a file or folder is, or is a part of what is there.
pub(super) fn aliases(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    // The last one covers those before it.
    let depth = |mount: &&Mount| mount.place.components().count();
    let Some(own) = mounts.iter().filter(|mount| path.starts_with(&mount.place)).max_by_key(depth) else {
        return Vec::new();
    };
    let Ok(inside) = path.strip_prefix(&own.place) else { return Vec::new() };
    let real = own.root.join(inside);
    let others = mounts.iter().filter(|mount| mount.device == own.device && mount.place != own.place);
    let seen = others.filter_map(|mount| match real.strip_prefix(&mount.root) {
        Ok(inside) => Some(mount.place.join(inside)),
        Err(_) => mount.root.starts_with(&real).then(|| mount.place.clone()),
    });
    seen.filter(|alias| alias != path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mount_that_shows_a_folder_is_found() {
        let lines = "21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:2 / /home rw - ext4 /dev/sda2 rw
23 21 8:2 /ana /mnt/a\\040b rw - ext4 /dev/sda2 rw
24 21 8:2 /ana/state/baton/project /srv/p rw - ext4 /dev/sda2 rw
25 21 8:1 /home /mnt/below rw - ext4 /dev/sda1 rw
26 21 8:2 /ben /mnt/ben rw - ext4 /dev/sda2 rw
";
        let mounts: Vec<Mount> = lines.lines().filter_map(|line| read(line.as_bytes())).collect();
        assert_eq!(mounts.len(), 6);
        let of = |path: &str| -> Vec<String> {
            aliases(&mounts, Path::new(path)).iter().map(|alias| alias.display().to_string()).collect()
        };
        assert_eq!(of("/home/ana/state/baton"), ["/mnt/a b/state/baton", "/srv/p"]);
        assert_eq!(of("/home/ben/.ssh"), ["/mnt/ben/.ssh"]);
        assert_eq!(of("/srv/p"), ["/home/ana/state/baton/project", "/mnt/a b/state/baton/project"]);
        assert_eq!(of("/etc/passwd"), [""; 0]);
    }
}

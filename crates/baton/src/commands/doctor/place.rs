//! The folder of the store: whether there is room, and whether we may write.

use std::path::Path;

use baton_store::Location;
use rustix::fs::{Access, access, statvfs};

use super::Sign;

/// Below this somebody should make room soon.
const ROOM_LOW: u64 = 500 * 1_000_000;

/// Below this the store may stop at any moment.
const ROOM_MIN: u64 = 50 * 1_000_000;

/// Looks at the folder of a store that is a file.
pub(super) fn look(location: &Location) -> Vec<Sign> {
    let Location::Sqlite(path) = location else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let found = match statvfs(folder) {
        Ok(found) => room(found.f_bavail.saturating_mul(found.f_frsize), folder),
        Err(error) => Sign::warning("disk", format!("{}: {error}", folder.display()), "check that the disk is mounted"),
    };
    vec![found, writable(folder, path)]
}

fn room(bytes: u64, folder: &Path) -> Sign {
    let says = format!("{} MB free in {}", bytes / 1_000_000, folder.display());
    match bytes {
        0..ROOM_MIN => {
            Sign::wrong("disk", says, "free space now: nothing can be accepted or reported when the disk is full")
        }
        ROOM_MIN..ROOM_LOW => Sign::warning("disk", says, "free space; `baton prune --older-than 30d` may help"),
        _ => Sign::fine("disk", says),
    }
}

fn writable(folder: &Path, file: &Path) -> Sign {
    // SQLite makes files beside its own, so the folder must be writable, too.
    for path in [folder, file] {
        if let Err(error) = access(path, Access::WRITE_OK) {
            let says = format!("{}: {error}", path.display());
            return Sign::wrong("permissions", says, "let the user that runs baton write the folder and the file");
        }
    }
    Sign::fine("permissions", "the folder and the file can be written")
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn little_room_is_a_warning_and_hardly_any_is_wrong() {
        let verdict = |megabytes: u64| room(megabytes * 1_000_000, Path::new("x")).verdict;
        assert!(verdict(49) == Verdict::Wrong);
        assert!(verdict(50) == Verdict::Warning && verdict(499) == Verdict::Warning);
        assert!(verdict(500) == Verdict::Fine);
    }
}

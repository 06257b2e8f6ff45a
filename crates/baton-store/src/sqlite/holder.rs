//! Who holds the lock of a file, as the system tells it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use baton_host::ProcessStat;

/// Names the process that holds a lock of a file: its number, its program, and whether it is stopped.
pub(super) fn of(path: &Path) -> String {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let holder = fs::metadata(path).ok().and_then(|file| number(&locks, file.dev(), file.ino()));
    holder.map_or_else(|| "another process".to_owned(), named)
}

/// Finds the number of the process with an exclusive lock, in the lines of `/proc/locks`.
///
/// Some file systems have another device number there than files have: then the number of the file must do.
fn number(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let holders = || locks.lines().filter_map(holder).filter(move |holder| holder.inode == inode);
    let device = format!("{:02x}:{:02x}", major(device), minor(device));
    let same = holders().find(|holder| holder.device == device);
    same.or_else(|| holders().next()).map(|holder| holder.process).filter(|process| *process > 0)
}

struct Holder<'l> {
    process: u32,
    device: &'l str,
    inode: u64,
}

/// Reads a line such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:655368 0 EOF`; those who wait have an arrow instead.
fn holder(line: &str) -> Option<Holder<'_>> {
    let mut words = line.split_whitespace().skip(1);
    let _kind = words.next().filter(|kind| *kind != "->")?;
    let _mandatory = words.next()?;
    words.next().filter(|access| *access == "WRITE")?;
    let process = words.next()?.parse().ok()?;
    let (device, inode) = words.next()?.rsplit_once(':')?;
    Some(Holder { process, device, inode: inode.parse().ok()? })
}

fn named(process: u32) -> String {
    let program = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let is_stopped = ProcessStat::of(process).is_some_and(|stat| stat.is_stopped());
    let stopped = if is_stopped { ", which is stopped," } else { "" };
    match program.trim_end() {
        "" => format!("process {process}"),
        program => format!("process {process} ({}){stopped}", program.replace(char::is_control, " ")),
    }
}

/// The parts of a device number, as the C library packs them.
fn major(device: u64) -> u64 {
    ((device >> 32) & 0xffff_f000) | ((device >> 8) & 0xfff)
}

fn minor(device: u64) -> u64 {
    ((device >> 12) & 0xffff_ff00) | (device & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "\
1: POSIX  ADVISORY  READ 11 fe:00:70 124 124
2: FLOCK  ADVISORY  WRITE 12 fe:01:70 0 EOF
3: FLOCK  ADVISORY  WRITE 13 fe:00:70 0 EOF
3: -> FLOCK  ADVISORY  WRITE 14 fe:00:70 0 EOF
4: FLOCK  ADVISORY  WRITE 0 fe:00:71 0 EOF
";

    #[test]
    fn holder_is_the_one_with_the_exclusive_lock_not_one_that_waits() {
        assert_eq!(number(LOCKS, 0xfe00, 70), Some(13));
        assert_eq!(number(LOCKS, 0xfe01, 70), Some(12));
        assert_eq!(number(LOCKS, 0xfe07, 70), Some(12), "another device number than files have");
    }

    #[test]
    fn nobody_is_named_who_cannot_be_seen() {
        assert_eq!(number(LOCKS, 0xfe00, 71), None, "a process of another namespace");
        assert_eq!(number(LOCKS, 0xfe00, 72), None);
        assert_eq!(number("", 0, 0), None);
    }
}

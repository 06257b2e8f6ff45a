//! Files that are there with all of their text or not at all: written beside their place, flushed, and put there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::folders::{make_folders, sync_folder};

/// How the name of a file ends that is not finished yet.
pub const TEMPORARY: &str = ".tmp";

/// Writes a file so that a crash leaves the old text or the new one, on the disk when this returns.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    make_folders(folder)?;
    put_in_place(path, text, File::sync_all, |from, to| fs::rename(from, to)).and_then(|()| sync_folder(folder))
}

/// Writes a file unless there is one, which then stays as it is.
pub fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let put = |beside: &Path, path: &Path| match rename_new(beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(beside),
        renamed => renamed,
    };
    match path.symlink_metadata() {
        Ok(_) => Ok(()),
        Err(_) => put_in_place(path, text, File::sync_all, put),
    }
}

/// Replaces a file so that its readers see the old text or the new one. It is not waited for the disk: for what can be
/// written again at any time.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    put_in_place(path, text, |_| Ok(()), |from, to| fs::rename(from, to))
}

/// Makes an empty file beside its later place, with a name that nobody else uses and nobody takes for the file itself.
pub fn create_beside(place: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = place.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a file has a name"))?;
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".{}.{}-{count}{TEMPORARY}", name.to_string_lossy(), std::process::id());
        let path = folder_of(place).join(beside);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            // Left by a process of the same number, perhaps on another machine.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, path)),
        }
    }
}

/// Renames a file; what is there stays, and is an error of the kind `AlreadyExists`.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot; a second name for the file does the same in two steps.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return renamed.map_err(io::Error::from),
        }
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn put_in_place(
    path: &Path,
    text: &[u8],
    flush: fn(&File) -> io::Result<()>,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let (mut file, beside) = create_beside(path)?;
    let filled = file.write_all(text).and_then(|()| flush(&file));
    let written = filled.and_then(|()| rename(&beside, path));
    if written.is_err() {
        // What is half written is of no use to anybody; the first error is the one that counts.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_and_nothing_is_left_beside_it() {
        let root = std::env::temp_dir().join(format!("baton-atomic-{}", std::process::id()));
        let path = root.join("a/b/c.txt");
        write(&path, b"one").expect("written");
        write(&path, b"two").expect("written again");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        replace(&path, b"three").expect("replaced");
        create(&path, b"four").expect("it stays");
        assert_eq!(fs::read(&path).expect("there"), b"three");
        assert_eq!(fs::read_dir(root.join("a/b")).expect("a folder").count(), 1);
        fs::remove_dir_all(root).expect("removed");
    }
    #[test]
    fn two_threads_that_write_the_same_file_do_not_mix_their_texts() {
        let root = std::env::temp_dir().join(format!("baton-atomic-threads-{}", std::process::id()));
        let path = root.join("c.txt");
        std::thread::scope(|scope| {
            for letter in [b'a', b'b', b'c', b'd'] {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| replace(path, &[letter; 10_000]).expect("replaced")));
            }
        });
        let text = fs::read(&path).expect("there");
        assert!(text.len() == 10_000 && text.iter().all(|letter| *letter == text[0]));
        fs::remove_dir_all(root).expect("removed");
    }
}

//! Files that are there with all of their text or not at all: written beside their place, flushed, and put there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use baton_store::{make_folders, rename_new, sync_folder};

/// Writes a file so that a crash leaves the old text or the new one, on the disk when this returns.
pub(crate) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    make_folders(folder)?;
    put_in_place(path, text, File::sync_all, |from, to| fs::rename(from, to)).and_then(|()| sync_folder(folder))
}

/// Writes a file unless there is one, which then stays as it is.
pub(crate) fn create(path: &Path, text: &[u8]) -> io::Result<()> {
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
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    put_in_place(path, text, |_| Ok(()), |from, to| fs::rename(from, to))
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
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a file has a name"))?;
    // Two programs that write the same file do not share the file beside it.
    let beside = folder_of(path).join(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let fill = || {
        let mut file = File::create(&beside)?;
        file.write_all(text)?;
        flush(&file)
    };
    let written = fill().and_then(|()| rename(&beside, path));
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
}

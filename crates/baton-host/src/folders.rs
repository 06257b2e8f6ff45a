//! Folders that survive a power cut: each new one is on the disk, with its name, when it has been made.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes the folders that are missing; each is on the disk when this returns.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    make(folder, &DirBuilder::new(), &mut sync_folder)
}

/// Does the same, and nobody but the user can look into the new ones.
pub fn make_private_folders(folder: &Path) -> io::Result<()> {
    make(folder, DirBuilder::new().mode(0o700), &mut sync_folder)
}

/// Brings the names in a folder to the disk: a new file or folder is there only when its name is.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn make(folder: &Path, how: &DirBuilder, sync: &mut impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if above != folder {
        make(above, how, sync)?;
    }
    match how.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        other => other.and_then(|()| sync(above)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn private_folders_are_private_with_all_that_were_missing_above_them() {
        let root = std::env::temp_dir().join(format!("baton-private-{}", std::process::id()));
        make_private_folders(&root.join("a/b")).expect("made");
        for folder in [root.clone(), root.join("a"), root.join("a/b")] {
            let mode = fs::metadata(&folder).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        }
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn every_new_folder_is_synced_into_the_one_above_it() {
        let root = std::env::temp_dir().join(format!("baton-folders-{}", std::process::id()));
        fs::create_dir(&root).expect("a new folder");
        let mut synced = Vec::new();
        let mut make = |folder: &Path| {
            super::make(folder, &DirBuilder::new(), &mut |above| {
                synced.push(above.to_owned());
                Ok(())
            })
        };
        make(&root.join("a/b/c")).expect("made");
        make(&root.join("a/b")).expect("it is there");
        assert_eq!(synced, [root.clone(), root.join("a"), root.join("a/b")]);
        fs::remove_dir_all(root).expect("removed");
    }
}

//! The folder `.baton` in a workspace: what agents may see of their attempts. No repository should contain it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_host::atomic_file;

/// Its name.
pub(crate) const NAME: &str = ".baton";

/// Makes the folder, with a file that tells git to leave it alone; a file of that name that is there stays.
pub(crate) fn make(workspace: &Path) -> io::Result<PathBuf> {
    let folder = workspace.join(NAME);
    match fs::create_dir(&folder) {
        Err(error) if !folder.is_dir() => return Err(error),
        _ => {}
    }
    atomic_file::create(&folder.join(".gitignore"), b"*\n")?;
    Ok(folder)
}

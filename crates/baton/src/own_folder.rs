//! The folder `.baton` in a workspace: what agents may see of their attempts. No repository should contain it.
//!
//! Agents may have put anything there, and in its place: no link below the workspace is followed.

use std::io;
use std::path::Path;

use baton_host::SharedFolder;

/// Its name.
pub(crate) const NAME: &str = ".baton";

/// The file in it that tells git to leave it alone.
const LEFT_ALONE: &str = ".gitignore";

/// Makes the folder, with a file that tells git to leave it alone; whatever has its name stays.
pub(crate) fn make(workspace: &Path) -> io::Result<SharedFolder> {
    let folder = SharedFolder::make(workspace, &workspace.join(NAME))?;
    if !folder.has(LEFT_ALONE.as_ref())? {
        folder.write(LEFT_ALONE.as_ref(), b"*\n")?;
    }
    Ok(folder)
}

/// Makes a folder below it.
pub(crate) fn make_below(workspace: &Path, folder: &Path) -> io::Result<SharedFolder> {
    make(workspace)?;
    SharedFolder::make(workspace, folder)
}

/// Returns the workspace that a folder below such a folder belongs to; any other folder is its own.
pub(crate) fn workspace_of(folder: &Path) -> &Path {
    let own = folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == NAME));
    own.and_then(Path::parent).unwrap_or(folder)
}

//! Finds programs as a shell would.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Returns whether a path leads to a file that we may execute.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Finds a program: a path is what it says, a plain name is looked for in the folders of a `PATH`.
pub fn find_program(name: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return is_program(name).then(|| name.to_owned());
    }
    std::env::split_paths(search?).map(|folder| folder.join(name)).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_name_is_looked_for_and_path_is_not() {
        let find = |name: &str| find_program(Path::new(name), Some(OsStr::new("/nowhere:/bin")));
        assert_eq!((find("sh"), find("/bin/sh")), (Some("/bin/sh".into()), Some("/bin/sh".into())));
        assert_eq!(
            (find("./sh"), find("no-such-program"), find("/etc/passwd"), find("/bin")),
            (None, None, None, None)
        );
        assert_eq!(find_program(Path::new("sh"), None), None);
    }
}

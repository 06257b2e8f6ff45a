//! The files that this process writes its own standard output and standard error to. Knows no terminal and no pipe.

use std::fs::{self, File, Metadata};
use std::io::{self, stderr, stdout};
#[cfg(not(target_vendor = "apple"))]
use std::os::fd::AsRawFd as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file that standard output or standard error leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnOutput {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OwnOutput {
    /// Returns the regular files that the streams of this process lead to, as `> FILE` in a shell makes it.
    pub fn files() -> Vec<OwnOutput> {
        [of(stdout().as_fd()), of(stderr().as_fd())].into_iter().filter_map(Result::ok).flatten().collect()
    }

    /// Returns where it was when this process asked.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it is still there: another file may have taken its place.
    pub fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| self.is(&found))
    }

    fn is(&self, found: &Metadata) -> bool {
        (found.dev(), found.ino()) == (self.device, self.inode)
    }
}

fn of(stream: BorrowedFd<'_>) -> io::Result<Option<OwnOutput>> {
    let opened = File::from(stream.try_clone_to_owned()?).metadata()?;
    if !opened.is_file() {
        return Ok(None);
    }
    let found = OwnOutput { path: path(stream)?, device: opened.dev(), inode: opened.ino() };
    Ok(Some(found).filter(OwnOutput::is_there))
}

#[cfg(target_vendor = "apple")]
fn path(stream: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = rustix::fs::getpath(stream)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
}

#[cfg(not(target_vendor = "apple"))]
fn path(stream: BorrowedFd<'_>) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd()))
}

//! Folders in which somebody else may put what they like: links, pipes, devices, files of any length.
//!
//! Whoever uses them through here follows no link below a folder that is trusted, waits for nobody, reads within bounds,
//! and writes only what is new. Every step is taken from an open folder, so nothing can be exchanged between a look and
//! its use. Knows nothing about who the others are.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::atomic_file::TEMPORARY;

/// How often a file is made anew that somebody else makes at the same time.
const TRIES: usize = 100;

const MEBIBYTE: u64 = 1024 * 1024;

/// What every file is opened with: no link is followed, and nothing is waited for.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder in which somebody else may put what they like. It stays the same folder, whatever becomes of its name.
///
/// ```
/// use baton_host::SharedFolder;
/// # fn main() -> std::io::Result<()> {
/// # let root = std::env::temp_dir().join(format!("baton-shared-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&root)?;
///
/// let folder = SharedFolder::make(&root, &root.join("runs/1"))?;
/// folder.write(OsStr::new("prompt.md"), b"Do it.")?;
/// std::os::unix::fs::symlink("/etc/passwd", root.join("runs/1/report.md"))?;
/// assert_eq!(folder.read(OsStr::new("prompt.md"), 100)?.as_deref(), Some(&b"Do it."[..]));
/// assert_eq!(folder.read(OsStr::new("report.md"), 100).unwrap_err().to_string(), "it is a symbolic link");
/// # use std::ffi::OsStr;
/// # std::fs::remove_dir_all(&root)
/// # }
/// ```
#[derive(Debug)]
pub struct SharedFolder {
    handle: OwnedFd,
    path: PathBuf,
}

/// Why something that somebody else has made is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitEntry {
    /// It is not a regular file.
    #[error("it is {0}")]
    OtherKind(&'static str),
    /// The same file has other names, which may be somebody's outside of the folder.
    #[error("it has {0} names (hard links)")]
    ManyNames(u64),
    /// It is longer than anything that is read from there.
    #[error("it is longer than {}", length(*.0))]
    TooLong(u64),
    /// A folder on the way is something else.
    #[error("{} is {kind}, not a folder", path.display())]
    NoFolder {
        /// Where.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// Somebody else makes it whenever it is removed.
    #[error("somebody else makes it again and again")]
    Contested,
}

impl From<UnfitEntry> for io::Error {
    fn from(unfit: UnfitEntry) -> io::Error {
        io::Error::other(unfit)
    }
}

impl SharedFolder {
    /// Opens a folder below a trusted one, without following a link below that. A folder elsewhere is trusted itself; what is
    /// elsewhere is known by the words of its path.
    pub fn open(trusted: &Path, folder: &Path) -> io::Result<SharedFolder> {
        SharedFolder::walk(trusted, folder, false)
    }

    /// Does the same, and makes the folders that are missing.
    pub fn make(trusted: &Path, folder: &Path) -> io::Result<SharedFolder> {
        SharedFolder::walk(trusted, folder, true)
    }

    /// Makes sure that nothing but folders leads to a folder below a trusted one. What is not there, or cannot be opened, is
    /// for whoever wants to use it.
    pub fn stays_below(trusted: &Path, folder: &Path) -> io::Result<()> {
        match SharedFolder::open(trusted, folder) {
            Err(why) if why.get_ref().is_some_and(|inner| inner.is::<UnfitEntry>()) => Err(why),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn walk(trusted: &Path, folder: &Path, makes: bool) -> io::Result<SharedFolder> {
        let (trusted, folder) = (plain(trusted), plain(folder));
        let inner = folder.strip_prefix(&trusted).ok();
        let root = if inner.is_some() { &trusted } else { &folder };
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        if makes && inner.is_none() {
            std::fs::create_dir_all(root)?;
        }
        let at = SharedFolder { handle: File::open(root)?.into(), path: root.to_owned() };
        inner.into_iter().flat_map(Path::components).try_fold(at, |at, part| at.step(part.as_os_str(), makes))
    }

    fn step(&self, name: &OsStr, makes: bool) -> io::Result<SharedFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | CAREFUL;
        let open = || openat(&self.handle, name, flags, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if makes => match mkdirat(&self.handle, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(error) => Err(error),
            },
            opened => opened,
        };
        let path = self.path.join(name);
        match (opened, self.kind(name)) {
            (Ok(handle), _) => Ok(SharedFolder { handle, path }),
            (Err(_), Ok(Some(kind))) if kind != FileType::Directory => {
                Err(UnfitEntry::NoFolder { path, kind: named(kind) }.into())
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Returns where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file to read it; `None` if there is none.
    pub fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        // Opening a device may already do something.
        match self.kind(name)? {
            None => return Ok(None),
            Some(FileType::RegularFile) => {}
            Some(other) => return Err(UnfitEntry::OtherKind(named(other)).into()),
        }
        match openat(&self.handle, name, OFlags::RDONLY | CAREFUL, Mode::empty()) {
            Ok(handle) => fit(handle.into()).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a regular file of at most so many bytes; `None` if there is none.
    pub fn read(&self, name: &OsStr, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max { Err(UnfitEntry::TooLong(bytes_max).into()) } else { Ok(Some(bytes)) }
    }

    /// Opens a regular file to read and write it, and makes it if there is none.
    pub fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
        for _ in 0..TRIES {
            match self.kind(name)? {
                None => {
                    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | CAREFUL;
                    match openat(&self.handle, name, flags, Mode::from_raw_mode(0o666)) {
                        Err(Errno::EXIST) => {}
                        made => return Ok(made?.into()),
                    }
                }
                Some(FileType::RegularFile) => {
                    match openat(&self.handle, name, OFlags::RDWR | CAREFUL, Mode::empty()) {
                        Err(Errno::NOENT) => {}
                        opened => return fit(opened?.into()),
                    }
                }
                Some(other) => return Err(UnfitEntry::OtherKind(named(other)).into()),
            }
        }
        Err(UnfitEntry::Contested.into())
    }

    /// Makes a file; whatever had its name, but a folder, is gone.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | CAREFUL;
        for _ in 0..TRIES {
            match openat(&self.handle, name, flags, Mode::from_raw_mode(0o666)) {
                Err(Errno::EXIST) => self.remove(name)?,
                made => return Ok(made?.into()),
            }
        }
        Err(UnfitEntry::Contested.into())
    }

    /// Writes a file so that its readers see the old text or the new one; whatever had its name, but a folder, is gone.
    pub fn write(&self, name: &OsStr, text: &[u8]) -> io::Result<()> {
        let beside = beside(name);
        let filled = self.create(&beside).and_then(|mut file| file.write_all(text));
        let written = filled.and_then(|()| Ok(renameat(&self.handle, &beside, &self.handle, name)?));
        written.map_err(|error| {
            // What is half written is of no use to anybody; the first error is the one that counts.
            let _ = self.remove(&beside);
            self.explained(name, error)
        })
    }

    /// Removes a file, a link or whatever else is there, but no folder.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.explained(name, error.into())),
        }
    }

    /// Returns whether there is anything of this name.
    pub fn has(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.kind(name)?.is_some())
    }

    fn explained(&self, name: &OsStr, error: io::Error) -> io::Error {
        match self.kind(name) {
            Ok(Some(kind @ FileType::Directory)) => UnfitEntry::OtherKind(named(kind)).into(),
            _ => error,
        }
    }

    fn kind(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match statat(self.handle.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Opens a regular file whose folder is trusted, but perhaps not the file itself. It may have other names.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a device may already do something.
    let kind = FileType::from_raw_mode(rustix::fs::lstat(path)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(UnfitEntry::OtherKind(named(kind)).into());
    }
    let file = File::from(rustix::fs::open(path, OFlags::RDONLY | CAREFUL, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(UnfitEntry::OtherKind(named(FileType::Unknown)).into()) }
}

/// Opens a regular file to which links may lead. Whatever else is there, nobody waits for it.
pub fn open_followed(path: &Path) -> io::Result<File> {
    let careful = CAREFUL.difference(OFlags::NOFOLLOW);
    let kind = FileType::from_raw_mode(rustix::fs::stat(path)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(UnfitEntry::OtherKind(named(kind)).into());
    }
    let file = File::from(rustix::fs::open(path, OFlags::RDONLY | careful, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(UnfitEntry::OtherKind(named(FileType::Unknown)).into()) }
}

/// Returns a file if nothing but its content can be reached through it.
fn fit(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    match found.nlink() {
        _ if !found.is_file() => Err(UnfitEntry::OtherKind(named(FileType::Unknown)).into()),
        names @ 2.. => Err(UnfitEntry::ManyNames(names).into()),
        _ => Ok(file),
    }
}

/// Returns a name that nobody else uses and nobody takes for the file itself.
fn beside(name: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let end = format!(".shared-{}-{count}{TEMPORARY}", std::process::id());
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(end);
    beside
}

/// Returns a path without the parts that lead back. Those are words of whoever made the path, not of others.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn length(bytes: u64) -> String {
    if bytes >= MEBIBYTE && bytes.is_multiple_of(MEBIBYTE) {
        format!("{} MiB", bytes / MEBIBYTE)
    } else {
        format!("{bytes} bytes")
    }
}

fn named(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "not a file",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat};

    use super::*;

    const NAME: &str = "a.md";

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let root = std::env::temp_dir().join(format!("baton-shared-{name}-{}", std::process::id()));
            fs::create_dir_all(root.join("theirs")).expect("made");
            fs::write(root.join("secret"), "secret").expect("written");
            Place(root)
        }

        fn path(&self) -> PathBuf {
            self.0.join("theirs").join(NAME)
        }

        fn folder(&self) -> SharedFolder {
            SharedFolder::open(&self.0, &self.0.join("theirs")).expect("a folder")
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Puts one thing after the other at the place of a file, and returns what is said about each.
    fn each_trick(place: &Place, mut act: impl FnMut(&SharedFolder) -> io::Result<()>) -> Vec<String> {
        let path = place.path();
        type Trick<'a> = &'a dyn Fn(&Path);
        let secret = place.0.join("secret");
        let tricks: [Trick<'_>; 6] = [
            &|path| symlink(&secret, path).expect("linked"),
            &|path| symlink("nowhere", path).expect("linked"),
            &|path| mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).expect("made"),
            &|path| fs::hard_link(&secret, path).expect("linked"),
            &|path| File::create(path).and_then(|file| file.set_len(1 << 40)).expect("made"),
            &|path| fs::create_dir(path).expect("made"),
        ];
        let mut told = Vec::new();
        for trick in tricks {
            trick(&path);
            told.push(act(&place.folder()).map_or_else(|error| error.to_string(), |()| "done".to_owned()));
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir(&path);
            assert_eq!(fs::read(&secret).expect("there"), b"secret");
        }
        told
    }

    #[test]
    fn only_a_regular_file_with_one_name_is_read_and_only_within_bounds() {
        let place = Place::new("read");
        let read = |folder: &SharedFolder| folder.read(OsStr::new(NAME), 1000).map(drop);
        let told = each_trick(&place, read);
        let [link, dangling, pipe, names, long, folder] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((link.as_str(), dangling.as_str()), ("it is a symbolic link", "it is a symbolic link"));
        assert_eq!((pipe.as_str(), names.as_str()), ("it is a pipe", "it has 2 names (hard links)"));
        assert_eq!((long.as_str(), folder.as_str()), ("it is longer than 1000 bytes", "it is a folder"));
        assert_eq!(place.folder().read(OsStr::new(NAME), 1000).expect("no error"), None);
        fs::write(place.path(), "text").expect("written");
        assert_eq!(place.folder().read(OsStr::new(NAME), 4).expect("read").as_deref(), Some(&b"text"[..]));
    }

    #[test]
    fn what_is_written_is_new_whatever_was_there() {
        let place = Place::new("write");
        let written = ["done", "done", "done", "done", "done", "it is a folder"];
        let write = |folder: &SharedFolder| {
            folder.write(OsStr::new(NAME), b"ours")?;
            assert_eq!(fs::read(place.path())?, b"ours");
            Ok(())
        };
        assert_eq!(each_trick(&place, write), written);
        let create = |folder: &SharedFolder| {
            folder.create(OsStr::new(NAME))?.write_all(b"ours")?;
            assert_eq!(fs::read(place.path())?, b"ours");
            Ok(())
        };
        assert_eq!(each_trick(&place, create), written);
        assert_eq!(fs::read_dir(place.0.join("theirs")).expect("a folder").count(), 0, "nothing is left beside it");
    }

    #[test]
    fn file_that_is_kept_is_opened_only_if_it_is_one() {
        let place = Place::new("keep");
        let told = each_trick(&place, |folder| folder.open_or_create(OsStr::new(NAME)).map(drop));
        let link = "it is a symbolic link";
        assert_eq!(told, [link, link, "it is a pipe", "it has 2 names (hard links)", "done", "it is a folder"]);
        assert!(place.folder().open_or_create(OsStr::new(NAME)).is_ok() && place.path().is_file());
    }

    #[test]
    fn no_link_is_followed_on_the_way() {
        let place = Place::new("way");
        let root = &place.0;
        fs::create_dir(root.join("elsewhere")).expect("made");
        symlink(root.join("elsewhere"), root.join("theirs/way")).expect("linked");
        assert!(SharedFolder::stays_below(root, &root.join("theirs/none")).is_ok());
        assert!(SharedFolder::stays_below(root, &root.join("theirs/way")).is_err());
        for walk in [SharedFolder::open, SharedFolder::make] {
            let refused = walk(root, &root.join("theirs/way/in")).expect_err("a link").to_string();
            assert!(refused.ends_with("theirs/way is a symbolic link, not a folder"), "{refused}");
        }
        assert_eq!(fs::read_dir(root.join("elsewhere")).expect("a folder").count(), 0);
        assert!(SharedFolder::make(root, &root.join("theirs/new/one")).is_ok() && root.join("theirs/new/one").is_dir());
        let beside =
            SharedFolder::make(&root.join("theirs"), &root.join("theirs/../beside")).expect("it is trusted itself");
        assert_eq!(beside.path(), root.join("beside"));
    }
}

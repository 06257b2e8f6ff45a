//! Carries changes of files out: all of them, or none. What would stand in the way is looked for first.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use baton_host::atomic_file;
use baton_host::folders::sync_folder;
use rustix::fs::{Access, access};

use super::change::FileChange;
use super::record;
use crate::command_error::CommandError;

/// The error when a change did not happen.
pub(super) fn refused(message: String) -> CommandError {
    CommandError::usage(message).hint("nothing was changed")
}

/// Looks whether all changes can be carried out.
pub(super) fn check(project: &Path, changes: &[&FileChange]) -> Result<(), CommandError> {
    changes.iter().filter(|change| change.differs()).try_for_each(|change| {
        let folder = check_folders(project, change)?;
        let path = project.join(&change.path);
        if let Some(file) = look(&path)? {
            if !file.is_file() {
                return Err(refused(format!("{} is not a file", path.display())));
            }
            OpenOptions::new().write(true).open(&path).map_err(|error| unwritable(&path, error))?;
        }
        inside(project, &path, &folder).map_err(refused_link)?;
        // The new text is put in its place as a whole, which changes the folder.
        let target = fs::canonicalize(&path).ok();
        let folder = target.as_deref().and_then(Path::parent).map_or(folder, Path::to_owned);
        access(&folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| unwritable(&folder, error.into()))
    })
}

fn refused_link(error: io::Error) -> CommandError {
    refused(error.to_string()).hint("replace the link by a file or a folder, or change what it leads to yourself")
}

/// Looks whether what is at a path, or else the innermost folder of it that is there, is in the project. Links within
/// the project are followed; a link to a place outside could let a project that somebody has cloned change any file.
fn inside(project: &Path, path: &Path, folder: &Path) -> io::Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(root) = real(project) else { return Ok(()) };
    match real(path).or_else(|| real(folder)).filter(|target| !target.starts_with(&root)) {
        Some(target) => {
            let (path, target) = (path.display(), target.display());
            Err(io::Error::other(format!("{path} leads out of the project, to {target}")))
        }
        None => Ok(()),
    }
}

/// Looks whether the folders of a file are folders; returns the innermost one that is there.
fn check_folders(project: &Path, change: &FileChange) -> Result<PathBuf, CommandError> {
    if look(project)?.is_none() {
        let there = project.ancestors().find(|folder| folder.exists());
        return Ok(there.unwrap_or(project).to_owned());
    }
    let mut inner = project.to_owned();
    let names: Vec<_> = Path::new(&change.path).parent().into_iter().flat_map(Path::components).collect();
    for name in names {
        let folder = inner.join(name);
        match look(&folder)? {
            None => break,
            Some(found) if found.is_dir() => inner = folder,
            Some(_) => return Err(refused(format!("{} is not a folder", folder.display()))),
        }
    }
    Ok(inner)
}

/// Looks what a path leads to; `None` if there is nothing. A link must lead somewhere: to write to it would replace it.
fn look(path: &Path) -> Result<Option<Metadata>, CommandError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(path, error)),
        Err(_) => match fs::read_link(path) {
            Err(_) => Ok(None),
            Ok(target) => {
                let (path, target) = (path.display(), target.display());
                Err(refused(format!("{path} is a link to {target}, which does not exist"))
                    .hint("remove the link, or create its target"))
            }
        },
    }
}

/// Carries out all changes. If one fails, those before it are taken back.
pub(super) fn carry_out(project: &Path, changes: &[&FileChange]) -> Result<(), CommandError> {
    let mut done: Vec<&FileChange> = Vec::new();
    for change in changes.iter().filter(|change| change.differs()) {
        let Err(error) = write(project, change) else {
            done.push(change);
            continue;
        };
        let error = CommandError::usage(format!("cannot write {}: {error}", project.join(&change.path).display()));
        let stuck = |change: &&&FileChange| write(project, &change.reversed()).is_err();
        let left: Vec<&str> = done.iter().rev().filter(stuck).map(|change| change.path.as_str()).collect();
        return Err(match left.is_empty() {
            true => error.hint("nothing was changed: all changes were undone"),
            false => error.hint(format!("these changes could not be undone: {}", left.join(", "))),
        });
    }
    Ok(())
}

fn write(project: &Path, change: &FileChange) -> io::Result<()> {
    let path = project.join(&change.path);
    let folders: Vec<PathBuf> = change.folders.iter().map(|folder| project.join(folder)).collect();
    let remove_folders = || folders.iter().rev().map_while(|folder| fs::remove_dir(folder).ok()).for_each(drop);
    // Since it was looked at, somebody may have put a link there.
    let there = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(project);
    inside(project, &path, there)?;
    let Some(text) = &change.after else {
        fs::remove_file(&path)?;
        // Somebody may have put something else into them: then they stay.
        remove_folders();
        return Ok(());
    };
    let written = folders.iter().filter(|folder| !folder.is_dir()).try_for_each(fs::create_dir).and_then(|()| {
        // A link stays one: what it leads to is written.
        let path = fs::canonicalize(&path).unwrap_or(path);
        put(&path, text, change)
    });
    if written.is_err() {
        remove_folders();
    }
    written
}

/// Puts a text in its place as a whole. A file keeps its permissions.
fn put(path: &Path, text: &str, change: &FileChange) -> io::Result<()> {
    let own = fs::metadata(path).ok().map(|found| found.permissions());
    let permissions = if is_private(change) { Some(Permissions::from_mode(0o600)) } else { own };
    let (mut file, beside) = atomic_file::create_beside(path)?;
    let permissions = match permissions {
        None if text.starts_with("#!") => Some(executable(&file)?),
        permissions => permissions,
    };
    let filled = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions));
    let filled = filled.and_then(|()| file.write_all(text.as_bytes())).and_then(|()| file.sync_all());
    // Somebody else may have made the file meanwhile: then it is theirs.
    let placed = filled.and_then(|()| match change.before {
        None => atomic_file::rename_new(&beside, path),
        Some(_) => fs::rename(&beside, path),
    });
    if placed.is_err() {
        // What is half written is of no use to anybody; the first error is the one that counts.
        let _ = fs::remove_file(&beside);
    }
    placed.and_then(|()| path.parent().map_or(Ok(()), sync_folder))
}

/// Returns the permissions of a new script: whoever may read it may run it.
fn executable(file: &File) -> io::Result<Permissions> {
    let mode = file.metadata()?.permissions().mode();
    Ok(Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

/// Returns whether only the user may read it: the record repeats settings, and those may hold secrets.
fn is_private(change: &FileChange) -> bool {
    change.path == record::PATH
}

fn unwritable(path: &Path, error: io::Error) -> CommandError {
    refused(format!("cannot write {}: {error}", path.display()))
}

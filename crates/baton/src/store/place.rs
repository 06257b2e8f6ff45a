//! Where the store is: the option, the environment, the configuration, or the nearest `.baton/baton.db`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use baton_store::{Location, sync_folder};

use super::Access;
use crate::command_error::CommandError;
use crate::config::Config;

/// The folder that holds the store of a project.
const FOLDER: &str = ".baton";

/// The file of the store in it.
const FILE: &str = "baton.db";

/// The variable that names the store.
const VARIABLE: &str = "BATON_STORE";

/// Finds out where the store is, or would be.
pub(super) fn find(given: Option<&str>, config: &Config) -> Result<Location, CommandError> {
    let variable = std::env::var(VARIABLE).ok().filter(|value| !value.trim().is_empty());
    if let Some(text) = given {
        return parse(text, "--store", Path::new(""));
    }
    if let Some(text) = variable {
        return parse(&text, VARIABLE, Path::new(""));
    }
    if let Some(text) = &config.store_url {
        return parse(text, "[store] url", &config.folder);
    }
    let here = std::env::current_dir()
        .map_err(|error| CommandError::usage(format!("cannot tell the current folder: {error}")))?;
    let nearest = here.ancestors().map(|folder| folder.join(FOLDER).join(FILE)).find(|path| path.exists());
    Ok(Location::Sqlite(nearest.unwrap_or_else(|| PathBuf::from(FOLDER).join(FILE))))
}

fn parse(text: &str, source: &str, folder: &Path) -> Result<Location, CommandError> {
    match Location::parse(text) {
        Ok(Location::Sqlite(path)) => Ok(Location::Sqlite(folder.join(path))),
        Ok(location) => Ok(location),
        Err(why) => Err(CommandError::usage(format!("{source}: {why}"))),
    }
}

/// Makes sure that a store can be opened there: it exists, or may be made.
pub(super) fn prepare(location: &Location, access: Access) -> Result<(), CommandError> {
    let Location::Sqlite(path) = location else { return Ok(()) };
    if path.is_dir() {
        let hint = format!("name a file in it: {}", path.join(FILE).display());
        return Err(CommandError::usage(format!("the store {location} is a folder")).hint(hint));
    }
    if path.exists() {
        return Ok(());
    }
    if access == Access::Look {
        return Err(CommandError::usage(format!("there is no store yet: {location} does not exist"))
            .hint("`baton send` makes one; --store or BATON_STORE names another"));
    }
    let folder = folder_above(path);
    match folder.file_name().is_some_and(|name| name == FOLDER) {
        true => make_folder(folder),
        // A mistyped path must not make folders.
        false if !folder.is_dir() => {
            let message = format!("the store {location} cannot be made: there is no folder {}", folder.display());
            Err(CommandError::usage(message).hint("make the folder, or name another path"))
        }
        false => Ok(()),
    }
}

fn folder_above(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the folder of a project's store, which no repository should contain.
fn make_folder(folder: &Path) -> Result<(), CommandError> {
    let failed =
        |error: std::io::Error| CommandError::usage(format!("cannot make the folder {}: {error}", folder.display()));
    match fs::create_dir(folder) {
        Ok(()) => sync_folder(folder_above(folder)).map_err(failed)?,
        Err(_) if folder.is_dir() => {}
        Err(error) => return Err(failed(error)),
    }
    match fs::File::create_new(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n").map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

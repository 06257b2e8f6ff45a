//! Where the store is: the option, the environment, the configuration, or the project's folder in the user's state folder.

use std::path::{Path, PathBuf};

use baton_agents::process::RUN;
use baton_store::Location;

use super::Access;
use crate::command_error::CommandError;
use crate::config::{self, Config};
use crate::own_folder;
use crate::state::{self, STORE};

/// The variable that names the store.
const VARIABLE: &str = "BATON_STORE";

/// Where the store is, and why there.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where it is, or would be.
    pub location: Location,
    /// Why there.
    pub source: Source,
    /// Another store of the same project, which is not used.
    pub unused: Option<PathBuf>,
}

/// What says where the store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The option, the variable or the configuration.
    Named(&'static str),
    /// This project has its store in the state folder, or would have it there.
    Project(PathBuf),
    /// The runs of this workspace are kept in the store of another project.
    Workspace(PathBuf),
    /// This project has its store in its own `.baton` folder.
    Old(PathBuf),
}

/// Finds out where the store is, or would be.
pub(crate) fn find(given: Option<&str>, config: &Config) -> Result<Place, CommandError> {
    let variable = std::env::var(VARIABLE).ok().filter(|value| !value.trim().is_empty());
    if let Some(text) = given {
        return named(text, "--store", Path::new(""));
    }
    if let Some(text) = variable {
        return named(&text, VARIABLE, Path::new(""));
    }
    if let Some(text) = &config.store_url {
        return named(text, "[store] url", &config.folder);
    }
    let here = std::env::current_dir()
        .map_err(|error| CommandError::usage(format!("cannot find the current folder: {error}")))?;
    let (state, project) = (state::folder(), project(&here));
    let inside = |folder: &Path| !is_project(&project) || folder.starts_with(&project);
    for folder in here.ancestors() {
        let old = Some(old_store(folder)).filter(|path| path.exists());
        if let Ok(state) = &state
            && inside(folder)
            && let Some(location) = state::store_of(state, folder)?
            && !is_at(&location, old.as_deref())
        {
            let own = location == Location::Sqlite(state.of(folder).join(STORE));
            let source = if own { Source::Project } else { Source::Workspace };
            return Ok(Place { location, source: source(folder.to_owned()), unused: old });
        }
        if let Some(path) = old {
            return Ok(Place {
                location: Location::Sqlite(path),
                source: Source::Old(folder.to_owned()),
                unused: None,
            });
        }
    }
    let location = Location::Sqlite(state?.of(&project).join(STORE));
    Ok(Place { location, source: Source::Project(project), unused: None })
}

/// Returns the folder of the project that a folder is in: the nearest one with a `baton.toml` or a repository, or else
/// the folder itself.
pub(crate) fn project(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| is_project(folder)).unwrap_or(here).to_owned()
}

fn is_project(folder: &Path) -> bool {
    folder.join(config::FILE_NAME).is_file() || folder.join(".git").exists()
}

/// Returns where projects had their store before there was a place out of the agents' reach.
pub(crate) fn old_store(project: &Path) -> PathBuf {
    project.join(own_folder::NAME).join(STORE)
}

/// Returns whether a store is the file at a path: somebody may have named the old one of the project.
fn is_at(location: &Location, path: Option<&Path>) -> bool {
    match (location, path.map(std::fs::canonicalize)) {
        (Location::Sqlite(store), Some(Ok(path))) => std::fs::canonicalize(store).is_ok_and(|store| store == path),
        _ => false,
    }
}

fn named(text: &str, source: &'static str, folder: &Path) -> Result<Place, CommandError> {
    let location = match Location::parse(text) {
        Ok(Location::Sqlite(path)) => Location::Sqlite(folder.join(path)),
        Ok(location) => location,
        Err(why) => return Err(CommandError::usage(format!("{source}: {why}"))),
    };
    Ok(Place { location, source: Source::Named(source), unused: None })
}

impl Place {
    /// Makes sure that a store can be opened there: it exists, or may be made.
    pub(super) fn prepare(&self, access: Access) -> Result<(), CommandError> {
        let Location::Sqlite(path) = &self.location else { return Ok(()) };
        if path.is_dir() {
            let hint = format!("name a file in it: {}", path.join(STORE).display());
            return Err(CommandError::usage(format!("the store {} is a folder", self.location)).hint(hint));
        }
        if path.exists() {
            return Ok(());
        }
        match (&self.source, access) {
            (Source::Project(project), _) => self.prepare_project(project, access),
            (_, Access::Look) => {
                Err(CommandError::usage(format!("there is no store yet: {} does not exist", self.location))
                    .hint(MAKERS))
            }
            (_, Access::Change) => self.prepare_folder(path),
        }
    }

    fn prepare_project(&self, project: &Path, access: Access) -> Result<(), CommandError> {
        let state = state::folder()?;
        if let Some(before) = state::moved_from(&state, project) {
            let (now, before) = (project.display(), before.display());
            return Err(CommandError::usage(format!("{now} was {before} when its store was made"))
                .hint(format!("move its store, too: baton store move {}", baton_host::quoted(&before.to_string()))));
        }
        let missing = CommandError::usage(format!("there is no store yet for {}", project.display()));
        match access {
            Access::Look => {
                let gone = state::entries(&state)
                    .into_iter()
                    .find(|(folder, entry)| folder.join(STORE).exists() && !entry.place().exists());
                let missing = match gone {
                    Some(_) => missing.hint(
                        "if it was copied or moved from elsewhere, move its store, too: baton store move OLD-FOLDER; \
                         `baton store list` shows all",
                    ),
                    None => missing,
                };
                Err(missing.hint(MAKERS))
            }
            // In a cage the state folder of the user is not there: what is made in its place would be gone with the agent.
            Access::Change if std::env::var_os(RUN).is_some() => {
                Err(missing.hint("an agent of a run cannot create one; it reports through BATON_REPORT_FILE"))
            }
            Access::Change => state::make(&state, project).map(drop),
        }
    }

    /// Makes sure that there is a folder for a store that somebody has named.
    fn prepare_folder(&self, path: &Path) -> Result<(), CommandError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Some(above) = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == own_folder::NAME))
        {
            let failed = |error| CommandError::usage(format!("cannot make the folder {}: {error}", folder.display()));
            return own_folder::make(above).map(drop).map_err(failed);
        }
        match folder.is_dir() {
            true => Ok(()),
            // A mistyped path must not make folders.
            false => {
                let (store, folder) = (&self.location, folder.display());
                Err(CommandError::usage(format!("the store {store} cannot be made: there is no folder {folder}"))
                    .hint("make the folder, or name another path"))
            }
        }
    }
}

/// What to do where there is no store.
const MAKERS: &str = "`baton run` or `baton send` makes one; --store or BATON_STORE names another";

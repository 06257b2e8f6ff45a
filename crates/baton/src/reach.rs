//! Whether what agents must not change lies where they may write, although they are caged.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::confinement::TEMPORARY;
use baton_engine::protection::Protection;
use baton_store::Location;

use crate::config::Config;

/// Something that agents must not change.
struct Precious {
    what: &'static str,
    path: PathBuf,
    /// Whether bubblewrap hides it wherever it lies.
    is_hidden: bool,
}

/// Something that agents can change or read, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WithinReach {
    /// What, and where.
    pub says: String,
    /// What to do.
    pub hint: String,
}

/// Where things are that agents must not change.
pub(crate) struct Places<'a> {
    /// The store.
    pub store: &'a Location,
    /// The user's state folder.
    pub state: Option<&'a Path>,
    /// The configuration file.
    pub config_file: Option<&'a Path>,
    /// The file with the approvers.
    pub approvers_file: Option<&'a Path>,
    /// The file of the anchor.
    pub anchor: Option<&'a Path>,
    /// Folders beside temporary ones that a workflow lets agents change.
    pub opened: Vec<PathBuf>,
}

impl<'a> Places<'a> {
    /// Returns where things are, as far as the configuration says.
    pub(crate) fn of(store: &'a Location, config: &'a Config, state: Option<&'a Path>) -> Places<'a> {
        Places {
            store,
            state,
            config_file: config.file.as_deref(),
            approvers_file: config.approvers.file.as_deref(),
            anchor: config.anchor.as_ref().and_then(|anchor| anchor.file()),
            opened: Vec::new(),
        }
    }

    /// Returns everything that agents reach although they are caged like this. Without a cage they reach everything, which
    /// is told as such.
    pub(crate) fn within_reach(&self, protection: &Protection) -> Vec<WithinReach> {
        let mut found: Vec<WithinReach> = match protection {
            Protection::Nothing { .. } => Vec::new(),
            Protection::Bubblewrap => self.exposed(|precious| !precious.is_hidden),
            Protection::Landlock { .. } => self.exposed(|_| true),
        };
        if self.store.is_open_to_all() {
            found.push(WithinReach {
                says: format!("{} needs no password, so agents can bypass Baton and write to the store", self.store),
                hint: "give the database user a password, and add it to the address of the store".to_owned(),
            });
        }
        found
    }

    fn exposed(&self, counts: impl Fn(&Precious) -> bool) -> Vec<WithinReach> {
        let open = open_folders(&self.opened);
        let told = |precious: Precious| {
            let path = resolved(&precious.path);
            let folder = open.iter().find(|folder| path.starts_with(folder))?;
            let hint = match precious.is_hidden {
                true => "keep it elsewhere, or install bubblewrap, which hides it",
                false => "set HOME to a folder elsewhere",
            };
            let says =
                format!("{} {} lies in {}, where agents can write", precious.what, path.display(), folder.display());
            Some(WithinReach { says, hint: hint.to_owned() })
        };
        self.precious().into_iter().filter(counts).filter_map(told).collect()
    }

    fn precious(&self) -> Vec<Precious> {
        let store = match self.store {
            Location::Sqlite(path) if !self.state.is_some_and(|state| path.starts_with(state)) => Some(path.as_path()),
            Location::Sqlite(_) | Location::Postgres(_) | Location::Server(_) => None,
        };
        let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let hidden = [
            ("your state folder", self.state),
            ("the store", store),
            ("the configuration", self.config_file),
            ("the file of approvers", self.approvers_file),
            ("the anchor", self.anchor),
        ];
        let hidden = hidden
            .into_iter()
            .filter_map(|(what, path)| Some(Precious { what, path: path?.to_owned(), is_hidden: true }));
        let home = home.map(|path| Precious { what: "your home folder", path, is_hidden: false });
        hidden.chain(home).collect()
    }
}

/// Returns the folders that agents may change wherever they work.
fn open_folders(opened: &[PathBuf]) -> Vec<PathBuf> {
    let temporary = env::var_os("TMPDIR").map(PathBuf::from).into_iter().chain(TEMPORARY.map(PathBuf::from));
    temporary.chain(opened.iter().cloned()).filter_map(|folder| fs::canonicalize(folder).ok()).collect()
}

/// Follows links; what is not there yet lies where its folder does.
fn resolved(path: &Path) -> PathBuf {
    let above = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(above).unwrap_or_else(|| path.to_owned())
}

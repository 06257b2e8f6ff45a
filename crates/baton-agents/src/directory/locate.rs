//! Finds a handoff: by its id or the beginning of it, in whichever folder it is at this moment.

use std::fs::File;
use std::path::PathBuf;

use baton_engine::HandoffId;
use baton_protocol::wire::closest;

use super::{Directory, DirectoryError, Folder, FolderHandoff, files, id_of};

/// How often to look again for a handoff that moves while we look.
const LOOKS: usize = 5;

/// A handoff, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedHandoff {
    /// Which.
    pub id: HandoffId,
    /// Where.
    pub folder: Folder,
    /// Its document; `None` while another side is writing it.
    pub handoff: Option<FolderHandoff>,
}

/// A file that one process took for itself in order to finish an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Private {
    pub(super) id: HandoffId,
    pub(super) attempt: u32,
    pub(super) path: PathBuf,
}

/// The folders out of which attempts end, and in which private files may be left.
pub(super) const PRIVATE_IN: [Folder; 3] = [Folder::Pending, Folder::InProgress, Folder::Failed];

/// How the name of a private file ends.
const PRIVATE: &str = ".finishing";

impl Directory {
    /// Finds the handoff that an id, or the beginning of one, means.
    pub fn find(&self, text: &str) -> Result<HandoffId, DirectoryError> {
        let id = HandoffId::parse(text).map_err(|fault| DirectoryError::UnsafeId { id: text.to_owned(), fault })?;
        if self.folder_of(&id)?.is_some() {
            return Ok(id);
        }
        let known = self.ids()?;
        let begin: Vec<&HandoffId> = known.iter().filter(|known| known.as_str().starts_with(text)).collect();
        match begin[..] {
            [one] => Ok(one.clone()),
            [] => {
                let known: Vec<&str> = known.iter().map(HandoffId::as_str).collect();
                Err(DirectoryError::UnknownId { id: text.to_owned(), close: closest(text, &known).map(str::to_owned) })
            }
            _ => {
                let ids = begin.into_iter().map(ToString::to_string).collect();
                Err(DirectoryError::AmbiguousId { prefix: text.to_owned(), ids })
            }
        }
    }

    /// Lists all handoffs.
    fn ids(&self) -> Result<Vec<HandoffId>, DirectoryError> {
        let mut ids = Vec::new();
        for folder in Folder::ALL {
            ids.extend(files::names(&self.folder(folder))?.iter().filter_map(|name| id_of(name)));
            ids.extend(self.private_files(folder)?.into_iter().map(|private| private.id));
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Returns where a handoff is. A private file counts as in progress: nobody knows yet how it ends.
    pub(super) fn folder_of(&self, id: &HandoffId) -> Result<Option<Folder>, DirectoryError> {
        for _ in 0..LOOKS {
            // In the order of life; only a retry goes back, and then we look again.
            let found = Folder::ALL.into_iter().find(|folder| self.path(*folder, id).symlink_metadata().is_ok());
            if found.is_some() {
                return Ok(found);
            }
            for folder in PRIVATE_IN {
                if self.private_files(folder)?.iter().any(|private| private.id == *id) {
                    return Ok(Some(folder));
                }
            }
        }
        Ok(None)
    }

    /// Looks at a handoff.
    pub fn look(&self, id: &HandoffId) -> Result<LocatedHandoff, DirectoryError> {
        for _ in 0..LOOKS {
            let Some(folder) = self.folder_of(id)? else { break };
            let path = self.path(folder, id);
            match files::open(&path)? {
                Some(file) => {
                    let handoff = FolderHandoff::parse(&files::read(&file, &path)?).ok();
                    return Ok(LocatedHandoff { id: id.clone(), folder, handoff });
                }
                // Moved on, or taken by whoever finishes it.
                None if self.private_files(folder)?.iter().any(|private| private.id == *id) => {
                    return Ok(LocatedHandoff { id: id.clone(), folder, handoff: None });
                }
                None => {}
            }
        }
        Err(DirectoryError::UnknownId { id: id.to_string(), close: None })
    }

    /// Opens and reads a handoff in a folder; `None` if it is not there, or cannot be read yet.
    pub(super) fn read(&self, folder: Folder, id: &HandoffId) -> Result<Option<(File, FolderHandoff)>, DirectoryError> {
        let path = self.path(folder, id);
        let Some(file) = files::open(&path)? else { return Ok(None) };
        let handoff = FolderHandoff::parse(&files::read(&file, &path)?).ok();
        Ok(handoff.map(|handoff| (file, handoff)))
    }

    /// Lists the private files in a folder.
    pub(super) fn private_files(&self, folder: Folder) -> Result<Vec<Private>, DirectoryError> {
        let path = self.folder(folder);
        let private = |name: String| {
            let (id, attempt) = name.strip_prefix('.')?.strip_suffix(PRIVATE)?.rsplit_once(".json.")?;
            let id = HandoffId::parse(id).ok()?;
            Some(Private { id, attempt: attempt.parse().ok()?, path: path.join(&name) })
        };
        Ok(files::names(&path)?.into_iter().filter_map(private).collect())
    }

    /// Returns the private name for finishing an attempt.
    pub(super) fn private_path(&self, folder: Folder, id: &HandoffId, attempt: u32) -> PathBuf {
        self.folder(folder).join(format!(".{id}.json.{attempt}{PRIVATE}"))
    }
}

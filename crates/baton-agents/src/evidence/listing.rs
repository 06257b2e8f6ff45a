//! What is in a folder, as a text that identifies it: a line for each name, with what is there.
//!
//! Links are followed within the workspace, each folder once. What Baton itself writes there, and what of the workspace's
//! `.git` is git's own business, is left out.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use baton_engine::handoff::Digest;

use super::files::is_hashed;
use super::ignore_rules::open;
use super::named::Places;
use super::snapshot::{changed, hash, key};
use super::walk::is_watched;

/// Folders with more in them are not hashed.
const HASHED_ENTRIES: usize = 10_000;

/// Folders with more in them are not looked at.
const ENTRIES_MAX: usize = 200_000;

/// What is in a folder.
pub(super) struct Listing {
    /// A line for each name.
    pub(super) text: String,
    /// The files that were hashed: the name in the folder, where it is, and its SHA-256.
    pub(super) files: Vec<(String, PathBuf, String)>,
    /// How many names there are.
    pub(super) entries: usize,
    /// Links that lead out of the workspace.
    pub(super) outside: Vec<String>,
    /// Links that lead to what is left out, because it changes without anybody having changed what is approved.
    pub(super) kept: Vec<String>,
    /// Whether files are recognised by size and time, because there is too much to hash.
    pub(super) by_time: bool,
}

/// What the list of a folder says about a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedEntry {
    /// A file, by its SHA-256.
    File(String),
    /// A folder, a link that leads nowhere, or something else without a hash.
    Other,
}

/// Finds a name in the list of a folder that was kept; `None` if nothing of that name was there.
pub fn listed(list: &str, name: &Path) -> Option<ListedEntry> {
    let wanted = key(name);
    let mut rest = list;
    while let Some((length, after)) = rest.split_once(':') {
        let length: usize = length.parse().ok()?;
        let (name, after) = (after.get(..length)?, after.get(length..)?);
        let (content, next) = after.split_once('\n')?;
        if name == wanted {
            let last = content.rsplit(' ').next().unwrap_or_default();
            let is_file = !content.ends_with("folder") && last.len() == 64;
            return Some(if is_file { ListedEntry::File(last.to_owned()) } else { ListedEntry::Other });
        }
        rest = next;
    }
    None
}

/// Where folders are looked at.
pub(super) struct Listed<'a> {
    pub(super) workspace: &'a Path,
    /// What Baton itself keeps in the workspace.
    pub(super) views: &'a Places,
    /// How many bytes are hashed.
    pub(super) bytes_max: u64,
}

/// Something in a folder.
struct Entry {
    path: PathBuf,
    metadata: Metadata,
    leads: Leads,
}

/// Where a link leads.
enum Leads {
    /// It is not a link.
    Nowhere,
    /// To a folder that is listed, too.
    Folder,
    /// To something else in the workspace.
    To(PathBuf, Metadata),
    /// To what Baton or git keeps current: it changes on its own, so the link is bound and the file is not.
    ToKept,
    Outside,
    ToNothing,
}

impl Listed<'_> {
    /// Lists a folder, which has no links in its path; the error says why nobody can.
    pub(super) fn list(&self, root: &Path) -> io::Result<Listing> {
        let entries = self.walk(root)?;
        let files = || entries.values().filter_map(Entry::target).map(|(_, metadata)| metadata);
        let bytes: u64 = files().map(Metadata::len).sum();
        let by_time = entries.len() > HASHED_ENTRIES || bytes > self.bytes_max || !files().all(is_hashed);
        let mut listing = Listing {
            text: String::new(),
            files: Vec::new(),
            entries: entries.len(),
            outside: Vec::new(),
            kept: Vec::new(),
            by_time,
        };
        for (key, entry) in entries {
            listing.add(key, &entry)?;
        }
        Ok(listing)
    }

    fn walk(&self, root: &Path) -> io::Result<BTreeMap<String, Entry>> {
        let mut entries = BTreeMap::new();
        let (mut ahead, mut walked) = (vec![(String::new(), root.to_owned())], HashSet::from([root.to_owned()]));
        while let Some((prefix, folder)) = ahead.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let path = entry.path();
                if self.is_left_out(&path) {
                    continue;
                }
                let metadata = fs::symlink_metadata(&path)?;
                let key = format!("{prefix}{}", key(Path::new(&entry.file_name())));
                let leads = if metadata.is_symlink() { self.follow(&path) } else { Leads::Nowhere };
                let inner = match &leads {
                    Leads::Nowhere if metadata.is_dir() => Some(path.clone()),
                    Leads::Folder => fs::canonicalize(&path).ok(),
                    Leads::Nowhere | Leads::To(..) | Leads::ToKept | Leads::Outside | Leads::ToNothing => None,
                };
                if let Some(inner) = inner.filter(|inner| walked.insert(inner.clone())) {
                    ahead.push((format!("{key}/"), inner));
                }
                // A folder that Baton makes for a view comes without anybody having changed what is approved.
                if !self.is_made_for_views(&path) {
                    entries.insert(key, Entry { path, metadata, leads });
                }
                if entries.len() > ENTRIES_MAX {
                    return Err(io::Error::other(format!("it has more than {ENTRIES_MAX} entries")));
                }
            }
        }
        Ok(entries)
    }

    fn follow(&self, link: &Path) -> Leads {
        match fs::canonicalize(link).and_then(|real| Ok((fs::metadata(&real)?, real))) {
            Ok((_, real)) if !real.starts_with(self.workspace) => Leads::Outside,
            Ok((_, real)) if real.ancestors().any(|above| self.is_left_out(above)) => Leads::ToKept,
            Ok((metadata, _)) if metadata.is_dir() => Leads::Folder,
            Ok((metadata, real)) => Leads::To(real, metadata),
            Err(_) => Leads::ToNothing,
        }
    }

    fn is_made_for_views(&self, path: &Path) -> bool {
        path.strip_prefix(self.workspace).is_ok_and(|inner| self.views.lie_below(&key(inner)))
    }

    /// Returns whether something changes without anybody having changed what is approved.
    fn is_left_out(&self, path: &Path) -> bool {
        let Ok(inner) = path.strip_prefix(self.workspace) else { return false };
        let mut parts = inner.iter();
        let is_own = match (parts.next(), parts.next(), parts.next()) {
            (Some(top), Some(name), None) if top == ".baton" => name != "output",
            (Some(top), Some(name), None) if top == ".git" => !is_watched(name),
            _ => false,
        };
        let key = key(inner);
        is_own || self.views.hold(&key) || self.views.are_made_from(&key)
    }
}

impl Entry {
    /// Returns the file that somebody reads here.
    fn target(&self) -> Option<(&Path, &Metadata)> {
        let (path, metadata) = match &self.leads {
            Leads::Nowhere => (&self.path, &self.metadata),
            Leads::To(real, metadata) => (real, metadata),
            Leads::Folder | Leads::ToKept | Leads::Outside | Leads::ToNothing => return None,
        };
        metadata.is_file().then_some((path, metadata))
    }
}

impl Listing {
    fn add(&mut self, key: String, entry: &Entry) -> io::Result<()> {
        let link = if entry.metadata.is_symlink() {
            format!("link {} ", Digest::of(fs::read_link(&entry.path)?.as_os_str().as_bytes()).0)
        } else {
            String::new()
        };
        let content = match (entry.target(), &entry.leads) {
            (Some((path, metadata)), _) => {
                // Who may run it, and as whom.
                let runs = metadata.permissions().mode() & 0o6111;
                let content = if self.by_time {
                    format!("{} {}", metadata.len(), changed(metadata))
                } else {
                    let sha256 = hash(open(path)?.take(metadata.len().saturating_add(1)))?;
                    self.files.push((key.clone(), path.to_owned(), sha256.clone()));
                    sha256
                };
                format!("{runs:o} {content}")
            }
            (None, Leads::Folder) => "folder".to_owned(),
            (None, Leads::Nowhere) if entry.metadata.is_dir() => "folder".to_owned(),
            (None, Leads::Nowhere | Leads::To(..)) => format!("special {}", entry.metadata.rdev()),
            (None, Leads::Outside) => {
                self.outside.push(key.clone());
                "outside".to_owned()
            }
            (None, Leads::ToKept) => {
                self.kept.push(key.clone());
                "kept".to_owned()
            }
            (None, Leads::ToNothing) => "nothing".to_owned(),
        };
        // The length tells where a name ends, whatever it contains.
        self.text.push_str(&format!("{}:{key} {link}{content}\n", key.len()));
        Ok(())
    }
}

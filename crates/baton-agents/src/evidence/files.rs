//! Files that people approve: what identifies them, and what is in them.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use baton_engine::evidence::{ClaimFinding, Content, ExaminedClaim, FileIdentity, KeptBytes};
use baton_engine::handoff::Digest;
use baton_protocol::rules::artifact_changed;
use jiff::Timestamp;

use super::entry::unverifiable;
use super::ignore_rules::open;
use super::listing::{Listed, Listing};
use super::named::{self, Places};
use super::snapshot::{changed, hash, key, path_of};
use crate::workspace::WorkspaceFolder;

/// Larger files are not hashed: it would take longer than people wait. They are recognised by their size and time.
const HASHED_BYTES: u64 = 1024 * 1024 * 1024;

/// Larger files that are mostly holes are not hashed either: they cost whoever makes them nothing.
const HASHED_HOLES: u64 = 8 * 1024 * 1024;

/// How often a file that somebody writes to is looked at until it keeps still.
const SETTLING_TRIES: usize = 3;

/// How many files of one report are kept.
const KEPT_FILES: usize = 1_000;

/// How many links of one kind are named.
const TOLD: usize = 5;

/// Looks at files of a workspace.
pub(super) struct FileEyes<'a> {
    workspace: &'a WorkspaceFolder,
    /// What Baton itself keeps there.
    views: Places,
}

/// What is at a path, and what cannot be known about it.
struct Sighting {
    identity: FileIdentity,
    /// What of it can change without being noticed.
    open: Option<String>,
}

impl From<FileIdentity> for Sighting {
    fn from(identity: FileIdentity) -> Sighting {
        Sighting { identity, open: None }
    }
}

impl<'a> FileEyes<'a> {
    pub(super) fn new(workspace: &'a WorkspaceFolder, views: &[PathBuf]) -> FileEyes<'a> {
        FileEyes { workspace, views: Places::of_views(workspace.root(), views) }
    }

    /// Notes which file an examined claim is about and what identifies it, so that it can be told later whether it is
    /// still the same; what cannot be is never told as verified.
    pub(super) fn pin(&self, examined: ExaminedClaim, path: &str) -> ExaminedClaim {
        let root = self.workspace.root();
        let path = match named::inside(root, Path::new(path)) {
            Some(inner) => inner,
            None if fs::canonicalize(root.join(path)).is_ok_and(|real| real == root) => ".".to_owned(),
            None if path.starts_with('/') => key(Path::new(path)),
            None => return open_question(examined, "its path has no place"),
        };
        self.pin_key(examined, path)
    }

    /// Does the same for a path as it stands in a list of files, where no two have the same text.
    pub(super) fn pin_key(&self, examined: ExaminedClaim, path: String) -> ExaminedClaim {
        let Sighting { identity, open } = self.look(&path);
        let pinned = match identity {
            FileIdentity::There { sha256, mark } => ExaminedClaim { path: Some(path), sha256, mark, ..examined },
            FileIdentity::Nothing => ExaminedClaim { path: Some(path), ..examined },
            FileIdentity::Unknown(why) => open_question(examined, &why),
        };
        match open {
            Some(why) => open_question(pinned, &why),
            None => pinned,
        }
    }

    /// Looks again at what was pinned, after commands have run. What they changed is told, and pinned as it is now.
    pub(super) fn pin_again(&self, examined: &mut [ExaminedClaim]) {
        for seen in examined {
            let Some(path) = &seen.path else { continue };
            let now = self.identify(path);
            if now == seen.identity() {
                continue;
            }
            let told = match (&now, &seen.sha256) {
                (FileIdentity::Nothing, _) => "it is gone".to_owned(),
                (_, Some(sha256)) => format!("it had the sha256 {} before", &sha256[..12.min(sha256.len())]),
                (_, None) => "look at it as it is now".to_owned(),
            };
            let claim = format!("`{path}` was changed while the checks ran");
            let told = unverifiable(&artifact_changed::RULE, claim, told);
            // What no report names is not handed over, whoever changes it.
            let told = match () {
                // Nor does a check make good what was wrong before it.
                () if seen.verdict == ClaimFinding::Refuted => {
                    ExaminedClaim { path: None, sha256: None, mark: None, ..seen.clone() }
                }
                () if seen.is_handed_over() => told,
                () => ExaminedClaim { rule: seen.rule.clone(), ..told },
            };
            *seen = match now {
                FileIdentity::There { sha256, mark } => ExaminedClaim { path: seen.path.clone(), sha256, mark, ..told },
                FileIdentity::Nothing => ExaminedClaim { path: seen.path.clone(), ..told },
                FileIdentity::Unknown(why) => open_question(told, &why),
            };
        }
    }

    /// Finds out what is at a path of the workspace, or at an absolute one.
    pub(super) fn identify(&self, path: &str) -> FileIdentity {
        self.look(path).identity
    }

    fn look(&self, path: &str) -> Sighting {
        let unknown = |error: io::Error| FileIdentity::Unknown(error.to_string());
        let real = match self.real(path) {
            Ok(real) => real,
            Err(identity) => return identity.into(),
        };
        let is_view = |inner: &Path| self.views.hold(&key(inner));
        if real.strip_prefix(self.workspace.root()).is_ok_and(is_view) {
            return FileIdentity::Unknown("baton itself keeps it current".to_owned()).into();
        }
        match fs::metadata(&real) {
            Ok(metadata) if metadata.is_file() => identify_file(&real).unwrap_or_else(unknown).into(),
            Ok(metadata) if metadata.is_dir() => match self.listed().list(&real) {
                Ok(listing) => listing.into(),
                Err(error) => unknown(error).into(),
            },
            Ok(_) => FileIdentity::Unknown("it is neither a file nor a folder".to_owned()).into(),
            Err(error) => unknown(error).into(),
        }
    }

    /// Finds the real place of a path. Only an absolute one leads out of the workspace, and not through links.
    fn real(&self, path: &str) -> Result<PathBuf, FileIdentity> {
        let path = path_of(path);
        let root = if path.is_relative() {
            self.workspace.root().to_owned()
        } else {
            path.parent().and_then(|parent| fs::canonicalize(parent).ok()).ok_or(FileIdentity::Nothing)?
        };
        match fs::canonicalize(root.join(&path)) {
            Ok(real) if real.starts_with(&root) => Ok(real),
            Ok(_) => Err(FileIdentity::Unknown("it points outside the workspace".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(link_to_nothing(&root.join(path))),
            Err(error) => Err(FileIdentity::Unknown(error.to_string())),
        }
    }

    fn listed(&self) -> Listed<'_> {
        Listed { workspace: self.workspace.root(), views: &self.views, bytes_max: HASHED_BYTES }
    }

    /// Reads the files that are as they were seen, as far as there is room. Of a folder, its list and the files in it.
    pub(super) fn contents(&self, examined: &[ExaminedClaim], room: KeptBytes) -> Vec<Content> {
        let mut reading = Reading { room, contents: Vec::new(), known: HashSet::new() };
        // What a report is refused for is not handed on, and must not take the room of what is.
        for seen in examined.iter().filter(|seen| !seen.is_wrong()) {
            let (Some(path), Some(sha256)) = (&seen.path, &seen.sha256) else { continue };
            if reading.is_full() {
                break;
            }
            let Ok(real) = self.real(path) else { continue };
            if !real.is_dir() {
                reading.read(&real, sha256);
                continue;
            }
            let Ok(listing) = self.listed().list(&real) else { continue };
            if Digest::of(listing.text.as_bytes()).0 != *sha256 {
                continue;
            }
            reading.take(listing.text.into_bytes());
            listing.files.iter().for_each(|(_, path, sha256)| reading.read(path, sha256));
        }
        reading.contents
    }
}

impl From<Listing> for Sighting {
    fn from(listing: Listing) -> Sighting {
        let digest = Digest::of(listing.text.as_bytes()).0;
        let (sha256, mark) = if listing.by_time {
            (None, Some(format!("{} entries, by size and time {}", listing.entries, &digest[..32])))
        } else {
            (Some(digest), None)
        };
        let outside = told(&listing.outside).map(|named| format!("{named} in it points outside the workspace"));
        let kept = told(&listing.kept).map(|named| format!("{named} in it leads to what Baton or git keeps current"));
        let open = outside.into_iter().chain(kept).reduce(|outside, kept| format!("{outside}; {kept}"));
        Sighting { identity: FileIdentity::There { sha256, mark }, open }
    }
}

/// Names the first of some links; `None` if there are none.
fn told(links: &[String]) -> Option<String> {
    let named: Vec<String> = links.iter().take(TOLD).map(|key| format!("`{key}`")).collect();
    let more = links.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// Finds out what is where no file can be reached: nothing, or a link that leads to nothing. Whoever makes what it leads to
/// changes what stands there.
fn link_to_nothing(path: &Path) -> FileIdentity {
    match fs::read_link(path) {
        Ok(target) => {
            let mark = Some(format!("a link to `{}`, where nothing is", key(&target)));
            FileIdentity::There { sha256: None, mark }
        }
        Err(_) => FileIdentity::Nothing,
    }
}

/// Warns whoever approves that a change after the approval will not be noticed.
fn open_question(examined: ExaminedClaim, why: &str) -> ExaminedClaim {
    let seen = format!("{}; whether it is still the same after an approval cannot be checked: {why}", examined.seen);
    // What is refuted stays refuted, whatever else is not known about it.
    let verdict = match examined.verdict {
        ClaimFinding::Refuted => ClaimFinding::Refuted,
        ClaimFinding::Verified | ClaimFinding::Unverifiable => ClaimFinding::Unverifiable,
    };
    ExaminedClaim { seen, verdict, ..examined }
}

/// Returns whether a file is told by its content, and not by its size and time.
pub(super) fn is_hashed(metadata: &Metadata) -> bool {
    let holds = metadata.blocks().saturating_mul(512);
    metadata.len() <= HASHED_BYTES && (metadata.len() <= HASHED_HOLES || holds >= metadata.len() / 2)
}

fn identify_file(path: &Path) -> io::Result<FileIdentity> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    let runs = match metadata.permissions().mode() & 0o6111 {
        0 => None,
        mode if mode & 0o6000 == 0 => Some("executable"),
        _ => Some("runs as its owner or group"),
    };
    if !is_hashed(&metadata) {
        let metadata = settled(&file)?;
        let size = format!("{} bytes, last changed {}", metadata.len(), changed_at(&metadata));
        let mark = [Some(size.as_str()), runs].into_iter().flatten().collect::<Vec<_>>().join(", ");
        return Ok(FileIdentity::There { sha256: None, mark: Some(mark) });
    }
    let sha256 = Some(hash(file.take(HASHED_BYTES))?);
    Ok(FileIdentity::There { sha256, mark: runs.map(str::to_owned) })
}

/// Returns what tells a file that is not hashed. What is still in memory only could be written once more without a new time.
fn settled(file: &File) -> io::Result<Metadata> {
    for _ in 0..SETTLING_TRIES {
        let before = file.metadata()?;
        file.sync_all()?;
        let after = file.metadata()?;
        if (before.ctime(), before.ctime_nsec()) == (after.ctime(), after.ctime_nsec()) {
            return Ok(after);
        }
    }
    Err(io::Error::other("it is being written"))
}

/// Returns when a file last changed in any way.
fn changed_at(metadata: &Metadata) -> String {
    let time = Timestamp::new(metadata.ctime(), i32::try_from(metadata.ctime_nsec()).unwrap_or_default());
    time.map_or_else(|_| changed(metadata).to_string(), |time| time.to_string())
}

/// Reads files as long as there is room.
struct Reading {
    room: KeptBytes,
    contents: Vec<Content>,
    known: HashSet<String>,
}

impl Reading {
    fn is_full(&self) -> bool {
        self.room.run == 0 || self.contents.len() >= KEPT_FILES
    }

    fn read(&mut self, path: &Path, sha256: &str) {
        let most = self.room.file.min(self.room.run);
        if self.is_full() || self.known.contains(sha256) {
            return;
        }
        let mut bytes = Vec::new();
        let read = open(path).and_then(|file| {
            if file.metadata()?.len() <= most {
                file.take(most.saturating_add(1)).read_to_end(&mut bytes)
            } else {
                Err(io::ErrorKind::FileTooLarge.into())
            }
        });
        if read.is_ok() && Digest::of(&bytes).0 == *sha256 {
            self.take(bytes);
        }
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        let digest = Digest::of(&bytes);
        let fits = length <= self.room.file.min(self.room.run) && !self.is_full();
        if fits && self.known.insert(digest.0.clone()) {
            self.room.run -= length;
            self.contents.push(Content { digest, bytes });
        }
    }
}

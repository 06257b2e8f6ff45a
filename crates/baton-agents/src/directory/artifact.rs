//! Puts an artifact where it belongs: inside the root, complete, and known by its digest.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use baton_host::open_followed;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::files::{self, Written};
use super::handoff::FolderHandoff;
use super::{Directory, DirectoryError};

/// What an agent made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFile {
    /// The file that it made.
    pub file: PathBuf,
    /// What kind it is; what the request asks for if it does not say.
    pub kind: Option<String>,
}

/// An artifact that is on the disk, but not in its place yet.
#[derive(Debug)]
pub(super) struct Copied<'f> {
    pub(super) id: String,
    /// Where it belongs, relative to the root.
    pub(super) path: String,
    pub(super) place: PathBuf,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    /// `None` if the agent put it there itself.
    written: Option<Written<'f>>,
}

impl Directory {
    /// Copies an artifact beside the place where the request wants it.
    pub(super) fn copy_artifact(
        &self,
        handoff: &FolderHandoff,
        id: &str,
        artifact: &ArtifactFile,
        now: Timestamp,
    ) -> Result<Copied<'_>, DirectoryError> {
        let mut source =
            open_followed(&artifact.file).map_err(|error| DirectoryError::io("read", &artifact.file, error))?;
        let artifact_id = format!("artifact-{id}-{}", handoff.attempt());
        let path = destination(handoff, &artifact_id, &artifact.file, now)?;
        let place = self.inside(&path)?;
        let in_place =
            matches!((place.canonicalize(), artifact.file.canonicalize()), (Ok(left), Ok(right)) if left == right);
        if in_place {
            let (sha256, bytes) =
                copy(&mut source, &mut io::sink()).map_err(|error| DirectoryError::io("read", &place, error))?;
            self.files.sync(&source, &place)?;
            return Ok(Copied { id: artifact_id, path, place, sha256, bytes, written: None });
        }
        let (mut file, written) = self.files.create_beside(&place)?;
        let copied =
            copy(&mut source, &mut file).map_err(|error| DirectoryError::io("write", written.path(), error))?;
        self.files.sync(&file, written.path())?;
        Ok(Copied { id: artifact_id, path, place, sha256: copied.0, bytes: copied.1, written: Some(written) })
    }

    /// Returns the place of a path inside the root; makes the folders above it. Links do not lead outside.
    fn inside(&self, path: &str) -> Result<PathBuf, DirectoryError> {
        let refuse =
            |fault: &str| DirectoryError::Destination { destination: path.to_owned(), fault: fault.to_owned() };
        let root = self.root.canonicalize().map_err(|error| DirectoryError::io("look at", &self.root, error))?;
        let relative = Path::new(path);
        let (Some(name), Some(above)) = (relative.file_name(), relative.parent()) else {
            return Err(refuse("it names no file"));
        };
        // The deepest folder that exists decides where the new ones will be.
        let wanted = root.join(above);
        let existing = wanted.ancestors().find(|folder| folder.exists()).unwrap_or(&root);
        let real = existing.canonicalize().map_err(|error| DirectoryError::io("look at", existing, error))?;
        if !real.starts_with(&root) {
            return Err(refuse("it is outside of the folder"));
        }
        self.files.make_folder(&wanted)?;
        let real = wanted.canonicalize().map_err(|error| DirectoryError::io("look at", &wanted, error))?;
        if real.starts_with(root.join("handoffs")) || real.starts_with(root.join("schemas")) {
            return Err(refuse("artifacts do not belong in `handoffs` or `schemas`"));
        }
        if real == root.join("artifacts") && name.to_str().is_some_and(|name| name.starts_with("registry.json")) {
            return Err(refuse("that is the list of all artifacts"));
        }
        let place = real.join(name);
        match place.symlink_metadata() {
            Ok(found) if !found.is_file() => Err(refuse("it exists and is not a plain file")),
            _ => Ok(place),
        }
    }
}

impl Copied<'_> {
    /// Puts the artifact in its place, and syncs the folder.
    pub(super) fn put(&mut self, directory: &Directory) -> Result<(), DirectoryError> {
        if let Some(written) = self.written.take() {
            written.place_over(&self.place).map_err(|error| DirectoryError::io("write", &self.place, error))?;
        }
        directory.files.sync_folder(self.place.parent().unwrap_or(Path::new(".")))
    }

    /// Reads it as JSON.
    pub(super) fn to_json(&self) -> Result<Value, String> {
        let path = self.written.as_ref().map_or(self.place.as_path(), Written::path);
        let file = files::open(path).map_err(|error| error.to_string())?;
        let file = file.ok_or_else(|| "the artifact no longer exists".to_owned())?;
        let bytes = files::read(&file, path).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| format!("the artifact is not JSON: {error}"))
    }
}

/// Returns where the artifact belongs, relative to the root.
fn destination(
    handoff: &FolderHandoff,
    artifact_id: &str,
    file: &Path,
    now: Timestamp,
) -> Result<String, DirectoryError> {
    let Some(wanted) = handoff.text(&["expected_output", "destination"]) else {
        let agent = handoff.to().unwrap_or_default().trim_start_matches('@');
        let agent: String = agent.chars().map(|letter| if is_safe(letter) { letter } else { '_' }).collect();
        let agent = if agent.trim_matches('.').is_empty() { "unknown".to_owned() } else { agent };
        let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or("json");
        return Ok(format!("artifacts/{agent}/{artifact_id}.{extension}"));
    };
    let mut path = wanted.replace("{timestamp}", &now.as_millisecond().to_string()).replace('\\', "/");
    if wanted.ends_with("{timestamp}") {
        // Who asks does not know what kind of file comes.
        path.extend(file.extension().and_then(|extension| extension.to_str()).map(|extension| format!(".{extension}")));
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(&path).components().all(plain) && !path.is_empty() && !path.contains('\0') {
        Ok(path)
    } else {
        Err(DirectoryError::Destination {
            destination: wanted.to_owned(),
            fault: "it is outside of the folder".to_owned(),
        })
    }
}

fn is_safe(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.".contains(letter)
}

/// Copies everything; returns the digest and the length.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<(String, u64)> {
    let (mut digest, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            let digest = digest.finalize();
            return Ok((digest.iter().map(|byte| format!("{byte:02x}")).collect(), length));
        }
        digest.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
        length += count as u64;
    }
}

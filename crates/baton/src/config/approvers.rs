//! Who can sign decisions: the lines of `[approvers]`, or of the file that it names.
//!
//! Commands that need no keys must work with a broken file, so what is wrong is kept until somebody asks.

use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::Clock as _;
use baton_engine::ssh::PublicKey;
use baton_engine::ssh::allowed_signers::{self, AllowedSigner};
use baton_protocol::settings::Signer;
use serde::Deserialize;
use toml::Spanned;

use super::located;
use crate::clock::SteadyClock;
use crate::command_error::CommandError;

/// Who can sign decisions, in the format of OpenSSH's allowed signers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproversTable {
    file: Option<Spanned<PathBuf>>,
    #[serde(default)]
    keys: Vec<Spanned<String>>,
}

/// Who can sign decisions, with their keys.
#[derive(Debug, Default, Clone)]
pub(crate) struct Approvers {
    /// The file that names them, if they stand in one of their own.
    pub file: Option<PathBuf>,
    signers: Vec<PlacedSigner>,
    trouble: Option<CommandError>,
}

#[derive(Debug, Clone)]
struct PlacedSigner {
    signer: AllowedSigner,
    /// File and line.
    place: String,
}

impl Approvers {
    /// Reads what a configuration names.
    pub(super) fn read(table: ApproversTable, text: &str, name: &str, folder: &Path) -> Approvers {
        let file = table.file.as_ref().map(|file| folder.join(file.get_ref()));
        match signers(&table, text, name, file.as_deref()) {
            Ok(signers) => Approvers { file, signers, trouble: None },
            Err(trouble) => Approvers { file, signers: Vec::new(), trouble: Some(trouble) },
        }
    }

    /// Returns whether anybody is named, or should be.
    pub(crate) fn are_named(&self) -> bool {
        !self.signers.is_empty() || self.trouble.is_some()
    }

    /// Returns who can sign; fails if what the configuration names cannot be read.
    pub(crate) fn signers(&self) -> Result<Vec<AllowedSigner>, CommandError> {
        match &self.trouble {
            Some(trouble) => Err(trouble.clone()),
            None => Ok(self.signers.iter().map(|placed| placed.signer.clone()).collect()),
        }
    }

    /// Returns the keys as gates are judged with them.
    pub(super) fn judged(&self) -> Vec<Signer> {
        let now = SteadyClock::start().now();
        let judged = |placed: &PlacedSigner| {
            let signer = &placed.signer;
            let expired = signer.key.valid_before.filter(|before| *before <= now);
            let useless = match (&signer.namespaces, expired) {
                (Some(namespaces), _) => Some(format!("the key is for the namespaces `{namespaces}`, not for `baton`")),
                (None, Some(before)) => Some(format!("the key has expired: valid-before was {before}")),
                (None, None) => None,
            };
            let fingerprint = PublicKey::read(&signer.key.key).map(|key| key.fingerprint()).unwrap_or_default();
            Signer { principals: signer.principals.clone(), fingerprint, place: placed.place.clone(), useless }
        };
        self.signers.iter().map(judged).collect()
    }
}

fn signers(
    table: &ApproversTable,
    text: &str,
    name: &str,
    listed: Option<&Path>,
) -> Result<Vec<PlacedSigner>, CommandError> {
    let mut signers = Vec::new();
    for line in &table.keys {
        let at = line.span().start;
        let read =
            allowed_signers::read(line.get_ref()).map_err(|(_, why)| located(text, name, at, &why.to_string()))?;
        let place = place(text, name, at);
        signers.extend(read.into_iter().map(|signer| PlacedSigner { signer, place: place.clone() }));
    }
    if let (Some(file), Some(listed)) = (&table.file, listed) {
        let shown = listed.display();
        let lines = fs::read_to_string(listed).map_err(|error| {
            located(text, name, file.span().start, &format!("cannot read the approvers in {shown}: {error}"))
        })?;
        let read = allowed_signers::read(&lines)
            .map_err(|(line, why)| CommandError::usage(format!("{shown}:{line}: {why}")))?;
        let placed = |signer: AllowedSigner| PlacedSigner { place: format!("{shown}:{}", signer.line), signer };
        signers.extend(read.into_iter().map(placed));
    }
    Ok(signers)
}

fn place(text: &str, name: &str, at: usize) -> String {
    let (line, _) = baton_protocol::diagnostic::Lines::new(text.as_bytes()).position(at);
    format!("{name}:{line}")
}

//! Kept files: each that the journal tells of is in the store, as it was.

use std::collections::BTreeMap;

use super::{AuditFault, AuditFinding, Auditor};
use crate::handoff::Digest;
use crate::journal::Event;
use crate::lifecycle::Verify;

/// The files that the events name, each with the event that named it first.
#[derive(Debug, Default)]
pub(super) struct KeptFiles(BTreeMap<Digest, AuditFinding>);

impl KeptFiles {
    /// Takes what an event tells.
    pub(super) fn take(&mut self, event: &Event, verify: &Verify) {
        for digest in &verify.kept {
            let named = verify.examined.iter().find(|seen| seen.sha256.as_ref() == Some(&digest.0));
            let path = named.and_then(|seen| seen.path.clone());
            let file = path.unwrap_or_else(|| "a file in a folder".to_owned());
            self.0.entry(digest.clone()).or_insert_with(|| AuditFinding {
                seq: Some(event.seq),
                handoff: Some(event.handoff.clone()),
                kind: Some(event.kind.clone()),
                fault: AuditFault::FileMissing { file, digest: digest.clone() },
            });
        }
    }

    /// Returns what identifies the files.
    pub(super) fn digests(&self) -> Vec<Digest> {
        self.0.keys().cloned().collect()
    }

    /// Compares what the store has with what was kept; the finding is what is wrong.
    pub(super) fn compare(&self, digest: &Digest, bytes: Option<&[u8]>) -> Option<AuditFinding> {
        let missing = self.0.get(digest)?;
        match (bytes, &missing.fault) {
            (Some(bytes), _) if Digest::of(bytes) == *digest => None,
            (Some(_), AuditFault::FileMissing { file, digest }) => {
                let fault = AuditFault::FileChanged { file: file.clone(), digest: digest.clone() };
                Some(AuditFinding { fault, ..missing.clone() })
            }
            _ => Some(missing.clone()),
        }
    }
}

impl Auditor {
    /// Returns what identifies the files that were kept, by the events so far.
    pub fn kept_files(&self) -> Vec<Digest> {
        self.files.digests()
    }

    /// Takes what the store has of a file that was kept. Returns whether that is right.
    pub fn content(&mut self, digest: &Digest, bytes: Option<&[u8]>) -> bool {
        let found = self.files.compare(digest, bytes);
        let is_right = found.is_none();
        self.audit.findings.extend(found);
        is_right
    }
}

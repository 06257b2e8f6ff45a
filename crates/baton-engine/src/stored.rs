//! What is stored: the particulars of events, the bodies of rows, the definition of a run, and what digests are computed
//! from.
//!
//! The types of the domain say what is so now, and get better names and other fields as they need to. What is stored is a
//! promise: an event that was written once is readable for ever, and its bytes are under a hash. So everything with fields
//! has a form of its own here, whose names and order are never changed, and conversions from and to the domain that
//! name every field: whoever adds one to the domain is told by the compiler that it must be stored, or left out on purpose.
//!
//! **Where the line is.** A value that is written as one word or number is stored as it is, with its own `serde`: ids,
//! digests, times, error codes, and the closed vocabularies (`Ask`, `About`, `Role`, `Transience`, `ClaimFinding`,
//! `Priority`). A form for each of them would say the same word twice; a test holds the words instead.
//!
//! **Versions.** A field may be added, with a default for what was stored before, and skipped while it has that default; a
//! reader that does not know it goes on without it. Whenever that would let an older program do something wrong, the
//! version is raised, and an older program says that a newer one wrote this. Decision 29 has the whole story.
//!
//! Writing borrows: texts of documents are not copied on their way to the store.

mod accept;
mod approval;
mod attempt;
pub mod body;
mod decision;
pub(crate) mod definition;
mod document;
mod evidence;
pub mod exchange;
pub(crate) mod fact;
mod spent;

use serde::{Deserialize, Serialize, Serializer};

use self::document::stored;
use self::evidence::{StoredExamined, StoredSeenFile};
use crate::evidence::{ExaminedClaim, SeenFile};
use crate::store;

/// Why something that is stored cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A later program has written it in a form that we do not know.
    #[error("it was written by a newer baton (version {found} of its form, and this one reads up to {known})")]
    Newer {
        /// The version that it has.
        found: u32,
        /// The last one that we know.
        known: u32,
    },
    /// An event of which we have never heard.
    #[error("unknown kind of event `{0}`: it was written by a newer baton, or changed since")]
    UnknownKind(String),
    /// It is not what was written.
    #[error("it cannot be read: {0}")]
    Damaged(String),
}

impl Unreadable {
    /// Turns it into a store error that names where in the store it was found.
    pub fn at(self, place: &str) -> store::StoreError {
        let told = format!("{place}: {self}");
        match self {
            // Who changes the kind of an event breaks its hash; nobody is told to restore a backup because of an update.
            Unreadable::Newer { .. } | Unreadable::UnknownKind(_) => store::StoreError::Newer(told),
            Unreadable::Damaged(_) => store::StoreError::Damaged(told),
        }
    }
}

/// Returns what the digest of evidence is computed from.
pub(crate) fn examined(examined: &[ExaminedClaim]) -> String {
    json(&stored::<_, StoredExamined<'_>>(examined))
}

/// Returns what the digest of files is computed from.
pub(crate) fn files(files: &[SeenFile]) -> String {
    json(&stored::<_, StoredSeenFile<'_>>(files))
}

/// Why writing cannot fail.
const WRITABLE: &str = "stored forms have text keys and finite numbers only";

fn json(form: &impl Serialize) -> String {
    serde_json::to_string(form).expect(WRITABLE)
}

fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|error| Unreadable::Damaged(error.to_string()))
}

fn is_known(found: u32, known: u32) -> Result<(), Unreadable> {
    if found > known { Err(Unreadable::Newer { found, known }) } else { Ok(()) }
}

/// Writes a number; NaN and infinity are written as 0, because JSON cannot express them.
fn finite<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(if number.is_finite() { *number } else { 0.0 })
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

//! Identifiers: those of handoffs and runs. They become file names, so only what is safe as one is an identifier. A copy
//! shares the text: every event, row and document names several.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use baton_protocol::rules::unsafe_id;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Why a text is not an identifier: as a file name it would not be safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this id cannot safely be a file name: {0}")]
pub struct UnsafeId(String);

/// Why somebody cannot call a run so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitRunId {
    /// The names of its phases would not fit behind it.
    #[error(
        "the id of a run must have at most {CHOSEN_BYTES_MAX} bytes, so that the names of its phases fit behind it"
    )]
    Long,
    /// It would have to be quoted in the commands that people are told.
    #[error("the id of a run consists of letters, digits, `.`, `_` and `-`; this one has {0:?}")]
    Letter(char),
    /// It is not an id at all.
    #[error(transparent)]
    Unsafe(#[from] UnsafeId),
}

/// The longest id of a run that leaves room for the names of its phases.
const CHOSEN_BYTES_MAX: usize = 40;

/// How many letters make the id of a run unique. Of those that are found again by a key there must be no second one.
const UNIQUE_LETTERS: usize = 6;
const KEY_LETTERS: usize = 10;

macro_rules! id {
    ($(#[$about:meta])* $name:ident, $prefix:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Reads an identifier; the error says why it is not one.
            pub fn parse(text: impl Into<String>) -> Result<Self, UnsafeId> {
                let text = text.into();
                match unsafe_id::fault(&text) {
                    Some(fault) => Err(UnsafeId(fault)),
                    None => Ok(Self(text.into())),
                }
            }

            /// Makes an identifier from one that is unique; later ones sort after earlier ones.
            pub fn from_unique(unique: Uuid) -> Self {
                Self(format!(concat!($prefix, "-{}"), unique.simple()).into())
            }

            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the identifier as a word of a shell, for a command that somebody copies.
            pub fn in_shell(&self) -> Cow<'_, str> {
                // Only a zero byte cannot be quoted, and no identifier has one.
                shlex::try_quote(&self.0).unwrap_or(Cow::Borrowed(&self.0))
            }
        }

        impl TryFrom<String> for $name {
            type Error = UnsafeId;

            fn try_from(text: String) -> Result<Self, UnsafeId> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

id! {
    /// Identifies a handoff.
    HandoffId, "hoff"
}
id! {
    /// Identifies a run: handoffs with a common journal.
    RunId, "run"
}

/// Means the run that was begun last, wherever an id is given. Nothing new is called so.
pub const LAST: &str = "last";

impl RunId {
    /// Returns the run of a handoff that belongs to no other: it is a run of its own.
    pub fn alone(handoff: &HandoffId) -> RunId {
        RunId(handoff.0.clone())
    }

    /// Makes the id of a new run: the name of its workflow, and what makes it unique.
    pub fn of_workflow(name: &str, unique: Uuid) -> RunId {
        RunId::named(name, unique.as_u128(), UNIQUE_LETTERS)
    }

    /// Makes the id of the only run of a workflow that is begun with an idempotency key.
    pub fn of_key(workflow: &str, key: &str) -> RunId {
        let hash = Sha256::digest(key.as_bytes());
        let unique = hash.iter().take(16).fold(0, |unique, byte| (unique << 8) | u128::from(*byte));
        RunId::named(workflow, unique, KEY_LETTERS)
    }

    fn named(workflow: &str, mut unique: u128, letters: usize) -> RunId {
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut ending = String::new();
        for _ in 0..letters {
            ending.push(char::from(LETTERS[(unique & 31) as usize]));
            unique >>= 5;
        }
        let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        let name: String = workflow.chars().take(CHOSEN_BYTES_MAX - 1 - letters).map(safe).collect();
        let name = name.trim_matches('-');
        let name = if name.is_empty() { "run" } else { name };
        RunId::parse(format!("{name}-{ending}")).unwrap_or_else(|_| RunId(format!("run-{ending}").into()))
    }

    /// Reads what somebody wants to call a run of a workflow.
    pub fn chosen(text: &str) -> Result<RunId, UnfitRunId> {
        if text.len() > CHOSEN_BYTES_MAX {
            return Err(UnfitRunId::Long);
        }
        let id = RunId::parse(text)?;
        let is_odd = |letter: &char| !letter.is_alphanumeric() && !"._-".contains(*letter);
        text.chars().find(is_odd).map_or(Ok(id), |letter| Err(UnfitRunId::Letter(letter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_file_name_is_no_id() {
        for wrong in ["", "../x", "a/b", ".hidden", "-rf", "NUL", "a\nb"] {
            assert!(HandoffId::parse(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(HandoffId::parse("hoff-1").expect("safe").as_str(), "hoff-1");
        let in_shell = |id: &str| HandoffId::parse(id).expect("safe").in_shell().into_owned();
        assert_eq!(
            (in_shell("r.plan.1"), in_shell("r.Plan it.1")),
            ("r.plan.1".to_owned(), "'r.Plan it.1'".to_owned())
        );
        for wrong in ["", "../x", "a b", "A;rm", "$(x)", "it's", "a*", &"a".repeat(41)] {
            assert!(RunId::chosen(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(RunId::chosen("größe-1.2_b").expect("fit").as_str(), "größe-1.2_b");
    }

    #[test]
    fn run_is_called_after_its_workflow_and_always_so_with_a_key() {
        assert_eq!(RunId::of_workflow("Fix it!", Uuid::from_u128(33)).as_str(), "fix-it-bbaaaa");
        assert_eq!(RunId::of_workflow("nul", Uuid::from_u128(0)).as_str(), "nul-aaaaaa");
        let keyed = RunId::of_key(&"w".repeat(50), "nightly");
        assert_eq!((keyed.as_str().len(), &keyed), (40, &RunId::of_key(&"w".repeat(50), "nightly")));
        assert_ne!(RunId::of_key("w", "nightly"), RunId::of_key("w", "weekly"));
    }

    #[test]
    fn made_ids_are_safe_and_sorted() {
        let first = HandoffId::from_unique(Uuid::from_u128(1));
        let second = HandoffId::from_unique(Uuid::from_u128(2));
        assert!(first < second);
        assert_eq!(HandoffId::parse(first.as_str()), Ok(first));
    }
}

//! Who made a decision, and how that is known. What people call themselves is a label, never who they are.

use std::fmt;

use crate::door::Door;
use crate::ssh::Signature;

/// How it is known who made a decision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HowKnown {
    /// It is not: a file of answers, checks or nobody decided, or the journal is from before this was recorded.
    #[default]
    Unproven,
    /// The operating system says so: the name is that of the account which ran the program.
    Account,
    /// A token of a server says so, by its id: the name is that of the person for whom the token was made.
    Token(String),
    /// A signature says so: the name is that of the person whose key it is.
    Signature(Box<Signature>),
}

impl HowKnown {
    /// Returns whether nothing is known.
    pub fn is_unproven(&self) -> bool {
        *self == HowKnown::Unproven
    }

    /// Returns the signature, if there is one.
    pub fn signature(&self) -> Option<&Signature> {
        match self {
            HowKnown::Signature(signature) => Some(signature),
            HowKnown::Unproven | HowKnown::Account | HowKnown::Token(_) => None,
        }
    }
}

/// The person who decides, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decider {
    /// The name that is known.
    pub name: String,
    /// How.
    pub known: HowKnown,
    /// What they want to be called.
    pub label: Option<String>,
}

impl Decider {
    /// Not a person: a file of answers, a check, or an expired time.
    pub fn unproven(name: impl Into<String>) -> Decider {
        Decider { name: name.into(), known: HowKnown::Unproven, label: None }
    }

    /// The owner of an account of the operating system, who may want to be called something else.
    pub fn account(name: impl Into<String>, label: Option<String>) -> Decider {
        let name = name.into();
        let label = label.filter(|label| *label != name);
        Decider { name, known: HowKnown::Account, label }
    }

    /// The person for whom a token was made.
    pub fn token(name: impl Into<String>, token: impl Into<String>) -> Decider {
        Decider { name: name.into(), known: HowKnown::Token(token.into()), label: None }
    }
}

/// Who sent a command, and through which interface, where that is known. What a claimant calls itself is not who it is: whoever
/// has the token of a person can claim in the name of any agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAuthor {
    /// The name that is known.
    pub name: String,
    /// How.
    pub known: HowKnown,
    /// Through which interface.
    pub door: Door,
}

/// The longest label that is shown and kept.
pub const LABEL_BYTES_MAX: usize = 200;

/// Shows who somebody is, and what they want to be called.
pub(crate) struct Who<'d>(pub(crate) &'d str, pub(crate) Option<&'d str>);

impl fmt::Display for Who<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who(name, Some(label)) if name != label => write!(formatter, "{name} (as {label:?})"),
            Who(name, _) => formatter.write_str(name),
        }
    }
}

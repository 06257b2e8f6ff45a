//! Access tokens: who may do what through a server. Only the digest of a token is ever stored.
//!
//! ```
//! use baton_engine::token::TokenSecret;
//!
//! let secret = TokenSecret::of_random([7; 32]);
//! assert!(secret.text().starts_with("baton_"));
//! assert_eq!(TokenSecret::parse(secret.text()).map(|same| same.digest()), Some(secret.digest()));
//! assert!(TokenSecret::parse("baton_short").is_none());
//! ```

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::journal::Hash;

/// Every token begins like this, so that people and scanners of secrets know one when they see it.
const PREFIX: &str = "baton_";

/// Stands between the id of a token and what tells its sessions apart.
const SESSION_MARK: char = ':';

/// How long a session of a browser lasts.
pub const SESSION_MAX: Duration = Duration::from_hours(12);

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessRole {
    /// Looks at everything, changes nothing.
    Viewer,
    /// Works for one agent: claims, reports, sends. It never decides.
    Agent,
    /// A person: looks at everything, decides, starts and stops runs.
    Approver,
    /// A person who also changes how the server works.
    Admin,
}

impl AccessRole {
    /// Every role.
    pub const ALL: [AccessRole; 4] = [AccessRole::Viewer, AccessRole::Agent, AccessRole::Approver, AccessRole::Admin];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessRole::Viewer => "viewer",
            AccessRole::Agent => "agent",
            AccessRole::Approver => "approver",
            AccessRole::Admin => "admin",
        }
    }

    /// Reads the word for a role.
    pub fn parse(word: &str) -> Option<AccessRole> {
        AccessRole::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns whether a person is behind it, who may decide.
    pub fn is_person(self) -> bool {
        matches!(self, AccessRole::Approver | AccessRole::Admin)
    }
}

impl fmt::Display for AccessRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What is known of a token; never the token itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Names it, for listing and revoking.
    pub id: String,
    /// Whose it is: the name under which decisions are journalled.
    pub name: String,
    /// What it allows.
    pub role: AccessRole,
    /// The only agent that it works for; every token of the role `agent` has one.
    pub agent: Option<String>,
    /// What the token is compared with.
    pub digest: Hash,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working by itself, if ever.
    pub expires_at: Option<Timestamp>,
    /// When somebody took it back.
    pub revoked_at: Option<Timestamp>,
}

impl AccessToken {
    /// Returns whether it still opens anything.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Opens a session: what a browser has instead of the token. It is stored as a token of its own, with the digest of
    /// another secret, and ends after [`SESSION_MAX`] or with the token, whichever comes first.
    ///
    /// ```
    /// # use baton_engine::journal::Hash;
    /// # use baton_engine::token::{AccessRole, AccessToken};
    /// # let now = jiff::Timestamp::UNIX_EPOCH;
    /// # let (name, role, digest) = ("ana".to_owned(), AccessRole::Approver, Hash([1; 32]));
    /// # let token = AccessToken { id: "tok-7".to_owned(), name, role, agent: None, digest, created_at: now, expires_at: None, revoked_at: None };
    /// let session = token.session("k3f9", Hash([2; 32]), now);
    /// assert_eq!(session.opened_by(), Some("tok-7"));
    /// assert_eq!(token.opened_by(), None);
    /// ```
    pub fn session(&self, word: &str, digest: Hash, now: Timestamp) -> AccessToken {
        let longest = now.checked_add(SESSION_MAX).unwrap_or(Timestamp::MAX);
        AccessToken {
            id: format!("{}{SESSION_MARK}{word}", self.id),
            digest,
            created_at: now,
            expires_at: Some(self.expires_at.map_or(longest, |end| end.min(longest))),
            revoked_at: None,
            ..self.clone()
        }
    }

    /// Returns the id of the token that has opened this session; `None` for a token itself.
    pub fn opened_by(&self) -> Option<&str> {
        self.id.split_once(SESSION_MARK).map(|(token, _)| token)
    }

    /// Returns the word for what became of it.
    pub fn state_at(&self, now: Timestamp) -> &'static str {
        match self.revoked_at {
            Some(_) => "revoked",
            None if self.is_valid_at(now) => "valid",
            None => "expired",
        }
    }
}

/// A token as its owner has it. It is shown once, when it is made.
pub struct TokenSecret(String);

impl TokenSecret {
    /// Makes a token of 256 random bits.
    pub fn of_random(random: [u8; 32]) -> TokenSecret {
        TokenSecret(format!("{PREFIX}{}", Hash(random)))
    }

    /// Reads a token as somebody presents it; `None` if it cannot be one.
    pub fn parse(text: &str) -> Option<TokenSecret> {
        let rest = text.strip_prefix(PREFIX)?;
        let is_token = rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| TokenSecret(text.to_owned()))
    }

    /// Returns the token.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns what is stored of it. 256 random bits need no salt and no slow hash: nobody can guess them.
    pub fn digest(&self) -> Hash {
        Hash(Sha256::digest(self.0.as_bytes()).into())
    }
}

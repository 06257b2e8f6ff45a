//! Where a store is: a file, or the address of a database or a Baton server.

use std::fmt;
use std::path::PathBuf;

use crate::remote::{AddressFault, ServerAddress};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file.
    Sqlite(PathBuf),
    /// The address of a PostgreSQL server, as it was given; it may contain a password.
    Postgres(String),
    /// The address of a Baton server.
    Server(ServerAddress),
}

/// Why a text does not say where a store is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationFault {
    /// It is the address of something else.
    #[error("unknown kind of store `{0}`: use a path, sqlite:PATH, postgres://… or https://…")]
    UnknownKind(String),
    /// It is the address of a server, and does not say how to talk to it.
    #[error(
        "`{address}` looks like the address of a server: write {scheme}://{address}, or sqlite:{address} for a file"
    )]
    NoScheme {
        /// The address.
        address: String,
        /// What belongs before it.
        scheme: &'static str,
    },
    /// It says nothing.
    #[error("the location of the store is empty")]
    Empty,
    /// It is not the address of a Baton server.
    #[error(transparent)]
    Address(#[from] AddressFault),
}

impl Location {
    /// Reads a location: `postgres://…`, `https://…`, `sqlite:PATH` or a path.
    pub fn parse(text: &str) -> Result<Location, LocationFault> {
        let text = text.trim();
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Location::Postgres(text.to_owned()));
        }
        if let Some(address) = ServerAddress::parse(text) {
            return Ok(Location::Server(address?));
        }
        if let Some(scheme) = missing_scheme(text) {
            return Err(LocationFault::NoScheme { address: text.to_owned(), scheme });
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        match path.split_once("://") {
            Some((scheme, _)) => Err(LocationFault::UnknownKind(scheme.to_owned())),
            None if path.is_empty() => Err(LocationFault::Empty),
            None => Ok(Location::Sqlite(PathBuf::from(path))),
        }
    }
}

/// Returns what belongs before `HOST:PORT`; `None` if the text is of something else.
fn missing_scheme(text: &str) -> Option<&'static str> {
    let (host, port) = text.rsplit_once(':')?;
    if text.starts_with("sqlite:") || host.contains(['/', '\\']) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    port.parse::<u16>().ok()?;
    // What is not encrypted is for this machine only.
    let is_here = ServerAddress::parse(&format!("http://{text}"))?.is_ok();
    Some(if is_here { "http" } else { "https" })
}

impl Location {
    /// Returns whether whoever knows where the store is can open it: a server that is asked without a password.
    pub fn is_open_to_all(&self) -> bool {
        match self {
            Location::Sqlite(_) => false,
            Location::Postgres(url) => without_password(url) == *url && !url.contains("sslcert="),
            // It has tokens of its own, and lets nobody decide without one.
            Location::Server(_) => false,
        }
    }
}

/// Shows the location without the password.
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Sqlite(path) => write!(formatter, "{}", path.display()),
            Location::Postgres(url) => formatter.write_str(&without_password(url)),
            Location::Server(address) => address.fmt(formatter),
        }
    }
}

fn without_password(url: &str) -> String {
    let shown = || {
        let (scheme, rest) = url.split_once("://")?;
        let (credentials, place) = rest.rsplit_once('@')?;
        let (user, _) = credentials.split_once(':')?;
        Some(format!("{scheme}://{user}@{place}"))
    };
    let url = shown().unwrap_or_else(|| url.to_owned());
    match url.split_once("password=") {
        Some((before, after)) => format!("{before}password=…{}", after.find('&').map_or("", |at| &after[at..])),
        None => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses() {
        assert_eq!(Location::parse("sqlite:a/b.db"), Ok(Location::Sqlite("a/b.db".into())));
        assert_eq!(Location::parse("sqlite:///a.db"), Ok(Location::Sqlite("/a.db".into())));
        assert_eq!(Location::parse("a/b.db"), Ok(Location::Sqlite("a/b.db".into())));
        assert!(matches!(Location::parse("postgresql://h/d"), Ok(Location::Postgres(_))));
        assert_eq!(Location::parse("sqlite:4877"), Ok(Location::Sqlite("4877".into())));
        assert_eq!(Location::parse("sqlite:h:4877"), Ok(Location::Sqlite("h:4877".into())));
        let written = |text: &str| Location::parse(text).expect_err("it has no scheme").to_string();
        assert!(written("127.0.0.1:4877").contains("write http://127.0.0.1:4877,"));
        assert!(written("baton.example:4877").contains("write https://baton.example:4877,"));
        assert!(Location::parse("mysql://h/d").is_err() && Location::parse("").is_err());
    }

    #[test]
    fn server_without_a_password_is_open_to_all() {
        let is_open = |url: &str| Location::Postgres(url.to_owned()).is_open_to_all();
        assert!(is_open("postgres://u@h/d") && is_open("postgres:///d?host=/run/postgresql"));
        assert!(!is_open("postgres://u:secret@h/d") && !is_open("postgres://h/d?user=u&password=secret"));
    }

    #[test]
    fn password_is_not_shown() {
        let shown = |url: &str| Location::Postgres(url.to_owned()).to_string();
        assert_eq!(shown("postgres://u:secret@h:5/d"), "postgres://u@h:5/d");
        assert_eq!(shown("postgres://h/d?user=u&password=secret&x=1"), "postgres://h/d?user=u&password=…&x=1");
    }
}

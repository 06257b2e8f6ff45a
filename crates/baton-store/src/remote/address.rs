//! The address of a Baton server: `http://` on this machine, `https://` anywhere.

use std::fmt;
use std::net::IpAddr;

/// The address of a Baton server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// The name or number of the machine, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The prefix of every path, without a slash at its end; empty unless a proxy wants it.
    pub prefix: String,
}

/// Why a text is not the address of a Baton server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// It does not say where the server is.
    #[error("the address names no machine: write https://HOST:PORT")]
    NoHost,
    /// The text after the colon is not a port.
    #[error("`{0}` is not a port: write https://HOST:PORT")]
    Port(String),
    /// A secret has no place in an address.
    #[error("the address of a server has no password: put the token into BATON_TOKEN, or into a file for --token-file")]
    Password,
    /// There is more than an address.
    #[error("the address of a server ends with its path: remove everything behind `{0}`")]
    Tail(char),
    /// Everybody on the way could read the token and what is sent.
    #[error(
        "http:// is not encrypted, so it is for servers on this machine only, and {0} is another one: use https://"
    )]
    Unencrypted(String),
}

impl ServerAddress {
    /// Reads an address; `None` if the text is of something else.
    pub fn parse(text: &str) -> Option<Result<ServerAddress, AddressFault>> {
        let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
        let is_encrypted = match () {
            () if lower.starts_with("https://") => true,
            () if lower.starts_with("http://") => false,
            () => return None,
        };
        let rest = if is_encrypted { &text[8..] } else { &text[7..] };
        Some(ServerAddress::read(rest, is_encrypted))
    }

    fn read(rest: &str, is_encrypted: bool) -> Result<ServerAddress, AddressFault> {
        if let Some(tail) = rest.chars().find(|letter| matches!(letter, '?' | '#')) {
            return Err(AddressFault::Tail(tail));
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(AddressFault::Password);
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inside) => inside.split_once(']').ok_or(AddressFault::NoHost)?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ':');
        if host.is_empty() || !host.chars().all(is_name) {
            return Err(AddressFault::NoHost);
        }
        let port = match port.strip_prefix(':') {
            Some(number) => number.parse().map_err(|_| AddressFault::Port(number.to_owned()))?,
            None if port.is_empty() => {
                if is_encrypted {
                    443
                } else {
                    80
                }
            }
            None => return Err(AddressFault::Port(port.to_owned())),
        };
        let address =
            ServerAddress { is_encrypted, host: host.to_owned(), port, prefix: path.trim_end_matches('/').to_owned() };
        if !is_encrypted && !address.is_loopback() {
            return Err(AddressFault::Unencrypted(address.host));
        }
        Ok(address)
    }

    /// Returns whether it is this machine by its name.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns the name by which the server is addressed.
    pub(super) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(formatter, "{scheme}://{}{}", self.authority(), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match ServerAddress::parse(text).expect("an address of a server") {
            Ok(address) => address.to_string(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn addresses_are_read_and_shown() {
        assert_eq!(shown("https://baton.example"), "https://baton.example:443");
        assert_eq!(shown("HTTPS://baton.example:4848/team/"), "https://baton.example:4848/team");
        assert_eq!(shown("http://127.0.0.1:4848"), "http://127.0.0.1:4848");
        assert_eq!(shown("http://[::1]:4848/"), "http://[::1]:4848");
        assert_eq!(shown("http://LOCALHOST"), "http://LOCALHOST:80");
        assert!(ServerAddress::parse("postgres://h/d").is_none() && ServerAddress::parse("http.db").is_none());
    }

    #[test]
    fn what_would_give_a_secret_away_is_refused() {
        for text in ["http://baton.example:4848", "http://10.0.0.1", "http://127.0.0.1.example"] {
            assert!(shown(text).starts_with("http:// is not encrypted"), "{text}");
        }
        assert!(shown("https://ana:secret@baton.example").contains("BATON_TOKEN"));
        assert!(!shown("https://ana:secret@baton.example").contains("secret"));
        assert!(shown("https://baton.example?token=x").starts_with("the address of a server ends"));
        for text in ["https://", "https://:4848", "https://[::1", "https://a b"] {
            assert!(shown(text).starts_with("the address names no machine"), "{text}");
        }
        assert!(shown("https://h:x").starts_with("`x` is not a port"));
        assert!(shown("https://[::1]4848").starts_with("`4848` is not a port"));
    }
}

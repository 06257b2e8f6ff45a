//! Where a request goes, read from a URL.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;

/// Where a request goes. It is shown without the path, which may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HttpAddress {
    /// Whether the connection is encrypted.
    pub(super) tls: bool,
    /// The name or the number of the machine, without brackets.
    pub(super) host: String,
    /// The port.
    pub(super) port: u16,
    /// The machine and port as the URL has them.
    pub(super) authority: String,
    /// The path and what is behind it.
    pub(super) target: String,
}

/// Why a text is not an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressFault {
    /// It cannot be read.
    NotAUrl,
    /// It begins with something else than `http://` or `https://`.
    OtherScheme,
    /// It has a name or a password in front of the machine.
    HasCredentials,
}

impl fmt::Display for AddressFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            AddressFault::NotAUrl => "this is not a URL such as https://hooks.example/baton",
            AddressFault::OtherScheme => "the URL must begin with https:// or http://",
            AddressFault::HasCredentials => "a URL with a user name or password is not accepted",
        })
    }
}

impl FromStr for HttpAddress {
    type Err = AddressFault;

    fn from_str(text: &str) -> Result<HttpAddress, AddressFault> {
        let uri: Uri = text.parse().map_err(|_| AddressFault::NotAUrl)?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(AddressFault::OtherScheme),
            None => return Err(AddressFault::NotAUrl),
        };
        let authority = uri.authority().ok_or(AddressFault::NotAUrl)?;
        if authority.as_str().contains('@') {
            return Err(AddressFault::HasCredentials);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(AddressFault::NotAUrl);
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Ok(HttpAddress { tls, host, port, authority: authority.to_string(), target })
    }
}

impl HttpAddress {
    /// Returns whether the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls
    }

    /// Returns the address of something below this one.
    pub(crate) fn below(&self, path: &str) -> HttpAddress {
        let target = format!("{}/{path}", self.target.trim_end_matches('/'));
        HttpAddress { target, ..self.clone() }
    }
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", if self.tls { "https" } else { "http" }, self.authority)
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_read_and_shown_without_its_path() {
        let address: HttpAddress = "https://hooks.example/services/T0/secret?x=1".parse().expect("a URL");
        assert_eq!((address.host.as_str(), address.port, address.tls), ("hooks.example", 443, true));
        assert_eq!(address.target, "/services/T0/secret?x=1");
        assert_eq!(format!("{address} {address:?}"), "https://hooks.example https://hooks.example");
        let address: HttpAddress = "http://[::1]:4318".parse().expect("a URL");
        assert_eq!((address.host.as_str(), address.port), ("::1", 4318));
        assert_eq!(address.below("v1/traces").target, "/v1/traces");
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        let fault = |text: &str| text.parse::<HttpAddress>().expect_err("refused");
        assert_eq!(fault("hooks.example"), AddressFault::NotAUrl);
        assert_eq!(fault("ftp://hooks.example/"), AddressFault::OtherScheme);
        assert_eq!(fault("https://ana:pass@hooks.example/"), AddressFault::HasCredentials);
        assert_eq!(fault(""), AddressFault::NotAUrl);
    }
}

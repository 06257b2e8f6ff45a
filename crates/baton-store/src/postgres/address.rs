//! The address of a server: what the URL says, and what we add to it.

use std::path::PathBuf;
use std::time::Duration;

use baton_engine::store::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::tls::Protection;
use crate::Location;

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// After this time without an answer from the other machine's network, a connection is dead.
const SILENCE: Duration = Duration::from_secs(10);

/// How to reach a server.
pub(super) struct Address {
    /// For the driver.
    pub(super) config: Config,
    /// How the connection is protected.
    pub(super) protection: Protection,
    /// The URL without the password.
    pub(super) place: String,
}

impl Address {
    /// Reads a URL.
    pub(super) fn parse(url: &str) -> Result<Address, StoreError> {
        let place = Location::Postgres(url.to_owned()).to_string();
        let (url, ssl) = take_ssl(url);
        // The driver's message names the setting, never its value.
        let wrong = |why: String| StoreError::Invalid(format!("{place}: {why}"));
        if is_no_database(&url) {
            let form = "postgres://USER@HOST/DATABASE, with %2F for a `/` in a name and %20 for a blank";
            return Err(wrong(format!("the part after the server is not the name of a database; write {form}")));
        }
        let mut config: Config = url.parse().map_err(|error| wrong(super::fault::chain(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        let protection = ssl.protection(is_here(&config)).map_err(wrong)?;
        config.ssl_mode(match protection {
            Protection::None => SslMode::Disable,
            Protection::Opportunistic => SslMode::Prefer,
            Protection::Verified(_) => SslMode::Require,
        });
        if config.get_application_name().is_none() {
            config.application_name("baton");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 4).keepalives_retries(3);
        Ok(Address { config, protection, place })
    }

    /// Returns where the server listens, for messages.
    pub(super) fn hosts(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let name = |(at, host): (usize, &Host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(at)),
            Host::Unix(folder) => format!("{}/.s.PGSQL.{}", folder.display(), port(at)),
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(name).collect();
        if !hosts.is_empty() {
            return hosts.join(", ");
        }
        let addresses = self.config.get_hostaddrs().iter().enumerate();
        addresses.map(|(at, address)| format!("{address}:{}", port(at))).collect::<Vec<_>>().join(", ")
    }
}

/// What the URL says about encryption, where the driver knows less than libpq.
#[derive(Default)]
struct Ssl {
    mode: Option<String>,
    root: Option<PathBuf>,
}

impl Ssl {
    fn protection(self, here: bool) -> Result<Protection, String> {
        match self.mode.as_deref() {
            Some("disable") => Ok(Protection::None),
            Some("require" | "verify-ca" | "verify-full") => Ok(Protection::Verified(self.root)),
            None if self.root.is_some() => Ok(Protection::Verified(self.root)),
            None | Some("allow" | "prefer") if here => Ok(Protection::None),
            None | Some("allow" | "prefer") => Ok(Protection::Opportunistic),
            Some(other) => Err(format!("sslmode `{other}`: use disable, prefer, require or verify-full")),
        }
    }
}

/// Takes the settings about encryption out of the URL. Several hosts in one setting become a setting each, as the driver
/// wants them.
fn take_ssl(url: &str) -> (String, Ssl) {
    let mut ssl = Ssl::default();
    let Some((before, settings)) = url.split_once('?') else { return (url.to_owned(), ssl) };
    let mut others = Vec::new();
    for setting in settings.split('&') {
        match setting.split_once('=') {
            Some(("sslmode", mode)) => ssl.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => ssl.root = Some(PathBuf::from(decoded(path))),
            Some(("host", hosts)) => others.extend(hosts.split(',').map(|host| format!("host={host}"))),
            _ => others.push(setting.to_owned()),
        }
    }
    let rest = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    (rest, ssl)
}

/// Returns whether something other than the name of a database follows the server. The driver would take it for a
/// database, and a misplaced host would silently become this machine.
fn is_no_database(url: &str) -> bool {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    let behind = behind.split_once('?').map_or(behind, |(before, _)| before);
    behind
        .split_once('/')
        .is_some_and(|(_, name)| name.contains(|letter: char| letter == '/' || letter.is_whitespace()))
}

/// Reads `%2F` as `/`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns whether the server is on this machine, so that nobody is between.
fn is_here(config: &Config) -> bool {
    let host = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    };
    config.get_hosts().iter().all(host) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs;

    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).expect("an address")
    }

    #[test]
    fn server_on_this_machine_needs_no_encryption() {
        for url in ["postgres://u@127.0.0.1/d", "postgres://localhost/d?sslmode=prefer", "postgres:///d?host=/run/x"] {
            assert_eq!(address(url).protection, Protection::None, "{url}");
        }
        assert_eq!(address("postgres://db.example/d").protection, Protection::Opportunistic);
        assert_eq!(address("postgres://127.0.0.1/d?sslmode=require").protection, Protection::Verified(None));
        let root = address("postgres://db.example/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem");
        assert_eq!(root.protection, Protection::Verified(Some("/etc/ca.pem".into())));
        assert!(Address::parse("postgres://h/d?sslmode=perhaps").is_err());
    }

    #[test]
    fn place_and_hosts_do_not_tell_the_password() {
        let address = address("postgres://u:secret@db.example:6000/d?application_name=x");
        assert_eq!(address.place, "postgres://u@db.example:6000/d?application_name=x");
        assert_eq!(address.hosts(), "db.example:6000");
    }

    #[test]
    fn several_servers_are_tried_in_turn_for_one_that_writes() {
        for url in [
            "postgres://u:secret@one.example:6000,two.example:6001/d?target_session_attrs=read-write",
            "postgres:///d?host=one.example,two.example&port=6000,6001&target_session_attrs=read-write",
        ] {
            let address = address(url);
            assert_eq!(address.hosts(), "one.example:6000, two.example:6001");
            assert!(!address.place.contains("secret"), "{}", address.place);
            assert_eq!(address.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        }
    }

    #[test]
    fn host_at_the_wrong_place_is_refused_and_does_not_become_this_machine() {
        for url in ["postgres://u:secret@/bad host/db", "postgres:///db.example/d", "postgres://u@/my db"] {
            let error = Address::parse(url).err().expect("no address").to_string();
            assert!(error.contains("not the name of a database") && !error.contains("secret"), "{error}");
        }
        assert_eq!(address("postgres:///d").hosts(), "localhost:5432");
        assert_eq!(address("postgres://h/my%20db").config.get_dbname(), Some("my db"));
        assert_eq!(address("postgres://%2Frun%2Fx/d").hosts(), "/run/x/.s.PGSQL.5432");
    }

    #[test]
    fn wrong_url_is_refused_without_telling_the_password() {
        for url in ["postgres://u:secret@h:port/d", "postgres://u:secret@h/d?nonsense=1"] {
            let error = Address::parse(url).err().expect("wrong").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

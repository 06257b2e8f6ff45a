//! Cookies: what a browser keeps for us. The session is a secret; all others are wishes of the reader.

use axum::http::{HeaderMap, HeaderValue, header};
use baton_engine::journal::Hash;
use sha2::{Digest as _, Sha256};

use crate::access::Transport;

/// The secret of somebody who has logged in.
pub(super) const SESSION: &str = "baton_session";
/// The secret of somebody who has not; forms are bound to it.
pub(super) const VISITOR: &str = "baton_visitor";
/// The theme that somebody has chosen.
pub(super) const THEME: &str = "baton_theme";
/// The last event of each run that somebody has seen.
pub(super) const SEEN: &str = "baton_seen";

/// The address of the list of runs, with its filter, as somebody has looked at it last.
pub(super) const LIST: &str = "baton_list";

/// 256 bits that only one browser knows. The store has nothing but their digest.
#[derive(Clone)]
pub(super) struct BrowserSecret(Hash);

impl BrowserSecret {
    /// Makes a secret of random bits.
    pub(super) fn of_random(random: [u8; 32]) -> BrowserSecret {
        BrowserSecret(Hash(random))
    }

    /// Reads a secret as a browser sends it.
    pub(super) fn parse(text: &str) -> Option<BrowserSecret> {
        Hash::parse(text).map(BrowserSecret)
    }

    /// Returns what the browser keeps.
    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Returns what is stored of it. No token has the same digest: a session does not open the API.
    pub(super) fn digest(&self) -> Hash {
        self.derived("baton session ")
    }

    /// Returns what every form sends back. Other pages cannot know it.
    pub(super) fn csrf(&self) -> String {
        self.derived("baton form ").to_string()
    }

    fn derived(&self, purpose: &str) -> Hash {
        Hash(Sha256::new().chain_update(purpose).chain_update(self.0.0).finalize().into())
    }
}

/// The cookies of one server. Browsers do not tell ports apart, so that two servers on one machine would take each other's
/// cookies away: the port is part of their names.
#[derive(Debug, Clone)]
pub(super) struct CookieJar {
    port: String,
    is_secure: bool,
    sent: Vec<(String, String)>,
}

impl CookieJar {
    /// Reads the cookies of a request.
    pub(super) fn of(headers: &HeaderMap, transport: Transport) -> CookieJar {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        let port = text(header::HOST).rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        CookieJar {
            port: if is_port { format!("_{port}") } else { String::new() },
            is_secure: transport != Transport::Plain,
            sent: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }

    /// Returns what the browser has sent under a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let name = self.name(name);
        self.sent.iter().find(|(sent, _)| *sent == name).map(|(_, value)| value.as_str())
    }

    /// Returns the header that lets the browser keep something: for so many seconds, or until it is closed. `value` has
    /// only letters that may stand in a cookie.
    pub(super) fn keep(&self, name: &str, value: &str, seconds: Option<u64>) -> String {
        let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{age}{secure}", self.name(name))
    }

    fn name(&self, name: &str) -> String {
        format!("{name}{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_gives_neither_its_digest_nor_its_form_token_away() {
        let secret = BrowserSecret::of_random([7; 32]);
        let (digest, csrf) = (secret.digest().to_string(), secret.csrf());
        assert!(digest != csrf && secret.text() != csrf && secret.text() != digest);
        assert_eq!(BrowserSecret::parse(&secret.text()).map(|same| same.csrf()), Some(csrf));
        assert!(BrowserSecret::parse("short").is_none());
    }

    #[test]
    fn servers_on_two_ports_have_cookies_of_their_own() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:4848"));
        headers.insert(header::COOKIE, HeaderValue::from_static("baton_theme_4849=dark; baton_theme_4848=light"));
        let jar = CookieJar::of(&headers, Transport::Plain);
        assert_eq!(jar.get(THEME), Some("light"));
        assert_eq!(jar.keep(THEME, "dark", None), "baton_theme_4848=dark; Path=/; HttpOnly; SameSite=Strict");
        headers.insert(header::HOST, HeaderValue::from_static("baton.example"));
        let kept = CookieJar::of(&headers, Transport::Proxy).keep(THEME, "dark", Some(60));
        assert_eq!(kept, "baton_theme=dark; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure");
    }
}

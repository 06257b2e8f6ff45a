//! The variables that a program sees. What is secret stays here unless it is named.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use baton_host::find_program;
use baton_protocol::workflow::is_variable;

/// What every program may see: where things are and how to write, but nothing that opens a door.
const HARMLESS: [&str; 10] =
    ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_STATE_HOME"];

/// How to get out of a network, and whom to believe there: without them nothing works behind a proxy.
const NETWORK: [&str; 13] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// Those that match this are harmless too.
const HARMLESS_PATTERN: &str = "LC_*";

/// Holds the address of the store, and with it perhaps a password.
const STORE: &str = "BATON_STORE";

/// Returns where the agent for SSH keys listens that Baton itself could use.
pub(crate) fn ssh_agent() -> Option<PathBuf> {
    env::var_os("SSH_AUTH_SOCK").map(PathBuf::from)
}

/// The variables that a program sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Everything that we see ourselves.
    pub fn inherited() -> Environment {
        Environment { variables: env::vars_os().collect() }
    }

    /// The harmless ones, and those that are named, also by a pattern such as `AWS_*`.
    pub fn reduced<'a>(names: impl IntoIterator<Item = &'a str>) -> Environment {
        Environment::reduced_from(env::vars_os(), names)
    }

    fn reduced_from<'a>(
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Environment {
        let mut named: Vec<&str> = HARMLESS.into_iter().chain(NETWORK).chain([HARMLESS_PATTERN]).collect();
        named.extend(names);
        let ours: Vec<(OsString, OsString)> = ours.into_iter().collect();
        let is_meant = meant(&named, &ours);
        Environment { variables: ours.iter().filter(|variable| is_meant(variable)).cloned().collect() }
    }

    /// Exactly these.
    pub fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
        Environment { variables: variables.into_iter().collect() }
    }

    /// Adds the variables of this process that are named, also by a pattern.
    pub fn inherit(&mut self, names: &[String]) {
        let named: Vec<&str> = names.iter().map(String::as_str).collect();
        let ours: Vec<(OsString, OsString)> = env::vars_os().collect();
        let is_meant = meant(&named, &ours);
        self.variables.extend(ours.iter().filter(|variable| is_meant(variable)).cloned());
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Takes a variable away.
    pub fn remove(&mut self, name: &str) {
        self.variables.remove(OsStr::new(name));
    }

    /// Returns a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns all variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Finds a program as the program itself would: a path stays, a plain name is looked for in `PATH`.
    ///
    /// A name that is nowhere stays as it is, so that the start says what is missing.
    pub fn find(&self, program: &Path) -> PathBuf {
        if program.as_os_str().as_encoded_bytes().contains(&b'/') {
            return program.to_owned();
        }
        find_program(program, self.get("PATH")).unwrap_or_else(|| program.to_owned())
    }
}

/// Returns the variables that names and patterns select. A pattern never selects the address of the store, under
/// whatever name.
fn meant(named: &[&str], ours: &[(OsString, OsString)]) -> impl Fn(&(OsString, OsString)) -> bool {
    let store = ours.iter().find(|(name, value)| name == STORE && !value.is_empty()).map(|(_, value)| value);
    move |(name, value)| {
        let name = name.to_str().unwrap_or_default();
        let is_address = store == Some(value);
        named.iter().any(|pattern| is_variable(pattern, name) && !(is_address && pattern.contains('*')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_unless_named() {
        let ours = ["PATH", "LC_ALL", "API_KEY", "TOKEN"].map(|name| (OsString::from(name), OsString::from("x")));
        let names = |environment: Environment| -> Vec<String> {
            environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(Environment::reduced_from(ours.clone(), [])), ["LC_ALL", "PATH"]);
        assert_eq!(names(Environment::reduced_from(ours.clone(), ["TOKEN"])), ["LC_ALL", "PATH", "TOKEN"]);
        assert_eq!(names(Environment::reduced_from(ours, ["TOK*"])), ["LC_ALL", "PATH", "TOKEN"]);
    }

    #[test]
    fn address_of_the_store_is_meant_by_no_pattern() {
        let address = "postgres://baton:secret@db/baton";
        let ours = [("BATON_STORE", address), ("BATON_RUN", "outer"), ("DATABASE_URL", address), ("TOKEN", "x")];
        let ours = ours.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names = |patterns: &[&'static str]| -> Vec<String> {
            let environment = Environment::reduced_from(ours.clone(), patterns.iter().copied());
            environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(&["*", "BATON_*", "BATON_STORE"]), ["TOKEN"]);
        assert_eq!(names(&["DATABASE_URL"]), ["DATABASE_URL"], "whoever names it means it");
    }

    #[test]
    fn plain_name_is_looked_for_and_path_is_not() {
        let mut environment = Environment::reduced([]);
        environment.set("PATH", "/nowhere:/bin");
        assert_eq!(environment.find(Path::new("sh")), Path::new("/bin/sh"));
        assert_eq!(environment.find(Path::new("./sh")), Path::new("./sh"));
        assert_eq!(environment.find(Path::new("no-such-program")), Path::new("no-such-program"));
    }
}

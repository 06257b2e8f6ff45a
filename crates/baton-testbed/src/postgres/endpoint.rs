//! A server that can be reached, whoever started it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::installation::find_psql;
use super::must_succeed;
use crate::dice::fresh_seed;

/// A PostgreSQL server by its URL.
#[derive(Debug)]
pub struct Endpoint {
    url: String,
    psql: PathBuf,
}

impl Endpoint {
    pub(super) fn new(url: String, psql: PathBuf) -> Self {
        assert!(url.contains("://"), "`{url}` is not a URL like postgres://user@host:5432/postgres");
        Endpoint { url, psql }
    }

    /// Returns the URL that leads to the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes an empty database and returns its URL. It stays until the server goes.
    pub fn new_database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("baton_test_{}_{number}_{:08x}", std::process::id(), fresh_seed() >> 32);
        // Nobody may connect to template0, so nobody can be in the way of copying it.
        run(Command::new(&self.psql), &self.url, &format!("CREATE DATABASE {name} TEMPLATE template0"));
        with_database(&self.url, &name)
    }

    /// Removes a database that [`Endpoint::new_database`] has made. An empty one takes 7 MB; a test that makes many of them
    /// would fill a small disk. One that cannot be removed stays until the server goes.
    pub fn drop_database(&self, url: &str) {
        let address = url.split('?').next().unwrap_or_default();
        let name = address.rsplit('/').next().unwrap_or_default();
        let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        let _ = in_psql(Command::new(&self.psql), &self.url, &statement).output();
    }
}

/// Runs SQL in `psql` and returns what it answers: one line per row, columns separated by `|`.
pub fn query(url: &str, sql: &str) -> String {
    run(Command::new(find_psql()), url, sql)
}

/// Puts a clock before the server's own that can be moved: SQL to run in a new database, after which
/// `UPDATE shift SET by = interval '8 hours'` makes it eight hours later for those who ask.
pub const MOVABLE_CLOCK: &str = "CREATE TABLE shift AS SELECT interval '0' AS by;
    CREATE SCHEMA shifted;
    CREATE FUNCTION shifted.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
        'SELECT pg_catalog.clock_timestamp() + (SELECT by FROM public.shift)';
    DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, shifted, pg_catalog', current_database());
    END $$";

fn in_psql(mut psql: Command, url: &str, sql: &str) -> Command {
    // Without our variables the user's own start file and settings would have a say.
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
    psql
}

fn run(psql: Command, url: &str, sql: &str) -> String {
    let output = must_succeed(&mut in_psql(psql, url, sql));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Returns the URL with another database; user, host and parameters stay.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = match url.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let host = address.find("://").map_or(0, |at| at + "://".len());
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    format!("{}/{name}{parameters}", &address[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_of_a_url_changes() {
        let cases = [
            ("postgres://baton@127.0.0.1:5432/postgres", "postgres://baton@127.0.0.1:5432/new"),
            ("postgres://a:b@host", "postgres://a:b@host/new"),
            ("postgres://host/old?sslmode=disable", "postgres://host/new?sslmode=disable"),
            ("postgresql:///old?host=/run/x", "postgresql:///new?host=/run/x"),
        ];
        for (url, expected) in cases {
            assert_eq!(with_database(url, "new"), expected);
        }
    }
}

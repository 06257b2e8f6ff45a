//! One PostgreSQL server for a whole run of tests, so that not every test program starts its own.
//!
//! The testbed knows how to start one; we only run its program and hold its stdin.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::failure::Failure;
use crate::{output, process};

/// Tells the tests which server to use.
const VARIABLE: &str = "BATON_TEST_POSTGRES";

/// A server that is stopped when this is dropped.
pub(crate) struct Postgres {
    program: Child,
    url: String,
}

impl Postgres {
    /// Starts a server, unless the environment names one already.
    pub(crate) fn start(root: &Path) -> Result<Option<Self>> {
        if std::env::var_os(VARIABLE).is_some_and(|url| !url.is_empty()) {
            output::note(&format!("using the PostgreSQL server that {VARIABLE} names"));
            return Ok(None);
        }
        let arguments = ["run", "--quiet", "--locked", "--package", "baton-testbed", "--bin", "throwaway-postgres"];
        listen(&mut process::cargo(root, &arguments)).map(Some)
    }

    /// Names the server to the tests that this command runs.
    pub(crate) fn tell(&self, command: &mut Command) {
        command.env(VARIABLE, &self.url);
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.program.stdin.take());
        let _ = self.program.wait();
    }
}

/// Starts the program and waits for the line with the URL.
fn listen(command: &mut Command) -> Result<Postgres> {
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut program = spawned.context("the program that starts PostgreSQL could not be started")?;
    let stdout = program.stdout.take().context("stdout is a pipe")?;
    let mut server = Postgres { program, url: String::new() };
    BufReader::new(stdout).read_line(&mut server.url).context("the URL of PostgreSQL could not be read")?;
    server.url.truncate(server.url.trim_end().len());
    if server.url.is_empty() {
        let hint = format!("the reason is above; or name a server of yours: {VARIABLE}=postgres://…");
        return Err(Failure::no("PostgreSQL for the tests did not start", hint).into());
    }
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_read_and_told() {
        let server = listen(Command::new("sh").args(["-c", "echo postgres://somewhere; cat"])).unwrap();
        let mut command = Command::new("cargo");
        server.tell(&mut command);
        let told: Vec<_> = command.get_envs().collect();
        assert_eq!(told, [(VARIABLE.as_ref(), Some("postgres://somewhere".as_ref()))]);
    }

    #[test]
    fn server_that_does_not_start_is_a_failure_with_a_hint() {
        let error = listen(Command::new("sh").args(["-c", "exit 1"])).err().unwrap();
        assert!(error.to_string().contains("hint: the reason is above"));
    }
}

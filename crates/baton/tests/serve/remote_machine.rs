//! Another machine, as far as a test can have one: a folder and a home of its own, no store, and the address of a server.

use std::fmt;
use std::process::{Command, Stdio};

use baton_testbed::{Process, Scratch, isolate};
use serde_json::Value;

use crate::client::Running;

const BATON: &str = env!("CARGO_BIN_EXE_baton");

/// A machine that knows a server.
pub(crate) struct RemoteMachine {
    pub(crate) scratch: Scratch,
    pub(crate) store: String,
    pub(crate) token: Option<String>,
}

/// How a command ended, and what it said.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RemoteMachine {
    pub(crate) fn of(server: &Running, token: Option<&str>) -> RemoteMachine {
        RemoteMachine::at(&format!("http://{}", server.address), token)
    }

    pub(crate) fn at(store: &str, token: Option<&str>) -> RemoteMachine {
        let scratch = Scratch::new();
        scratch.write("request.json", request("csv-07")).write("report.json", report("csv-07", "complete"));
        scratch.write("review.json", report("csv-07", "needs_review"));
        RemoteMachine { scratch, store: store.to_owned(), token: token.map(str::to_owned) }
    }

    /// Does the same with another token.
    pub(crate) fn with_token(&self, token: &str) -> RemoteMachine {
        RemoteMachine::at(&self.store, Some(token))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BATON);
        isolate(&mut command, self.scratch.root()).current_dir(self.scratch.root());
        command.args(arguments).env("BATON_STORE", &self.store).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(token) = &self.token {
            command.env("BATON_TOKEN", token);
        }
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments))
    }

    /// Runs a command that must do what it is told.
    #[track_caller]
    pub(crate) fn does(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended}");
        ended
    }

    /// Starts a command, and does not wait for it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn(&mut self.command(arguments))
    }
}

/// Runs a command to its end.
pub(crate) fn ended(mut command: Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

impl Ended {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {self}"))
    }

    /// Expects an end with this code, and these words on standard error.
    #[track_caller]
    pub(crate) fn is(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self}");
        words.iter().for_each(|words| assert!(self.stderr.contains(words), "`{words}`: {self}"));
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}\n{}---\n{}", self.code, self.stdout, self.stderr)
    }
}

pub(crate) fn request(id: &str) -> String {
    crate::client::request(id, "finder")["document"].to_string()
}

pub(crate) fn report(id: &str, outcome: &str) -> String {
    crate::client::report(id, outcome).to_string()
}

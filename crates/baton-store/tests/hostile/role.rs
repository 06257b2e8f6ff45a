//! What a started process does, and how it is started and speaks.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_engine::store::StoreError;
use baton_store::Location;
use baton_testbed::Process;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::bed::{id, request, run, time};
use crate::crowds;

/// Tells a process which role it plays.
const VARIABLE: &str = "BATON_HOSTILE_ROLE";

/// What a process does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Sends long requests until no file may grow any more; goes on when it is told that there is room again.
    Filler { path: PathBuf, file_bytes_max: u64 },
    /// Opens a store and sends one request.
    Opener { path: PathBuf },
    /// Waits for a line, and then sends so many requests.
    Sender { store: String, name: String, count: usize },
}

impl Role {
    /// Returns the call of a process that plays this role, behind the words of another program.
    pub(crate) fn command(&self, before: &[&str]) -> Command {
        let program = std::env::current_exe().expect("the test has a path");
        let player = "process_plays_the_role_that_it_was_started_for";
        let own = [program.to_str().expect("a path in UTF-8"), "--exact", player, "--test-threads=1", "--quiet"];
        let words: Vec<&str> = before.iter().chain(&own).copied().collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env(VARIABLE, serde_json::to_string(self).expect("a role is JSON"));
        command
    }

    /// Starts a process that plays this role.
    pub(crate) fn start(&self) -> Process {
        Process::spawn(&mut self.command(&[]))
    }
}

/// Plays the role that this process was started for, if it was started for one.
pub(crate) fn play() {
    let Ok(role) = std::env::var(VARIABLE) else { return };
    // What the test's own frame has written so far ends here.
    say("");
    match serde_json::from_str(&role).expect("a role") {
        Role::Filler { path, file_bytes_max } => run(fill(&path, file_bytes_max)),
        Role::Opener { path } => run(open(&path)),
        Role::Sender { store, name, count } => {
            let location = Location::parse(&store).expect("a location");
            run(crowds::send(&location, &name, count));
        }
    }
}

/// Sends a line to the parent.
pub(crate) fn say(line: &str) {
    // A parent that has gone does not listen.
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// Waits until the parent says something.
pub(crate) fn wait_for_the_parent() {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).expect("the parent is there");
}

async fn fill(path: &Path, file_bytes_max: u64) {
    let store = crate::bed::open(path).await.expect("there is room for an empty store");
    limit(Some(file_bytes_max));
    let mut refused = 0;
    for number in 0..10_000 {
        let name = format!("full{number}");
        match store.accept(vec![request(&name, 8_000)], time(0)).await {
            Ok(_) => say(&format!("accepted {name}")),
            Err(StoreError::Unwritable(why)) => {
                say(&format!("unwritable {why}"));
                let found = store.find(&id("full0")).await;
                say(&format!("reading {}", matches!(found, Ok(Some(_)))));
                refused += 1;
            }
            Err(error) => say(&format!("wrong {error:?}")),
        }
        if refused == 3 {
            break;
        }
    }
    say("full");
    wait_for_the_parent();
    limit(None);
    match store.accept(vec![request("after", 8_000)], time(1)).await {
        Ok(_) => say("accepted after"),
        Err(error) => say(&format!("wrong {error:?}")),
    }
}

/// Lets no file of this process grow beyond this; only the soft limit, so that it can be lifted.
fn limit(file_bytes_max: Option<u64>) {
    setrlimit(Resource::Fsize, Rlimit { current: file_bytes_max, maximum: None }).expect("a limit below the maximum");
}

async fn open(path: &Path) {
    let tried = match crate::bed::open(path).await {
        Ok(store) => store.accept(vec![request("one", 10)], time(0)).await.map(drop),
        Err(error) => Err(error),
    };
    match tried {
        Ok(()) => say("accepted one"),
        Err(StoreError::Unwritable(why)) => say(&format!("unwritable {why}")),
        Err(error) => say(&format!("wrong {error:?}")),
    }
}

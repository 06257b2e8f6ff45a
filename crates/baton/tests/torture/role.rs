//! What a started process does: the roles, how they are told to it, and how it speaks.
//!
//! A process speaks in whole lines, and says that something has happened only after it has. Its stdin stays open for as
//! long as its parent lives; it ends with it.

use std::future::Future;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use baton_engine::store::StoreError;
use baton_store::Location;
use baton_testbed::Process;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{folder_roles, sender, worker};

/// Tells a process which role it plays.
const VARIABLE: &str = "BATON_TORTURE_ROLE";

/// The test that plays a role.
const PLAYER: &str = "process_plays_the_role_that_it_was_started_for";

/// How long a store may be away before that is a failure.
const ABSENCE_MAX: Duration = Duration::from_secs(60);

/// What a process does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Sends bundles of handoffs to a store: those with these numbers.
    Sender { store: String, name: String, from: u64, count: u64 },
    /// Claims and reports; with all kinds of mischief, or calmly until nothing is left.
    Worker { store: String, name: String, seed: u64, calm: bool },
    /// Creates handoffs in folders: those with these numbers.
    Creator { root: PathBuf, name: String, from: u64, count: u64 },
    /// Claims and completes in folders; with all kinds of mischief, or calmly until nothing is left.
    Doer { root: PathBuf, name: String, seed: u64, calm: bool },
}

impl Role {
    /// Starts a process that plays this role.
    pub(crate) fn start(&self) -> Process {
        let program = std::env::current_exe().expect("the test has a path");
        let mut command = Command::new(program);
        command.args(["--exact", PLAYER, "--test-threads=1", "--quiet"]);
        command.env(VARIABLE, serde_json::to_string(self).expect("a role is JSON"));
        Process::spawn(&mut command)
    }
}

/// Plays the role that this process was started for, if it was started for one.
pub(crate) fn play() {
    let Ok(role) = std::env::var(VARIABLE) else { return };
    let role: Role = serde_json::from_str(&role).expect("a role");
    std::thread::spawn(end_with_the_parent);
    // What the test's own frame has written so far ends here.
    say("");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match role {
            Role::Sender { store, name, from, count } => {
                sender::send(&location(&store), &name, from..from + count).await
            }
            Role::Worker { store, name, seed, calm } => worker::work(&location(&store), &name, seed, calm).await,
            Role::Creator { root, name, from, count } => folder_roles::create(&root, &name, from..from + count),
            Role::Doer { root, name, seed, calm } => folder_roles::work(&root, &name, seed, calm),
        }
    });
}

fn location(text: &str) -> Location {
    Location::parse(text).expect("a location")
}

fn end_with_the_parent() {
    // Nothing is ever written: this returns when the other end is closed.
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}

/// Sends a line to the parent.
pub(crate) fn say(line: &str) {
    // One write per line, so that a kill leaves a whole line or none. A parent that has gone does not listen.
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// Ends the process with a finding: something that must never happen.
pub(crate) fn give_up(why: &str) -> ! {
    say(&format!("broken {}", why.replace('\n', " ")));
    std::process::exit(3);
}

/// Does something again and again while the store is away. Every other error is an answer.
pub(crate) async fn persist<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let start = Instant::now();
    loop {
        match attempt().await {
            Err(StoreError::Unreachable(why)) if start.elapsed() > ABSENCE_MAX => {
                give_up(&format!("the store is away for {ABSENCE_MAX:?}: {why}"));
            }
            Err(StoreError::Unreachable(why)) => {
                say(&format!("away {}", why.replace('\n', " ")));
                dawdle(Duration::from_millis(20)).await;
            }
            answer => return answer,
        }
    }
}

/// Lets time pass, as work does.
pub(crate) async fn dawdle(time: Duration) {
    // Nothing ever comes, and that is what the time is spent with.
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// Returns the machine's time in whole microseconds, as stores keep it.
#[expect(clippy::disallowed_methods, reason = "real processes need a real clock")]
pub(crate) fn now() -> Timestamp {
    let time = Timestamp::now();
    Timestamp::from_microsecond(time.as_microsecond()).expect("a time of today")
}

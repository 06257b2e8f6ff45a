//! A throw-away PostgreSQL server: a real one, in a temporary folder, on a port of its own.
//!
//! It ends with the [`PostgresServer`] that started it, and also if our process is killed: a watchdog beside it
//! waits for our end of a pipe to close.

mod endpoint;
mod installation;
mod remains;
mod server;
mod standby;
mod watchdog;

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::dice::Dice;
use crate::scratch::make_folder;

pub use endpoint::{Endpoint, MOVABLE_CLOCK, query};
use installation::Installation;
use remains::Remains;
use server::Server;
use watchdog::Watchdog;

/// Names a server to use instead of starting one.
const VARIABLE: &str = "BATON_TEST_POSTGRES";

/// Below the ports that systems give to outgoing connections, so that nobody takes ours while the server is down.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// How often another port is tried if somebody was faster.
const PORT_ATTEMPTS_MAX: usize = 5;

/// How a server is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Whether a commit waits for the disk; without, tests are faster and only a power cut would lose something.
    pub fsync: bool,
    /// How many connections there may be at the same time.
    pub connections_max: u16,
    /// Further `postgresql.conf` settings.
    pub more: Vec<(String, String)>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        ServerSettings { fsync: true, connections_max: 200, more: Vec::new() }
    }
}

/// A PostgreSQL server of our own.
#[derive(Debug)]
pub struct PostgresServer {
    endpoint: Endpoint,
    port: u16,
    installation: Installation,
    folder: PathBuf,
    arguments: Vec<String>,
    state: Mutex<State>,
    /// Last, so that it finds the server stopped.
    _watchdog: Watchdog,
}

#[derive(Debug)]
enum State {
    Running(Server),
    Stopped,
    Killed(Remains),
}

impl PostgresServer {
    /// Starts a server that keeps its promises: a commit is on the disk.
    pub fn start() -> Self {
        PostgresServer::start_with(&ServerSettings::default())
    }

    /// Starts a server for plain tests, which does not wait for the disk. It survives [`PostgresServer::kill`] all the same.
    pub fn start_without_fsync() -> Self {
        PostgresServer::start_with(&ServerSettings { fsync: false, ..ServerSettings::default() })
    }

    /// Starts a server with these settings.
    pub fn start_with(settings: &ServerSettings) -> Self {
        let installation = Installation::find();
        let folder = make_folder("baton-postgres");
        installation.hand_over(&folder);
        let watchdog = Watchdog::start(&installation, &folder);
        let mut initdb = installation.command("initdb", &folder);
        initdb.args(["-D", "data", "-U", "baton", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        must_succeed(&mut initdb);
        let (port, arguments, server) = start_on_free_port(&installation, &folder, settings);
        PostgresServer::running(installation, folder, watchdog, (port, arguments, server))
    }

    fn running(
        installation: Installation,
        folder: PathBuf,
        watchdog: Watchdog,
        (port, arguments, server): (u16, Vec<String>, Server),
    ) -> Self {
        let endpoint =
            Endpoint::new(format!("postgres://baton@127.0.0.1:{port}/postgres"), installation.psql().to_owned());
        let state = Mutex::new(State::Running(server));
        PostgresServer { endpoint, port, installation, folder, arguments, state, _watchdog: watchdog }
    }

    /// Returns a server that all tests of this process share: the one that `BATON_TEST_POSTGRES` names, or one that is
    /// started now. Nobody can stop it, so nobody can stop it for others.
    pub fn shared() -> &'static Endpoint {
        static NAMED: OnceLock<Endpoint> = OnceLock::new();
        // Statics are not dropped; the watchdog stops this one when our process ends.
        static STARTED: OnceLock<PostgresServer> = OnceLock::new();
        match std::env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => NAMED.get_or_init(|| Endpoint::new(url, installation::find_psql())),
            _ => &STARTED.get_or_init(PostgresServer::start_without_fsync).endpoint,
        }
    }

    /// Returns the URL of the database `postgres`.
    pub fn url(&self) -> &str {
        self.endpoint.url()
    }

    /// Makes an empty database and returns its URL.
    pub fn new_database(&self) -> String {
        self.endpoint.new_database()
    }

    /// Returns the process number of the server (the postmaster), or nothing while it is down.
    pub fn id(&self) -> Option<u32> {
        match &*self.state() {
            State::Running(server) => Some(server.id()),
            State::Stopped | State::Killed(_) => None,
        }
    }

    /// Kills every process of the server at once, as `kill -9` does, and waits until all are gone.
    pub fn kill(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Stopped) {
            State::Running(server) => {
                let remains = Remains::of(server.id(), &self.folder);
                server.kill();
                State::Killed(remains)
            }
            down => down,
        };
    }

    /// Stops the server in an orderly way; open transactions are rolled back.
    pub fn stop(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Stopped) {
            State::Running(server) => {
                server.stop();
                State::Stopped
            }
            down => down,
        };
    }

    /// Starts the server again on the same port, after [`PostgresServer::kill`] or [`PostgresServer::stop`]; waits until it accepts
    /// connections.
    pub fn restart(&self) {
        let mut state = self.state();
        assert!(!matches!(*state, State::Running(_)), "the server is running");
        // All processes are known to be gone. The lock file of a killed server still names one, and in a long torture
        // another process of the same user may have got its number by now.
        let _ = std::fs::remove_file(self.folder.join("data/postmaster.pid"));
        let started = Server::start(&self.installation, &self.folder, &self.arguments);
        *state = State::Running(started.unwrap_or_else(|log| panic!("PostgreSQL does not start again:\n{log}")));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked has left a state that is still true.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        match std::mem::replace(&mut *self.state(), State::Stopped) {
            State::Running(server) => server.stop_immediately(),
            State::Stopped => {}
            State::Killed(remains) => remains.remove(),
        }
    }
}

fn start_on_free_port(
    installation: &Installation,
    folder: &std::path::Path,
    settings: &ServerSettings,
) -> (u16, Vec<String>, Server) {
    let mut dice = Dice::fresh();
    let mut log = String::new();
    for _ in 0..PORT_ATTEMPTS_MAX {
        let port = free_port(&mut dice);
        let arguments = arguments(port, folder, settings);
        match Server::start(installation, folder, &arguments) {
            Ok(server) => return (port, arguments, server),
            Err(text) => log = text,
        }
        if !log.contains("could not bind") {
            break;
        }
    }
    panic!("PostgreSQL does not start:\n{log}");
}

fn free_port(dice: &mut Dice) -> u16 {
    let span = u64::from(PORTS.end - PORTS.start);
    let mut draws = (0..1000).map(|_| PORTS.start + u16::try_from(dice.below(span)).expect("a span of ports is small"));
    let free = draws.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("one of a thousand ports is free")
}

fn arguments(port: u16, folder: &std::path::Path, settings: &ServerSettings) -> Vec<String> {
    let switch = |on: bool| (if on { "on" } else { "off" }).to_owned();
    let own = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", socket_folder(folder)),
        ("max_connections", settings.connections_max.to_string()),
        ("fsync", switch(settings.fsync)),
        ("synchronous_commit", switch(settings.fsync)),
        ("full_page_writes", switch(settings.fsync)),
        // The log is a pipe to us; whoever waits for the last writer must not wait for a collector.
        ("logging_collector", "off".to_owned()),
        ("lc_messages", "C".to_owned()),
    ];
    let more = settings.more.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let settings = own.into_iter().chain(more);
    let words = settings.flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]);
    ["-D".to_owned(), "data".to_owned()].into_iter().chain(words).collect()
}

/// Returns the folder for the Unix socket, or none if the path would be longer than such a path may be.
fn socket_folder(folder: &std::path::Path) -> String {
    let path = folder.display().to_string();
    if path.len() < 80 { path } else { String::new() }
}

fn must_succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed ({}):\n{stderr}", output.status);
    output
}

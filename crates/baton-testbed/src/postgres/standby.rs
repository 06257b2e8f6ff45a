//! Standbys: a second server that has everything, and takes the place of the first when that is gone.

use super::installation::Installation;
use super::server::Server;
use super::watchdog::Watchdog;
use super::{PostgresServer, ServerSettings, arguments, must_succeed, query, start_on_free_port};
use crate::scratch::make_folder;

impl PostgresServer {
    /// Starts a standby of this server, on a port of its own or on that of a server that is gone. From then on a commit
    /// waits until a standby has it on its disk, too.
    pub fn start_standby(&self, port: Option<u16>) -> PostgresServer {
        let installation = Installation::find();
        let folder = make_folder("baton-postgres");
        installation.hand_over(&folder);
        let watchdog = Watchdog::start(&installation, &folder);
        let mut copy = installation.command("pg_basebackup", &folder);
        copy.args(["-D", "data", "-R", "-X", "stream", "--checkpoint=fast", "-d", self.url()]);
        must_succeed(&mut copy);
        let settings = ServerSettings::default();
        let started = match port {
            None => start_on_free_port(&installation, &folder, &settings),
            Some(port) => {
                let arguments = arguments(port, &folder, &settings);
                let server = Server::start(&installation, &folder, &arguments);
                let server = server.unwrap_or_else(|log| panic!("the standby does not start:\n{log}"));
                (port, arguments, server)
            }
        };
        // The copy of this setting goes with the data: a standby that was promoted waits for one of its own.
        query(self.url(), "ALTER SYSTEM SET synchronous_standby_names = '*'");
        query(self.url(), "SELECT pg_reload_conf()");
        PostgresServer::running(installation, folder, watchdog, started)
    }

    /// Makes a standby the server that writes, and waits until it is.
    pub fn promote(&self) {
        query(self.url(), "SELECT pg_promote()");
    }

    /// Returns the port that the server listens on.
    pub fn port(&self) -> u16 {
        self.port
    }
}

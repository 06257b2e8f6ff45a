//! What stands before several servers: one address, whose connections go to the server of the moment.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Listens until the test ends.
pub(crate) struct Balancer {
    pub(crate) address: String,
    target: Arc<Mutex<String>>,
}

impl Balancer {
    /// Leads to a server.
    pub(crate) fn before(server: &str) -> Balancer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let target = Arc::new(Mutex::new(server.to_owned()));
        let current = Arc::clone(&target);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let target = current.lock().expect("nobody panics here").clone();
                // A server that was killed is as good as none: the client is hung up on.
                if let Ok(server) = TcpStream::connect(target) {
                    join(&client, &server).expect("our own sockets");
                }
            }
        });
        Balancer { address, target }
    }

    /// Leads new connections to another server.
    pub(crate) fn lead_to(&self, server: &str) {
        server.clone_into(&mut self.target.lock().expect("nobody panics here"));
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Passes everything on, both ways, until one side hangs up.
fn join(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    for (from, to) in [(client, server), (server, client)] {
        let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}

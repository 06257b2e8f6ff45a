//! The connections of a server, with TLS or without. Each has limits of time, so that nobody holds one for nothing: a handshake,
//! the head of a request and its body must arrive in time. What the server itself makes wait (a claim with `wait`, a stream of
//! events) is not cut off.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::Server;
use crate::tls::TlsIdentity;

/// How long to wait when connections cannot be accepted: too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// What callers may take of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How long a TLS handshake takes at most.
    pub handshake: Duration,
    /// How long it takes at most until the head of a request is there. It counts from the end of the request before as well: a
    /// connection on which nothing comes is closed.
    pub head: Duration,
    /// How long it takes at most until the body of a request is there.
    pub body: Duration,
    /// How many connections there are at once. Those above it wait until one ends.
    pub connections: u32,
    /// How many wrong tokens one address may present in a minute before it has to wait.
    pub wrong_tokens: u32,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_mins(2),
            connections: 4_096,
            wrong_tokens: 10,
        }
    }
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) SocketAddr);

/// Takes connections until the server is about to end, then waits until those that are there have ended.
pub(crate) async fn accept_all(listener: TcpListener, tls: Option<TlsIdentity>, server: Server, router: Router) {
    let count = server.limits.connections;
    let slots = Arc::new(Semaphore::new(count as usize));
    let router = TowerToHyperService::new(router);
    while let Some(slot) = unless_closing(&server, Arc::clone(&slots).acquire_owned()).await {
        let Some(accepted) = unless_closing(&server, listener.accept()).await else { break };
        match (accepted, slot) {
            (Ok((stream, address)), Ok(slot)) => {
                // Answers are written at once and whole; without it, small ones of a stream would wait for each other.
                let _ = stream.set_nodelay(true);
                let connection = Connection { server: server.clone(), router: router.clone(), address };
                tokio::spawn(connection.go(stream, tls.clone(), slot));
            }
            // Whoever hung up again needs no answer.
            (Err(error), _) if is_of_peer(&error) => {}
            (Err(_), _) | (_, Err(_)) => tokio::time::sleep(PAUSE).await,
        }
    }
    drop(listener);
    // Whoever has all slots is alone.
    let _ = slots.acquire_many(count).await;
}

/// Waits for something; `None` if the server is about to end.
async fn unless_closing<T>(server: &Server, wanted: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = server.closing() => None,
        wanted = wanted => Some(wanted),
    }
}

fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// One connection.
struct Connection {
    server: Server,
    router: TowerToHyperService<Router>,
    address: SocketAddr,
}

impl Connection {
    /// Answers until either side ends it; the slot is free then.
    async fn go(self, stream: TcpStream, tls: Option<TlsIdentity>, _slot: OwnedSemaphorePermit) {
        let Some(TlsIdentity(acceptor)) = tls else { return self.answer(stream).await };
        let handshake = tokio::time::timeout(self.server.limits.handshake, acceptor.accept(stream));
        if let Some(Ok(Ok(stream))) = unless_closing(&self.server, handshake).await {
            self.answer(stream).await;
        }
    }

    async fn answer(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Connection { server, router, address } = self;
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(PeerAddress(address));
            router.call(request)
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(server.limits.head);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        // How a connection ends is of no interest to anybody: what was asked was answered, or nobody is there any more.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = server.closing() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

//! Connections to a server: made when they are needed, kept while they are not, encrypted where the address says so.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::store::StoreError;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::ServerAddress;
use crate::authorities::Authorities;

/// How long it may take until a connection is there.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How many connections are kept for later.
const IDLE_MAX: usize = 8;

/// How long a connection is kept on which nothing is asked. A server closes it after 30 seconds, and a request that is on its
/// way then is lost.
const IDLE_TIME_MAX: Duration = Duration::from_secs(20);

type Sender = SendRequest<Full<Bytes>>;

/// Connections to one server.
pub(super) struct Connections {
    address: ServerAddress,
    tls: Option<TlsConnector>,
    idle: Mutex<Vec<IdleConnection>>,
}

/// A connection that is kept for later, and since when.
struct IdleConnection {
    sender: Sender,
    since: Instant,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoReply {
    /// The server has not seen the request.
    Unsent(StoreError),
    /// Perhaps the server has seen it, and acted.
    Lost(StoreError),
}

impl From<NoReply> for StoreError {
    fn from(no_reply: NoReply) -> StoreError {
        match no_reply {
            NoReply::Unsent(error) | NoReply::Lost(error) => error,
        }
    }
}

impl Connections {
    /// Prepares connections to a server. Its certificate must be vouched for by the authorities that the machine trusts, or
    /// by one of this file.
    pub(super) fn to(address: ServerAddress, authorities: Option<&Path>) -> Result<Connections, StoreError> {
        let tls = if address.is_encrypted { Some(connector(authorities)?) } else { None };
        Ok(Connections { address, tls, idle: Mutex::default() })
    }

    /// Sends a request, and waits for the whole answer as long as is allowed.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), NoReply> {
        let late = || NoReply::Lost(self.away(format!("no answer within {} s", limit.as_secs())));
        tokio::time::timeout(limit, self.exchange(request)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn exchange(&self, mut request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), NoReply> {
        loop {
            let (mut sender, is_new) = match self.kept() {
                Some(kept) => (kept, false),
                None => (self.connect().await.map_err(NoReply::Unsent)?, true),
            };
            match sender.try_send_request(request).await {
                Ok(response) => {
                    let answer = self.read(response).await?;
                    self.keep(sender);
                    return Ok(answer);
                }
                Err(mut failed) => match failed.take_message() {
                    // The server had closed a connection that we kept.
                    Some(unsent) if !is_new => request = unsent,
                    Some(_) => return Err(NoReply::Unsent(self.away(failed.error()))),
                    None => return Err(NoReply::Lost(self.away(failed.error()))),
                },
            }
        }
    }

    async fn read(&self, response: Response<hyper::body::Incoming>) -> Result<(StatusCode, Bytes), NoReply> {
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| NoReply::Lost(self.away(error)))?;
        Ok((status, body.to_bytes()))
    }

    fn kept(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|kept| !kept.sender.is_closed() && kept.since.elapsed() < IDLE_TIME_MAX);
        let ready = idle.iter().position(|kept| kept.sender.is_ready())?;
        Some(idle.swap_remove(ready).sender)
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(IdleConnection { sender, since: Instant::now() });
        }
    }

    async fn connect(&self) -> Result<Sender, StoreError> {
        let late = || Err(self.away(format!("no connection within {} s", CONNECT_MAX.as_secs())));
        tokio::time::timeout(CONNECT_MAX, self.connect_patiently()).await.unwrap_or_else(|_| late())
    }

    async fn connect_patiently(&self) -> Result<Sender, StoreError> {
        let stream = self.reach().await.map_err(|error| self.away(error))?;
        // Requests are small, and each is waited for.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.begin(stream).await,
            Some(tls) => {
                let name = ServerName::try_from(self.address.host.clone()).map_err(|error| self.away(error))?;
                let stream = tls.connect(name, stream).await.map_err(|error| self.not_proved(error))?;
                self.begin(stream).await
            }
        }
    }

    async fn reach(&self) -> io::Result<TcpStream> {
        let (host, port) = (self.address.host.as_str(), self.address.port);
        let mut last = io::Error::other("the name means no machine");
        for address in tokio::net::lookup_host((host, port)).await? {
            // Whatever the name means here: what is not encrypted does not leave this machine.
            if !self.address.is_encrypted && !address.ip().to_canonical().is_loopback() {
                last = io::Error::other(format!("{host} is {}, which is not this machine", address.ip()));
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn begin<S>(&self, stream: S) -> Result<Sender, StoreError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| self.away(error))?;
        // How it ends shows in the requests that are sent on it.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }

    fn away(&self, why: impl std::fmt::Display) -> StoreError {
        StoreError::Unreachable(format!("{}: {why}", self.address))
    }

    /// The error when an encrypted connection could not be made. A certificate that nobody vouches for stays that way.
    fn not_proved(&self, error: io::Error) -> StoreError {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match tls {
            Some(rustls::Error::InvalidCertificate(why)) => StoreError::Declined {
                code: "bad_certificate".to_owned(),
                message: format!("{}: its certificate does not count: {why}", self.address),
                hint: Some(
                    "name the file of your own certificate authority: ca_file under [store] in baton.toml".to_owned(),
                ),
            },
            Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => StoreError::Declined {
                code: "not_tls".to_owned(),
                message: format!("{}: it does not speak TLS", self.address),
                hint: Some(if self.address.is_loopback() {
                    format!("did you mean {}?", ServerAddress { is_encrypted: false, ..self.address.clone() })
                } else {
                    "check the port; a server on another machine is only reached with TLS".to_owned()
                }),
            },
            _ => self.away(error),
        }
    }
}

fn connector(file: Option<&Path>) -> Result<TlsConnector, StoreError> {
    let mut authorities = Authorities::of_machine();
    if let Some(file) = file {
        authorities = authorities.and_in(file).map_err(|why| StoreError::Declined {
            code: "bad_certificate".to_owned(),
            message: format!("ca_file {}: {why}", file.display()),
            hint: Some("name a PEM file with certificates".to_owned()),
        })?;
    }
    let config = authorities.client().map_err(|error| StoreError::Failed(format!("TLS: {error}")))?;
    Ok(TlsConnector::from(Arc::new(config)))
}

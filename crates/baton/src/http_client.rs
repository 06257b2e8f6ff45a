//! One HTTP request over one connection, as Baton sends it to others. TLS is checked against the authorities that the machine
//! trusts. Redirects are not followed, and proxies are not used: the address that was checked is the one that is connected to.

mod address;
mod public;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use baton_store::Authorities;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) use address::HttpAddress;

/// The most bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Which machines may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of them.
    Anywhere,
    /// Those of the public internet: neither this machine nor its networks.
    Public,
}

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// Headers beyond those that every request has.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub(crate) body: Bytes,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The status.
    pub(crate) status: StatusCode,
}

/// Why there is no answer. None of them says what was sent.
#[derive(Debug)]
pub(crate) enum HttpFault {
    /// The name means no address.
    Unresolved(io::Error),
    /// The name means an address that may not be connected to.
    Private(SocketAddr),
    /// Nobody is there, or the connection broke.
    Unreachable(String),
    /// It took too long.
    TimedOut(Duration),
}

impl fmt::Display for HttpFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpFault::Unresolved(error) => write!(formatter, "the name cannot be resolved: {error}"),
            HttpFault::Private(address) => write!(formatter, "{} is not a public address", address.ip()),
            HttpFault::Unreachable(why) => formatter.write_str(why),
            HttpFault::TimedOut(limit) => write!(formatter, "no answer within {} s", limit.as_secs()),
        }
    }
}

impl HttpFault {
    /// Returns whether it may go better another time.
    pub(crate) fn may_pass(&self) -> bool {
        !matches!(self, HttpFault::Private(_))
    }
}

/// Posts something, and waits for the status at most this long.
pub(crate) async fn post(
    address: &HttpAddress,
    reach: Reach,
    outgoing: Outgoing,
    limit: Duration,
) -> Result<Answered, HttpFault> {
    let asked = async {
        let stream = connect(address, reach).await?;
        if address.tls {
            exchange(encrypted(address, stream).await?, address, outgoing).await
        } else {
            exchange(stream, address, outgoing).await
        }
    };
    tokio::time::timeout(limit, asked).await.unwrap_or(Err(HttpFault::TimedOut(limit)))
}

/// Connects to the first address of the name that answers. What may not be connected to is never tried: the check is made on
/// the very address that is connected to, so that a name cannot mean another one a moment later.
async fn connect(address: &HttpAddress, reach: Reach) -> Result<TcpStream, HttpFault> {
    let found = tokio::net::lookup_host((address.host.as_str(), address.port)).await.map_err(HttpFault::Unresolved)?;
    let mut last = HttpFault::Unresolved(io::Error::other("it has no address"));
    for found in found {
        if reach == Reach::Public && !public::is_public(found.ip()) {
            return Err(HttpFault::Private(found));
        }
        match TcpStream::connect(found).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = HttpFault::Unreachable(format!("cannot connect: {error}")),
        }
    }
    Err(last)
}

async fn encrypted(
    address: &HttpAddress,
    stream: TcpStream,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, HttpFault> {
    let failed = |why: &dyn fmt::Display| HttpFault::Unreachable(format!("TLS: {why}"));
    let name = ServerName::try_from(address.host.clone()).map_err(|error| failed(&error))?;
    TlsConnector::from(tls_settings()?).connect(name, stream).await.map_err(|error| failed(&error))
}

/// Reads the authorities of the machine once.
fn tls_settings() -> Result<Arc<ClientConfig>, HttpFault> {
    static SETTINGS: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let read = || {
        let config = Authorities::of_machine().client().map_err(|error| error.to_string())?;
        Ok(Arc::new(config))
    };
    SETTINGS.get_or_init(read).clone().map_err(|why| HttpFault::Unreachable(format!("TLS: {why}")))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: &HttpAddress,
    outgoing: Outgoing,
) -> Result<Answered, HttpFault> {
    let broken = |error: hyper::Error| HttpFault::Unreachable(format!("the connection broke: {error}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends when the sender is dropped.
    let driven = tokio::spawn(connection);
    let answered = async {
        let request = request(address, outgoing)?;
        let answer = sender.send_request(request).await.map_err(broken)?;
        let (head, body) = answer.into_parts();
        // Only the status counts; the rest is read so that the other side can finish, up to a limit.
        let _ = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        Ok(Answered { status: head.status })
    }
    .await;
    driven.abort();
    answered
}

fn request(address: &HttpAddress, outgoing: Outgoing) -> Result<Request<Full<Bytes>>, HttpFault> {
    let unfit = |why: &dyn fmt::Display| HttpFault::Unreachable(format!("the request cannot be written: {why}"));
    let host = HeaderValue::from_str(&address.authority).map_err(|error| unfit(&error))?;
    let mut request = Request::new(Full::new(outgoing.body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = address.target.parse().map_err(|error| unfit(&error))?;
    let headers = request.headers_mut();
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("baton/", env!("CARGO_PKG_VERSION"))));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(outgoing.body.len()));
    headers.extend(outgoing.headers);
    Ok(request)
}

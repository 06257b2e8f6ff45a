//! TLS in front of the server. Handshakes go on beside each other: somebody who begins one and says nothing holds up nobody.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use tokio_rustls::server::TlsStream;

/// How long a handshake may take.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// How many connections wait to be served.
const WAITING_MAX: usize = 64;

/// How long to wait when connections cannot be accepted: too many files are open.
const PAUSE: Duration = Duration::from_secs(1);

/// Why there is no TLS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The certificate cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The key cannot be read.
    #[error("the private key cannot be read: {0}")]
    Key(String),
    /// They cannot be used together.
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(String),
}

/// Listens, and speaks TLS.
pub struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Speaks TLS with a certificate and its key, both in PEM.
    pub fn over(listener: TcpListener, certificate: &[u8], key: &[u8]) -> Result<TlsListener, TlsFault> {
        let config = config(certificate, key)?;
        let address = listener.local_addr().map_err(|error| TlsFault::Unusable(error.to_string()))?;
        let (done, ready) = mpsc::channel(WAITING_MAX);
        tokio::spawn(accept_all(listener, TlsAcceptor::from(Arc::new(config)), done));
        Ok(TlsListener { ready, address })
    }
}

fn config(certificate: &[u8], key: &[u8]) -> Result<ServerConfig, TlsFault> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsFault::Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(TlsFault::Certificate("there is none in the file".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsFault::Key(error.to_string()))?;
    let unusable = |error: tokio_rustls::rustls::Error| TlsFault::Unusable(error.to_string());
    let provider = Arc::new(crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config =
        versions.map_err(unusable)?.with_no_client_auth().with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

async fn accept_all(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    done: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    loop {
        let accepted = tokio::select! {
            () = done.closed() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
                        // A server that has ended serves nobody any more.
                        let _ = done.send((stream, address)).await;
                    }
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TlsStream<TcpStream>, SocketAddr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

//! The certificate and the key with which a server speaks TLS.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};

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

/// What TLS is spoken with.
#[derive(Clone)]
pub struct TlsIdentity(pub(crate) TlsAcceptor);

impl TlsIdentity {
    /// Takes a certificate with those above it, and its key, both in PEM.
    pub fn of(certificate: &[u8], key: &[u8]) -> Result<TlsIdentity, TlsFault> {
        Ok(TlsIdentity(TlsAcceptor::from(Arc::new(config(certificate, key)?))))
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

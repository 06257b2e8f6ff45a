//! Encryption of the connection: what `sslmode` and `sslrootcert` mean.
//!
//! `require` is stricter here than in libpq: a certificate that nobody vouches for is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::store::StoreError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::authorities::Authorities;

/// How a connection is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Protection {
    /// Not at all.
    None,
    /// Against listeners, if the server can; nothing is proved about the server.
    Opportunistic,
    /// The certificate of the server must be vouched for: by this file, or by the authorities that the machine trusts.
    Verified(Option<PathBuf>),
}

impl Protection {
    /// Returns what makes the connections.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        let failed = |error: rustls::Error| StoreError::Failed(format!("TLS: {error}"));
        let config = match self {
            Protection::None => Authorities::none().client().map_err(failed)?,
            Protection::Opportunistic => {
                let mut config = Authorities::none().client().map_err(failed)?;
                let provider = Arc::clone(config.crypto_provider());
                config.dangerous().set_certificate_verifier(Arc::new(Unproved { provider }));
                config
            }
            Protection::Verified(file) => authorities(file.as_deref())?.client().map_err(failed)?,
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

fn authorities(file: Option<&Path>) -> Result<Authorities, StoreError> {
    let Some(file) = file else { return Ok(Authorities::of_machine()) };
    let unreadable = |why| StoreError::Unreachable(format!("sslrootcert {}: {why}", file.display()));
    Authorities::none().and_in(file).map_err(unreadable)
}

/// Believes every certificate, as libpq does with `sslmode=prefer`: whoever could forge one could as well say that the
/// server has no TLS.
#[derive(Debug)]
struct Unproved {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Unproved {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

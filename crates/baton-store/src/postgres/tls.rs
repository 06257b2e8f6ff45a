//! Encryption of the connection: what `sslmode` and `sslrootcert` mean.
//!
//! `require` is stricter here than in libpq: a certificate that nobody vouches for is refused.

use std::path::PathBuf;
use std::sync::Arc;

use baton_engine::store::StoreError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

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
        let provider = Arc::new(ring::default_provider());
        let failed = |error: rustls::Error| StoreError::Failed(format!("TLS: {error}"));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let config = match self {
            Protection::None => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
            Protection::Opportunistic => {
                let verifier = Arc::new(Unproved { provider });
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
            Protection::Verified(file) => builder.with_root_certificates(roots(file)?).with_no_client_auth(),
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

fn roots(file: &Option<PathBuf>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let unreadable = |why: String| StoreError::Unreachable(format!("sslrootcert {}: {why}", path.display()));
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))? {
                let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
                roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(roots)
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

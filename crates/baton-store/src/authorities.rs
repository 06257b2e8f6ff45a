//! Who may vouch for a server: the certificate authorities that the machine trusts, or those in a file. Databases, servers of
//! Baton and webhooks are all believed in this one way.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Why certificates of a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthoritiesFault(String);

/// Certificate authorities.
pub struct Authorities(RootCertStore);

impl Authorities {
    /// Those that the machine trusts.
    pub fn of_machine() -> Authorities {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Authorities(roots)
    }

    /// Nobody.
    pub(crate) fn none() -> Authorities {
        Authorities(RootCertStore::empty())
    }

    /// Adds those in a file, in PEM; there must be one.
    pub(crate) fn and_in(mut self, file: &Path) -> Result<Authorities, AuthoritiesFault> {
        let unreadable = |why: &dyn std::fmt::Display| AuthoritiesFault(why.to_string());
        let mut is_empty = true;
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
            self.0.add(certificate.map_err(|error| unreadable(&error))?).map_err(|error| unreadable(&error))?;
            is_empty = false;
        }
        if is_empty { Err(unreadable(&"there is no certificate in it")) } else { Ok(self) }
    }

    /// Returns how a client speaks TLS with servers that they vouch for.
    pub fn client(self) -> Result<ClientConfig, rustls::Error> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?;
        Ok(builder.with_root_certificates(self.0).with_no_client_auth())
    }
}

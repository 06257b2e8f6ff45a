//! SSH signatures, as `ssh-keygen -Y sign` makes them: read and verified here, without any program or key file.
//!
//! The format is PROTOCOL.sshsig of OpenSSH. Only verifying is done here, so nothing is secret; the arithmetic is ring's.

pub mod allowed_signers;
mod key;
mod wire;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, SHA512, digest};

pub use key::{KeyContentFault, KeyFault, PublicKey};
pub use wire::WireFault;

use wire::{Reader, put_string};

/// What signatures of decisions are made for. A signature for anything else, such as a commit, does not count.
pub const NAMESPACE: &str = "baton";

/// What every signature and everything that is signed begins with.
const MAGIC: &[u8; 6] = b"SSHSIG";

/// The only version of the format.
const VERSION: u32 = 1;

/// The lines around an armoured signature.
const ARMOUR: (&str, &str) = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----");

/// Signatures are shorter than this.
pub const SIGNATURE_BYTES_MAX: usize = 16 * 1024;

/// A signature as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The fingerprint of the key that it was made with, as `ssh-keygen -l` prints it.
    pub key: String,
    /// The signature itself, as `ssh-keygen -Y sign` wrote it.
    pub armoured: String,
}

/// Why something is not an SSH signature, or not one that counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// Nobody reads that much.
    #[error("this is too long for an SSH signature")]
    TooLong,
    /// It does not begin and end as signatures do.
    #[error("an SSH signature begins with `{}`", ARMOUR.0)]
    NoArmour,
    /// Its letters stand for no bytes.
    #[error("the signature is damaged: it is not base64")]
    NotBase64,
    /// Its bytes are something else.
    #[error("not an SSH signature")]
    NoSignature,
    /// It is of a version that did not exist when this was written.
    #[error("the signature has version {0}, but only {VERSION} is known")]
    Version(u32),
    /// It is damaged.
    #[error(transparent)]
    Wire(#[from] WireFault),
    /// The key in it cannot be used.
    #[error(transparent)]
    Key(#[from] KeyContentFault),
    /// It was made for another purpose.
    #[error("it was made for `{}`, not for `{NAMESPACE}`", .0.escape_default())]
    OtherPurpose(String),
    /// It was made with another key, which has this fingerprint.
    #[error("it was made with the key {0}")]
    OtherKey(String),
    /// The text was not hashed as it must be.
    #[error("it uses a hash other than sha256 and sha512")]
    Hash,
    /// RSA was used with a hash that is not safe.
    #[error("RSA signatures must use sha256 or sha512")]
    RsaHash,
    /// A hardware token signed without anybody there.
    #[error("the hardware token was not touched")]
    Untouched,
    /// It was made for another text, or by somebody else.
    #[error("it does not match the decision")]
    Wrong,
}

/// A signature, taken apart.
struct Parts<'b> {
    key: PublicKey,
    namespace: &'b [u8],
    reserved: &'b [u8],
    hash: &'b [u8],
    signature: &'b [u8],
}

impl Signature {
    /// Reads an armoured signature; the error says why it cannot be read.
    pub fn read(armoured: &str) -> Result<Signature, SignatureFault> {
        let bytes = dearmour(armoured)?;
        let key = Parts::read(&bytes)?.key.fingerprint();
        Ok(Signature { key, armoured: format!("{}\n", armoured.trim()) })
    }

    /// Returns the public key that it was made with; the error says why it cannot be read.
    pub fn public_key(&self) -> Result<PublicKey, SignatureFault> {
        let bytes = dearmour(&self.armoured)?;
        Ok(Parts::read(&bytes)?.key)
    }

    /// Verifies that this was signed with this key for us; the error says what does not fit.
    pub fn verify(&self, key: &PublicKey, text: &[u8]) -> Result<(), SignatureFault> {
        let bytes = dearmour(&self.armoured)?;
        let parts = Parts::read(&bytes)?;
        if parts.namespace != NAMESPACE.as_bytes() {
            return Err(SignatureFault::OtherPurpose(String::from_utf8_lossy(parts.namespace).into_owned()));
        }
        if parts.key != *key || self.key != key.fingerprint() {
            return Err(SignatureFault::OtherKey(parts.key.fingerprint()));
        }
        let hashed = match parts.hash {
            b"sha256" => digest(&SHA256, text),
            b"sha512" => digest(&SHA512, text),
            _ => return Err(SignatureFault::Hash),
        };
        let mut signed = MAGIC.to_vec();
        for part in [parts.namespace, parts.reserved, parts.hash, hashed.as_ref()] {
            put_string(&mut signed, part);
        }
        key.verify(&signed, parts.signature)
    }
}

impl<'b> Parts<'b> {
    fn read(bytes: &'b [u8]) -> Result<Parts<'b>, SignatureFault> {
        let mut reader = Reader::new(bytes.strip_prefix(MAGIC).ok_or(SignatureFault::NoSignature)?);
        let version = reader.number()?;
        if version != VERSION {
            return Err(SignatureFault::Version(version));
        }
        let key = PublicKey::of_blob(reader.string()?)?;
        let parts = Parts {
            key,
            namespace: reader.string()?,
            reserved: reader.string()?,
            hash: reader.string()?,
            signature: reader.string()?,
        };
        reader.end()?;
        Ok(parts)
    }
}

fn dearmour(armoured: &str) -> Result<Vec<u8>, SignatureFault> {
    if armoured.len() > SIGNATURE_BYTES_MAX {
        return Err(SignatureFault::TooLong);
    }
    let inner = armoured.trim().strip_prefix(ARMOUR.0).and_then(|rest| rest.strip_suffix(ARMOUR.1));
    let inner = inner.ok_or(SignatureFault::NoArmour)?;
    let letters: String = inner.split_ascii_whitespace().collect();
    STANDARD.decode(letters).map_err(|_| SignatureFault::NotBase64)
}

#[cfg(test)]
mod tests;

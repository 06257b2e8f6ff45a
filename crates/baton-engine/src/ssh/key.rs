//! Public keys of SSH, and what they say about a signature.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

use super::SignatureFault;
use super::wire::{Reader, WireFault};

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: String,
    blob: Vec<u8>,
}

/// The content of a key.
enum Content<'b> {
    Ed25519(&'b [u8]),
    Ecdsa(Curve, &'b [u8]),
    Rsa {
        exponent: &'b [u8],
        modulus: &'b [u8],
    },
    /// A key on a hardware token, which signs for an application.
    Token(Box<Content<'b>>, &'b [u8]),
}

#[derive(Clone, Copy)]
enum Curve {
    P256,
    P384,
}

/// The flag of a hardware token for: somebody touched it.
const TOUCHED: u8 = 1;

/// Why a line is not a key that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Words are missing.
    #[error("the key cannot be used: a kind and letters are expected")]
    Incomplete,
    /// Its letters stand for no bytes.
    #[error("the key cannot be used: it is not base64")]
    NotBase64,
    /// What its letters stand for is not such a key.
    #[error("the key cannot be used: {0}")]
    Content(#[from] KeyContentFault),
    /// The line names another kind than its letters.
    #[error("the key says that it is {found}, not {named}")]
    OtherKind {
        /// The kind that it is.
        found: String,
        /// The kind that the line names.
        named: String,
    },
}

/// Why bytes are not a key that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyContentFault {
    /// They are damaged.
    #[error(transparent)]
    Wire(#[from] WireFault),
    /// The kind is not even text.
    #[error("the kind of the key cannot be used")]
    Kind,
    /// We cannot compute with keys of this kind.
    #[error("keys of the kind `{}` are not supported", .0.escape_default())]
    Unsupported(String),
    /// It is too short to be safe.
    #[error("an RSA key needs {RSA_BITS_MIN} bits, and this one has {bits}; use Ed25519")]
    Short {
        /// How long it is.
        bits: usize,
    },
    /// It contradicts itself.
    #[error("the key names another curve than its kind")]
    OtherCurve,
}

impl PublicKey {
    /// Reads a key as in `id_ed25519.pub`: kind, base64, and perhaps a comment.
    pub fn read(line: &str) -> Result<PublicKey, KeyFault> {
        let mut words = line.split_ascii_whitespace();
        let (Some(kind), Some(letters)) = (words.next(), words.next()) else {
            return Err(KeyFault::Incomplete);
        };
        let blob = STANDARD.decode(letters).map_err(|_| KeyFault::NotBase64)?;
        let key = PublicKey::of_blob(&blob)?;
        if key.kind != kind {
            return Err(KeyFault::OtherKind { found: key.kind, named: kind.to_owned() });
        }
        Ok(key)
    }

    pub(super) fn of_blob(blob: &[u8]) -> Result<PublicKey, KeyContentFault> {
        let (kind, _) = content(blob)?;
        Ok(PublicKey { kind, blob: blob.to_owned() })
    }

    /// Returns the fingerprint, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(digest(&SHA256, &self.blob)))
    }

    /// Verifies the innermost part of a signature.
    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> Result<(), SignatureFault> {
        let mut reader = Reader::new(signature);
        let algorithm = reader.string()?;
        let proof = reader.string()?;
        let (_, content) = content(&self.blob)?;
        let is_rsa = matches!(content, Content::Rsa { .. });
        if !is_rsa && algorithm != self.kind.as_bytes() {
            return Err(SignatureFault::Wrong);
        }
        match content {
            Content::Token(inner, application) => {
                let (flags, counter) = (reader.byte()?, reader.number()?);
                reader.end()?;
                if flags & TOUCHED == 0 {
                    return Err(SignatureFault::Untouched);
                }
                let mut said = digest(&SHA256, application).as_ref().to_vec();
                said.push(flags);
                said.extend(counter.to_be_bytes());
                said.extend(digest(&SHA256, signed).as_ref());
                inner.verify(algorithm, &said, proof)
            }
            content => {
                reader.end()?;
                content.verify(algorithm, signed, proof)
            }
        }
    }
}

impl Content<'_> {
    fn verify(&self, algorithm: &[u8], signed: &[u8], proof: &[u8]) -> Result<(), SignatureFault> {
        let wrong = |_| SignatureFault::Wrong;
        let check = |kind: &'static dyn VerificationAlgorithm, key: &[u8], proof: &[u8]| {
            UnparsedPublicKey::new(kind, key).verify(signed, proof).map_err(wrong)
        };
        match self {
            Content::Ed25519(key) => check(&ED25519, key, proof),
            Content::Ecdsa(Curve::P256, key) => check(&ECDSA_P256_SHA256_FIXED, key, &pair(proof, 32)?),
            Content::Ecdsa(Curve::P384, key) => check(&ECDSA_P384_SHA384_FIXED, key, &pair(proof, 48)?),
            Content::Rsa { exponent, modulus } => {
                let hash = match algorithm {
                    b"rsa-sha2-256" => &RSA_PKCS1_2048_8192_SHA256,
                    b"rsa-sha2-512" => &RSA_PKCS1_2048_8192_SHA512,
                    _ => return Err(SignatureFault::RsaHash),
                };
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(hash, signed, proof).map_err(wrong)
            }
            Content::Token(..) => Err(SignatureFault::Wrong),
        }
    }
}

/// Returns the two numbers of an ECDSA signature, each with its full length.
fn pair(proof: &[u8], length: usize) -> Result<Vec<u8>, SignatureFault> {
    let mut reader = Reader::new(proof);
    let mut both = Vec::with_capacity(2 * length);
    for _ in 0..2 {
        let number = reader.natural()?;
        let zeros = length.checked_sub(number.len()).ok_or(SignatureFault::Wrong)?;
        both.resize(both.len() + zeros, 0);
        both.extend(number);
    }
    reader.end()?;
    Ok(both)
}

/// Takes a key apart, and returns its kind; the error says why it cannot be used.
fn content(blob: &[u8]) -> Result<(String, Content<'_>), KeyContentFault> {
    let mut reader = Reader::new(blob);
    let kind = std::str::from_utf8(reader.string()?).map_err(|_| KeyContentFault::Kind)?;
    let content = match kind {
        "ssh-ed25519" => Content::Ed25519(reader.string()?),
        "ecdsa-sha2-nistp256" => ecdsa(&mut reader, Curve::P256)?,
        "ecdsa-sha2-nistp384" => ecdsa(&mut reader, Curve::P384)?,
        "ssh-rsa" => rsa(reader.natural()?, reader.natural()?)?,
        "sk-ssh-ed25519@openssh.com" => {
            let key = Content::Ed25519(reader.string()?);
            Content::Token(Box::new(key), reader.string()?)
        }
        "sk-ecdsa-sha2-nistp256@openssh.com" => {
            let key = ecdsa(&mut reader, Curve::P256)?;
            Content::Token(Box::new(key), reader.string()?)
        }
        other => return Err(KeyContentFault::Unsupported(other.to_owned())),
    };
    reader.end()?;
    Ok((kind.to_owned(), content))
}

/// The shortest modulus of an RSA key that counts.
const RSA_BITS_MIN: usize = 2_048;

fn rsa<'b>(exponent: &'b [u8], modulus: &'b [u8]) -> Result<Content<'b>, KeyContentFault> {
    let bits = modulus.len() * 8 - modulus.first().map_or(0, |first| first.leading_zeros() as usize);
    if bits < RSA_BITS_MIN { Err(KeyContentFault::Short { bits }) } else { Ok(Content::Rsa { exponent, modulus }) }
}

fn ecdsa<'b>(reader: &mut Reader<'b>, curve: Curve) -> Result<Content<'b>, KeyContentFault> {
    let named: &[u8] = match curve {
        Curve::P256 => b"nistp256",
        Curve::P384 => b"nistp384",
    };
    if reader.string()? != named {
        return Err(KeyContentFault::OtherCurve);
    }
    Ok(Content::Ecdsa(curve, reader.string()?))
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, STANDARD.encode(&self.blob))
    }
}

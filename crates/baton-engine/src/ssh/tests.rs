//! Signatures that `ssh-keygen` made, signatures of hardware tokens made here, and texts that are not signatures.

use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use super::*;

/// What was signed.
const TEXT: &[u8] = b"baton decision 1\n";

/// Keys, and what `ssh-keygen -Y sign -n baton` made with them.
const VECTORS: [(&str, &str); 4] = [
    (
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIymW4pdpJyuPpCJpKVwf8h1vlTjnOd2TJtRDGvDpfE2",
        "-----BEGIN SSH SIGNATURE-----\n\
         U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgjKZbil2knK4+kImkpXB/yHW+VO\n\
         Oc53ZMm1EMa8Ol8TYAAAAFYmF0b24AAAAAAAAABnNoYTUxMgAAAFMAAAALc3NoLWVkMjU1\n\
         MTkAAABAIFXy+A63MXzEl8RWdu/YVFZYlWUaTXXk8PPWMUw33M0u7Ufcoj4qdTCfZJYKif\n\
         v90TtpU3m3g4jK9XZ1i7BpDw==\n\
         -----END SSH SIGNATURE-----",
    ),
    (
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPb5o/nGZ9/wyp5CBMHQTSwUWUazLiUlNIWK/pvCLLZSLiJE4KMpNV+MJRHron4sTarGxvg2eQ6oK68cjMi52rc=",
        "-----BEGIN SSH SIGNATURE-----\n\
         U1NIU0lHAAAAAQAAAGgAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAAhuaXN0cDI1NgAAAE\n\
         EE9vmj+cZn3/DKnkIEwdBNLBRZRrMuJSU0hYr+m8IstlIuIkTgoyk1X4wlEeuifixNqsbG\n\
         +DZ5DqgrrxyMyLnatwAAAAViYXRvbgAAAAAAAAAGc2hhNTEyAAAAZQAAABNlY2RzYS1zaG\n\
         EyLW5pc3RwMjU2AAAASgAAACEAoPctnw6NwiiC3zBO7Sw+0FVh6SSvKTIkN/qa/q4PU+MA\n\
         AAAhANAYhxN06rXqVOHmzhn0gum7Yv1TuYdNQAWc4fpKAehd\n\
         -----END SSH SIGNATURE-----",
    ),
    (
        "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBHUZxeh/AkJrAjBu0G2IRyrEbqAWOQsReGv/wzxQK+t0Gcev8JO4BKJcYIYI5c1KD5gmvoD0g+VMs0Vg76o7rX07rql3SoEB7b4C23ZTfFUiaEkqnF+JmVVfEYH3cEgNSA==",
        "-----BEGIN SSH SIGNATURE-----\n\
         U1NIU0lHAAAAAQAAAIgAAAATZWNkc2Etc2hhMi1uaXN0cDM4NAAAAAhuaXN0cDM4NAAAAG\n\
         EEdRnF6H8CQmsCMG7QbYhHKsRuoBY5CxF4a//DPFAr63QZx6/wk7gEolxghgjlzUoPmCa+\n\
         gPSD5UyzRWDvqjutfTuuqXdKgQHtvgLbdlN8VSJoSSqcX4mZVV8RgfdwSA1IAAAABWJhdG\n\
         9uAAAAAAAAAAZzaGE1MTIAAACEAAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAABpAAAAMQCk\n\
         PMGfCQj0O/R8qDqvUy9Ren98o6ESsZKVr7d8fDyqlN+D97odUqQpkx1fmtl6GIgAAAAwWt\n\
         OIrOuSf6lvEmWCMcAtGlJNF74E8NhGlR2Lp0Dn34cFiD+AMD1Hh3S+7ZfH7C7w\n\
         -----END SSH SIGNATURE-----",
    ),
    (
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCfBALh1qZn7wRX97V1G9je2+GKyi2CbLragjL32QiAAqEA3AIND/zHWlfhi4mRFJfWgeb5o+l/dE/PoX/8e+SG/RTU/QdWjaie9B3SwJbUXl0mOQryWwBKL+w15L2rh8pKxEYmSCaf7yrEtOSuMqLD/d1u4bp/2nYQKsq5HcNFoIcgnG4wY8jO0FN/lbPy+ZNmn2QXQicOwT4bwDsRGkAS+Y43eIQrwlDxCow5/ork0rwCGhrKdvtilhn94T1OY5tE54EfIB978O/y+zc5VuzWdFindssX8TaNSK5SfqX0QQzE53V6yGgRlY3aGf7nMavZk2gVp4k2wkOIoTG5Jyex",
        "-----BEGIN SSH SIGNATURE-----\n\
         U1NIU0lHAAAAAQAAARcAAAAHc3NoLXJzYQAAAAMBAAEAAAEBAJ8EAuHWpmfvBFf3tXUb2N\n\
         7b4YrKLYJsutqCMvfZCIACoQDcAg0P/MdaV+GLiZEUl9aB5vmj6X90T8+hf/x75Ib9FNT9\n\
         B1aNqJ70HdLAltReXSY5CvJbAEov7DXkvauHykrERiZIJp/vKsS05K4yosP93W7hun/adh\n\
         Aqyrkdw0WghyCcbjBjyM7QU3+Vs/L5k2afZBdCJw7BPhvAOxEaQBL5jjd4hCvCUPEKjDn+\n\
         iuTSvAIaGsp2+2KWGf3hPU5jm0TngR8gH3vw7/L7NzlW7NZ0WKd2yxfxNo1IrlJ+pfRBDM\n\
         TndXrIaBGVjdoZ/ucxq9mTaBWniTbCQ4ihMbknJ7EAAAAFYmF0b24AAAAAAAAABnNoYTUx\n\
         MgAAARQAAAAMcnNhLXNoYTItNTEyAAABAB8ClEwVjk8gFUkcHT5ILgf+Ycf2wT4FMeM6fC\n\
         ELfyZ1VOdHTSnDH9tQZi75ysbOOoamBaONNLNsngLuCj5GwYqYmUL+vhrFd0qIL12fX6BA\n\
         NV11OyaOYMF4mHDTB1QrH5Of9xQ9L6/KHbNk38IXrToRGQI4J8NzftkrX6yQKwUJootSuS\n\
         wAyolSaA7zcXyqqikHNmVsW/bJK64dR/khUypGAYwaG1u0RQoCtqVlMkGHkglgKIAIRm0m\n\
         cfiNNlFUQ5UiqoFsjO6EXha6qBs+Uyq+EXOtfw+3nl7Cav81sasHK2y2zogJjUE5ItG/sq\n\
         NMBtZI1U6+fGJhjQBWTw3OnVA=\n\
         -----END SSH SIGNATURE-----",
    ),
];

/// A key of a kind that nobody here can compute with.
const OTHER: &str = "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAGJoVDJQAH2JmY9WSB3cHuAhU7fPNJfxAuZxsTqWTrqeCgxUn6lU+WttBIxfjrC+o6ftg5DjDjefkSw1mHw3lDkSQCKaSy1+zemIZFbfltGZftn9DmNWETHZvZOy07Dlibmwzm7zkmYp4IgcH3ViJ1kIU4BNzTsixRLRA3fuKsMkgW8Fg==";

/// Makes an armoured signature of its parts.
fn armoured(key: &[u8], namespace: &str, hash: &str, signature: &[u8]) -> String {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_be_bytes());
    for part in [key, namespace.as_bytes(), b"", hash.as_bytes(), signature] {
        put_string(&mut bytes, part);
    }
    format!("{}\n{}\n{}\n", ARMOUR.0, STANDARD.encode(bytes), ARMOUR.1)
}

/// Returns what a key of this format signs.
fn to_sign(text: &[u8]) -> Vec<u8> {
    let mut signed = MAGIC.to_vec();
    for part in [NAMESPACE.as_bytes(), b"", b"sha256", digest(&SHA256, text).as_ref()] {
        put_string(&mut signed, part);
    }
    signed
}

/// Signs as a hardware token does.
fn token(flags: u8, counter: u32) -> (PublicKey, String) {
    const KIND: &[u8] = b"sk-ssh-ed25519@openssh.com";
    const APPLICATION: &[u8] = b"ssh:";
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a seed");
    let mut key = Vec::new();
    for part in [KIND, pair.public_key().as_ref(), APPLICATION] {
        put_string(&mut key, part);
    }
    let mut said = digest(&SHA256, APPLICATION).as_ref().to_vec();
    said.push(flags);
    said.extend(counter.to_be_bytes());
    said.extend(digest(&SHA256, &to_sign(TEXT)).as_ref());
    let mut signature = Vec::new();
    put_string(&mut signature, KIND);
    put_string(&mut signature, pair.sign(&said).as_ref());
    signature.push(flags);
    signature.extend(counter.to_be_bytes());
    (PublicKey::of_blob(&key).expect("a key"), armoured(&key, NAMESPACE, "sha256", &signature))
}

#[test]
fn signatures_of_ssh_keygen_are_verified() {
    for (key, signature) in VECTORS {
        let key = PublicKey::read(key).expect("a key");
        let signature = Signature::read(signature).expect("a signature");
        assert_eq!(signature.verify(&key, TEXT), Ok(()), "{key}");
        assert_eq!(signature.key, key.fingerprint());
        assert_eq!(signature.public_key(), Ok(key));
    }
}

#[test]
fn signature_of_another_text_or_key_does_not_count() {
    let keys = VECTORS.map(|(key, _)| PublicKey::read(key).expect("a key"));
    for (index, (_, signature)) in VECTORS.iter().enumerate() {
        let signature = Signature::read(signature).expect("a signature");
        assert!(signature.verify(&keys[index], b"baton decision 2\n").is_err());
        for other in keys.iter().filter(|key| **key != keys[index]) {
            assert!(matches!(signature.verify(other, TEXT), Err(SignatureFault::OtherKey(_))));
        }
    }
}

#[test]
fn signature_for_another_purpose_does_not_count() {
    let key = PublicKey::read(VECTORS[0].0).expect("a key");
    let bytes = dearmour(VECTORS[0].1).expect("armoured");
    let parts = Parts::read(&bytes).expect("sound");
    let mut blob = Vec::new();
    blob.extend(STANDARD.decode(VECTORS[0].0.split(' ').nth(1).expect("letters")).expect("base64"));
    let git = Signature::read(&armoured(&blob, "git", "sha512", parts.signature)).expect("a signature");
    assert_eq!(git.verify(&key, TEXT), Err(SignatureFault::OtherPurpose("git".to_owned())));
}

#[test]
fn hardware_tokens_count_only_when_somebody_touched_them() {
    let (key, signature) = token(TOUCHED, 41);
    assert_eq!(Signature::read(&signature).expect("a signature").verify(&key, TEXT), Ok(()));
    assert!(Signature::read(&signature).expect("a signature").verify(&key, b"other").is_err());
    let (key, signature) = token(0, 42);
    let why = Signature::read(&signature).expect("a signature").verify(&key, TEXT);
    assert_eq!(why, Err(SignatureFault::Untouched));
}

/// The flag of a token that was touched.
const TOUCHED: u8 = 1;

#[test]
fn what_is_not_supported_is_said() {
    let why = PublicKey::read(OTHER).expect_err("not supported");
    assert_eq!(why.to_string(), "the key cannot be used: keys of the kind `ecdsa-sha2-nistp521` are not supported");
    for text in
        ["", "-----BEGIN SSH SIGNATURE-----", "-----BEGIN PGP SIGNATURE-----\nAAAA\n-----END PGP SIGNATURE-----"]
    {
        assert!(Signature::read(text).is_err(), "{text}");
    }
    let long = format!("{}\n{}\n{}", ARMOUR.0, "A".repeat(SIGNATURE_BYTES_MAX), ARMOUR.1);
    assert_eq!(Signature::read(&long), Err(SignatureFault::TooLong));
}

proptest! {
    /// Whatever bit of a signature is changed, it does not count any more, and nothing panics.
    #[test]
    fn no_bit_of_a_signature_can_be_changed(vector in 0..VECTORS.len(), place in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (key, signature) = VECTORS[vector];
        let mut bytes = dearmour(signature).expect("armoured");
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        let changed = format!("{}\n{}\n{}\n", ARMOUR.0, STANDARD.encode(bytes), ARMOUR.1);
        let key = PublicKey::read(key).expect("a key");
        let counts = Signature::read(&changed).is_ok_and(|signature| signature.verify(&key, TEXT).is_ok());
        prop_assert!(!counts);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut whole = MAGIC.to_vec();
        whole.extend(&bytes);
        let text = format!("{}\n{}\n{}", ARMOUR.0, STANDARD.encode(&whole), ARMOUR.1);
        prop_assert!(Signature::read(&text).is_err());
        prop_assert!(PublicKey::of_blob(&bytes).is_err());
    }
}

//! Who may sign, in the format that git and `ssh-keygen -Y verify` use: a line per key, principals first.
//!
//! What is not understood is an error with its line: a restriction that is not kept would let somebody in.

use baton_protocol::settings::Principals;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{KeyFault, NAMESPACE, PublicKey};
use crate::approval::{Approver, Key};

/// What somebody may sign with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigner {
    /// Whose key it is.
    pub principals: Principals,
    /// The key, and when it counts.
    pub key: Key,
    /// Where it stands, from 1.
    pub line: usize,
    /// The namespaces that it is for, if ours is not among them: then nothing that is signed with it counts here.
    pub namespaces: Option<String>,
}

/// Why a line cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignerFault {
    /// It begins with the key, of this kind.
    #[error("{NAME_MISSING}, such as `ana {0} …`")]
    KeyFirst(String),
    /// Nobody is named.
    #[error("{NAME_MISSING}")]
    NoName,
    /// Nothing follows the name.
    #[error("the key is missing")]
    NoKey,
    /// A quotation mark is not closed.
    #[error("a quotation mark is not closed")]
    OpenQuotation,
    /// It names who vouches for keys, and not the key.
    #[error("certificates are not supported: name the key itself")]
    Certificate,
    /// Nobody knows what it restricts.
    #[error("unknown option `{0}`; known here: namespaces, valid-after, valid-before")]
    UnknownOption(String),
    /// It means another moment on every machine, or none.
    #[error("`{0}` is not a time in UTC: write YYYYMMDDZ or YYYYMMDDHHMMSSZ")]
    Time(String),
    /// The key itself is wrong.
    #[error(transparent)]
    Key(#[from] KeyFault),
}

const NAME_MISSING: &str = "the name is missing: write who has this key before it";

/// Reads the lines; the error is the line, from 1, and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<AllowedSigner>, (usize, SignerFault)> {
    let mut signers = Vec::new();
    // Some editors begin a file with this letter, which nobody sees.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        signers.push(read_line(line, number).map_err(|why| (number, why))?);
    }
    Ok(signers)
}

/// Returns the keys of somebody; none if no line names them.
pub fn approver(signers: &[AllowedSigner], name: &str) -> Approver {
    let is_theirs = |signer: &&AllowedSigner| signer.namespaces.is_none() && signer.principals.include(name);
    let keys = signers.iter().filter(is_theirs).map(|signer| signer.key.clone());
    Approver { name: name.to_owned(), keys: keys.collect() }
}

/// Returns everybody who is named without a pattern, in the order of the lines.
pub fn everybody(signers: &[AllowedSigner]) -> Vec<Approver> {
    let mut found: Vec<Approver> = Vec::new();
    let ours = signers.iter().filter(|signer| signer.namespaces.is_none());
    for name in ours.flat_map(|signer| signer.principals.plain()) {
        if !found.iter().any(|approver| approver.name == name) {
            found.push(approver(signers, name));
        }
    }
    found
}

fn read_line(line: &str, number: usize) -> Result<AllowedSigner, SignerFault> {
    if begins_with_kind(line) {
        return Err(SignerFault::KeyFirst(line.split_ascii_whitespace().next().unwrap_or_default().to_owned()));
    }
    let (principals, mut rest) = word(line)?;
    let mut valid = (None, None);
    let mut namespaces = None;
    if !begins_with_kind(rest) {
        let (options, after) = word(rest)?;
        rest = after;
        for option in split(&options) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = value.trim_matches('"');
            match name.to_ascii_lowercase().as_str() {
                "namespaces" => {
                    namespaces = (!Principals::parse(value).include(NAMESPACE)).then(|| value.to_owned());
                }
                "valid-after" => valid.0 = Some(time(value)?),
                "valid-before" => valid.1 = Some(time(value)?),
                "cert-authority" => return Err(SignerFault::Certificate),
                _ => return Err(SignerFault::UnknownOption(name.to_owned())),
            }
        }
    }
    let key = PublicKey::read(rest)?.to_string();
    let key = Key { key, valid_after: valid.0, valid_before: valid.1 };
    let principals = Principals::parse(&principals);
    if principals.0.is_empty() {
        return Err(SignerFault::NoName);
    }
    Ok(AllowedSigner { principals, key, line: number, namespaces })
}

/// Returns whether a key stands here rather than a name or options.
fn begins_with_kind(text: &str) -> bool {
    let kind = text.split_ascii_whitespace().next().unwrap_or_default();
    ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|beginning| kind.starts_with(beginning))
}

/// Takes the first word; in quotation marks it may have spaces.
fn word(text: &str) -> Result<(String, &str), SignerFault> {
    let mut quoted = false;
    let end = text.find(|letter: char| {
        quoted ^= letter == '"';
        letter.is_ascii_whitespace() && !quoted
    });
    if quoted && end.is_none() {
        return Err(SignerFault::OpenQuotation);
    }
    let (word, rest) = text.split_at(end.ok_or(SignerFault::NoKey)?);
    let bare = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    Ok((bare.to_owned(), rest.trim_start()))
}

/// Splits options at commas outside of quotation marks.
fn split(options: &str) -> Vec<&str> {
    let mut quoted = false;
    let parts = options.split(|letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    });
    parts.collect()
}

/// Reads a time: `YYYYMMDD[HHMM[SS]]Z`. Without the `Z` it would mean another moment on every machine.
fn time(text: &str) -> Result<Timestamp, SignerFault> {
    let unclear = || SignerFault::Time(text.to_owned());
    let digits = text.strip_suffix('Z').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    let digits = digits.filter(|digits| matches!(digits.len(), 8 | 12 | 14)).ok_or_else(unclear)?;
    let filled = format!("{digits:0<14}");
    let time = DateTime::strptime("%Y%m%d%H%M%S", &filled).map_err(|_| unclear())?;
    TimeZone::UTC.to_timestamp(time).map_err(|_| unclear())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

    fn names_of(text: &str) -> Vec<String> {
        everybody(&read(text).expect("sound")).into_iter().map(|approver| approver.name).collect()
    }

    #[test]
    fn lines_as_git_users_have_them_are_read() {
        let text = format!(
            "\u{feff}# people\n\nana {KEY} ana@laptop\nben,ben@example.com namespaces=\"git,baton\" {KEY}\n\
             carl namespaces=\"git\" {KEY}\n\"dora\" valid-after=\"20260101Z\",valid-before=20270101120000Z {KEY}\n\
             *@example.com,!eve@example.com {KEY} the team\n"
        );
        assert_eq!(names_of(&text), ["ana", "ben", "ben@example.com", "dora"]);
        let signers = read(&text).expect("sound");
        let keys = |name: &str| approver(&signers, name).keys.len();
        assert_eq!(keys("ben@example.com"), 2, "its own line, and that of the team");
        assert_eq!((keys("frida@example.com"), keys("eve@example.com"), keys("carl"), keys("nobody")), (1, 0, 0, 0));
        let dora = &approver(&signers, "dora").keys[0];
        assert_eq!(dora.valid_after.map(|at| at.to_string()).as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(dora.valid_before.map(|at| at.to_string()).as_deref(), Some("2027-01-01T12:00:00Z"));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (line, said) in [
            (format!("ana cert-authority {KEY}"), "certificates are not supported"),
            (format!("ana no-touch {KEY}"), "unknown option `no-touch`"),
            (format!("ana valid-after=20260101 {KEY}"), "`20260101` is not a time in UTC"),
            ("ana".to_owned(), "the key is missing"),
            ("ana ssh-ed25519".to_owned(), "the key cannot be used"),
            (KEY.replace("ssh-ed25519 ", "ana ssh-rsa "), "the key says that it is ssh-ed25519, not ssh-rsa"),
            ("ana ssh-ed25519 AAAA".to_owned(), "the key cannot be used"),
            (KEY.to_owned(), "the name is missing: write who has this key before it, such as `ana ssh-ed25519 …`"),
            (format!("\"ana {KEY}"), "quotation mark"),
            (format!(", {KEY}"), "the name is missing"),
        ] {
            let (number, why) = read(&format!("# first\n{line}\n")).expect_err(&line);
            assert!(number == 2 && why.to_string().contains(said), "{line}: {number} {why}");
        }
    }
}

//! The ledger: the heads of all runs of a store in one chain, so that a run that is missing or was rewritten is noticed.
//!
//! A journal proves itself only against its own rows. Each entry here says how far the journal of a run had come and with
//! which hash, and is bound to the entry before it. Entries are numbered from 1 without gaps. The line of an entry, kept
//! where nobody can change it, proves everything before it. Form and digest are a promise: old lines stay readable.

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::handoff::whole;
use crate::id::{RunId, UnsafeId};
use crate::journal::{Hash, Head};

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Its place in the ledger, from 1.
    pub number: u64,
    /// When it was made.
    pub at: Timestamp,
    /// Why it was made.
    pub occasion: Occasion,
    /// The run.
    pub run: RunId,
    /// The last event of its journal then; its number is how many events there were.
    pub head: Head,
    /// Binds this entry to all before it.
    pub digest: Hash,
}

/// Why an entry was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The journal had come this far.
    Reached,
    /// The run was removed with its journal, as `baton prune` does. The name may be used again.
    Removed,
}

impl Occasion {
    /// Returns the word that is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Occasion::Reached => "reached",
            Occasion::Removed => "removed",
        }
    }

    /// Reads the stored word.
    pub fn parse(word: &str) -> Option<Occasion> {
        [Occasion::Reached, Occasion::Removed].into_iter().find(|occasion| occasion.as_str() == word)
    }
}

/// Why a line is not one of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerLineFault {
    /// It is not text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// Words are missing, or there are too many.
    #[error("it has {0} words instead of 7")]
    Words(usize),
    /// A word is not a hash.
    #[error("`{0}` is not a hash")]
    Hash(String),
    /// A word is not a number.
    #[error("`{0}` is not a number")]
    Number(String),
    /// A word is not a time.
    #[error("`{0}` is not a time")]
    Time(String),
    /// A word does not say why the entry was made.
    #[error("`{0}` is not `reached` or `removed`")]
    Occasion(String),
    /// A word is not the identifier of a run.
    #[error(transparent)]
    Run(#[from] UnsafeId),
}

/// The last entry of a ledger, as far as the next one needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEnd {
    /// Its number; 0 if there is none.
    pub number: u64,
    /// Its digest.
    pub digest: Hash,
    /// When it was made.
    pub at: Timestamp,
}

impl LedgerEnd {
    /// Before the first entry.
    pub const START: LedgerEnd = LedgerEnd { number: 0, digest: Hash([0; 32]), at: Timestamp::MIN };

    /// Returns the entry that comes next.
    pub fn next(self, run: &RunId, head: Head, occasion: Occasion, at: Timestamp) -> LedgerEntry {
        // The clock of a caller may go back, the time of a ledger does not.
        let at = whole(at).max(self.at);
        let mut entry =
            LedgerEntry { number: self.number + 1, at, occasion, run: run.clone(), head, digest: self.digest };
        entry.digest = entry.digest_after(&self.digest);
        entry
    }
}

impl LedgerEntry {
    /// Computes the digest that this entry must have after another one.
    pub fn digest_after(&self, previous: &Hash) -> Hash {
        let mut sha = Sha256::new();
        sha.update(previous.0);
        for text in [self.occasion.as_str(), self.run.as_str()] {
            sha.update((text.len() as u64).to_be_bytes());
            sha.update(text);
        }
        for number in [self.number, self.head.seq] {
            sha.update(number.to_be_bytes());
        }
        sha.update(self.at.as_microsecond().to_be_bytes());
        sha.update(self.head.hash.0);
        Hash(sha.finalize().into())
    }

    /// Returns this entry as the predecessor of the next one.
    pub fn end(&self) -> LedgerEnd {
        LedgerEnd { number: self.number, digest: self.digest, at: self.at }
    }

    /// Reads a line that [`LedgerEntry`] was written as; the error says what is wrong with it.
    pub fn parse(line: &str) -> Result<LedgerEntry, LedgerLineFault> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [at, number, occasion, run, events, head, digest] = words[..] else {
            return Err(LedgerLineFault::Words(words.len()));
        };
        let hash = |text: &str| Hash::parse(text).ok_or_else(|| LedgerLineFault::Hash(text.to_owned()));
        let count = |text: &str| text.parse::<u64>().map_err(|_| LedgerLineFault::Number(text.to_owned()));
        Ok(LedgerEntry {
            number: count(number)?,
            at: at.parse().map_err(|_| LedgerLineFault::Time(at.to_owned()))?,
            occasion: Occasion::parse(occasion).ok_or_else(|| LedgerLineFault::Occasion(occasion.to_owned()))?,
            run: RunId::parse(run)?,
            head: Head { seq: count(events)?, hash: hash(head)? },
            digest: hash(digest)?,
        })
    }
}

/// Writes the line: time, number, occasion, run, number of events, head, digest.
impl fmt::Display for LedgerEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LedgerEntry { number, at, occasion, run, head, digest } = self;
        // Times of one length sort as text.
        write!(formatter, "{at:.6} {number} {} {run} {} {} {digest}", occasion.as_str(), head.seq, head.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::table::sample;

    fn entry() -> LedgerEntry {
        let head = Head { seq: 7, hash: Hash([0xab; 32]) };
        LedgerEnd::START.next(&sample::run(), head, Occasion::Reached, sample::time(1))
    }

    #[test]
    fn line_of_an_entry_is_a_promise_and_is_read_as_it_was_written() {
        let line = entry().to_string();
        assert_eq!(LedgerEntry::parse(&line), Ok(entry()));
        insta::assert_snapshot!(line, @"2026-01-01T00:00:01.000000Z 1 reached hoff-1 7 abababababababababababababababababababababababababababababababab 8c84e9d9f4265e5cad7d115c669b1bb19211cadf1095b5b45d8d1b9efd3f87cf");
    }

    #[test]
    fn line_that_was_never_written_is_told() {
        for (from, to) in [(" 7 ", " 8 9 "), (" reached ", " read "), (" 7 ", " -7 "), ("abab", "abxb")] {
            let line = entry().to_string().replacen(from, to, 1);
            assert!(LedgerEntry::parse(&line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_part_of_an_entry_is_under_its_digest() {
        let first = entry();
        assert_eq!(first.digest, first.digest_after(&LedgerEnd::START.digest));
        let changes: [fn(&mut LedgerEntry); 6] = [
            |entry| entry.number += 1,
            |entry| entry.at = sample::time(2),
            |entry| entry.occasion = Occasion::Removed,
            |entry| entry.run = RunId::parse("other").expect("safe"),
            |entry| entry.head.seq += 1,
            |entry| entry.head.hash = Hash([0; 32]),
        ];
        for change in changes {
            let mut changed = first.clone();
            change(&mut changed);
            assert_ne!(changed.digest_after(&LedgerEnd::START.digest), first.digest);
        }
        assert_ne!(first.digest_after(&first.digest), first.digest);
    }

    #[test]
    fn time_of_a_ledger_never_runs_backwards() {
        let later = LedgerEnd { at: sample::time(9), ..entry().end() };
        assert_eq!(later.next(&sample::run(), Head::START, Occasion::Reached, sample::time(1)).at, sample::time(9));
    }
}

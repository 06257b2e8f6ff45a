//! The journal: what happened, in order, each event bound to the one before it by a hash.
//!
//! The events of a run are numbered from 1 without gaps. Changing, removing or moving one of them breaks the chain at
//! a place that can be named. How events are stored says [`stored`].

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::event_kind::EventKind;
use crate::handoff::hexadecimal;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Accept, Command, RefusedCommand};
use crate::stored::{self, Unreadable};

/// Something that happened to a handoff.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// It was accepted.
    Accepted(Box<Accept>),
    /// A command had its effect.
    Happened(Command),
    /// A command came too late and had none.
    Refused(RefusedCommand),
}

/// One entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The run whose journal this is.
    pub run: RunId,
    /// Its place in the journal, from 1.
    pub seq: u64,
    /// The handoff that it is about.
    pub handoff: HandoffId,
    /// How many events there are about that handoff, with this one.
    pub version: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened: the past of the verb.
    pub kind: String,
    /// The particulars, as JSON; kept letter by letter, because the hash covers them.
    pub detail: String,
    /// Binds this event to all before it.
    pub hash: Hash,
}

/// Binds an event to all before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

/// The predecessor of an event in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the last event; 0 if there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

impl Hash {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Hash> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Hash(bytes))
    }
}

impl Head {
    /// Before the first event.
    pub const START: Head = Head { seq: 0, hash: Hash([0; 32]) };

    /// Returns the event that comes next.
    pub fn next(self, run: &RunId, handoff: &HandoffId, version: u64, at: Timestamp, fact: &Fact) -> Event {
        let mut event = Event {
            run: run.clone(),
            seq: self.seq + 1,
            handoff: handoff.clone(),
            version,
            at,
            kind: fact.kind().to_string(),
            detail: fact.detail(),
            hash: self.hash,
        };
        event.hash = event.hash_after(&self.hash);
        event
    }
}

impl Event {
    /// Computes the hash that this event must have after another one.
    pub fn hash_after(&self, previous: &Hash) -> Hash {
        let mut sha = Sha256::new();
        sha.update(previous.0);
        // Each part with its length, so that nothing can move from one part to the next.
        let texts = [self.run.as_str(), self.handoff.as_str(), &self.kind, &self.detail];
        for text in texts {
            sha.update((text.len() as u64).to_be_bytes());
            sha.update(text);
        }
        for number in [self.seq, self.version] {
            sha.update(number.to_be_bytes());
        }
        sha.update(self.at.as_microsecond().to_be_bytes());
        Hash(sha.finalize().into())
    }

    /// Returns this event as the predecessor of the next one.
    pub fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }

    /// Returns its place in the journal, for messages.
    pub fn place(&self) -> String {
        format!("event {} of run `{}`", self.seq, self.run)
    }

    /// Returns whether this is what happened, without reading the particulars.
    pub fn is(&self, kind: EventKind) -> bool {
        self.kind == kind.as_str()
    }

    /// Reads what happened; the error says why it cannot be read.
    pub fn fact(&self) -> Result<Fact, Unreadable> {
        Fact::read(&self.kind, &self.detail)
    }
}

impl Fact {
    /// Returns what happened in one word: the past of the verb.
    pub fn kind(&self) -> EventKind {
        match self {
            Fact::Accepted(_) => EventKind::Accepted,
            Fact::Refused(_) => EventKind::Refused,
            Fact::Happened(command) => match command {
                Command::Claim(_) => EventKind::Claimed,
                Command::Acknowledge(_) => EventKind::Acknowledged,
                Command::Heartbeat(_) => EventKind::Extended,
                Command::Report(_) => EventKind::Reported,
                Command::Fail(_) => EventKind::Failed,
                Command::Verify(_) => EventKind::Verified,
                Command::Expire(_) => EventKind::Expired,
                Command::Resume(_) => EventKind::Resumed,
                Command::Decide(_) => EventKind::Decided,
                Command::Cancel(_) => EventKind::Cancelled,
                Command::Requeue(_) => EventKind::Requeued,
                Command::Release(_) => EventKind::Released,
                Command::Route(_) => EventKind::Routed,
            },
        }
    }

    /// Returns the particulars as they are stored.
    pub fn detail(&self) -> String {
        stored::fact::write(self)
    }

    /// Reads what was stored.
    pub fn read(kind: &str, detail: &str) -> Result<Fact, Unreadable> {
        stored::fact::read(kind, detail)
    }
}

impl From<Command> for Fact {
    fn from(command: Command) -> Self {
        Fact::Happened(command)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::table::sample;

    #[test]
    fn every_fact_is_read_as_it_was_written() {
        for fact in sample::facts() {
            assert_eq!(Fact::read(fact.kind().as_str(), &fact.detail()), Ok(fact.clone()), "{}", fact.kind());
        }
    }

    #[test]
    fn stored_form_is_a_promise() {
        let lines: Vec<String> =
            sample::facts().iter().map(|fact| format!("{} {}", fact.kind(), fact.detail())).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn every_part_of_an_event_is_under_the_hash() {
        let facts = sample::facts();
        let event = Head::START.next(&sample::run(), &sample::id(), 1, sample::time(1), &facts[0]);
        assert_eq!(event.hash, event.hash_after(&Head::START.hash));
        let changes: [fn(&mut Event); 7] = [
            |event| event.run = RunId::parse("other").expect("safe"),
            |event| event.handoff = HandoffId::parse("other").expect("safe"),
            |event| event.seq += 1,
            |event| event.version += 1,
            |event| event.at = sample::time(2),
            |event| event.kind.push('x'),
            |event| event.detail.push(' '),
        ];
        for change in changes {
            let mut changed = event.clone();
            change(&mut changed);
            assert_ne!(changed.hash_after(&Head::START.hash), event.hash);
        }
        assert_ne!(event.hash_after(&event.hash), event.hash);
    }
}

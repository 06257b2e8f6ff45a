//! What a server tells a program that uses it as its store: handoffs, events, documents, and why something had no effect.
//!
//! The program shows and works with values of the domain, as it does with a store of its own. So it gets them in the forms
//! in which they are stored: bodies and particulars travel letter by letter, and their versions are those of the store.

mod fault;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::body::{self, BesideBody};
use super::document::StoredWritten;
use crate::Fence;
use crate::handoff::{Handoff, StateName, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Hash, Head};
use crate::ledger::{LedgerEntry, Occasion};
use crate::queue::Queue;
use crate::store::{ClaimedHandoff, Count, StoreError};

pub use fault::FaultRecord;

/// A handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffRecord {
    id: HandoffId,
    run: RunId,
    version: u64,
    fence: Fence,
    body: String,
}

impl From<&Handoff> for HandoffRecord {
    fn from(handoff: &Handoff) -> HandoffRecord {
        let Handoff { id, run, version, fence, .. } = handoff;
        let body = body::write(handoff);
        HandoffRecord { id: id.clone(), run: run.clone(), version: *version, fence: *fence, body }
    }
}

impl HandoffRecord {
    /// Reads the handoff.
    pub fn handoff(self) -> Result<Handoff, StoreError> {
        let HandoffRecord { id, run, version, fence, body } = self;
        let place = format!("the handoff `{id}` as the server sent it");
        body::read(&body, BesideBody { id, run, version, fence }).map_err(|why| why.at(&place))
    }
}

/// A document as it was written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentRecord(StoredWritten<'static>);

impl From<&WrittenDocument> for DocumentRecord {
    fn from(document: &WrittenDocument) -> DocumentRecord {
        DocumentRecord(StoredWritten::from(document).into_owned())
    }
}

impl From<DocumentRecord> for WrittenDocument {
    fn from(record: DocumentRecord) -> WrittenDocument {
        record.0.into()
    }
}

/// A handoff with what is asked in it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClaimRecord {
    handoff: HandoffRecord,
    request: DocumentRecord,
}

impl From<&ClaimedHandoff> for ClaimRecord {
    fn from(claimed: &ClaimedHandoff) -> ClaimRecord {
        ClaimRecord { handoff: (&claimed.handoff).into(), request: (&claimed.request).into() }
    }
}

impl ClaimRecord {
    /// Reads what was claimed.
    pub fn claimed(self) -> Result<ClaimedHandoff, StoreError> {
        Ok(ClaimedHandoff { handoff: self.handoff.handoff()?, request: self.request.into() })
    }
}

/// The number of an event, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadRecord {
    seq: u64,
    #[serde(with = "hexadecimal")]
    hash: Hash,
}

impl From<Head> for HeadRecord {
    fn from(head: Head) -> HeadRecord {
        HeadRecord { seq: head.seq, hash: head.hash }
    }
}

impl From<HeadRecord> for Head {
    fn from(record: HeadRecord) -> Head {
        Head { seq: record.seq, hash: record.hash }
    }
}

/// An event of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    run: RunId,
    seq: u64,
    handoff: HandoffId,
    version: u64,
    at: Timestamp,
    kind: String,
    detail: String,
    #[serde(with = "hexadecimal")]
    hash: Hash,
}

impl From<Event> for EventRecord {
    fn from(event: Event) -> EventRecord {
        let Event { run, seq, handoff, version, at, kind, detail, hash } = event;
        EventRecord { run, seq, handoff, version, at, kind, detail, hash }
    }
}

impl From<EventRecord> for Event {
    fn from(record: EventRecord) -> Event {
        let EventRecord { run, seq, handoff, version, at, kind, detail, hash } = record;
        Event { run, seq, handoff, version, at, kind, detail, hash }
    }
}

/// The settings of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRecord {
    agent: String,
    paused: bool,
    limit: Option<u32>,
}

impl From<Queue> for QueueRecord {
    fn from(queue: Queue) -> QueueRecord {
        let Queue { agent, paused, concurrency } = queue;
        QueueRecord { agent, paused, limit: concurrency }
    }
}

impl From<QueueRecord> for Queue {
    fn from(record: QueueRecord) -> Queue {
        let QueueRecord { agent, paused, limit } = record;
        Queue { agent, paused, concurrency: limit }
    }
}

/// How many handoffs an agent has in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRecord {
    agent: String,
    state: String,
    handoffs: u64,
}

impl From<Count> for CountRecord {
    fn from(count: Count) -> CountRecord {
        let Count { agent, state, handoffs } = count;
        CountRecord { agent, state: state.as_str().to_owned(), handoffs }
    }
}

impl CountRecord {
    /// Reads the count.
    pub fn count(self) -> Result<Count, StoreError> {
        let CountRecord { agent, state, handoffs } = self;
        let unknown = || StoreError::Newer(format!("the server knows a state that this program does not: `{state}`"));
        Ok(Count { agent, state: StateName::parse(&state).ok_or_else(unknown)?, handoffs })
    }
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRecord {
    number: u64,
    at: Timestamp,
    occasion: String,
    run: RunId,
    head: HeadRecord,
    #[serde(with = "hexadecimal")]
    digest: Hash,
}

impl From<LedgerEntry> for LedgerRecord {
    fn from(entry: LedgerEntry) -> LedgerRecord {
        let LedgerEntry { number, at, occasion, run, head, digest } = entry;
        LedgerRecord { number, at, occasion: occasion.as_str().to_owned(), run, head: head.into(), digest }
    }
}

impl LedgerRecord {
    /// Reads the entry.
    pub fn entry(self) -> Result<LedgerEntry, StoreError> {
        let LedgerRecord { number, at, occasion, run, head, digest } = self;
        let unknown = || StoreError::Newer(format!("ledger entry {number}: unknown occasion `{occasion}`"));
        let occasion = Occasion::parse(&occasion).ok_or_else(unknown)?;
        Ok(LedgerEntry { number, at, occasion, run, head: head.into(), digest })
    }
}

/// Hashes as hexadecimal digits.
mod hexadecimal {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::journal::Hash;

    pub(super) fn serialize<S: Serializer>(hash: &Hash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(hash)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(deserializer)?;
        Hash::parse(&text).ok_or_else(|| D::Error::custom("a hash has 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::lifecycle::table::sample;

    fn there_and_back<T: Serialize + DeserializeOwned>(sent: T) -> T {
        serde_json::from_str(&serde_json::to_string(&sent).expect("JSON")).expect("the same form")
    }

    #[test]
    fn events_keep_every_letter_that_is_under_their_hash() {
        for fact in sample::facts() {
            let event = Head::START.next(&sample::run(), &sample::id(), 1, sample::time(1), &fact);
            let received = Event::from(there_and_back(EventRecord::from(event.clone())));
            assert_eq!(received, event);
            assert_eq!(received.hash_after(&Head::START.hash), event.hash);
        }
    }

    #[test]
    fn handoffs_are_received_as_they_were_sent() {
        let accepted = sample::facts().into_iter().find_map(|fact| match fact {
            crate::journal::Fact::Accepted(accept) => Some(accept.apply(sample::time(1)).handoff),
            _ => None,
        });
        let handoff = accepted.expect("one was accepted");
        assert_eq!(there_and_back(HandoffRecord::from(&handoff)).handoff(), Ok(handoff));
    }
}

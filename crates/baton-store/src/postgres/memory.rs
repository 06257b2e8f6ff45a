//! What was sent, for the case that the connection is lost before the answer: then nobody knows whether it has arrived.

use baton_engine::RunId;
use baton_engine::journal::{Event, Head};
use baton_engine::store::StoreError;

use super::fault::Fault;
use super::session::Session;
use crate::rows::signed;

/// What was sent, and what the caller would be told if it has arrived.
#[derive(Debug)]
pub(super) struct Memory<T> {
    /// Whether a connection was lost, so that what was sent may have arrived.
    pub(super) unsure: bool,
    sent: Sent,
    answer: Option<Result<T, StoreError>>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { unsure: false, sent: Sent::default(), answer: None }
    }
}

impl<T> Memory<T> {
    /// Takes note of what is about to be sent.
    pub(super) fn expect(&mut self, sent: Sent, answer: Result<T, StoreError>) {
        self.sent = sent;
        self.answer = Some(answer);
    }

    /// Returns the answer to what was sent: it has arrived.
    pub(super) fn take(&mut self) -> Option<Result<T, StoreError>> {
        self.answer.take()
    }

    /// Returns the answer to what was sent, if it has arrived although the connection was lost.
    pub(super) async fn recall(&mut self, session: &Session) -> Result<Option<Result<T, StoreError>>, Fault> {
        if self.unsure && self.sent.arrived(session).await? { Ok(self.answer.take()) } else { Ok(None) }
    }
}

/// What was sent and perhaps written, when the connection was lost before the answer: the numbers and hashes of events.
#[derive(Debug, Default)]
pub(super) struct Sent(Vec<(RunId, Head)>);

impl Sent {
    /// Takes note of events that are about to be sent.
    pub(super) fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Sent {
        Sent(events.into_iter().map(|event| (event.run.clone(), event.head())).collect())
    }

    /// Returns whether what was sent was written. A hash covers everything before it, so it cannot be anybody else's.
    pub(super) async fn arrived(&self, session: &Session) -> Result<bool, Fault> {
        let runs: Vec<&str> = self.0.iter().map(|(run, _)| run.as_str()).collect();
        let numbers: Vec<i64> = self.0.iter().map(|(_, head)| signed(head.seq)).collect();
        let hashes: Vec<&[u8]> = self.0.iter().map(|(_, head)| head.hash.0.as_slice()).collect();
        let sql = "SELECT FROM events JOIN unnest($1::text[], $2::bigint[], $3::bytea[]) AS sent (run, seq, hash)
                   ON events.run = sent.run COLLATE \"C\" AND events.seq = sent.seq AND events.hash = sent.hash";
        let found = session.query(sql, &[&runs, &numbers, &hashes]).await?;
        Ok(!runs.is_empty() && found.len() == runs.len())
    }
}

//! The history of one handoff, and the documents in it.

use baton_engine::RunId;
use baton_engine::handoff::{Digest, Written};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::store::Error;

use super::Session;
use crate::command_error::CommandError;

/// How many events are read at a time.
const EVENTS_MAX: u32 = 500;

impl Session {
    /// Returns the events of a run, in their order.
    pub(crate) async fn events_of_run(&self, run: &RunId) -> Result<Vec<Event>, CommandError> {
        let (mut events, mut after) = (Vec::new(), 0);
        loop {
            let page = self.store.history(run, after, EVENTS_MAX).await?;
            let is_last = page.len() < EVENTS_MAX as usize;
            after = page.last().map_or(after, |event| event.seq);
            events.extend(page);
            if is_last {
                return Ok(events);
            }
        }
    }
}

/// Returns the request of a handoff.
pub(crate) fn accepted_request(events: &[Event]) -> Result<Written, CommandError> {
    let accepted = events.iter().find_map(|event| match event.fact() {
        Ok(Fact::Accepted(accept)) => Some(accept.request),
        _ => None,
    });
    accepted.ok_or_else(|| Error::Damaged("the request of this handoff is not in its journal".to_owned()).into())
}

/// Returns the document that identifies itself like this: a report, a failure or an acknowledgment.
pub(crate) fn shown_document(events: &[Event], digest: Option<&Digest>) -> Option<Written> {
    let digest = digest?;
    events.iter().rev().filter_map(document).find(|document| document.digest() == *digest)
}

/// Returns the last report.
pub(crate) fn reported_document(events: &[Event]) -> Option<Written> {
    events.iter().rev().find_map(|event| match event.fact() {
        Ok(Fact::Happened(Command::Report(report))) => Some(report.document),
        _ => None,
    })
}

/// Returns the document of an event, if it had an effect.
pub(crate) fn document(event: &Event) -> Option<Written> {
    match event.fact().ok()? {
        Fact::Accepted(accept) => Some(accept.request),
        Fact::Happened(Command::Report(report)) => Some(report.document),
        Fact::Happened(Command::Acknowledge(acknowledge)) => Some(acknowledge.document),
        Fact::Happened(Command::Fail(fail)) => fail.document,
        Fact::Happened(_) | Fact::Refused(_) => None,
    }
}

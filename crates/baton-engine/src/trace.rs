//! The ids of a run in a trace. They follow from the run itself, so that whoever takes it over goes on with the same trace.

use sha2::{Digest as _, Sha256};

use crate::Fence;
use crate::handoff::hexadecimal;
use crate::id::HandoffId;
use crate::run::Run;

/// Names the run, its handoffs and their attempts in a trace (W3C Trace Context).
///
/// Runs of the same name in other stores, or after the first one was pruned, get other ids: when a run was accepted counts as
/// well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceIds(String);

impl TraceIds {
    /// Returns the ids of a run.
    pub fn of(run: &Run) -> TraceIds {
        TraceIds(format!("{}\n{}", run.id, run.root().handoff.accepted_at.as_nanosecond()))
    }

    /// Returns the id of the trace, as 32 hexadecimal digits.
    pub fn trace(&self) -> String {
        self.hex("trace", 16)
    }

    /// Returns the id of the span of a handoff, as 16 hexadecimal digits. The run itself is one.
    pub fn handoff(&self, id: &HandoffId) -> String {
        self.hex(&format!("handoff\n{id}"), 8)
    }

    /// Returns the id of the span of an attempt.
    pub fn attempt(&self, id: &HandoffId, fence: Fence) -> String {
        self.hex(&format!("attempt\n{id}\n{fence}"), 8)
    }

    /// Returns the variables that an agent gets, so that its own spans become part of its attempt.
    pub fn traceparent(&self, id: &HandoffId, fence: Fence) -> String {
        format!("00-{}-{}-01", self.trace(), self.attempt(id, fence))
    }

    fn hex(&self, what: &str, bytes: usize) -> String {
        let digest = Sha256::digest(format!("{}\n{what}", self.0));
        hexadecimal(&digest[..bytes])
    }
}

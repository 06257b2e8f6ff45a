//! The cells of the lifecycle table: which command was tried in which state, and how often.

use std::collections::BTreeMap;

use crate::failure::Transience;
use crate::handoff::{Handoff, StateName};
use crate::lifecycle::{self, Command, Decision, Ending, Verdict};

/// How often each command was tried in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetCells(BTreeMap<(&'static str, StateName), u64>);

impl MetCells {
    /// Counts a command that is tried.
    pub fn count(&mut self, command: &Command, handoff: &Handoff) {
        *self.0.entry((row(command, handoff), handoff.state.name())).or_default() += 1;
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &MetCells) {
        for (cell, count) in &other.0 {
            *self.0.entry(*cell).or_default() += count;
        }
    }

    /// Returns the cells of the table that nobody has tried.
    pub fn missing(&self) -> Vec<String> {
        let cells = lifecycle::rows().into_iter().flat_map(|row| StateName::ALL.map(|state| (row.command, state)));
        cells.filter(|cell| !self.0.contains_key(cell)).map(|(row, state)| format!("{row} in {state}")).collect()
    }

    /// Returns how many cells somebody has tried.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing was tried.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the row of the table that a command belongs to.
fn row(command: &Command, handoff: &Handoff) -> &'static str {
    match command {
        Command::Claim(_) => "claim",
        Command::Acknowledge(acknowledge) if acknowledge.understood => "acknowledge: understood",
        Command::Acknowledge(_) => "acknowledge: partial",
        Command::Heartbeat(_) => "heartbeat",
        Command::Report(report) if report.fence < handoff.fence => "report: of an older claim",
        Command::Report(report) => match report.ending {
            Ending::Complete => "report: complete",
            Ending::Blocked { .. } => "report: blocked",
            Ending::NeedsReview => "report: needs_review",
            Ending::NeedsClarification => "report: needs_clarification",
        },
        Command::Fail(fail) => match fail.failure.chance {
            Transience::Transient => "fail: transient",
            Transience::Permanent => "fail: permanent",
        },
        Command::Verify(verify) => match verify.verdict {
            Verdict::Verified => "verify: verified",
            Verdict::Refuted { .. } => "verify: refuted",
        },
        Command::Expire(_) => "expire",
        Command::Resume(_) => "resume",
        Command::Decide(decide) => match decide.decision {
            Decision::Approve => "decide: approve",
            Decision::Reject { .. } => "decide: reject",
            Decision::Answer { .. } => "decide: answer",
            Decision::Ask { .. } => "decide: ask",
        },
        Command::Cancel(_) => "cancel",
        Command::Requeue(_) => "requeue",
        Command::Release(_) => "release",
        Command::Route(_) => "route",
    }
}

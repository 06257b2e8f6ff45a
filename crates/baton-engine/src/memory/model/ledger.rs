//! The ledger: a list.

use jiff::Timestamp;

use super::StoreModel;
use crate::id::RunId;
use crate::journal::{Event, Head};
use crate::ledger::{LedgerEnd, LedgerEntry, Occasion};
use crate::store::AnchoredEntry;

impl StoreModel {
    /// Enters how far the journals of runs have come.
    pub fn enter(&mut self, runs: &[RunId], at: Timestamp) -> Vec<LedgerEntry> {
        let known = self.ledger.len();
        for run in runs {
            let Some(head) = self.head_of(run) else { continue };
            let last = self.ledger.iter().rfind(|entry| entry.run == *run);
            if last.is_none_or(|last| last.occasion == Occasion::Removed || last.head != head) {
                self.add_to_ledger(run, head, Occasion::Reached, at);
            }
        }
        self.ledger[known..].to_vec()
    }

    pub(super) fn enter_removal(&mut self, run: &RunId, at: Timestamp) {
        if let Some(head) = self.head_of(run) {
            self.add_to_ledger(run, head, Occasion::Removed, at);
        }
    }

    /// Returns the entries after a number.
    pub fn ledger(&self, after: u64, limit: u32) -> Vec<LedgerEntry> {
        self.ledger.iter().filter(|entry| entry.number > after).take(limit as usize).cloned().collect()
    }

    /// Returns the entries about a run.
    pub fn ledger_of(&self, run: &RunId) -> Vec<LedgerEntry> {
        self.ledger.iter().filter(|entry| entry.run == *run).cloned().collect()
    }

    /// Returns the last entry that was delivered to a place.
    pub fn anchored(&self, place: &str) -> Option<AnchoredEntry> {
        self.anchors.get(place).copied()
    }

    /// Remembers what was delivered to a place.
    pub fn set_anchored(&mut self, place: &str, anchored: AnchoredEntry) {
        self.anchors.insert(place.to_owned(), anchored);
    }

    fn head_of(&self, run: &RunId) -> Option<Head> {
        self.journal.get(run).and_then(|events| events.last()).map(Event::head)
    }

    fn add_to_ledger(&mut self, run: &RunId, head: Head, occasion: Occasion, at: Timestamp) {
        let end = self.ledger.last().map_or(LedgerEnd::START, LedgerEntry::end);
        self.ledger.push(end.next(run, head, occasion, at));
    }
}

//! Writes down what agents spend while they work, so soon that a crash does not set a budget back.

use std::time::Duration;

use jiff::Timestamp;

use super::attempt::Finished;
use super::run_loop::RunLoop;
use crate::Fence;
use crate::flow;
use crate::id::HandoffId;
use crate::session::Spent;

/// How many tokens beyond those in the journal are worth an event.
const NOTICEABLE_TOKENS: u64 = 1_000;

/// How many millionths of a US dollar are worth one, too.
const NOTICEABLE_MICROS: u64 = 10_000;

/// How long to wait after such an event before the next one.
const PAUSE: Duration = Duration::from_secs(1);

impl RunLoop<'_> {
    /// Takes what an attempt has spent so far. What uses up a budget is written at once, and ends what goes on.
    pub(super) fn take_spent(&mut self, handoff: HandoffId, fence: Fence, spent: Spent) {
        if self.run.find(&handoff).is_some_and(|tracked| flow::overspends(&self.run, tracked, spent)) {
            self.results.push((handoff.clone(), fence, Finished::Spent(spent)));
        }
        self.spent.insert(handoff, (fence, spent));
    }

    /// Returns when what was spent must be written down; `None` if that is nothing to speak of.
    pub(super) fn spending_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.unwritten().next()?;
        // The clock may have been set back meanwhile.
        Some(self.spending_written.map_or(now, |last| (last + PAUSE).min(now + PAUSE)))
    }

    /// Lets what was spent be written down, if it is time.
    pub(super) fn write_spending(&mut self) {
        let now = self.driver.clock.now();
        if self.spending_due(now).is_none_or(|due| due > now) {
            return;
        }
        let unwritten: Vec<(HandoffId, Fence, Finished)> = self.unwritten().collect();
        // What waits for a store that is away is replaced by what is known now.
        let is_newer = |id: &HandoffId| unwritten.iter().any(|(newer, ..)| newer == id);
        self.results.retain(|(id, _, finished)| !(matches!(finished, Finished::Spent(_)) && is_newer(id)));
        self.results.extend(unwritten);
        self.spending_written = Some(now);
    }

    /// Returns what attempts have spent that go on, where the journal lacks a noticeable part of it.
    fn unwritten(&self) -> impl Iterator<Item = (HandoffId, Fence, Finished)> {
        self.spent.iter().filter_map(|(id, (fence, spent))| {
            let tracked = self.run.find(id)?;
            let goes_on = tracked.handoff.fence == *fence && tracked.handoff.lease().is_some();
            let more = tracked.beyond_journal(*spent);
            let noticeable = more.tokens >= NOTICEABLE_TOKENS || more.cost_micros >= NOTICEABLE_MICROS;
            (goes_on && noticeable).then(|| (id.clone(), *fence, Finished::Spent(*spent)))
        })
    }
}

//! What a store must do, in the plainest Rust: maps, sorting and the lifecycle. No database, no concurrency.
//!
//! Where the port is silent, this says what all stores do alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::cells::MetCells;
use crate::evidence::Content;
use crate::handoff::{Digest, Handoff, Priority, State, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact, Head};
use crate::ledger::LedgerEntry;
use crate::lifecycle::{self, Accept, Action, Command, Expire, Resume, Transition};
use crate::queue::Queue;
use crate::store::{
    AcceptedHandoff, AnchoredEntry, ClaimRequest, ClaimedHandoff, KeptContents, Order, StoreError, TransactionStep,
};
use crate::token::AccessToken;

mod ledger;
mod looking;
mod tokens;

/// Handoffs, their journal and the settings of queues.
#[derive(Debug, Default)]
pub struct StoreModel {
    handoffs: BTreeMap<HandoffId, Entry>,
    /// What is not finished.
    open: BTreeSet<HandoffId>,
    /// What the transaction that goes on has written, so that it can be taken back.
    written: Vec<RowChange>,
    /// How often each command was tried in each state.
    met: MetCells,
    /// How many were ever accepted.
    count: u64,
    journal: BTreeMap<RunId, Vec<Event>>,
    contents: BTreeMap<(RunId, Digest), Vec<u8>>,
    queues: BTreeMap<String, Queue>,
    latest: Option<Timestamp>,
    ledger: Vec<LedgerEntry>,
    anchors: BTreeMap<String, AnchoredEntry>,
    tokens: Vec<AccessToken>,
    /// The runs and numbers of all events, in the order in which they were written.
    positions: Vec<(RunId, u64)>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Its place in the order of acceptance.
    number: u64,
    handoff: Handoff,
    head: Head,
    request: Arc<WrittenDocument>,
}

/// One event that a transaction has written, and the handoff before it.
#[derive(Debug)]
pub struct RowChange {
    /// The handoff as it was; `None` if it was not there.
    pub before: Option<Handoff>,
    /// The handoff as it is now.
    pub after: Handoff,
    /// What was written.
    pub event: Event,
    /// What the row was bound to.
    head: Head,
}

/// Accepting, claiming, applying, rescuing: each all or nothing.
impl StoreModel {
    /// Makes handoffs of requests.
    pub fn accept(&mut self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        self.all_or_nothing(|model| requests.into_iter().map(|request| model.accept_one(request, at)).collect())
    }

    /// Claims what is ready for an agent.
    pub fn claim(&mut self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        let claimed = self.open_of(&wish.agent).filter(|handoff| handoff.lease().is_some()).count();
        let room = self.queue(&wish.agent).room(wish.count, u32::try_from(claimed).unwrap_or(u32::MAX));
        let mut ready: Vec<(i16, Timestamp, HandoffId)> = self
            .open_of(&wish.agent)
            .filter_map(|handoff| match handoff.state {
                State::Pending { ready_at } if ready_at <= at => {
                    Some((-rank(handoff.terms.priority), ready_at, handoff.id.clone()))
                }
                _ => None,
            })
            .collect();
        ready.sort();
        ready.truncate(room as usize);
        let claim = wish.claim();
        self.all_or_nothing(|model| {
            let claimed = ready.into_iter().filter_map(|(_, _, id)| {
                // What nobody wants any more is left for the rescue.
                let handoff = model.happen(&id, Command::Claim(claim.clone()), at).ok()?.handoff;
                Some(Ok(ClaimedHandoff { handoff, request: (*model.handoffs[&id].request).clone() }))
            });
            claimed.collect()
        })
    }

    /// Applies a command, with what follows from it.
    pub fn apply(&mut self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        let Some(entry) = self.handoffs.get(&order.id) else {
            return Err(StoreError::NotFound(order.id));
        };
        let at = self.not_before_the_last_event(&entry.handoff.run, at);
        if let Err(refusal) = lifecycle::apply(&entry.handoff, order.command.clone(), at) {
            self.met.count(&order.command, &entry.handoff);
            if let Some(refused) = lifecycle::to_journal(&order.command, &refusal) {
                let transition = lifecycle::refuse(&entry.handoff, refused, at);
                self.written.clear();
                self.record(transition);
            }
            return Err(refusal.into());
        }
        self.all_or_nothing(|model| {
            let transition = model.happen(&order.id, order.command, at)?;
            transition.actions.iter().for_each(|action| model.follow(&transition.handoff, action));
            Ok(model.handoffs[&order.id].handoff.clone())
        })
    }

    /// Carries out several steps, all of them or none.
    pub fn carry_out(&mut self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.all_or_nothing(|model| {
            // What follows is not before what it follows from.
            let mut latest = at;
            let mut left = Vec::new();
            for step in steps {
                let handoff = match step {
                    TransactionStep::Accept(request) => {
                        let accepted = model.accept_one(*request, latest)?;
                        latest = if accepted.existing { latest } else { latest.max(accepted.handoff.changed_at) };
                        accepted.handoff
                    }
                    TransactionStep::Apply(id, _) | TransactionStep::Held { id, .. }
                        if !model.handoffs.contains_key(&id) =>
                    {
                        return Err(StoreError::NotFound(id));
                    }
                    TransactionStep::Held { id, fence } => {
                        let handoff = &model.handoffs[&id].handoff;
                        lifecycle::holds(handoff, fence)?;
                        handoff.clone()
                    }
                    TransactionStep::Apply(id, command) => {
                        let transition = model.happen(&id, command, latest)?;
                        transition.actions.iter().for_each(|action| model.follow(&transition.handoff, action));
                        latest = latest.max(transition.handoff.changed_at);
                        transition.handoff
                    }
                };
                left.push(handoff);
            }
            Ok(left)
        })
    }

    /// Expires what is due.
    pub fn rescue(&mut self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        let mut due: Vec<(Timestamp, HandoffId)> = self
            .unfinished()
            .filter_map(|handoff| Some((handoff.wakes_at().filter(|wake| *wake <= at)?, handoff.id.clone())))
            .collect();
        due.sort();
        due.truncate(limit as usize);
        self.all_or_nothing(|model| {
            let mut rescued = Vec::new();
            for (_, id) in &due {
                // What came back to it a moment ago may have changed it.
                let Ok(transition) =
                    model.happen(id, Command::Expire(Expire { dice, for_good: false, fence: None }), at)
                else {
                    continue;
                };
                transition.actions.iter().for_each(|action| model.follow(&transition.handoff, action));
                rescued.push(transition.handoff);
            }
            Ok(rescued)
        })
    }

    /// Changes the settings of a queue.
    pub fn set_queue(&mut self, queue: &Queue) -> Result<(), StoreError> {
        queue.check().map_err(StoreError::invalid)?;
        self.queues.insert(queue.agent.clone(), queue.clone());
        Ok(())
    }

    /// Removes a run that was finished before a time.
    pub fn remove_run(&mut self, run: &RunId, before: Timestamp, at: Timestamp) -> u64 {
        let ids: Vec<HandoffId> = self.of_run(run).map(|entry| entry.handoff.id.clone()).collect();
        if ids.is_empty() || !self.is_finished_before(run, before) {
            return 0;
        }
        self.enter_removal(run, at);
        self.handoffs.retain(|id, _| !ids.contains(id));
        self.open.retain(|id| !ids.contains(id));
        self.journal.remove(run);
        self.contents.retain(|(of, _), _| of != run);
        ids.len() as u64
    }

    /// Keeps files, as far as there is room for them.
    pub fn keep_contents(&mut self, run: &RunId, contents: Vec<Content>, bytes_max: u64) -> KeptContents {
        let kept = self.contents.iter().filter(|((of, _), _)| of == run).map(|(_, bytes)| bytes.len() as u64).sum();
        let mut room = bytes_max.saturating_sub(kept);
        let mut digests = Vec::new();
        for Content { digest, bytes } in contents {
            let (place, length) = ((run.clone(), digest.clone()), bytes.len() as u64);
            let is_known = self.contents.contains_key(&place);
            if !is_known && length <= room {
                room -= length;
                self.contents.insert(place, bytes);
            } else if !is_known {
                continue;
            }
            digests.push(digest);
        }
        KeptContents { digests, room }
    }

    /// Finds a file that was kept.
    pub fn content(&self, run: &RunId, digest: &Digest) -> Option<Vec<u8>> {
        self.contents.get(&(run.clone(), digest.clone())).cloned()
    }

    fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut StoreModel) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (count, latest) = (self.count, self.latest);
        self.written.clear();
        let answer = work(self);
        if answer.is_err() {
            while let Some(change) = self.written.pop() {
                self.take_back(change);
            }
            (self.count, self.latest) = (count, latest);
        }
        answer
    }

    fn take_back(&mut self, change: RowChange) {
        let (run, id) = (change.event.run, change.event.handoff);
        let events = self.journal.entry(run.clone()).or_default();
        events.pop();
        if events.is_empty() {
            self.journal.remove(&run);
        }
        match change.before {
            Some(before) => {
                self.mark(&before);
                let entry = self.handoffs.get_mut(&id).expect("what was changed is there");
                (entry.handoff, entry.head) = (before, change.head);
            }
            None => {
                self.handoffs.remove(&id);
                self.open.remove(&id);
            }
        }
    }

    /// Keeps the list of what is not finished.
    fn mark(&mut self, handoff: &Handoff) {
        match handoff.state.finished_at() {
            Some(_) => self.open.remove(&handoff.id),
            None => self.open.insert(handoff.id.clone()),
        };
    }

    /// Returns what the last transaction has written.
    pub fn take_written(&mut self) -> Vec<RowChange> {
        let written = std::mem::take(&mut self.written);
        self.positions.extend(written.iter().map(|change| (change.event.run.clone(), change.event.seq)));
        written
    }

    /// The clock of a caller may go back, the time of a journal does not.
    fn not_before_the_last_event(&self, run: &RunId, at: Timestamp) -> Timestamp {
        let last = self.journal.get(run).and_then(|events| events.last());
        last.map_or(at, |event| event.at.max(at))
    }

    fn accept_one(&mut self, request: Accept, at: Timestamp) -> Result<AcceptedHandoff, StoreError> {
        request.check().map_err(StoreError::invalid)?;
        let key = request.terms.key.as_deref();
        let by_key = key.and_then(|key| Some((self.with_key(key)?, "key", key.to_owned())));
        let by_id = || Some((self.handoffs.get(&request.id)?, "id", request.id.to_string()));
        let known = by_key.or_else(by_id);
        if let Some((entry, what, value)) = known {
            let same = self.first_terms(&entry.handoff.id) == request.terms
                && entry.handoff.request == request.request.digest();
            if !same {
                return Err(StoreError::Taken { what, value, existing: entry.handoff.id.clone() });
            }
            return Ok(AcceptedHandoff { handoff: entry.handoff.clone(), existing: true });
        }
        let id = request.id.clone();
        let document = request.request.clone();
        let at = self.not_before_the_last_event(&request.run, at);
        let transition = request.apply(at);
        let handoff = transition.handoff.clone();
        self.count += 1;
        let entry =
            Entry { number: self.count, handoff: handoff.clone(), head: Head::START, request: Arc::new(document) };
        self.handoffs.insert(id, entry);
        self.record_first(transition);
        Ok(AcceptedHandoff { handoff, existing: false })
    }

    fn happen(&mut self, id: &HandoffId, command: Command, at: Timestamp) -> Result<Transition, StoreError> {
        let handoff = &self.handoffs[id].handoff;
        let at = self.not_before_the_last_event(&handoff.run, at);
        self.met.count(&command, handoff);
        let transition = lifecycle::apply(handoff, command, at)?;
        self.record(transition.clone());
        Ok(transition)
    }

    /// Lets whoever waits go on, not before what it goes on with. If it is finished itself, nobody waits any more.
    fn follow(&mut self, done: &Handoff, action: &Action) {
        if let Action::Return { to } = action
            && self.handoffs.contains_key(to)
        {
            let report = self.reported(done);
            let _ = self.happen(to, Command::Resume(Resume::after(done, report.as_ref())), done.changed_at);
        }
    }

    /// Finds the last report in the journal.
    fn reported(&self, handoff: &Handoff) -> Option<WrittenDocument> {
        let of_handoff = |event: &&Event| event.handoff == handoff.id;
        let document = |event: &Event| match event.fact().expect("we wrote it") {
            Fact::Happened(Command::Report(report)) => Some(report.document),
            _ => None,
        };
        self.journal[&handoff.run].iter().rev().filter(of_handoff).find_map(document)
    }

    fn record_first(&mut self, transition: Transition) {
        self.record(transition);
        if let Some(change) = self.written.last_mut() {
            change.before = None;
        }
    }

    fn record(&mut self, transition: Transition) {
        let handoff = transition.handoff;
        self.mark(&handoff);
        self.latest = self.latest.max(Some(handoff.changed_at));
        let events = self.journal.entry(handoff.run.clone()).or_default();
        let last = events.last().map_or(Head::START, Event::head);
        let event = last.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
        let entry = self.handoffs.get_mut(&handoff.id).expect("it was accepted");
        let head = std::mem::replace(&mut entry.head, event.head());
        let before = Some(std::mem::replace(&mut entry.handoff, handoff.clone()));
        events.push(event.clone());
        self.written.push(RowChange { before, after: handoff, event, head });
    }
}

fn rank(priority: Priority) -> i16 {
    match priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        Priority::High => 2,
        Priority::Critical => 3,
    }
}

//! What a store must do, in the plainest Rust: maps, sorting and the lifecycle. No database, no concurrency.
//!
//! Where the port is silent, this says what all stores do alike.

use std::collections::BTreeMap;

use baton_engine::handoff::{Digest, Written};
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{self, Accept, Action, Claim, Command, Expire, Resume, Transition};
use baton_engine::queue::Queue;
use baton_engine::store::{Accepted, Claimed, Count, Error, Filter, Order, Step, Wish};
use baton_engine::{Handoff, HandoffId, Priority, RunId, State};
use jiff::Timestamp;

/// Handoffs, their journal and the settings of queues.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    handoffs: BTreeMap<HandoffId, Entry>,
    /// How many were ever accepted.
    count: u64,
    journal: BTreeMap<RunId, Vec<Event>>,
    queues: BTreeMap<String, Queue>,
    latest: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Its place in the order of acceptance.
    number: u64,
    handoff: Handoff,
    head: Head,
    request: Written,
}

/// Accepting, claiming, applying, rescuing: each all or nothing.
impl Model {
    pub(crate) fn accept(&mut self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<Accepted>, Error> {
        self.all_or_nothing(|model| requests.into_iter().map(|request| model.accept_one(request, at)).collect())
    }

    pub(crate) fn claim(&mut self, wish: &Wish, at: Timestamp) -> Result<Vec<Claimed>, Error> {
        let claimed = self.of_agent(&wish.agent).filter(|handoff| handoff.lease().is_some()).count();
        let room = self.queue(&wish.agent).room(wish.count, u32::try_from(claimed).unwrap());
        let mut ready: Vec<(i16, Timestamp, HandoffId)> = self
            .of_agent(&wish.agent)
            .filter_map(|handoff| match handoff.state {
                State::Pending { ready_at } if ready_at <= at => {
                    Some((-rank(handoff.terms.priority), ready_at, handoff.id.clone()))
                }
                _ => None,
            })
            .collect();
        ready.sort();
        ready.truncate(room as usize);
        let claim = Claim {
            claimant: wish.claimant.clone(),
            lease_ms: wish.lease_ms,
            prompt_tokens: None,
            driver: false,
            moved: Vec::new(),
        };
        self.all_or_nothing(|model| {
            let claimed = ready.into_iter().filter_map(|(_, _, id)| {
                // What nobody wants any more is left for the rescue.
                let handoff = model.happen(&id, Command::Claim(claim.clone()), at).ok()?.handoff;
                Some(Ok(Claimed { handoff, request: model.handoffs[&id].request.clone() }))
            });
            claimed.collect()
        })
    }

    pub(crate) fn apply(&mut self, order: Order, at: Timestamp) -> Result<Handoff, Error> {
        let Some(entry) = self.handoffs.get(&order.id) else {
            return Err(Error::NotFound(order.id));
        };
        let at = self.not_before_the_last_event(&entry.handoff.run, at);
        if let Err(refusal) = lifecycle::apply(&entry.handoff, order.command.clone(), at) {
            if let Some(refused) = lifecycle::to_journal(&order.command, &refusal) {
                let transition = lifecycle::refuse(&entry.handoff, refused, at);
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

    pub(crate) fn carry_out(&mut self, steps: Vec<Step>, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        self.all_or_nothing(|model| {
            // What follows is not before what it follows from.
            let mut latest = at;
            let mut left = Vec::new();
            for step in steps {
                let handoff = match step {
                    Step::Accept(request) => {
                        let accepted = model.accept_one(*request, latest)?;
                        latest = if accepted.existing { latest } else { latest.max(accepted.handoff.changed_at) };
                        accepted.handoff
                    }
                    Step::Apply(id, _) | Step::Held { id, .. } if !model.handoffs.contains_key(&id) => {
                        return Err(Error::NotFound(id));
                    }
                    Step::Held { id, fence } => {
                        let handoff = &model.handoffs[&id].handoff;
                        lifecycle::holds(handoff, fence)?;
                        handoff.clone()
                    }
                    Step::Apply(id, command) => {
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

    pub(crate) fn rescue(&mut self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        let mut due: Vec<(Timestamp, HandoffId)> = self
            .all()
            .filter_map(|handoff| Some((handoff.wakes_at().filter(|wake| *wake <= at)?, handoff.id.clone())))
            .collect();
        due.sort();
        due.truncate(limit as usize);
        self.all_or_nothing(|model| {
            let mut rescued = Vec::new();
            for (_, id) in &due {
                // What came back to it a moment ago may have changed it.
                let Ok(transition) = model.happen(id, Command::Expire(Expire { dice, for_good: false }), at) else {
                    continue;
                };
                transition.actions.iter().for_each(|action| model.follow(&transition.handoff, action));
                rescued.push(transition.handoff);
            }
            Ok(rescued)
        })
    }

    pub(crate) fn set_queue(&mut self, queue: &Queue) -> Result<(), Error> {
        queue.check().map_err(Error::Invalid)?;
        self.queues.insert(queue.agent.clone(), queue.clone());
        Ok(())
    }

    pub(crate) fn remove_run(&mut self, run: &RunId, before: Timestamp) -> u64 {
        let ids: Vec<HandoffId> = self.of_run(run).map(|entry| entry.handoff.id.clone()).collect();
        if ids.is_empty() || !self.is_finished_before(run, before) {
            return 0;
        }
        self.handoffs.retain(|id, _| !ids.contains(id));
        self.journal.remove(run);
        ids.len() as u64
    }

    fn all_or_nothing<T>(&mut self, work: impl FnOnce(&mut Model) -> Result<T, Error>) -> Result<T, Error> {
        let before = self.clone();
        let answer = work(self);
        if answer.is_err() {
            *self = before;
        }
        answer
    }

    /// The clock of a caller may go back, the time of a journal does not.
    fn not_before_the_last_event(&self, run: &RunId, at: Timestamp) -> Timestamp {
        let last = self.journal.get(run).and_then(|events| events.last());
        last.map_or(at, |event| event.at.max(at))
    }

    fn accept_one(&mut self, request: Accept, at: Timestamp) -> Result<Accepted, Error> {
        request.check().map_err(Error::Invalid)?;
        let key = request.terms.key.as_deref();
        let by_key = key.and_then(|key| Some((self.with_key(key)?, "key", key.to_owned())));
        let by_id = || Some((self.handoffs.get(&request.id)?, "id", request.id.to_string()));
        let known = by_key.or_else(by_id);
        if let Some((entry, what, value)) = known {
            let same = self.first_terms(&entry.handoff.id) == request.terms
                && entry.handoff.request == request.request.digest();
            if !same {
                return Err(Error::Taken { what, value, existing: entry.handoff.id.clone() });
            }
            return Ok(Accepted { handoff: entry.handoff.clone(), existing: true });
        }
        let id = request.id.clone();
        let document = request.request.clone();
        let at = self.not_before_the_last_event(&request.run, at);
        let transition = request.apply(at);
        let handoff = transition.handoff.clone();
        self.count += 1;
        let entry = Entry { number: self.count, handoff: handoff.clone(), head: Head::START, request: document };
        self.handoffs.insert(id, entry);
        self.record(transition);
        Ok(Accepted { handoff, existing: false })
    }

    fn happen(&mut self, id: &HandoffId, command: Command, at: Timestamp) -> Result<Transition, Error> {
        let handoff = &self.handoffs[id].handoff;
        let at = self.not_before_the_last_event(&handoff.run, at);
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
    fn reported(&self, handoff: &Handoff) -> Option<Written> {
        let of_handoff = |event: &&Event| event.handoff == handoff.id;
        let document = |event: &Event| match event.fact().unwrap() {
            Fact::Happened(Command::Report(report)) => Some(report.document),
            _ => None,
        };
        self.journal[&handoff.run].iter().rev().filter(of_handoff).find_map(document)
    }

    fn record(&mut self, transition: Transition) {
        let handoff = transition.handoff;
        self.latest = self.latest.max(Some(handoff.changed_at));
        let events = self.journal.entry(handoff.run.clone()).or_default();
        let last = events.last().map_or(Head::START, Event::head);
        let event = last.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &transition.fact);
        let entry = self.handoffs.get_mut(&handoff.id).unwrap();
        entry.head = event.head();
        entry.handoff = handoff;
        events.push(event);
    }
}

/// Looking.
impl Model {
    pub(crate) fn find(&self, id: &HandoffId) -> Option<Handoff> {
        self.handoffs.get(id).map(|entry| entry.handoff.clone())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Handoff> {
        self.handoffs.values().map(|entry| &entry.handoff)
    }

    pub(crate) fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Vec<HandoffId> {
        let begins = |id: &&HandoffId| id.as_str().starts_with(prefix);
        self.handoffs.keys().filter(begins).take(limit as usize).cloned().collect()
    }

    pub(crate) fn request(&self, id: &HandoffId) -> Option<Written> {
        self.handoffs.contains_key(id).then(|| self.accepted(id).request)
    }

    pub(crate) fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, Error> {
        let place = |id: &HandoffId| self.handoffs.get(id).ok_or_else(|| Error::NotFound(id.clone()));
        let behind = filter.after.as_ref().map(place).transpose()?.map(|entry| entry.number);
        let fits = |handoff: &&Handoff| {
            filter.agent.as_ref().is_none_or(|agent| *agent == handoff.terms.to)
                && (filter.states.is_empty() || filter.states.contains(&handoff.state.name()))
        };
        let is_behind = |entry: &&Entry| behind.is_none_or(|behind| entry.number < behind);
        let mut entries: Vec<&Entry> = self.handoffs.values().filter(is_behind).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.number));
        Ok(entries.into_iter().map(|entry| &entry.handoff).filter(fits).take(filter.limit as usize).cloned().collect())
    }

    pub(crate) fn census(&self) -> Vec<Count> {
        let mut counts = BTreeMap::new();
        for handoff in self.all() {
            *counts.entry((handoff.terms.to.clone(), handoff.state.name())).or_insert(0) += 1;
        }
        counts.into_iter().map(|((agent, state), handoffs)| Count { agent, state, handoffs }).collect()
    }

    pub(crate) fn history(&self, run: &RunId, after: u64, limit: u32) -> Vec<Event> {
        let events = self.journal.get(run).into_iter().flatten();
        events.filter(|event| event.seq > after).take(limit as usize).cloned().collect()
    }

    pub(crate) fn history_of(&self, id: &HandoffId) -> Vec<Event> {
        let run = self.handoffs.get(id).and_then(|entry| self.journal.get(&entry.handoff.run));
        run.into_iter().flatten().filter(|event| event.handoff == *id).cloned().collect()
    }

    pub(crate) fn runs(&self, after: Option<&RunId>, limit: u32) -> Vec<RunId> {
        self.journal.keys().filter(|run| Some(*run) > after).take(limit as usize).cloned().collect()
    }

    pub(crate) fn handoffs_of(&self, run: &RunId) -> Vec<(Handoff, Head)> {
        let mut entries: Vec<&Entry> = self.of_run(run).collect();
        entries.sort_by_key(|entry| entry.number);
        entries.into_iter().map(|entry| (entry.handoff.clone(), entry.head)).collect()
    }

    pub(crate) fn queue(&self, agent: &str) -> Queue {
        self.queues.get(agent).cloned().unwrap_or_else(|| Queue::open(agent))
    }

    pub(crate) fn queues(&self) -> Vec<Queue> {
        let mut queues: Vec<Queue> = self.queues.values().cloned().collect();
        queues.sort_by(|one, other| one.agent.cmp(&other.agent));
        queues
    }

    pub(crate) fn next_due(&self, agent: Option<&str>) -> Option<Timestamp> {
        let ready = self.all().filter(|handoff| Some(handoff.terms.to.as_str()) == agent).filter_map(ready_at);
        ready.chain(self.all().filter_map(Handoff::wakes_at)).min()
    }

    pub(crate) fn finished_runs(&self, before: Timestamp, limit: u32) -> Vec<RunId> {
        let finished = |run: &&RunId| self.is_finished_before(run, before);
        self.journal.keys().filter(finished).take(limit as usize).cloned().collect()
    }

    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// Returns the kinds of everything that has happened.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = String> {
        self.journal.values().flatten().map(|event| event.kind.clone())
    }

    /// Returns the request that a handoff was made of.
    pub(crate) fn accepted(&self, id: &HandoffId) -> Accept {
        let entry = &self.handoffs[id];
        let first = self.journal[&entry.handoff.run].iter().find(|event| event.handoff == *id).unwrap();
        match first.fact().unwrap() {
            Fact::Accepted(accept) => *accept,
            fact => panic!("{id} began with {}", fact.kind()),
        }
    }

    /// Returns what identifies the last report, or something that nobody has reported.
    pub(crate) fn last_report(&self, id: &HandoffId) -> Digest {
        self.handoffs[id].handoff.last_report.clone().unwrap_or(Digest::of(b"never reported"))
    }

    fn first_terms(&self, id: &HandoffId) -> baton_engine::Terms {
        self.accepted(id).terms
    }

    fn of_agent(&self, agent: &str) -> impl Iterator<Item = &Handoff> {
        self.all().filter(move |handoff| handoff.terms.to == agent)
    }

    fn of_run(&self, run: &RunId) -> impl Iterator<Item = &Entry> {
        self.handoffs.values().filter(move |entry| entry.handoff.run == *run)
    }

    fn with_key(&self, key: &str) -> Option<&Entry> {
        self.handoffs.values().find(|entry| entry.handoff.terms.key.as_deref() == Some(key))
    }

    fn is_finished_before(&self, run: &RunId, before: Timestamp) -> bool {
        self.of_run(run).all(|entry| entry.handoff.state.finished_at().is_some_and(|at| at < before))
    }
}

fn ready_at(handoff: &Handoff) -> Option<Timestamp> {
    match handoff.state {
        State::Pending { ready_at } => Some(ready_at),
        _ => None,
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

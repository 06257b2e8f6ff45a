//! What a transaction comes to. Steps are decided in their order, each seeing the ones before; only when all of them are
//! decided is anything written, each row once.
//!
//! A plan does not look into a database itself: [`Lookup`] does that for it.

use std::collections::HashMap;

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{self, Accept, Action, Command, Refusal, Resume, Transition};
use baton_engine::store::{AcceptedHandoff, StoreError, TransactionStep};
use baton_engine::{EventKind, Fence, HandoffId, RunId};
use jiff::Timestamp;

/// Looks into the database, as it was before the plan.
pub(crate) trait Lookup {
    /// Why it could not look.
    type Fault: From<StoreError>;

    /// Finds a handoff.
    fn find(&mut self, id: &HandoffId) -> Result<Option<Handoff>, Self::Fault>;

    /// Finds the handoff with a key.
    fn with_key(&mut self, key: &str) -> Result<Option<Handoff>, Self::Fault>;

    /// Finds where the journal of a run ends.
    fn end(&mut self, run: &RunId) -> Result<End, Self::Fault>;

    /// Finds the latest report of a handoff.
    fn last_report(&mut self, handoff: &Handoff) -> Result<Option<WrittenDocument>, Self::Fault>;
}

/// The last event of a run, and its time if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) head: Head,
    pub(crate) at: Option<Timestamp>,
}

/// A handoff that the plan has to do with.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The version that it has in the database, if it is there.
    pub(crate) before: Option<u64>,
    /// The event with its request, if that is in the plan.
    pub(crate) accepted_seq: u64,
    /// As it will be.
    pub(crate) handoff: Handoff,
    /// The last event that the plan has about it.
    pub(crate) head: Option<Head>,
}

/// What must be written.
#[derive(Debug)]
pub(crate) struct Plan<S> {
    sight: S,
    remembered: HashMap<HandoffId, (Handoff, Head)>,
    rows: Vec<Planned>,
    ends: HashMap<RunId, End>,
    events: Vec<Event>,
    news: bool,
}

/// A plan that was made: nothing is looked up any more.
#[derive(Debug, Default)]
pub(crate) struct Made {
    rows: Vec<Planned>,
    ends: HashMap<RunId, End>,
    /// All events, in their order.
    pub(crate) events: Vec<Event>,
    /// Whether somebody who waits should look.
    pub(crate) news: bool,
}

impl Made {
    /// Returns the handoffs that have changed or are new.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&Planned, Head)> {
        self.rows.iter().filter_map(|row| Some((row, row.head?)))
    }

    /// Returns every handoff that was looked at or changed, with the end of its run: as long as the run ends there, that
    /// is how they are.
    pub(crate) fn left(self) -> impl Iterator<Item = (Handoff, Head)> {
        let Made { rows, ends, .. } = self;
        rows.into_iter().filter_map(move |row| ends.get(&row.handoff.run).map(|end| (row.handoff, end.head)))
    }

    /// Puts plans together, each of which saw what those before it come to.
    pub(crate) fn of_all(plans: Vec<Made>) -> Made {
        let mut all = Made::default();
        let mut places: HashMap<HandoffId, usize> = HashMap::new();
        for plan in plans {
            for row in plan.rows {
                match places.get(&row.handoff.id).map(|place| &mut all.rows[*place]) {
                    Some(earlier) if row.head.is_some() => {
                        (earlier.handoff, earlier.head) = (row.handoff, row.head);
                    }
                    Some(_) => {}
                    None => {
                        places.insert(row.handoff.id.clone(), all.rows.len());
                        all.rows.push(row);
                    }
                }
            }
            all.events.extend(plan.events);
            all.ends.extend(plan.ends);
            all.news |= plan.news;
        }
        all
    }
}

impl<S: Lookup> Plan<S> {
    /// Begins a plan. What this process remembers is only used as long as its run has not gone on.
    pub(crate) fn new(sight: S, remembered: HashMap<HandoffId, (Handoff, Head)>) -> Plan<S> {
        let (rows, ends, events) = (Vec::new(), HashMap::new(), Vec::new());
        Plan { sight, remembered, rows, ends, events, news: false }
    }

    /// Ends the plan.
    pub(crate) fn made(self) -> Made {
        Made { rows: self.rows, ends: self.ends, events: self.events, news: self.news }
    }

    /// Plans steps. The first that is refused is the answer, and then nothing of the plan may be written.
    pub(crate) fn carry_out(&mut self, steps: &[TransactionStep], at: Timestamp) -> Result<Vec<Handoff>, S::Fault> {
        // What follows is not before what it follows from, whatever the clock of the caller says.
        let mut latest = at;
        let mut left = Vec::with_capacity(steps.len());
        for step in steps {
            let (handoff, happened) = match step {
                TransactionStep::Accept(request) => {
                    let accepted = self.accept(request, latest)?;
                    (accepted.handoff, !accepted.existing)
                }
                TransactionStep::Apply(id, command) => {
                    (self.apply(id, command, latest)?.map_err(StoreError::from)?, true)
                }
                TransactionStep::Held { id, fence } => (self.held(id, *fence)?, false),
            };
            latest = if happened { latest.max(handoff.changed_at) } else { latest };
            left.push(handoff);
        }
        Ok(left)
    }

    /// Looks whether a claim still holds a handoff.
    fn held(&mut self, id: &HandoffId, fence: Fence) -> Result<Handoff, S::Fault> {
        let Some(place) = self.place(id)? else { return Err(StoreError::NotFound(id.clone()).into()) };
        let handoff = &self.rows[place].handoff;
        lifecycle::holds(handoff, fence).map_err(StoreError::from)?;
        Ok(handoff.clone())
    }

    /// Plans that a request becomes a handoff, unless it is one already.
    pub(crate) fn accept(&mut self, request: &Accept, at: Timestamp) -> Result<AcceptedHandoff, S::Fault> {
        request.check().map_err(StoreError::invalid)?;
        if let Some(handoff) = self.existing(request)? {
            return Ok(AcceptedHandoff { handoff, existing: true });
        }
        let at = self.not_before_the_end(&request.run, at)?;
        let transition = request.clone().apply(at);
        let handoff = transition.handoff.clone();
        self.rows.push(Planned { before: None, accepted_seq: 0, handoff: handoff.clone(), head: None });
        self.happen(self.rows.len() - 1, transition)?;
        Ok(AcceptedHandoff { handoff, existing: false })
    }

    /// Plans a command, with everything that follows from it.
    pub(crate) fn apply(
        &mut self,
        id: &HandoffId,
        command: &Command,
        at: Timestamp,
    ) -> Result<Result<Handoff, Refusal>, S::Fault> {
        let Some(place) = self.place(id)? else { return Err(StoreError::NotFound(id.clone()).into()) };
        let at = self.not_before_the_end(&self.rows[place].handoff.run.clone(), at)?;
        match lifecycle::apply(&self.rows[place].handoff, command.clone(), at) {
            Ok(transition) => {
                self.happen(place, transition)?;
                Ok(Ok(self.rows[place].handoff.clone()))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Plans a command; if it is refused, what must be journalled of it is planned instead.
    pub(crate) fn apply_or_journal(
        &mut self,
        id: &HandoffId,
        command: &Command,
        at: Timestamp,
    ) -> Result<Result<Handoff, Refusal>, S::Fault> {
        let applied = self.apply(id, command, at)?;
        if let Err(refusal) = &applied
            && let Some(refused) = lifecycle::to_journal(command, refusal)
            && let Some(place) = self.place(id)?
        {
            let at = self.not_before_the_end(&self.rows[place].handoff.run.clone(), at)?;
            self.happen(place, lifecycle::refuse(&self.rows[place].handoff, refused, at))?;
        }
        Ok(applied)
    }

    /// Takes a transition into the plan, with what follows from it.
    fn happen(&mut self, place: usize, transition: Transition) -> Result<(), S::Fault> {
        let Transition { handoff, fact, actions } = transition;
        let head = self.end(&handoff.run)?.head;
        let event = head.next(&handoff.run, &handoff.id, handoff.version, handoff.changed_at, &fact);
        self.ends.insert(handoff.run.clone(), End { head: event.head(), at: Some(event.at) });
        let row = &mut self.rows[place];
        if matches!(fact, Fact::Accepted(_)) {
            row.accepted_seq = event.seq;
        }
        row.head = Some(event.head());
        row.handoff = handoff;
        self.events.push(event);
        for action in actions {
            match action {
                Action::Return { to } => {
                    let done = self.rows[place].handoff.clone();
                    self.return_to(&done, &fact, &to)?;
                }
                Action::Announce { .. }
                | Action::TellFinished
                | Action::Verify
                | Action::AskPerson { .. }
                | Action::Unblock { .. }
                | Action::StopAttempt { .. } => self.news = true,
            }
        }
        Ok(())
    }

    /// Lets the caller go on with what came out. If it is finished itself, nobody waits any more.
    fn return_to(&mut self, done: &Handoff, fact: &Fact, to: &HandoffId) -> Result<(), S::Fault> {
        if self.place(to)?.is_none() {
            return Ok(());
        }
        let report = match fact {
            Fact::Happened(Command::Report(report)) => Some(report.document.clone()),
            Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => self.last_report(done)?,
        };
        let resume = Command::Resume(Resume::after(done, report.as_ref()));
        // If it does not wait any more, the result stands for itself.
        self.apply(to, &resume, done.changed_at).map(drop)
    }

    fn last_report(&mut self, handoff: &Handoff) -> Result<Option<WrittenDocument>, S::Fault> {
        let reported = |event: &&Event| event.handoff == handoff.id && event.is(EventKind::Reported);
        match self.events.iter().rev().find(reported) {
            Some(event) => Ok(reported_in(&event.detail)?),
            None => self.sight.last_report(handoff),
        }
    }

    /// Returns where a handoff stands in the plan, and looks for it if it does not yet.
    ///
    /// What is remembered counts only while the journal of its run ends where it ended then:
    ///
    /// ```text
    /// this process                             another one
    /// claims x, and remembers it: fence 1
    ///                                          notices that the lease has ended; claims x: fence 2
    /// reports x with fence 1: what it remembers says that it holds x, the row says that it does not
    /// ```
    fn place(&mut self, id: &HandoffId) -> Result<Option<usize>, S::Fault> {
        if let Some(place) = self.rows.iter().position(|row| row.handoff.id == *id) {
            return Ok(Some(place));
        }
        let handoff = match self.remembered.remove(id) {
            Some((handoff, head)) if self.end(&handoff.run)?.head == head => Some(handoff),
            Some(_) | None => self.sight.find(id)?,
        };
        Ok(handoff.map(|handoff| {
            self.rows.push(Planned { before: Some(handoff.version), accepted_seq: 0, handoff, head: None });
            self.rows.len() - 1
        }))
    }

    /// Returns the handoff with the id or the key of a request, if it is the same request.
    ///
    /// The plan is looked at before the store: when two steps of one transaction send the same key, the store knows neither
    /// of them yet, both would become handoffs, and the transaction would fail on its own second step.
    fn existing(&mut self, request: &Accept) -> Result<Option<Handoff>, S::Fault> {
        let key = request.terms.key.as_ref();
        let planned = |row: &&Planned| key.is_some() && row.handoff.terms.key.as_ref() == key;
        let with_key = match (key, self.rows.iter().find(planned)) {
            (None, _) => None,
            (Some(_), Some(row)) => Some(row.handoff.clone()),
            (Some(key), None) => self.sight.with_key(key)?,
        };
        let (what, value, handoff) = match (with_key, key) {
            (Some(handoff), Some(key)) => ("key", key.clone(), handoff),
            _ => match self.place(&request.id)? {
                Some(place) => ("id", request.id.to_string(), self.rows[place].handoff.clone()),
                None => return Ok(None),
            },
        };
        if *handoff.terms == request.terms && handoff.request == request.request.digest() {
            Ok(Some(handoff))
        } else {
            Err(StoreError::Taken { what, value, existing: handoff.id }.into())
        }
    }

    fn end(&mut self, run: &RunId) -> Result<End, S::Fault> {
        if let Some(end) = self.ends.get(run) {
            return Ok(*end);
        }
        let end = self.sight.end(run)?;
        self.ends.insert(run.clone(), end);
        Ok(end)
    }

    /// The clock of a caller may go back, the time of a journal does not.
    fn not_before_the_end(&mut self, run: &RunId, at: Timestamp) -> Result<Timestamp, S::Fault> {
        Ok(self.end(run)?.at.map_or(at, |latest| latest.max(at)))
    }
}

/// Reads the document of an event with a report.
pub(crate) fn reported_in(detail: &str) -> Result<Option<WrittenDocument>, StoreError> {
    match Fact::read("reported", detail).map_err(|why| why.at("an event with a report"))? {
        Fact::Happened(Command::Report(report)) => Ok(Some(report.document)),
        Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => Ok(None),
    }
}

//! Sending requests: the terms of a handoff come from the sender, else from the document, else from the defaults.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_protocol::model::{Document, Kind};
use jiff::Timestamp;

use super::given::{WantedTime, WordFault, agent_name};
use super::{Engine, Problem, ValidDocument};
use crate::asked::{self, AskedFault, AskedTerms};
use crate::handoff::{Handoff, Priority, Terms};
use crate::id::{HandoffId, LAST, RunId};
use crate::lifecycle::Accept;
use crate::retry::{RetryFault, milliseconds};
use crate::store::{AcceptedHandoff, StoreError};

/// How long after a command was given its request may have been accepted.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(60);

/// The terms that a sender sets; each goes before what the document says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedTerms {
    /// The agent that receives it.
    pub to: Option<String>,
    /// Who hands over.
    pub from: Option<String>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// An idempotency key: sending it again returns the same handoff.
    pub key: Option<String>,
    /// Not to be claimed before.
    pub not_before: Option<WantedTime>,
    /// Of no use after.
    pub deadline: Option<WantedTime>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// How long it may wait to be claimed.
    pub pick_up_within: Option<Duration>,
    /// How soon after its claim it must be acknowledged.
    pub acknowledge_within: Option<Duration>,
    /// How many attempts may follow the first.
    pub max_retries: Option<u32>,
    /// How long to wait before the first retry.
    pub retry_delay: Option<Duration>,
    /// How the wait grows from one retry to the next.
    pub backoff: Option<f64>,
    /// Which part of the wait is random.
    pub jitter: Option<f64>,
}

/// Where a new handoff belongs.
#[derive(Debug, Clone, Default)]
pub struct NewHandoff {
    /// Its id, if it is not the document's.
    pub id: Option<HandoffId>,
    /// Its run, if it does not have one of its own.
    pub run: Option<RunId>,
    /// The blocked handoff that goes on when it is completed.
    pub returns_to: Option<HandoffId>,
    /// Who hands over, if neither sender nor document say so.
    pub from: String,
    /// The terms that the sender sets.
    pub terms: WantedTerms,
}

/// Why the terms of a handoff cannot be agreed to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TermsFault {
    /// It does not say to whom.
    #[error("the request names no receiver")]
    NoReceiver,
    /// What the document says cannot be agreed to.
    #[error(transparent)]
    Document(#[from] AskedFault),
    /// The receiver cannot be called that.
    #[error(transparent)]
    Receiver(#[from] WordFault),
    /// An attempt could never succeed.
    #[error("{0} must be longer than 0")]
    NoTime(&'static str),
    /// The retries cannot be worked out.
    #[error(transparent)]
    Retry(#[from] RetryFault),
    /// It is over already.
    #[error("the deadline has passed: {0}")]
    DeadlinePassed(Timestamp),
    /// It would be over before it begins.
    #[error("the deadline must be later than the time from which it can be claimed")]
    DeadlineBeforeStart,
}

impl Engine {
    /// Makes the handoff that a request asks for.
    pub fn accept(&self, request: &ValidDocument, new: NewHandoff) -> Result<Accept, Problem> {
        let Document::Request(asks) = &request.document else {
            return Err(Problem::WrongKind { found: request.document.kind(), wanted: Kind::Request });
        };
        let now = self.now();
        let asked = asked::of_request(asks, request.dialect).map_err(TermsFault::Document)?;
        let wanted = new.terms;
        let to = wanted.to.clone().or_else(|| asked.to.clone()).ok_or(TermsFault::NoReceiver)?;
        let to = agent_name(&to).map_err(TermsFault::Receiver)?;
        let from = wanted.from.clone().or_else(|| asked.from.clone()).unwrap_or(new.from);
        let id = new.id.or_else(|| asked.id.clone()).unwrap_or_else(|| self.random.id());
        let terms = Terms { returns_to: new.returns_to, ..wanted.agreed(from, to, &asked, now) };
        wanted.check(&terms, now)?;
        let run = new.run.unwrap_or_else(|| RunId::alone(&id));
        Ok(Accept { id, run, terms, request: request.written.clone(), notes: Vec::new() })
    }

    /// Refuses ids below that of a run of a workflow: its phases will be called so, and a run whose phase cannot be called
    /// what it must be called fails. Refuses the word that means the newest run, too.
    pub(super) async fn refuse_ids_of_runs(&self, requests: &[Accept]) -> Result<(), Problem> {
        // What was sent together is often called after the same run.
        let mut not_runs: BTreeSet<HandoffId> = BTreeSet::new();
        for request in requests {
            let id = request.id.as_str();
            let above = id.match_indices('.').filter_map(|(end, _)| HandoffId::parse(&id[..end]).ok());
            let above: Vec<HandoffId> = above.filter(|above| !not_runs.contains(above)).collect();
            // What was there before is sent again as ever.
            if (above.is_empty() && id != LAST) || self.store.find(&request.id).await?.is_some() {
                continue;
            }
            if id == LAST {
                return Err(means_the_newest_run().into());
            }
            for above in above {
                if self.store.find(&above).await?.is_some_and(|above| above.is_run()) {
                    return Err(StoreError::Taken { what: "id", value: id.to_owned(), existing: above }.into());
                }
                not_runs.insert(above);
            }
        }
        Ok(())
    }

    /// Refuses to answer what belongs to a run: its driver finds help for whoever works in it, and asks people itself.
    pub(super) async fn refuse_returns_to_drivers(&self, requests: &[Accept]) -> Result<(), Problem> {
        for caller in requests.iter().filter_map(|request| request.terms.returns_to.as_ref()) {
            // What is not there is for the store to refuse.
            if let Some(caller) = self.store.find(caller).await?
                && (caller.terms.is_drivers() || caller.terms.step.is_some())
            {
                return Err(Problem::DriversWork { id: caller.id, run: caller.run });
            }
        }
        Ok(())
    }

    /// Delivers requests: all of them or none. A duration counts from the first time that a request was sent, so that
    /// sending it again is still the same request.
    pub async fn send(&self, mut requests: Vec<Accept>, wanted: &WantedTerms) -> Result<Vec<AcceptedHandoff>, Problem> {
        self.refuse_ids_of_runs(&requests).await?;
        self.refuse_returns_to_drivers(&requests).await?;
        for _ in 0..requests.len() {
            let existing = match self.store.accept(requests.clone(), self.now()).await {
                Err(StoreError::Taken { existing, .. }) if wanted.is_relative() => existing,
                answer => return Ok(answer?),
            };
            let Some(known) = self.store.find(&existing).await? else { continue };
            // A server that has the store remembers the key together with our token.
            let key = |terms: &Terms| terms.key.as_deref().map(|key| Terms::readable_key(key).to_owned());
            let is_known = |request: &&mut Accept| {
                request.id == known.id || (request.terms.key.is_some() && key(&request.terms) == key(&known.terms))
            };
            for request in requests.iter_mut().filter(is_known) {
                wanted.count_from_the_first_time(&mut request.terms, &known);
            }
        }
        Ok(self.store.accept(requests, self.now()).await?)
    }
}

impl WantedTerms {
    fn agreed(&self, from: String, to: String, asked: &AskedTerms, now: Timestamp) -> Terms {
        let mut retry = asked.retry;
        retry.max_retries = self.max_retries.unwrap_or(retry.max_retries);
        retry.delay_ms = self.retry_delay.map_or(retry.delay_ms, milliseconds);
        retry.multiplier = self.backoff.unwrap_or(retry.multiplier);
        retry.jitter = self.jitter.unwrap_or(retry.jitter);
        Terms {
            key: self.key.clone(),
            priority: self.priority.or(asked.priority).unwrap_or(Priority::Normal),
            not_before: self.not_before.map(|time| time.after(now)),
            deadline: self.deadline.map(|time| time.after(now)),
            timeout_ms: self.timeout.map(milliseconds).or(asked.timeout_ms),
            acknowledge: self.acknowledge_within.is_some(),
            acknowledge_within_ms: self.acknowledge_within.map(milliseconds),
            pick_up_within_ms: self.pick_up_within.map(milliseconds),
            retry,
            ..Terms::between(from, to)
        }
    }

    fn check(&self, terms: &Terms, now: Timestamp) -> Result<(), TermsFault> {
        terms.retry.check()?;
        let limits = [
            ("the timeout", terms.timeout_ms),
            ("the time to be claimed", terms.pick_up_within_ms),
            ("the time to be acknowledged", terms.acknowledge_within_ms),
        ];
        if let Some((what, _)) = limits.into_iter().find(|(_, limit)| *limit == Some(0)) {
            return Err(TermsFault::NoTime(what));
        }
        match (terms.not_before, terms.deadline) {
            (_, Some(end)) if end <= now => Err(TermsFault::DeadlinePassed(end)),
            (Some(start), Some(end)) if end <= start => Err(TermsFault::DeadlineBeforeStart),
            _ => Ok(()),
        }
    }

    /// Takes the times that durations meant when the same request was sent for the first time.
    fn count_from_the_first_time(&self, terms: &mut Terms, known: &Handoff) {
        let at = known.accepted_at;
        terms.not_before = meant(self.not_before, known.terms.not_before, at).or(terms.not_before);
        terms.deadline = meant(self.deadline, known.terms.deadline, at).or(terms.deadline);
    }

    /// Returns whether a time counts from now, so that the same terms mean another time later.
    fn is_relative(&self) -> bool {
        [self.not_before, self.deadline].into_iter().flatten().any(|time| matches!(time, WantedTime::In(_)))
    }
}

/// Why nothing is called `last`.
pub(crate) fn means_the_newest_run() -> StoreError {
    StoreError::Invalid(format!("`{LAST}` means the newest run wherever an id is given; choose another id"))
}

/// Returns the time that a duration meant when the handoff was accepted, if it is the one that was agreed then.
fn meant(wanted: Option<WantedTime>, known: Option<Timestamp>, accepted_at: Timestamp) -> Option<Timestamp> {
    let (Some(wanted @ WantedTime::In(_)), Some(known)) = (wanted, known) else { return None };
    let late = wanted.after(accepted_at).duration_since(known);
    Duration::try_from(late).is_ok_and(|late| late < ACCEPTED_WITHIN).then_some(known)
}

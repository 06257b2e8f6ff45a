//! Everything that waits for a person.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

use super::{Engine, IdKind, Problem};
use crate::handoff::{Handoff, StateName};
use crate::id::{HandoffId, RunId};
use crate::people::Question;
use crate::store::Filter;

/// How many rows are looked at together.
const ROWS: u32 = 1_000;

/// A place in the inbox: since when something waits, and what. It stays where it is when that is decided.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InboxPlace(Timestamp, HandoffId);

impl InboxPlace {
    /// Returns the place of a handoff that waits.
    pub fn of(handoff: &Handoff) -> InboxPlace {
        InboxPlace(handoff.changed_at, handoff.id.clone())
    }
}

impl fmt::Display for InboxPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.0, self.1)
    }
}

impl FromStr for InboxPlace {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<InboxPlace, NotAPlace> {
        let (since, id) = text.split_once('/').ok_or(NotAPlace)?;
        Ok(InboxPlace(since.parse().map_err(|_| NotAPlace)?, HandoffId::parse(id).map_err(|_| NotAPlace)?))
    }
}

/// A text does not name a place in the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("give what the page before it says, such as 2026-01-31T12:00:00Z/run-7.review.1")]
pub struct NotAPlace;

/// A page of what waits for people, the longest first.
#[derive(Debug)]
pub struct InboxPage {
    /// What waits, and what is asked.
    pub waiting: Vec<(Handoff, Question)>,
    /// Where the page ends, if others come behind it.
    pub next: Option<InboxPlace>,
    /// How many others.
    pub more: usize,
}

impl Engine {
    /// Returns a page of what waits for people: of one run or of all, behind a place.
    pub async fn inbox(
        &self,
        run: Option<&RunId>,
        after: Option<&InboxPlace>,
        limit: u32,
    ) -> Result<InboxPage, Problem> {
        let mut handoffs: Vec<Handoff> = match run {
            Some(run) => self.store.handoffs_of(run).await?.into_iter().map(|(handoff, _)| handoff).collect(),
            None => self.all_waiting().await?,
        };
        if let (Some(run), true) = (run, handoffs.is_empty()) {
            return Err(Problem::Unknown { sought: IdKind::Run, given: run.to_string(), close: None });
        }
        handoffs.retain(|handoff| {
            let is_behind = after.is_none_or(|after| InboxPlace::of(handoff) > *after);
            handoff.state.name() == StateName::AwaitingPerson && is_behind
        });
        handoffs.sort_by_cached_key(InboxPlace::of);
        let more = handoffs.len().saturating_sub(limit as usize);
        handoffs.truncate(limit as usize);
        let next = handoffs.last().map(InboxPlace::of).filter(|_| more > 0);
        let mut runs: BTreeMap<RunId, Vec<Handoff>> = BTreeMap::new();
        for handoff in handoffs {
            runs.entry(handoff.run.clone()).or_default().push(handoff);
        }
        let mut waiting = Vec::new();
        for (run, handoffs) in runs {
            let events = self.events_of_run(&run).await?;
            let asking = Question::of_journal(&events);
            let questions = handoffs.into_iter().filter_map(|handoff| Some((asking(&handoff)?, handoff)));
            waiting.extend(questions.map(|(question, handoff)| (handoff, question)));
        }
        waiting.sort_by_cached_key(|(handoff, _)| InboxPlace::of(handoff));
        Ok(InboxPage { waiting, next, more })
    }

    async fn all_waiting(&self) -> Result<Vec<Handoff>, Problem> {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let filter = Filter { agent: None, states: vec![StateName::AwaitingPerson], after, limit: ROWS };
            let page = self.store.list(&filter).await?;
            let is_last = page.len() < ROWS as usize;
            after = page.last().map(|last| last.id.clone());
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }
}

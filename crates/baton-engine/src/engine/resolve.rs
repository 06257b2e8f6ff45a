//! From what somebody gives for an id to the handoff or run that it means.

use baton_protocol::wire::closest;
use jiff::Timestamp;

use super::{Engine, IdKind, Problem};
use crate::handoff::Handoff;
use crate::id::{HandoffId, LAST, RunId};
use crate::ledger::{LedgerEntry, Occasion};
use crate::step::ORCHESTRATOR;
use crate::store::Filter;

/// How many ids that begin alike are looked at.
const IDS_MAX: u32 = 1_000;

/// Among so many of the latest handoffs the one that was probably meant is looked for.
const RECENT_MAX: u32 = 200;

impl Engine {
    /// Finds the handoff that an id, or a unique beginning of one, means; `last` means the newest run.
    pub async fn resolve(&self, given: &str) -> Result<Handoff, Problem> {
        match self.named(given).await? {
            Some(handoff) => Ok(handoff),
            None => Err(self.unknown(IdKind::Handoff, given).await),
        }
    }

    /// Finds the run that an id, or a unique beginning of one, means; a handoff of a run means its run, and `last` the newest
    /// one.
    pub async fn resolve_run(&self, given: &str) -> Result<Handoff, Problem> {
        let Some(handoff) = self.named(given).await? else {
            return Err(self.unknown(IdKind::Run, given).await);
        };
        if handoff.is_run() {
            return Ok(handoff);
        }
        let root = match HandoffId::parse(handoff.run.as_str()) {
            Ok(root) => self.store.find(&root).await?.filter(Handoff::is_run),
            Err(_) => None,
        };
        root.ok_or(Problem::NotOfARun(handoff.id))
    }

    /// Returns the handoffs of a run that has no workflow, such as those of somebody's session, if an id or its beginning
    /// means one; `None` if it means something else.
    pub async fn plain_run(&self, given: &str) -> Result<Option<Vec<Handoff>>, Problem> {
        if let Ok(id) = HandoffId::parse(given)
            && self.store.find(&id).await?.is_some()
        {
            return Ok(None);
        }
        let Some(run) = self.plain_run_named(given).await? else { return Ok(None) };
        let handoffs: Vec<Handoff> =
            self.store.handoffs_of(&run).await?.into_iter().map(|(handoff, _)| handoff).collect();
        Ok(Some(handoffs).filter(|handoffs| !handoffs.is_empty() && !handoffs.iter().any(Handoff::is_run)))
    }

    async fn plain_run_named(&self, given: &str) -> Result<Option<RunId>, Problem> {
        if given == LAST && self.last_run().await?.is_none() {
            let filter = Filter { agent: None, states: Vec::new(), after: None, limit: 1 };
            return Ok(self.store.list(&filter).await?.pop().map(|newest| newest.run));
        }
        if let Ok(run) = RunId::parse(given)
            && !self.store.handoffs_of(&run).await?.is_empty()
        {
            return Ok(Some(run));
        }
        let ids = self.store.ids_beginning_with(given, IDS_MAX).await?;
        let mut meant = None;
        for id in if given.is_empty() || ids.len() < 2 { Vec::new() } else { ids } {
            let run = self.store.find(&id).await?.map(|handoff| handoff.run);
            match (&meant, run) {
                (_, Some(run)) if !run.as_str().starts_with(given) => return Ok(None),
                (Some(known), Some(run)) if *known != run => return Ok(None),
                (_, run) => meant = run.or(meant),
            }
        }
        Ok(meant)
    }

    async fn named(&self, given: &str) -> Result<Option<Handoff>, Problem> {
        if let Ok(id) = HandoffId::parse(given)
            && let Some(handoff) = self.store.find(&id).await?
        {
            return Ok(Some(handoff));
        }
        if given == LAST {
            return self.last_run().await;
        }
        // What was there under this very id is not the beginning of something else.
        let was_removed = match RunId::parse(given) {
            Ok(run) => self.removal_of(&run).await.is_some(),
            Err(_) => false,
        };
        if given.is_empty() || was_removed {
            return Ok(None);
        }
        let mut beginnings = vec![given.to_owned()];
        // Nobody wants to type what all made ids have in common.
        if !given.starts_with("hoff-") {
            beginnings.push(format!("hoff-{given}"));
        }
        for beginning in beginnings {
            let ids = self.store.ids_beginning_with(&beginning, 2).await?;
            match &ids[..] {
                [] => {}
                [id] => {
                    let found = self.store.find(id).await?;
                    return found.ok_or_else(|| Problem::Removed(id.clone())).map(Some);
                }
                _ => {
                    let ids = self.store.ids_beginning_with(&beginning, IDS_MAX).await?;
                    return self.only_run(given, ids).await.map(Some);
                }
            }
        }
        Ok(None)
    }

    async fn last_run(&self) -> Result<Option<Handoff>, Problem> {
        let mut filter = Filter { agent: Some(ORCHESTRATOR.to_owned()), states: Vec::new(), after: None, limit: 100 };
        loop {
            let handoffs = self.store.list(&filter).await?;
            if let Some(run) = handoffs.iter().find(|handoff| handoff.is_run()) {
                return Ok(Some(run.clone()));
            }
            match handoffs.last() {
                Some(last) => filter.after = Some(last.id.clone()),
                None => return Ok(None),
            }
        }
    }

    /// Finds the one run among ids that begin alike. What is in a run is called after it, and does not count beside it.
    async fn only_run(&self, given: &str, ids: Vec<HandoffId>) -> Result<Handoff, Problem> {
        let mut runs: Vec<Handoff> = Vec::new();
        let mut others: Vec<HandoffId> = Vec::new();
        for id in ids {
            let is_inside =
                |run: &Handoff| id.as_str().strip_prefix(run.id.as_str()).is_some_and(|rest| rest.starts_with('.'));
            if runs.iter().any(is_inside) {
                continue;
            }
            match self.store.find(&id).await?.filter(Handoff::is_run) {
                Some(run) => runs.push(run),
                None => others.push(id),
            }
            if runs.len() + others.len() > 3 {
                break;
            }
        }
        match (runs.pop(), runs.is_empty() && others.is_empty()) {
            (Some(run), true) => Ok(run),
            (last, _) => {
                let ids = runs.into_iter().chain(last).map(|run| run.id).chain(others).collect();
                Err(Problem::Ambiguous { given: given.to_owned(), ids })
            }
        }
    }

    /// Returns the entry of the ledger that says that a run was pruned, whose id or one of whose handoffs this is.
    async fn removal(&self, given: &str) -> Option<LedgerEntry> {
        let ends = given.match_indices('.').map(|(at, _)| at).chain([given.len()]);
        for run in ends.filter_map(|end| RunId::parse(&given[..end]).ok()) {
            if let Some(removal) = self.removal_of(&run).await {
                return Some(removal);
            }
        }
        None
    }

    async fn removal_of(&self, run: &RunId) -> Option<LedgerEntry> {
        let entries = self.store.ledger_of(run).await.unwrap_or_default();
        entries.into_iter().next_back().filter(|last| last.occasion == Occasion::Removed)
    }

    async fn unknown(&self, sought: IdKind, given: &str) -> Problem {
        if let Some(LedgerEntry { run, at, .. }) = self.removal(given).await {
            return Problem::Pruned { run, at: Timestamp::from_second(at.as_second()).unwrap_or(at) };
        }
        let filter = Filter { agent: None, states: Vec::new(), after: None, limit: RECENT_MAX };
        let recent = self.store.list(&filter).await.unwrap_or_default();
        let ids: Vec<&str> = recent.iter().map(|handoff| handoff.id.as_str()).collect();
        let close = closest(given, &ids).and_then(|close| HandoffId::parse(close).ok());
        Problem::Unknown { sought, given: given.to_owned(), close }
    }
}

//! The verdict: the journal alone tells what has happened, and everything that anybody was told must agree with it.

use std::collections::BTreeMap;

use baton_engine::Fence;
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::journal::{Event, Fact, Head};
use baton_engine::lifecycle::{self, Command, Ending};
use baton_engine::{HandoffId, RunId, Store};

use crate::ledger::Ledger;
use crate::sender::FRAIL;
use crate::worker::{ENDS, NEXT};

/// How many rows are asked for at a time.
const PAGE: u32 = 500;

/// What the journal tells.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) runs: u64,
    pub(crate) events: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) links: u64,
    pub(crate) refused: u64,
    pub(crate) retried: u64,
    faults: Vec<String>,
    lives: BTreeMap<HandoffId, Life>,
}

/// What the journal tells of one handoff.
#[derive(Debug, Default)]
struct Life {
    now: Option<Handoff>,
    head: Option<Head>,
    /// The siblings that were accepted with it.
    bundle: Vec<String>,
    /// The tokens of complete reports that had their effect, and what each of them says comes next.
    completions: Vec<(Fence, Option<String>)>,
    /// The tokens of failures and expiries that had their effect.
    failures: Vec<Fence>,
    /// The tokens of documents that came too late.
    refused: Vec<Fence>,
}

/// Looks at everything, and panics if anything is not as it was said.
pub(crate) async fn look(store: &dyn Store, ledger: &Ledger) -> Found {
    let mut found = Found::default();
    let mut after: Option<RunId> = None;
    loop {
        let runs = store.runs(after.as_ref(), PAGE).await.expect("runs can be listed");
        for run in &runs {
            found.read_run(store, run).await;
        }
        let Some(last) = runs.last() else { break };
        after = Some(last.clone());
    }
    found.judge(ledger);
    let checkup = store.checkup().await.expect("the store can be looked at");
    found.faults.extend(checkup.faults);
    found.faults.extend(ledger.broken.iter().cloned());
    let count = found.faults.len();
    assert!(found.faults.is_empty(), "{count} faults, of which the first are {:#?}", &found.faults[..count.min(20)]);
    found
}

impl Found {
    async fn read_run(&mut self, store: &dyn Store, run: &RunId) {
        self.runs += 1;
        let mut head = Head::START;
        let mut at = None;
        loop {
            let events = store.history(run, head.seq, PAGE).await.expect("a journal can be read");
            if events.is_empty() {
                break;
            }
            for event in events {
                let chained = event.seq == head.seq + 1 && event.hash == event.hash_after(&head.hash);
                self.expect(chained, || format!("the chain of {run} breaks at {}", event.seq));
                self.expect(at.is_none_or(|at| at <= event.at), || {
                    format!("time runs backwards in {run} at {}", event.seq)
                });
                (head, at) = (event.head(), Some(event.at));
                self.read_event(&event);
            }
        }
        for (handoff, last) in store.handoffs_of(run).await.expect("the handoffs of a run can be read") {
            let life = self.lives.get(&handoff.id);
            let replayed = life.and_then(|life| life.now.as_ref()) == Some(&handoff);
            let known = life.and_then(|life| life.head) == Some(last);
            self.expect(replayed, || format!("the row of {} is not what its events make", handoff.id));
            self.expect(known, || format!("the row of {} knows another last event", handoff.id));
        }
    }

    fn read_event(&mut self, event: &Event) {
        self.events += 1;
        let fact = match event.fact() {
            Ok(fact) => fact,
            Err(why) => return self.faults.push(format!("event {} of {}: {why}", event.seq, event.run)),
        };
        let life = self.lives.entry(event.handoff.clone()).or_default();
        let fence = life.now.as_ref().map_or(Fence::NONE, |handoff| handoff.fence);
        match &fact {
            Fact::Accepted(accept) => {
                let said: serde_json::Value = serde_json::from_str(&accept.request.text).unwrap_or_default();
                let ids = said["bundle"].as_array().cloned().unwrap_or_default();
                life.bundle = ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
            }
            Fact::Happened(Command::Report(report)) if report.ending == Ending::Complete => {
                let said: serde_json::Value = serde_json::from_str(&report.document.text).unwrap_or_default();
                life.completions.push((report.fence, said["next"].as_str().map(str::to_owned)));
            }
            Fact::Happened(Command::Fail(_) | Command::Expire(_)) => life.failures.push(fence),
            Fact::Happened(_) => {}
            Fact::Refused(refused) => life.refused.push(refused.fence),
        }
        match lifecycle::replay(life.now.take(), fact, event.at) {
            Ok(handoff) if handoff.version != event.version => {
                self.faults.push(format!("event {} of {} has version {}", event.seq, event.run, event.version));
            }
            Ok(handoff) => (life.now, life.head) = (Some(handoff), Some(event.head())),
            Err(why) => self.faults.push(format!("event {} of {} cannot have happened: {why}", event.seq, event.run)),
        }
    }

    fn judge(&mut self, ledger: &Ledger) {
        let lives = std::mem::take(&mut self.lives);
        let life = |id: &str| HandoffId::parse(id).ok().and_then(|id| lives.get(&id));
        for (id, life) in &lives {
            self.judge_life(id, life, &|id: &str| lives.contains_key(&HandoffId::parse(id).expect("safe")));
        }
        for id in &ledger.accepted {
            self.expect(life(id).is_some(), || format!("{id} was accepted and is lost"));
        }
        for (id, fence) in &ledger.done {
            let completions = life(id).map(|life| life.completions.iter().map(|(fence, _)| *fence).collect());
            self.expect(completions == Some(vec![*fence]), || format!("{id} was done with {fence}: {completions:?}"));
        }
        for (id, fence) in &ledger.late {
            let refused = life(id).is_some_and(|life| life.refused.contains(fence));
            self.expect(refused, || format!("{id} was refused with {fence}, but that is not journalled"));
            let effective =
                life(id).is_some_and(|life| life.completions.iter().any(|(effective, _)| effective == fence));
            self.expect(!effective, || format!("{id} was refused with {fence}, but that report had its effect"));
        }
        for (id, fence) in &ledger.failed {
            let failed = life(id).is_some_and(|life| life.failures.contains(fence));
            self.expect(failed, || format!("{id} failed with {fence}, but that is not journalled"));
        }
        self.lives = lives;
    }

    fn judge_life(&mut self, id: &HandoffId, life: &Life, exists: &dyn Fn(&str) -> bool) {
        let Some(now) = &life.now else { return };
        let state = now.state.name();
        let frail = id.as_str().starts_with(FRAIL);
        let ended = ENDS.contains(&state) && (frail || state == StateName::Completed);
        self.expect(ended, || format!("{id} ended {state}: {:?}", now.last_failure));
        let effects = usize::from(state == StateName::Completed);
        let completions = &life.completions;
        self.expect(completions.len() == effects, || format!("{id} is {state} with {completions:?}"));
        for next in life.completions.iter().filter_map(|(_, next)| next.as_ref()) {
            self.expect(exists(next), || format!("{id} is finished, but its next link {next} is lost"));
            self.links += 1;
        }
        match id.as_str().strip_suffix(NEXT) {
            // A link exists only by the report that made it, which stands in the journal as often as there are links.
            Some(before) => self.expect(exists(before), || format!("{id} follows nothing")),
            None => {
                let whole = life.bundle.iter().all(|id| exists(id));
                self.expect(whole, || format!("only a part of the bundle {:?} was accepted", life.bundle));
            }
        }
        self.completed += u64::from(state == StateName::Completed);
        self.failed += u64::from(state == StateName::Failed);
        self.refused += life.refused.len() as u64;
        self.retried += life.failures.len() as u64;
    }

    fn expect(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }
}

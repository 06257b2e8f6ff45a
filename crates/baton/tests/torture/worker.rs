//! The worker: claims with short leases and reports, mostly. Sometimes it dawdles, fails, repeats itself or walks away.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::{Handoff, StateName, WrittenDocument};
use baton_engine::lifecycle::{Accept, Acknowledge, Command, Ending, Fail, HandIn, Heartbeat, Refusal};
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Order, StoreError, TransactionStep};
use baton_engine::{HandoffId, Store};
use baton_protocol::Dialect;
use baton_store::Location;
use baton_testbed::Dice;
use serde_json::json;

use crate::role::{dawdle, give_up, now, persist, say};
use crate::sender::AGENTS;

/// How many links a chain has at most.
const LINKS_MAX: usize = 4;

/// How the id of the next link ends.
pub(crate) const NEXT: &str = ".n";

struct Worker {
    store: Arc<dyn Store>,
    name: String,
    dice: Dice,
    calm: bool,
}

/// Works until it is killed, or calmly until nothing is left.
pub(crate) async fn work(location: &Location, name: &str, seed: u64, calm: bool) {
    let store = match persist(|| baton_store::open(location)).await {
        Ok(store) => store,
        Err(error) => give_up(&format!("worker {name} cannot open: {error}")),
    };
    let mut worker = Worker { store, name: name.to_owned(), dice: Dice::new(seed), calm };
    loop {
        match worker.round().await {
            Ok(true) => {}
            Ok(false) => return say("drained"),
            Err(error) => give_up(&format!("worker {name}: {error}")),
        }
    }
}

impl Worker {
    /// Looks once at what there is to do. Returns whether to go on.
    async fn round(&mut self) -> Result<bool, StoreError> {
        let seen = self.store.changes();
        if self.dice.chance(0.2) {
            self.rescue().await?;
        }
        let claimed = self.claim().await?;
        if claimed.is_empty() {
            self.rescue().await?;
            if self.calm && self.nothing_is_open().await? {
                return Ok(false);
            }
            self.store.changed(seen, Duration::from_millis(30)).await;
        }
        for claimed in claimed {
            self.attempt(claimed).await?;
        }
        Ok(true)
    }

    async fn rescue(&mut self) -> Result<(), StoreError> {
        let chance = self.dice.below(1000) as f64 / 1000.0;
        let rescued = persist(|| self.store.rescue(50, chance, now())).await?;
        if !rescued.is_empty() {
            say(&format!("rescued {}", rescued.len()));
        }
        Ok(())
    }

    async fn claim(&mut self) -> Result<Vec<ClaimedHandoff>, StoreError> {
        let wish = ClaimRequest {
            agent: (*self.dice.pick(&AGENTS)).to_owned(),
            claimant: self.name.clone(),
            lease_ms: if self.calm { 10_000 } else { 300 + self.dice.below(500) },
            count: 1 + u32::try_from(self.dice.below(8)).expect("small"),
            times_itself: false,
            author: None,
        };
        let claimed = persist(|| self.store.claim(&wish, now())).await?;
        for claimed in &claimed {
            let said: serde_json::Value = serde_json::from_str(&claimed.request.text).unwrap_or_default();
            if said.get("bundle").is_none() {
                give_up(&format!(
                    "the request of {} is not what was sent: {}",
                    claimed.handoff.id, claimed.request.text
                ));
            }
        }
        Ok(claimed)
    }

    async fn nothing_is_open(&self) -> Result<bool, StoreError> {
        let counts = persist(|| self.store.census()).await?;
        Ok(counts.iter().all(|count| count.state.is_finished() || count.handoffs == 0))
    }

    async fn attempt(&mut self, claimed: ClaimedHandoff) -> Result<(), StoreError> {
        let (handoff, request) = (claimed.handoff, claimed.request);
        let mischief = if self.calm { 99 } else { self.dice.below(100) };
        match mischief {
            0 => {
                let lease = handoff.lease().map_or(0, |lease| lease.length_ms);
                dawdle(Duration::from_millis(lease + self.dice.below(200))).await;
                self.report(&handoff, None).await.map(drop)
            }
            1..=9 => self.fail(&handoff).await,
            // Walks away: the lease must end by itself.
            10 => Ok(()),
            11..=15 => self.extend(&handoff).await,
            16..=18 => {
                let report = self.report(&handoff, None).await?;
                self.repeat(&handoff, report).await
            }
            19..=35 => {
                let next = next_link(&handoff, request);
                self.report(&handoff, next).await.map(drop)
            }
            _ => self.report(&handoff, None).await.map(drop),
        }
    }

    /// Reports, and says what became of it. Returns the report if it had its effect.
    async fn report(&mut self, handoff: &Handoff, next: Option<Accept>) -> Result<Option<Order>, StoreError> {
        let (id, fence) = (handoff.id.clone(), handoff.fence);
        let next_id = next.as_ref().map(|next| next.id.to_string());
        let text = json!({ "by": self.name, "fence": fence, "next": next_id }).to_string();
        let document = WrittenDocument::new(Dialect::Native, text);
        let report = Command::Report(HandIn::new(fence, Ending::Complete, document));
        let order = Order::new(id.clone(), report);
        let mut attempts = 0;
        let answer = persist(|| {
            attempts += 1;
            hand_in(&*self.store, order.clone(), next.clone())
        });
        match answer.await {
            Ok(_) => {}
            // The answer to an earlier try was lost with the server.
            Err(StoreError::Refused(Refusal::Repeated)) if attempts > 1 => {}
            Err(StoreError::Refused(refusal)) if refusal.is_late() => {
                say(&format!("late {id} {fence}"));
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        say(&format!("done {id} {fence} {}", next_id.unwrap_or_default()));
        Ok(Some(order))
    }

    /// Repeats the same call: it must be recognised.
    async fn repeat(&mut self, handoff: &Handoff, report: Option<Order>) -> Result<(), StoreError> {
        let Some(report) = report else { return Ok(()) };
        match persist(|| self.store.apply(report.clone(), now())).await {
            Err(StoreError::Refused(Refusal::Repeated)) => Ok(()),
            other => give_up(&format!("a repeated report of {} was answered {other:?}", handoff.id)),
        }
    }

    async fn fail(&mut self, handoff: &Handoff) -> Result<(), StoreError> {
        let (id, fence) = (handoff.id.clone(), handoff.fence);
        let failure = Failure::new(Code::processing_error(), format!("mischief of {} at {fence}", self.name));
        let chance = self.dice.below(1000) as f64 / 1000.0;
        let fail = Command::Fail(Fail::new(fence, failure, chance));
        let order = Order::new(id.clone(), fail);
        let mut attempts = 0;
        let answer = persist(|| {
            attempts += 1;
            self.store.apply(order.clone(), now())
        });
        match answer.await {
            Ok(_) => say(&format!("failed {id} {fence}")),
            Err(StoreError::Refused(Refusal::Repeated)) if attempts > 1 => say(&format!("failed {id} {fence}")),
            Err(StoreError::Refused(refusal)) if refusal.is_late() => say(&format!("late {id} {fence}")),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Acknowledges, keeps the lease alive for a while, and reports.
    async fn extend(&mut self, handoff: &Handoff) -> Result<(), StoreError> {
        let fence = handoff.fence;
        let document = WrittenDocument::new(Dialect::Native, "{}");
        let acknowledge = Command::Acknowledge(Acknowledge { fence, document, understood: true, author: None });
        let heartbeat = Command::Heartbeat(Heartbeat::new(fence));
        for command in [acknowledge, heartbeat.clone(), heartbeat] {
            let order = Order::new(handoff.id.clone(), command);
            match persist(|| self.store.apply(order.clone(), now())).await {
                Ok(_) | Err(StoreError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
            dawdle(Duration::from_millis(self.dice.below(40))).await;
        }
        self.report(handoff, None).await.map(drop)
    }
}

/// Reports, with what comes next in the same transaction. What comes too late is handed in alone, to be journalled.
async fn hand_in(store: &dyn Store, order: Order, next: Option<Accept>) -> Result<(), StoreError> {
    if let Some(next) = next {
        let steps = vec![
            TransactionStep::Apply(order.id.clone(), order.command.clone()),
            TransactionStep::Accept(Box::new(next)),
        ];
        match store.carry_out(steps, now()).await {
            Err(StoreError::Refused(refusal)) if refusal.is_late() => {}
            done => return done.map(drop),
        }
    }
    store.apply(order, now()).await.map(drop)
}

/// Makes the request that follows in the same transaction, unless the chain is long enough.
fn next_link(handoff: &Handoff, request: WrittenDocument) -> Option<Accept> {
    let id = handoff.id.as_str();
    if id.matches(NEXT).count() >= LINKS_MAX {
        return None;
    }
    let terms = baton_engine::Terms { key: None, ..(*handoff.terms).clone() };
    let id = HandoffId::parse(format!("{id}{NEXT}")).expect("a safe id");
    Some(Accept { id, run: handoff.run.clone(), terms, request, notes: Vec::new() })
}

/// The states in which a handoff of the torture may end.
pub(crate) const ENDS: [StateName; 2] = [StateName::Completed, StateName::Failed];

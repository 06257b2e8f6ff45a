//! An engine over a store in memory, and short words for what nearly every test does first.

use std::sync::Arc;

use baton_engine::clock::Clock as _;
use baton_engine::draft::Draft;
use baton_engine::engine::{
    AppliedCommand, Caller, Door, HandedIn, IncomingDocument, NewHandoff, Problem, ValidDocument, WantedTerms,
    Yardstick,
};
use baton_engine::flow;
use baton_engine::handoff::StateName;
use baton_engine::known::Decider;
use baton_engine::lifecycle::{Accept, Claim, Command, Refusal};
use baton_engine::memory::{self, StillClock};
use baton_engine::store::{ClaimRequest, ClaimedHandoff, TransactionStep};
use baton_engine::{Engine, Handoff, HandoffId, RunId};
use jiff::Timestamp;

use crate::documents::REQUEST;

/// An engine and the clock that it looks at.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<StillClock>,
}

impl Bed {
    pub(crate) fn new() -> Bed {
        let clock = Arc::new(StillClock::at("2026-03-02T09:00:00Z".parse().unwrap()));
        Bed { engine: memory::engine(&clock), clock }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Reads a document that must be valid.
    pub(crate) fn valid(&self, text: &str) -> ValidDocument {
        let judged = Yardstick::of_project(&self.engine.settings).judge(&IncomingDocument::of(text.as_bytes()));
        judged.valid.unwrap_or_else(|| panic!("{:#?}", judged.judgement.diagnostics))
    }

    /// Makes the handoff that a request asks for; to `finder`, unless the terms or the request say otherwise.
    pub(crate) fn accept(&self, request: &str, terms: WantedTerms) -> Result<Accept, Problem> {
        self.engine.accept(&self.valid(request), NewHandoff { from: "ana".to_owned(), terms, ..NewHandoff::default() })
    }

    /// Sends a request to an agent.
    pub(crate) async fn send(&self, request: &str, to: &str) -> Handoff {
        let terms = WantedTerms { to: Some(to.to_owned()), ..WantedTerms::default() };
        let accept = self.accept(request, terms.clone()).unwrap();
        self.engine.send(vec![accept], &terms).await.unwrap().remove(0).handoff
    }

    /// Claims the next handoff from a queue.
    pub(crate) async fn claim(&self, queue: &str) -> Handoff {
        let (agent, claimant) = (queue.to_owned(), "worker".to_owned());
        let wish = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
        self.engine.claim(&wish, &person()).await.unwrap().remove(0).handoff
    }

    /// Sends [`REQUEST`] to `finder`, who claims it.
    pub(crate) async fn claimed(&self) -> Handoff {
        self.send(REQUEST, "finder").await;
        self.claim("finder").await
    }

    /// Hands in a valid document for a handoff, and sends what comes next.
    pub(crate) async fn report_and_send(
        &self,
        handoff: &Handoff,
        text: &str,
        next: Vec<Accept>,
    ) -> Result<AppliedCommand, Problem> {
        let claimed = ClaimedHandoff { handoff: handoff.clone(), request: self.engine.request(&handoff.id).await? };
        let yardstick = Yardstick::of_handoff(handoff, None, None, &self.engine.settings);
        self.engine.report(HandedIn::of(&claimed, &yardstick, self.valid(text)), next, &person()).await
    }

    /// Hands in a valid document for a handoff.
    pub(crate) async fn report(&self, handoff: &Handoff, text: &str) -> Result<AppliedCommand, Problem> {
        self.report_and_send(handoff, text, Vec::new()).await
    }

    /// Returns a handoff as it is now.
    pub(crate) async fn find(&self, handoff: &Handoff) -> Handoff {
        self.engine.store.find(&handoff.id).await.unwrap().unwrap()
    }

    /// Returns the kinds of the events about a handoff.
    pub(crate) async fn kinds(&self, handoff: &Handoff) -> Vec<String> {
        let events = self.engine.store.history_of(&handoff.id).await.unwrap();
        events.into_iter().map(|event| event.kind).collect()
    }

    /// Begins a run, and decides what comes first in it, as its driver does.
    pub(crate) async fn begin(&self, name: &str, workflow: &str) -> Handoff {
        let (run, id) = (RunId::parse(name).unwrap(), HandoffId::parse(name).unwrap());
        memory::driver(&self.engine).begin(&run, &memory::definition(workflow), "ana").await.unwrap();
        let claim = Claim { driver: true, ..Claim::by("driver", 3_600_000) };
        self.carry_out(vec![TransactionStep::Apply(id.clone(), Command::Claim(claim))]).await;
        self.settle(&run).await;
        self.engine.store.find(&id).await.unwrap().unwrap()
    }

    /// Decides what follows in a run.
    pub(crate) async fn settle(&self, run: &RunId) {
        let mut draft = Draft::new(&self.engine.run(run).await.unwrap().run, self.now());
        flow::settle(&mut draft).unwrap();
        self.carry_out(draft.steps).await;
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>) {
        self.engine.store.carry_out(steps, self.now()).await.unwrap();
    }
}

/// A person at the command line.
pub(crate) fn person() -> Caller {
    Caller { decider: Decider::account("ana", None), door: Door::CommandLine, role: None, working_on: None }
}

/// An agent that works on another handoff.
pub(crate) fn agent() -> Caller {
    Caller { working_on: Some(id("some.other.work")), ..person() }
}

pub(crate) fn id(text: &str) -> HandoffId {
    HandoffId::parse(text).unwrap()
}

/// What a verb says that the lifecycle refuses.
pub(crate) fn refused(handoff: &Handoff, refusal: Refusal, state: StateName) -> Problem {
    Problem::Refused { id: handoff.id.clone(), refusal, state }
}

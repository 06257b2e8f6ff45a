//! The script of the door suite, played on the engine itself, with a store in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::driver::DriverProblem;
use baton_engine::engine::{
    Caller, Door as EngineDoor, HandedIn, IncomingDocument, NewHandoff, Problem, ValidDocument, WantedTerms,
    WantedTime, Yardstick,
};
use baton_engine::handoff::{Digest, Handoff};
use baton_engine::known::Decider;
use baton_engine::lifecycle::Decision;
use baton_engine::memory::{self, StillClock};
use baton_engine::people::{Question, Response};
use baton_engine::store::ClaimRequest;
use baton_engine::{Engine, Failure, HandoffId, RunId};
use baton_protocol::Kind;
use baton_testbed::account;
use jiff::Timestamp;

use crate::door_suite::{Answer, Door, GATE, Shown, Verb, documents};

/// The engine itself.
pub(crate) struct Direct {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
    documents: BTreeMap<&'static str, String>,
}

impl Direct {
    pub(crate) fn new() -> Direct {
        let clock = StillClock::at(Timestamp::from_second(1_800_000_000).expect("a time"));
        let engine = memory::engine(&Arc::new(clock));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Direct { engine, runtime, documents: documents() }
    }

    async fn try_verb(&self, verb: &Verb) -> Result<Answer, Problem> {
        let engine = &self.engine;
        let project = Yardstick::of_project(&engine.settings);
        let states = |handoffs: &[Handoff]| {
            Answer::Done(handoffs.iter().map(|handoff| handoff.state.name().to_string()).collect())
        };
        let judged = |yardstick: &Yardstick, name: &str| -> Result<ValidDocument, Answer> {
            let judged = yardstick.judge(&IncomingDocument::of(self.documents[name].as_bytes()));
            let codes = judged.judgement.diagnostics.iter().map(|found| found.code.to_string()).collect();
            judged.valid.ok_or(Answer::Invalid(codes))
        };
        let caller = Caller {
            decider: Decider::account(account(), None),
            door: EngineDoor::CommandLine,
            role: None,
            working_on: None,
        };
        let applied = match verb {
            Verb::Send { document, to, key, deadline } => {
                let document = match judged(&project, document) {
                    Ok(document) => document.of_kind(Kind::Request)?,
                    Err(invalid) => return Ok(invalid),
                };
                let owned = |text: &Option<&str>| text.map(str::to_owned);
                let deadline = deadline.map(|text| match text.parse() {
                    Ok(time) => WantedTime::At(time),
                    Err(_) => WantedTime::In(Duration::from_secs(7200)),
                });
                let terms = WantedTerms { to: owned(to), key: owned(key), deadline, ..WantedTerms::default() };
                let new = NewHandoff { from: account(), terms: terms.clone(), ..NewHandoff::default() };
                let accept = engine.accept(&document, new)?;
                let accepted = engine.send(vec![accept], &terms).await?;
                return Ok(states(&accepted.into_iter().map(|accepted| accepted.handoff).collect::<Vec<_>>()));
            }
            Verb::Claim { agent } => {
                let wish = ClaimRequest {
                    agent: (*agent).to_owned(),
                    claimant: "worker".to_owned(),
                    lease_ms: 60_000,
                    count: 1,
                    times_itself: false,
                    author: None,
                };
                let claimed = engine.store.claim(&wish, engine.clock.now()).await?;
                return Ok(states(&claimed.into_iter().map(|claimed| claimed.handoff).collect::<Vec<_>>()));
            }
            Verb::Heartbeat { id, fence } => engine.heartbeat(&engine.resolve(id).await?, *fence, None).await?,
            Verb::Acknowledge { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, None, None, &engine.settings).for_acknowledgments();
                let given = match document.map(|document| judged(&yardstick, document)) {
                    Some(Err(invalid)) => return Ok(invalid),
                    Some(Ok(document)) => Some(document),
                    None => None,
                };
                engine.acknowledge(&handoff, *fence, given).await?
            }
            Verb::Report { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let request = engine.request(&handoff.id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, Some(&request), None, &engine.settings);
                let document = match judged(&yardstick, document) {
                    Ok(document) => document,
                    Err(invalid) => return Ok(invalid),
                };
                let handed_in = HandedIn {
                    document,
                    request: &request,
                    handoff: &handoff,
                    following: &yardstick.following,
                    fence: *fence,
                    changed: Vec::new(),
                };
                engine.report(handed_in, Vec::new()).await?
            }
            Verb::Fail { id, fence } => {
                let mut failure = Failure::new(baton_engine::Code::timeout(), "too slow");
                failure.chance = baton_engine::failure::Transience::Permanent;
                engine.fail(&engine.resolve(id).await?, *fence, failure, None, Vec::new()).await?
            }
            Verb::Approve { id, shown, inside_work } => {
                let working_on = inside_work.then(|| HandoffId::parse("some.other.work").expect("safe"));
                let caller = Caller { working_on, ..caller };
                caller.person()?;
                let handoff = engine.resolve(id).await?;
                let question = engine.question(&handoff).await?;
                let said = Response {
                    decision: Decision::Approve,
                    note: None,
                    by: caller.decider.clone(),
                    door: baton_engine::door::Door::CommandLine,
                };
                let mut decide = decided(question.as_ref(), said, &handoff);
                if matches!(shown, Shown::Another) {
                    decide.shown = Digest("0".repeat(64));
                }
                engine.decide(&handoff, decide, &caller).await?
            }
            Verb::Cancel { id } => engine.cancel(&engine.resolve(id).await?, None, &caller).await?,
            Verb::Requeue { id } => {
                let handoff = engine.resolve(id).await?;
                return Ok(states(&[engine.requeue(&handoff, None, &caller).await?]));
            }
            Verb::Begin { run } => {
                let run = RunId::parse(*run).expect("safe");
                memory::driver(engine).begin(&run, &memory::definition(GATE), &account()).await.map_err(|problem| {
                    match problem {
                        DriverProblem::Store(error) => Problem::Store(error),
                        problem => panic!("{problem}"),
                    }
                })?;
                return Ok(Answer::Done(vec!["begun".to_owned()]));
            }
            Verb::Look { id } => return Ok(states(&[engine.resolve(id).await?])),
            Verb::Inbox => {
                let page = engine.inbox(None, None, 100).await?;
                let ask = |(_, question): &(Handoff, Question)| format!("{:?}", question.ask).to_lowercase();
                return Ok(Answer::Done(page.waiting.iter().map(ask).collect()));
            }
        };
        Ok(states(&[applied.handoff]))
    }
}

fn decided(question: Option<&Question>, said: Response, handoff: &Handoff) -> baton_engine::lifecycle::Decide {
    match question {
        Some(question) => question.decided(said),
        None => {
            let Decider { name, known, label } = said.by;
            let shown = handoff.shown().unwrap_or_else(|| Digest(String::new()));
            let (door, decision) = (said.door, said.decision);
            baton_engine::lifecycle::Decide { by: name, known, label, door, shown, decision, note: None, asked: None }
        }
    }
}

impl Door for Direct {
    fn play(&mut self, verb: &Verb) -> Answer {
        let answer = self.runtime.block_on(self.try_verb(verb));
        answer.unwrap_or_else(|problem| Answer::Problem(problem.to_string()))
    }
}

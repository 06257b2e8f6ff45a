//! The script of the door suite, played on the engine itself, with a store in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_engine::draft::Draft;
use baton_engine::driver::DriverProblem;
use baton_engine::engine::{
    Caller, Door as EngineDoor, GivenDecision, HandedIn, IncomingDocument, NewHandoff, Problem, ValidDocument,
    WantedTerms, WantedTime, Yardstick,
};
use baton_engine::handoff::Handoff;
use baton_engine::known::Decider;
use baton_engine::lifecycle::{Claim, Command, Decision};
use baton_engine::memory::{self, StillClock};
use baton_engine::people::Question;
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Order};
use baton_engine::{Engine, Failure, HandoffId, RunId, flow};
use baton_protocol::Kind;
use baton_testbed::account;
use jiff::Timestamp;
use serde_json::json;

use crate::door_suite::{self, Answer, Door, GATE, Verb, documents};

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
            Verb::Judge { document } => {
                let judged = project.judge(&IncomingDocument::of(self.documents[document].as_bytes()));
                let found: Vec<_> = judged
                    .judgement
                    .diagnostics
                    .iter()
                    .map(|found| json!({ "code": found.code.to_string() }))
                    .collect();
                return Ok(door_suite::judged(found.iter()));
            }
            Verb::Send { document, to, key, deadline, within } => {
                let document = match judged(&project, document) {
                    Ok(document) => document.of_kind(Kind::Request)?,
                    Err(invalid) => return Ok(invalid),
                };
                let owned = |text: &Option<&str>| text.map(str::to_owned);
                let deadline = deadline.map(|text| match text.parse() {
                    Ok(time) => WantedTime::At(time),
                    Err(_) => WantedTime::In(Duration::from_secs(7200)),
                });
                // All of them are no time at all.
                let [pick_up_within, acknowledge_within] = within.map(|within| within.map(|_| Duration::ZERO));
                let (to, key) = (owned(to), owned(key));
                let terms =
                    WantedTerms { to, key, deadline, pick_up_within, acknowledge_within, ..WantedTerms::default() };
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
                let claimed = engine.claim(&wish, &caller).await?;
                return Ok(states(&claimed.into_iter().map(|claimed| claimed.handoff).collect::<Vec<_>>()));
            }
            Verb::Heartbeat { id, fence } => {
                engine.heartbeat(&engine.resolve(id).await?, *fence, None, &caller).await?
            }
            Verb::Acknowledge { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, None, None, &engine.settings).for_acknowledgments();
                let given = match document.map(|document| judged(&yardstick, document)) {
                    Some(Err(invalid)) => return Ok(invalid),
                    Some(Ok(document)) => Some(document),
                    None => None,
                };
                engine.acknowledge(&handoff, *fence, given, &caller).await?
            }
            Verb::Report { id, fence, document } => {
                let handoff = engine.resolve(id).await?;
                let request = engine.request(&handoff.id).await?;
                let yardstick = Yardstick::of_handoff(&handoff, Some(&request), None, &engine.settings);
                let document = match judged(&yardstick, document) {
                    Ok(document) => document,
                    Err(invalid) => return Ok(invalid),
                };
                let claimed = ClaimedHandoff { handoff, request };
                let handed_in = HandedIn { fence: *fence, ..HandedIn::of(&claimed, &yardstick, document) };
                engine.report(handed_in, Vec::new(), &caller).await?
            }
            Verb::Fail { id, fence } => {
                let mut failure = Failure::new(baton_engine::Code::timeout(), "too slow");
                failure.chance = baton_engine::failure::Transience::Permanent;
                engine.fail(&engine.resolve(id).await?, *fence, failure, None, Vec::new(), &caller).await?
            }
            Verb::Decide { id, decision, text, shown, inside_work } => {
                let working_on = inside_work.then(|| HandoffId::parse("some.other.work").expect("safe"));
                let caller = Caller { working_on, ..caller };
                let text = (*text).to_owned();
                let decision = match *decision {
                    "approve" => Decision::Approve,
                    "reject" => Decision::Reject { feedback: text },
                    "ask" => Decision::Ask { question: text },
                    _ => Decision::Answer { answers: text },
                };
                let handoff = engine.asked(engine.resolve(id).await?).await?;
                let question = engine.question(&handoff).await?;
                let latest = question.as_ref().map_or("000000000000", |question| &question.shown.0);
                let given =
                    GivenDecision { decision, shown: shown.of(latest), note: None, label: None, signature: None };
                let decide = engine.decision(&handoff, question.as_ref(), given, &caller)?;
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
                let claim = Claim { driver: true, ..Claim::by("driver", 3_600_000) };
                let root = engine.resolve_run(run.as_str()).await?;
                engine.store.apply(Order::new(root.id, Command::Claim(claim)), engine.now()).await?;
                let mut draft = Draft::new(&engine.run(&run).await?.run, engine.now());
                flow::settle(&mut draft).expect("a sound workflow");
                engine.store.carry_out(draft.steps, engine.now()).await?;
                return Ok(Answer::Done(vec!["begun".to_owned()]));
            }
            Verb::Look { id } => return Ok(states(&[engine.resolve(id).await?])),
            Verb::Wait { id } => {
                let ids = [engine.resolve(id).await?.id];
                assert!(engine.is_settled(&engine.find_all(&ids).await?, false).await?, "{id} is finished");
                return Ok(states(&engine.find_all(&ids).await?));
            }
            Verb::Journal { id } => {
                let events = engine.store.history_of(&engine.resolve(id).await?.id).await?;
                return Ok(door_suite::journal(events.iter().map(|event| baton_views::event::json(event, None))));
            }
            Verb::Inbox { run } => {
                let run = run.map(|run| RunId::parse(run).expect("safe"));
                let page = engine.inbox(run.as_ref(), None, 100).await?;
                let asked = |(_, question): &(Handoff, Question)| {
                    format!("{}: {}", baton_views::handoff::ask_word(question.ask), question.title)
                };
                return Ok(Answer::Done(page.waiting.iter().map(asked).collect()));
            }
        };
        Ok(states(&[applied.handoff]))
    }
}

impl Door for Direct {
    fn play(&mut self, verb: &Verb) -> Answer {
        let answer = self.runtime.block_on(self.try_verb(verb));
        answer.unwrap_or_else(|problem| Answer::Problem(problem.to_string()))
    }
}

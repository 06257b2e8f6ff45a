//! A store and the model, asked the same.

use std::fmt::Debug;
use std::sync::Arc;

use baton_engine::Fence;
use baton_engine::door::Door;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::known::HowKnown;
use baton_engine::lifecycle::{
    Accept, Acknowledge, Cancel, Claim, Command, Decide, Decision, Ending, Expire, Fail, HandIn, Heartbeat, Release,
    Requeue, Resume, Route, Verdict, Verify,
};
use baton_engine::memory::StoreModel;
use baton_engine::queue::Queue;
use baton_engine::store::{self, ClaimRequest, Filter, Order, StoreError};
use baton_engine::{Handoff, HandoffId, RunId, Store, Terms, retry};
use jiff::{SignedDuration, Timestamp};

use crate::step::{AGENTS, Act, Ask, Draft, Part, Step, Token, Verb};

/// A store, the model, and the time that both are told.
pub(crate) struct SideBySide {
    store: Arc<dyn Store>,
    model: StoreModel,
    now: Timestamp,
}

/// Returns where what was seen differs.
fn same<T: Debug + PartialEq>(what: &str, store: T, model: T) -> Result<(), String> {
    if store == model { Ok(()) } else { Err(difference(what, &store, &model)) }
}

/// Returns where the answers differ; errors are the same if they say the same.
fn same_answer<T: Debug + PartialEq>(what: &str, store: Answer<T>, model: Answer<T>) -> Result<(), String> {
    match (&store, &model) {
        (Ok(store), Ok(model)) if store == model => Ok(()),
        (Err(store), Err(model)) if format!("{store:?}") == format!("{model:?}") => Ok(()),
        _ => Err(difference(what, &store, &model)),
    }
}

type Answer<T> = Result<T, StoreError>;

fn difference(what: &str, store: &impl Debug, model: &impl Debug) -> String {
    format!("{what}\n--- the store says\n{store:#?}\n--- the model says\n{model:#?}")
}

impl SideBySide {
    pub(crate) fn new(store: Arc<dyn Store>) -> SideBySide {
        let now = Timestamp::from_second(1_767_225_600).unwrap();
        SideBySide { store, model: StoreModel::default(), now }
    }

    /// Takes all steps and returns the model; the error says where store and model differ.
    pub(crate) async fn live(mut self, steps: &[Step]) -> Result<StoreModel, String> {
        for (number, step) in steps.iter().enumerate() {
            self.now = self.now.checked_add(SignedDuration::from_millis(step.moves_ms)).unwrap();
            let taken = self.take(&step.ask).await;
            let looked = match taken {
                Ok(()) => self.glance().await,
                Err(difference) => Err(difference),
            };
            looked.map_err(|difference| format!("step {number} at {}: {:?}: {difference}", self.now, step.ask))?;
        }
        self.compare_everything().await?;
        Ok(self.model)
    }

    async fn take(&mut self, ask: &Ask) -> Result<(), String> {
        let at = self.now;
        match ask {
            Ask::Accept(drafts) => {
                let requests: Vec<Accept> = drafts.iter().map(|draft| self.request(draft)).collect();
                same_answer("accept", self.store.accept(requests.clone(), at).await, self.model.accept(requests, at))
            }
            Ask::AcceptAgain { which, other_id } => {
                let Some(id) = self.pick(*which) else { return Ok(()) };
                let known = self.model.accepted(&id);
                let requests = vec![Accept { id: other_id.map_or(id, name), ..known }];
                same_answer(
                    "accept again",
                    self.store.accept(requests.clone(), at).await,
                    self.model.accept(requests, at),
                )
            }
            Ask::Claim { agent, lease_ms, count } => {
                let wish = ClaimRequest {
                    agent: AGENTS[*agent].to_owned(),
                    claimant: "w".to_owned(),
                    lease_ms: *lease_ms,
                    count: *count,
                    times_itself: *count % 2 == 0,
                    author: None,
                };
                same_answer("claim", self.store.claim(&wish, at).await, self.model.claim(&wish, at))
            }
            Ask::Apply(Act { which, token, text, command }) => {
                let Some(id) = self.pick(*which) else { return Ok(()) };
                let handoff = self.model.find(&id).unwrap();
                let command = self.command(&handoff, *token, *text, *command);
                let order = Order::new(id, command);
                same_answer("apply", self.store.apply(order.clone(), at).await, self.model.apply(order, at))
            }
            Ask::CarryOut(parts) => {
                let steps: Vec<store::TransactionStep> = parts.iter().flat_map(|part| self.steps(part)).collect();
                let carried_out = self.store.carry_out(steps.clone(), at).await;
                same_answer("carry out", carried_out, self.model.carry_out(steps, at))
            }
            Ask::ApplyToNobody { id } => {
                let order = Order::new(name(*id), Command::Cancel(Cancel { by: "ana".to_owned(), reason: None }));
                same_answer("apply to nobody", self.store.apply(order.clone(), at).await, self.model.apply(order, at))
            }
            Ask::Rescue { limit, dice } => {
                let rescued = self.store.rescue(*limit, *dice, at).await;
                same_answer("rescue", rescued, self.model.rescue(*limit, *dice, at))
            }
            Ask::SetQueue { agent, paused, concurrency } => {
                let queue = Queue { agent: AGENTS[*agent].to_owned(), paused: *paused, concurrency: *concurrency };
                same_answer("set queue", self.store.set_queue(&queue).await, self.model.set_queue(&queue))
            }
            Ask::RemoveRun { run, age_ms } => {
                let before = at.checked_sub(SignedDuration::from_millis(*age_ms)).unwrap();
                let removed = self.store.remove_run(&run_name(*run), before, before).await;
                same("remove run", removed.unwrap(), self.model.remove_run(&run_name(*run), before, before))
            }
        }
    }

    /// Compares what is cheap to look at.
    async fn glance(&self) -> Result<(), String> {
        let agent = Some(AGENTS[0]);
        same("next due", self.store.next_due(agent).await.unwrap(), self.model.next_due(agent))
    }

    async fn compare_everything(&self) -> Result<(), String> {
        let runs = self.store.runs(None, 1_000).await.unwrap();
        same("runs", &runs, &self.model.runs(None, 1_000))?;
        for run in &runs {
            same("history", self.store.history(run, 0, 10_000).await.unwrap(), self.model.history(run, 0, 10_000))?;
            same("page", self.store.history(run, 3, 2).await.unwrap(), self.model.history(run, 3, 2))?;
            same("handoffs", self.store.handoffs_of(run).await.unwrap(), self.model.handoffs_of(run))?;
        }
        for handoff in self.model.all() {
            same("find", self.store.find(&handoff.id).await.unwrap(), Some(handoff.clone()))?;
            same("request", self.store.request(&handoff.id).await.unwrap(), self.model.request(&handoff.id))?;
            same("events", self.store.history_of(&handoff.id).await.unwrap(), self.model.history_of(&handoff.id))?;
        }
        for prefix in ["", "h", "h1", "x"] {
            let found = self.store.ids_beginning_with(prefix, 9).await.unwrap();
            same("ids", found, self.model.ids_beginning_with(prefix, 9))?;
        }
        self.compare_summaries().await
    }

    async fn compare_summaries(&self) -> Result<(), String> {
        let mut census = self.store.census().await.unwrap();
        census.sort_by_key(|count| (count.agent.clone(), count.state));
        same("census", census, self.model.census())?;
        let filters = [
            Filter { agent: None, states: Vec::new(), after: None, limit: 7 },
            Filter { agent: Some(AGENTS[2].to_owned()), states: Vec::new(), after: None, limit: 100 },
            Filter {
                agent: None,
                states: vec![StateName::Pending, StateName::Failed],
                after: self.pick(3),
                limit: 100,
            },
        ];
        for filter in filters {
            same("list", self.store.list(&filter).await, self.model.list(&filter))?;
        }
        for agent in AGENTS {
            same("queue", self.store.queue(agent).await.unwrap(), self.model.queue(agent))?;
            same("next due", self.store.next_due(Some(agent)).await.unwrap(), self.model.next_due(Some(agent)))?;
        }
        same("next due of all", self.store.next_due(None).await.unwrap(), self.model.next_due(None))?;
        let mut finished = self.store.finished_runs(self.now, 100).await.unwrap();
        finished.sort();
        same("finished runs", finished, self.model.finished_runs(self.now, 100))
    }

    /// Picks one of the handoffs that are there.
    fn pick(&self, which: u8) -> Option<HandoffId> {
        let count = self.model.all().count();
        let handoff = self.model.all().nth(usize::from(which) % count.max(1))?;
        Some(handoff.id.clone())
    }

    /// Makes steps of a part of a transaction.
    fn steps(&self, part: &Part) -> Vec<store::TransactionStep> {
        match part {
            Part::Accept(draft) => vec![store::TransactionStep::Accept(Box::new(self.request(draft)))],
            Part::Apply(Act { which, token, text, command }) => {
                let handoff = self.pick(*which).and_then(|id| self.model.find(&id));
                let step = |handoff: Handoff| {
                    store::TransactionStep::Apply(handoff.id.clone(), self.command(&handoff, *token, *text, *command))
                };
                handoff.map(step).into_iter().collect()
            }
            Part::Live { id, verified, steps } => {
                let fence = self.model.find(&name(*id)).map_or(Fence::NONE, |handoff| handoff.fence).next();
                let life = life(fence).into_iter().filter(|command| *verified || command.name() != "verify");
                life.take(*steps).map(|command| store::TransactionStep::Apply(name(*id), command)).collect()
            }
        }
    }

    fn request(&self, draft: &Draft) -> Accept {
        let later = |offset: i64| self.now.checked_add(SignedDuration::from_millis(offset)).unwrap();
        let terms = Terms {
            priority: draft.priority,
            not_before: draft.not_before_ms.map(later),
            deadline: draft.deadline_ms.map(later),
            timeout_ms: draft.timeout_ms,
            retry: retry::Policy {
                max_retries: draft.retries,
                delay_ms: draft.delay_ms,
                multiplier: 1.5,
                jitter: draft.jitter,
                ..retry::Policy::default()
            },
            key: draft.key.map(|key| format!("key {key}")),
            verify: draft.verify,
            returns_to: draft.returns_to.map(name),
            ..Terms::between("lead", AGENTS[draft.agent])
        };
        Accept { id: name(draft.id), run: run_name(draft.run), terms, request: text(draft.text), notes: Vec::new() }
    }

    fn command(&self, handoff: &Handoff, token: Token, number: u8, verb: Verb) -> Command {
        let fence = match token {
            Token::Right => handoff.fence,
            Token::Older => Fence(handoff.fence.0.saturating_sub(1)),
            Token::Absurd => baton_engine::Fence(u64::MAX),
        };
        let document = text(number);
        let by = "ana".to_owned();
        let ended = |ending| Command::Report(HandIn::new(fence, ending, text(number)));
        let verified = |verdict, dice| {
            Command::Verify(Verify {
                fence,
                verdict,
                examined: Vec::new(),
                evidence: None,
                kept: Vec::new(),
                review: false,
                repair: false,
                dice,
            })
        };
        let decided = |decision| {
            let shown = self.model.shown(&handoff.id);
            Command::Decide(Decide {
                by: "ana".to_owned(),
                known: HowKnown::Account,
                label: None,
                door: Door::CommandLine,
                shown,
                decision,
                note: None,
                asked: None,
            })
        };
        match verb {
            Verb::Claim => Command::Claim(Claim::by("by id".to_owned(), 9_000)),
            Verb::Understand => Command::Acknowledge(Acknowledge { fence, understood: true, document, author: None }),
            Verb::Misunderstand => {
                Command::Acknowledge(Acknowledge { fence, understood: false, document, author: None })
            }
            Verb::Heartbeat(lease_ms) => Command::Heartbeat(Heartbeat { lease_ms, ..Heartbeat::new(fence) }),
            Verb::Complete => ended(Ending::Complete),
            Verb::Block => ended(Ending::Blocked { reason: "missing".to_owned() }),
            Verb::AskForReview => ended(Ending::NeedsReview),
            Verb::AskQuestions => ended(Ending::NeedsClarification),
            Verb::Fail { permanent, documented, dice } => {
                let code = if permanent { Code::schema_validation_failed() } else { Code::processing_error() };
                let failure = Failure::new(code, document.text.clone());
                Command::Fail(Fail { document: documented.then_some(document), ..Fail::new(fence, failure, dice) })
            }
            Verb::Verified => verified(Verdict::Verified, 0.0),
            Verb::Refuted(dice) => verified(Verdict::Refuted { reasons: document.text, for_good: false }, dice),
            Verb::Expire(dice) => Command::Expire(Expire { dice, for_good: false, fence: None }),
            Verb::Resume => Command::Resume(Resume { by, resolution: document.text, question: None }),
            Verb::Approve => decided(Decision::Approve),
            Verb::Reject => decided(Decision::Reject { feedback: document.text }),
            Verb::Answer => decided(Decision::Answer { answers: document.text }),
            Verb::Question => decided(Decision::Ask { question: document.text }),
            Verb::VerifiedForReview => {
                let (verdict, examined) = (Verdict::Verified, Vec::new());
                Command::Verify(Verify {
                    fence,
                    verdict,
                    examined,
                    evidence: None,
                    kept: Vec::new(),
                    review: true,
                    repair: false,
                    dice: 0.0,
                })
            }
            Verb::Release => Command::Release(Release { fence, why: document.text }),
            Verb::Route => {
                let (to, why) = ("next".to_owned(), document.text);
                Command::Route(Route { to, why, instead_of: None, skipped: Vec::new() })
            }
            Verb::Cancel => Command::Cancel(Cancel { by, reason: None }),
            Verb::Requeue => Command::Requeue(Requeue { by, ..Requeue::default() }),
        }
    }
}

/// What happens to a handoff from its claim on.
fn life(fence: Fence) -> Vec<Command> {
    let report = HandIn::new(fence, Ending::Complete, text(0));
    let (verdict, examined) = (Verdict::Verified, Vec::new());
    let (to, why) = ("next".to_owned(), "it comes next".to_owned());
    vec![
        Command::Claim(Claim { prompt_tokens: Some(11), driver: true, ..Claim::by("driver", 9_000) }),
        Command::Report(report),
        Command::Verify(Verify {
            fence,
            verdict,
            examined,
            evidence: None,
            kept: Vec::new(),
            review: false,
            repair: false,
            dice: 0.0,
        }),
        Command::Route(Route { to, why, instead_of: None, skipped: Vec::new() }),
    ]
}

fn name(number: u8) -> HandoffId {
    HandoffId::parse(format!("h{number}")).unwrap()
}

fn run_name(number: u8) -> RunId {
    RunId::parse(format!("run-{number}")).unwrap()
}

fn text(number: u8) -> WrittenDocument {
    let text = ["", "it's \"done\" \0 🦀", "something else"][usize::from(number)];
    WrittenDocument { dialect: "native".to_owned(), text: text.to_owned(), path: None, warnings: Box::default() }
}

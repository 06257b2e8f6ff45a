//! Sessions of agents: a refused report is repaired where it was written, an interrupted session goes on, and what was
//! spent is known however a turn ended.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::agent::{AfterFailure, Agent, EndedTurn, Job, Reply, TurnEnd, Update, Updates};
use baton_engine::definition::Definition;
use baton_engine::door::Door;
use baton_engine::draft::Draft;
use baton_engine::driver::{self, Driver, End, PlaceFault, ReachedAgent, Team, WorkspaceLock, WorkspaceProblem};
use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::handover::Copy;
use baton_engine::journal::{Event, Fact};
use baton_engine::known::Decider;
use baton_engine::lifecycle::{Again, Command, Decision};
use baton_engine::memory::{self, Nobody, StillClock};
use baton_engine::people::{Question, Response};
use baton_engine::run::{NextTurn, Run};
use baton_engine::session::{SessionKind, Spent};
use baton_engine::{Fence, HandoffId, RunId};
use jiff::Timestamp;
use tokio::sync::watch;

const GOOD: &str = r#"{"baton": 1, "document": "report", "outcome": "complete", "summary": "Wrote it."}"#;
const PROSE: &str = "All done!";

/// What an agent does in one turn.
enum Act {
    Says(&'static str),
    Fails(Failure, AfterFailure),
    /// Reports its spending, and never ends by itself.
    Spends(Spent),
}

/// An agent that does one thing after the other, and remembers what it was asked.
struct Coder {
    kind: SessionKind,
    acts: Mutex<VecDeque<Act>>,
    turns: Mutex<Vec<Job>>,
}

#[async_trait]
impl Agent for Coder {
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        self.turns.lock().expect("no panic").push(job.clone());
        let act = self.acts.lock().expect("no panic").pop_front().expect("nobody asks more often");
        if self.kind == SessionKind::Told {
            let _ = updates.send(Update::Session("thread-7".to_owned()));
        }
        let spent = Spent { input: 100, cached: 50, output: 10, cost_micros: Some(1_000) };
        let end = match act {
            Act::Says(text) => TurnEnd::Answered(Reply { text: text.to_owned(), ..Reply::default() }),
            Act::Fails(failure, after) => TurnEnd::Failed(failure, after),
            Act::Spends(spent) => {
                let _ = updates.send(Update::Spent(spent));
                std::future::pending().await
            }
        };
        EndedTurn { end, spent: Some(spent), skills: Some(vec!["designing".to_owned()]) }
    }

    fn sessions(&self) -> SessionKind {
        self.kind
    }
}

struct OneCoder(Arc<Coder>);

impl Team for OneCoder {
    fn reach(&self, _: &Definition, _: &str) -> ReachedAgent {
        ReachedAgent::Here(self.0.clone())
    }

    fn folder(&self, _: &Path, _: &RunId, _: &HandoffId, _: Fence) -> Result<PathBuf, PlaceFault> {
        Ok(PathBuf::new())
    }

    fn keep(&self, _: &Path, _: &[Copy]) -> Result<(), PlaceFault> {
        Ok(())
    }

    fn is_dead(&self, claimant: &str) -> bool {
        claimant == "dead"
    }

    fn lock(&self, workspace: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
        Nobody.lock(workspace, run, driver)
    }

    fn sweep(&self, _: &RunId, _: &Path) {}
}

/// A run of one phase with a coder.
struct Desk {
    coder: Arc<Coder>,
    driver: Driver,
    clock: Arc<StillClock>,
    run: RunId,
}

impl Desk {
    fn new(kind: SessionKind, acts: impl IntoIterator<Item = Act>) -> Desk {
        let clock = Arc::new(StillClock::at(Timestamp::UNIX_EPOCH));
        let acts = Mutex::new(acts.into_iter().collect());
        let coder = Arc::new(Coder { kind, acts, turns: Mutex::default() });
        let team = Arc::new(OneCoder(coder.clone()));
        let driver = Driver { team, ..memory::driver(&memory::engine(&clock)) };
        Desk { coder, driver, clock, run: RunId::parse("r").expect("safe") }
    }

    async fn begin(&self, more: &str) {
        let flow = format!(
            "name: w\nagents: {{dev: {{command: [unused]}}}}\nphases: [{{id: build, agent: dev, retry: {{max_retries: 1, delay: 0s}}}}]\n{more}"
        );
        self.driver.begin(&self.run, &memory::definition(&flow), "ana").await.expect("begun");
    }

    async fn drive(&self) -> End {
        let (_stop, stopped) = watch::channel(false);
        let driving = self.driver.drive(&self.run, None, stopped);
        tokio::time::timeout(Duration::from_secs(3_600), driving).await.expect("it ends").expect("driven")
    }

    /// Drives it, and lets an hour pass whenever the driver has written that an attempt failed, so often.
    async fn drive_while_hours_pass(&self, hours: usize) -> End {
        let (clock, store, run) = (self.clock.clone(), self.driver.store.clone(), self.run.clone());
        let passing = tokio::spawn(async move {
            for hour in 1..=hours {
                let mut changes = store.changes();
                while again(&store.history(&run, 0, 1_000).await.expect("there")).len() < hour {
                    store.changed(changes, Duration::from_secs(60)).await;
                    changes = store.changes();
                }
                clock.advance(Duration::from_secs(3_600));
            }
        });
        let end = self.drive().await;
        passing.await.expect("no panic");
        end
    }

    fn turns(&self) -> Vec<Job> {
        self.coder.turns.lock().expect("no panic").clone()
    }

    async fn events(&self) -> Vec<Event> {
        self.driver.store.history(&self.run, 0, 1_000).await.expect("there")
    }

    async fn choose(&self, question: &Question, word: &str) {
        self.decide(question, Decision::Answer { answers: word.to_owned() }).await;
    }

    async fn decide(&self, question: &Question, decision: Decision) {
        let by = Decider::account("ana", None);
        let decide = question.decided(Response { by, door: Door::CommandLine, decision, note: None });
        let mut draft = Draft::new(&self.loaded().await, Timestamp::UNIX_EPOCH);
        draft.apply(&question.handoff, Command::Decide(decide)).expect("asked");
        self.driver.store.carry_out(draft.steps, draft.at).await.expect("written");
    }

    async fn loaded(&self) -> Run {
        driver::load(&*self.driver.store, &self.run).await.expect("there")
    }
}

fn again(events: &[Event]) -> Vec<Again> {
    let fails = events.iter().filter_map(|event| match event.fact().expect("readable") {
        Fact::Happened(Command::Fail(fail)) => Some(fail.again),
        _ => None,
    });
    fails.collect()
}

#[tokio::test(start_paused = true)]
async fn refused_report_is_repaired_in_the_session_that_wrote_it() {
    let desk = Desk::new(SessionKind::Chosen, [Act::Says(PROSE), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    let turns = desk.turns();
    assert_eq!(turns.len(), 2);
    let (first, repair) = (&turns[0].session, &turns[1].session);
    assert!(!first.goes_on && first.id.is_some());
    assert!(repair.goes_on && repair.repairs && repair.id == first.id, "{repair:?}");
    assert_eq!((turns[0].attempt, turns[1].attempt), (1, 1), "a repair belongs to the attempt");
    assert!(turns[1].prompt.len() < turns[0].prompt.len(), "{}", turns[1].prompt);
    assert!(turns[1].prompt.contains("no handoff block found"), "{}", turns[1].prompt);
    assert_eq!(turns[1].spent_before.input, 100);
}

#[tokio::test(start_paused = true)]
async fn id_that_the_program_tells_is_journalled_while_it_works() {
    let desk = Desk::new(SessionKind::Told, [Act::Says(PROSE), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    assert_eq!(desk.turns()[1].session.id.as_deref(), Some("thread-7"));
    let told = desk.events().await.into_iter().position(|event| {
        matches!(event.fact().expect("readable"), Fact::Happened(Command::Heartbeat(beat)) if beat.session.as_deref() == Some("thread-7"))
    });
    assert!(told.is_some());
}

#[tokio::test(start_paused = true)]
async fn after_two_repairs_a_fresh_session_begins() {
    let desk = Desk::new(SessionKind::Chosen, [Act::Says(PROSE), Act::Says(PROSE), Act::Says(PROSE), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    let turns = desk.turns();
    assert_eq!(turns.iter().map(|job| job.session.repairs).collect::<Vec<_>>(), [false, true, true, false]);
    assert_ne!(turns[3].session.id, turns[0].session.id);
    assert_eq!(turns[3].attempt, 2);
    assert_eq!(again(&desk.events().await), [Again::Repair, Again::Repair, Again::Policy]);
}

#[tokio::test(start_paused = true)]
async fn agent_without_sessions_is_tried_again_from_the_beginning() {
    let desk = Desk::new(SessionKind::OneTurn, [Act::Says(PROSE), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    assert_eq!(again(&desk.events().await), [Again::Policy]);
    assert!(desk.turns()[1].session.id.is_none());
}

#[tokio::test(start_paused = true)]
async fn limit_that_ends_at_a_time_parks_the_handoff_and_costs_no_attempt() {
    let until = Timestamp::from_second(3_600).expect("a time");
    let failure = || Failure::new(Code::processing_error(), "You've hit your limit");
    let wait = AfterFailure::Wait { until };
    let desk = Desk::new(SessionKind::Chosen, [Act::Fails(failure(), wait), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive_while_hours_pass(1).await, End::Completed);
    assert_eq!(again(&desk.events().await), [Again::At(until)]);
    let turns = desk.turns();
    assert!(turns[1].session.goes_on && !turns[1].session.repairs);
    assert_eq!(desk.loaded().await.handoffs().last().expect("it").handoff.attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn limit_that_never_ends_is_waited_for_three_times_and_then_costs_attempts() {
    let failure = || Failure::new(Code::processing_error(), "You've hit your limit");
    let until = |second| Timestamp::from_second(second).expect("a time");
    let acts = (1..=8).map(|hour| Act::Fails(failure(), AfterFailure::Wait { until: until(3_600 * hour) }));
    let desk = Desk::new(SessionKind::Chosen, acts);
    desk.begin("").await;
    let end = desk.drive_while_hours_pass(8).await;
    assert!(matches!(end, End::Waiting(_)), "a person decides when no attempt is left: {end:?}");
    let (at, not_before) =
        (|hour: i64| Again::At(until(3_600 * hour)), |hour: i64| Again::NotBefore(until(3_600 * hour)));
    let expected = [at(1), at(2), at(3), not_before(4), at(5), at(6), at(7), not_before(8)];
    assert_eq!(again(&desk.events().await), expected);
    let run = desk.loaded().await;
    let build = run.handoffs().find(|tracked| tracked.step.phase == "build").expect("it");
    assert_eq!(build.handoff.attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn busy_service_is_tried_again_after_its_pause_but_not_more_often() {
    let busy = || Failure::new(Code::processing_error(), "Too many requests");
    let hour = Timestamp::from_second(3_600).expect("a time");
    let pause = AfterFailure::Pause { until: hour };
    let desk = Desk::new(SessionKind::Chosen, [Act::Fails(busy(), pause), Act::Fails(busy(), AfterFailure::Policy)]);
    desk.begin("").await;
    let end = desk.drive_while_hours_pass(1).await;
    assert!(matches!(end, End::Waiting(_)), "a person decides when no attempt is left: {end:?}");
    assert_eq!(again(&desk.events().await), [Again::NotBefore(hour), Again::Policy]);
    assert!(desk.turns()[1].session.goes_on);
    assert_eq!(desk.turns().iter().map(|job| job.attempt).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn session_that_is_lost_is_followed_by_a_fresh_one_at_once() {
    let lost = Failure { chance: Transience::Permanent, ..Failure::new(Code::processing_error(), "no such session") };
    let acts = [Act::Says(PROSE), Act::Fails(lost, AfterFailure::FreshSession), Act::Says(GOOD)];
    let desk = Desk::new(SessionKind::Chosen, acts);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    assert_eq!(again(&desk.events().await), [Again::Repair, Again::Fresh]);
    let turns = desk.turns();
    assert!(!turns[2].session.goes_on && turns[2].session.id != turns[0].session.id);
}

#[tokio::test(start_paused = true)]
async fn program_that_was_killed_goes_on_in_its_session_under_the_retry_policy() {
    let killed = Failure::new(Code::processing_error(), "it was ended by signal 9");
    let desk = Desk::new(SessionKind::Chosen, [Act::Fails(killed, AfterFailure::Policy), Act::Says(GOOD)]);
    desk.begin("").await;
    assert_eq!(desk.drive().await, End::Completed);
    let turns = desk.turns();
    assert!(turns[1].session.goes_on && !turns[1].session.repairs);
    assert_eq!((turns[1].attempt, &turns[1].session.id), (2, &turns[0].session.id));
}

#[tokio::test(start_paused = true)]
async fn work_that_a_person_rejects_begins_in_a_fresh_session_with_the_whole_prompt() {
    let doubtful = r#"{"baton": 1, "document": "report", "outcome": "needs_review", "summary": "Wrote two of three."}"#;
    let desk = Desk::new(SessionKind::Chosen, [Act::Says(doubtful), Act::Says(GOOD)]);
    desk.begin("").await;
    let End::Waiting(questions) = desk.drive().await else { panic!("nobody is asked") };
    desk.decide(&questions[0], Decision::Reject { feedback: "The third is missing.".to_owned() }).await;
    assert!(matches!(desk.drive().await, End::Waiting(_)), "whoever rejected it looks again");
    let turns = desk.turns();
    let (first, second) = (&turns[0].session, &turns[1].session);
    assert!(!second.goes_on && !second.repairs && second.id != first.id, "{second:?}");
    assert!(turns[1].prompt.contains("# dev: build") && turns[1].prompt.contains("The third is missing."));
}

#[tokio::test(start_paused = true)]
async fn failed_turns_count_what_they_spent() {
    let broken = Failure { chance: Transience::Permanent, ..Failure::new(Code::processing_error(), "401") };
    let desk = Desk::new(SessionKind::Chosen, [Act::Says(PROSE), Act::Fails(broken, AfterFailure::Policy)]);
    desk.begin("").await;
    assert!(matches!(desk.drive().await, End::Waiting(_)));
    let run = desk.loaded().await;
    let build = run.handoffs().find(|tracked| tracked.step.phase == "build").expect("it");
    assert_eq!(build.spending().spent, Spent { input: 200, cached: 100, output: 20, cost_micros: Some(2_000) });
    // Neither the prompts, which are part of the input, nor what came from a cache count twice.
    assert_eq!((build.tokens(), run.counted.used.tokens, run.counted.used.cost_micros), (220, 220, 2_000));
}

#[tokio::test(start_paused = true)]
async fn driver_that_dies_leaves_a_session_that_goes_on() {
    let desk = Desk::new(SessionKind::Chosen, [Act::Spends(Spent::default()), Act::Says(GOOD)]);
    desk.begin("").await;
    let (_stop, stopped) = watch::channel(false);
    let dying = Driver { claimant: "dead".to_owned(), ..desk.driver.clone() };
    let drive = dying.drive(&desk.run, None, stopped);
    assert!(tokio::time::timeout(Duration::from_secs(1), drive).await.is_err(), "its agent never ends");
    assert_eq!(desk.drive().await, End::Completed);
    let turns = desk.turns();
    assert!(turns[1].session.goes_on && !turns[1].session.repairs, "{:?}", turns[1].session);
    assert_eq!(turns[1].session.id, turns[0].session.id);
    assert!(turns[1].prompt.contains("interrupted"), "{}", turns[1].prompt);
}

#[tokio::test(start_paused = true)]
async fn budget_that_is_used_up_in_a_turn_ends_it_and_a_person_is_asked() {
    let much = Spent { input: 900, cached: 0, output: 200, cost_micros: Some(2_600_000) };
    for (limits, asked) in [
        ("limits: {tokens: 1000}", "1100 tokens were used; the limit is 1000"),
        ("limits: {cost: 2.5}", "$2.60 were spent; the limit is $2.50"),
    ] {
        let desk = Desk::new(SessionKind::Chosen, [Act::Spends(much)]);
        desk.begin(limits).await;
        let End::Waiting(questions) = desk.drive().await else { panic!("nobody can be asked") };
        assert!(format!("{questions:?}").contains(asked), "{questions:?}");
        assert_eq!(desk.turns().len(), 1);
        let run = desk.loaded().await;
        let build = run.handoffs().find(|tracked| tracked.step.phase == "build").expect("it");
        assert_eq!(build.session.as_ref().map(|session| session.next), Some(NextTurn::GoesOn));
        assert_eq!(build.spending().spent, much);
    }
}

#[tokio::test(start_paused = true)]
async fn no_other_turn_begins_when_the_budget_is_used_up() {
    let desk = Desk::new(SessionKind::Chosen, [Act::Says(PROSE)]);
    desk.begin("limits: {tokens: 110}").await;
    let End::Waiting(questions) = desk.drive().await else { panic!("nobody can be asked") };
    assert!(format!("{questions:?}").contains("110 tokens were used; the limit is 110"), "{questions:?}");
    assert_eq!(desk.turns().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_lets_it_go_on_is_asked_again_when_as_much_is_spent_once_more() {
    let spent = |tokens| Act::Spends(Spent { input: tokens, ..Spent::default() });
    let desk = Desk::new(SessionKind::Chosen, [spent(1_100), spent(1_200)]);
    desk.begin("limits: {tokens: 1000}").await;
    let End::Waiting(first) = desk.drive().await else { panic!("nobody is asked") };
    desk.choose(&first[0], "continue").await;
    let End::Waiting(again) = desk.drive().await else { panic!("nobody is asked again") };
    assert!(format!("{again:?}").contains("tokens were used; the limit is 1000"), "{again:?}");
    assert_ne!(again[0].handoff, first[0].handoff);
}

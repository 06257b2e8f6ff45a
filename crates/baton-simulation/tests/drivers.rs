//! What a driver endures: tasks that panic, outages and pauses that last longer than an attempt may take, and strangers.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::agent::Job;
use baton_engine::definition::Definition;
use baton_engine::driver::End;
use baton_engine::engine::{Engine, WaitFor};
use baton_engine::evidence::CheckCommand;
use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::lifecycle::{Accept, Command, Heartbeat};
use baton_engine::memory::{self, StillClock};
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_engine::store::{ClaimRequest, Order};
use baton_engine::{Clock, HandoffId, RunId, Store, Terms, retry};
use baton_protocol::Dialect;
use baton_simulation::chance::Chance;
use baton_simulation::fault::{Bell, Call, Calm, Fault, Plan};
use baton_simulation::faulty::Faulty;
use baton_simulation::flows::definition;
use baton_simulation::mind::{Act, Mind, Person};
use baton_simulation::saying::Saying;
use baton_simulation::stage::{Life, Living, Machine, Stage};
use baton_simulation::time::pass;
use baton_simulation::world::paused;

/// An agent that must be done within half a minute and is not tried again.
const ONE_TRY: &str = "
name: one-try
agents:
  writer: {command: [write], timeout: 30s, retry: {max_retries: 0}}
phases:
  - {id: write, agent: writer}
";

/// How long whoever is away is away: longer than every lease, and than the attempt may take.
const AWAY: Duration = Duration::from_mins(5);

/// Works for a while, and panics where it is told to.
#[derive(Clone, Copy)]
struct Worker {
    works: Duration,
    panics: Panics,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Panics {
    Never,
    /// The agent, in its first attempt.
    Agent,
    /// Whoever examines claims, always.
    Evidence,
    /// Whoever asks people, always.
    People,
}

impl Mind for Worker {
    fn work(&self, job: &Job) -> (Duration, Act) {
        assert!(self.panics != Panics::Agent || job.attempt > 1, "the agent's task has a bug");
        // Whoever works on several items of a list needs another time for each.
        let apart: u32 = job.handoff.as_str().bytes().map(u32::from).sum::<u32>() % 7;
        let works = match job.agent.as_str() {
            "slow" => self.works * 10,
            "uneven" => self.works + self.works * apart / 5,
            _ => self.works,
        };
        (works, Act::Says(Saying::Complete))
    }

    fn check(&self, _: &CheckCommand) -> (Duration, bool) {
        (self.works, true)
    }

    fn examine(&self) -> Duration {
        assert!(self.panics != Panics::Evidence, "the evidence has a bug");
        Duration::from_secs(1)
    }

    fn changes_approved_files(&self) -> bool {
        false
    }

    fn decide(&self, _: &Question) -> Person {
        assert!(self.panics != Panics::People, "the terminal has a bug");
        Person::Nobody
    }
}

/// A store that takes its time, so that others come between two calls.
struct Leisurely;

impl Plan for Leisurely {
    fn call(&self, _: u64, _: Call) -> Option<Fault> {
        Some(Fault::Slow(Duration::from_millis(100)))
    }

    fn wait(&self) -> Bell {
        Bell::Rings
    }
}

/// A store that takes so long that agents end meanwhile, and does not say what it has written.
struct Mute(Duration);

impl Plan for Mute {
    fn call(&self, _: u64, call: Call) -> Option<Fault> {
        (call == Call::Writes).then_some(Fault::SlowAnswer(self.0))
    }

    fn wait(&self) -> Bell {
        Bell::Rings
    }

    fn tells(&self) -> bool {
        false
    }
}

/// A stage with one run, and what its driver lives with.
struct Play {
    stage: Stage,
    machine: Machine,
    run: RunId,
    mind: Arc<dyn Mind>,
    definition: Definition,
}

impl Play {
    fn of(text: &str, mind: Worker) -> Play {
        let stage = Stage::new();
        let machine = stage.machine("a", Duration::ZERO);
        let run = RunId::parse("r").expect("a safe id");
        Play { stage, machine, run, mind: Arc::new(mind), definition: definition(text, &[]) }
    }

    /// Drives the run, while something happens to its driver.
    async fn drive(&self, meanwhile: impl AsyncFnOnce(&Living)) -> End {
        self.drive_in(Arc::new(Calm), meanwhile).await
    }

    /// Does so where something goes wrong with calls of the store.
    async fn drive_in(&self, plan: Arc<dyn Plan>, meanwhile: impl AsyncFnOnce(&Living)) -> End {
        let (driver, living, stopped) = self.stage.driver(&self.machine, &self.run, &self.mind, plan, &Chance::new(7));
        let life = self.stage.live(driver, &living, stopped, Some(&self.definition));
        let life = async { tokio::time::timeout(AWAY * 10, life).await.expect("the driver comes to an end") };
        match tokio::join!(life, meanwhile(&living)).0 {
            Life::Ended(end) => end.expect("the driver lives"),
            Life::Killed => panic!("nobody killed it"),
        }
    }

    fn read(&self) -> Run {
        self.stage.read(&self.run).expect("the run was accepted")
    }

    /// Returns what has happened to a handoff, one word for each event.
    fn kinds(&self, id: &str) -> Vec<String> {
        let events = self.stage.memory.look(|model| model.history(&self.run, 0, u32::MAX));
        let of_it = events.iter().filter(|event| event.handoff.as_str() == id);
        of_it.map(|event| event.kind.to_string()).filter(|kind| kind != "extended").collect()
    }
}

/// Returns the last failure of the only phase.
fn failure(run: &Run) -> String {
    let phase = run.handoffs().find(|tracked| tracked.handoff.id.as_str() == "r.write.1").expect("the phase");
    phase.handoff.last_failure.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Returns what a person is asked who is not there.
fn asked(end: End) -> String {
    match end {
        End::Waiting(questions) => questions.into_iter().map(|question| question.title).collect(),
        end => panic!("nobody is asked: {end:?}"),
    }
}

const IN_TIME: Worker = Worker { works: Duration::from_secs(20), panics: Panics::Never };

#[test]
fn task_of_an_agent_that_panics_is_a_failed_attempt_and_the_next_one_counts() {
    paused(async {
        let text = ONE_TRY.replace("max_retries: 0", "max_retries: 1, delay: 1s");
        let play = Play::of(&text, Worker { panics: Panics::Agent, ..IN_TIME });
        assert_eq!(play.drive(async |_| {}).await, End::Completed);
        assert_eq!(play.kinds("r.write.1")[..4], ["accepted", "claimed", "failed", "claimed"]);
        let failure = failure(&play.read());
        assert!(
            failure.starts_with("PROCESSING_ERROR: internal error, please report it: ") && failure.contains("panicked"),
            "{failure}"
        );
    });
}

#[test]
fn task_of_an_agent_that_panics_for_the_last_time_is_told_to_a_person() {
    paused(async {
        let play = Play::of(ONE_TRY, Worker { panics: Panics::Agent, ..IN_TIME });
        let asked = asked(play.drive(async |_| {}).await);
        assert!(asked.starts_with("write: PROCESSING_ERROR: internal error, please report it: "), "{asked}");
    });
}

#[test]
fn examination_that_panics_is_told_to_a_person_and_nothing_counts_as_verified() {
    paused(async {
        // With a command the report is recorded before it is examined.
        let with_command = ONE_TRY.replace("agent: writer}", "agent: writer, verify: [{name: tests, run: test}]}");
        assert_ne!(with_command, ONE_TRY);
        let failures = [
            (ONE_TRY, "write: PROCESSING_ERROR: internal error, please report it: "),
            (&with_command, "write: VALIDATION_FAILED: it could not be examined: internal error, please report it: "),
        ];
        for (text, failure) in failures {
            let play = Play::of(text, Worker { panics: Panics::Evidence, ..IN_TIME });
            let asked = asked(play.drive(async |_| {}).await);
            assert!(asked.starts_with(failure), "{asked}");
        }
    });
}

#[test]
fn person_who_cannot_be_asked_because_of_a_panic_is_waited_for() {
    paused(async {
        let text = "name: gated\nphases: [{id: agree, gate: {name: agree}}]\n";
        let play = Play::of(text, Worker { panics: Panics::People, ..IN_TIME });
        let asked = asked(play.drive(async |_| {}).await);
        assert!(asked.starts_with("agree"), "{asked}");
    });
}

#[test]
fn result_that_came_in_time_counts_although_the_store_was_away_for_longer() {
    paused(async {
        let play = Play::of(ONE_TRY, IN_TIME);
        let end = play.drive(async |driver| {
            pass(Duration::from_secs(5)).await;
            driver.store.cut(AWAY);
        });
        assert_eq!(end.await, End::Completed, "{}", failure(&play.read()));
        assert_eq!(play.kinds("r.write.1"), ["accepted", "claimed", "reported", "verified", "routed"]);
    });
}

#[test]
fn result_that_came_in_time_counts_although_the_driver_stood_still_for_longer() {
    paused(async {
        let play = Play::of(ONE_TRY, IN_TIME);
        let end = play.drive(async |driver| {
            pass(Duration::from_secs(5)).await;
            driver.strings.pause(AWAY);
        });
        assert_eq!(end.await, End::Completed, "{}", failure(&play.read()));
        assert_eq!(play.kinds("r.write.1"), ["accepted", "claimed", "reported", "verified", "routed"]);
    });
}

#[test]
fn driver_that_is_told_to_stop_in_an_outage_writes_what_came_out_and_begins_nothing_again() {
    paused(async {
        let text = "name: two\nagents: {quick: {command: [write]}, slow: {command: [write]}}\n\
            phases: [{id: both, parallel: [{id: one, agent: quick}, {id: other, agent: slow}]}]\n";
        let play = Play::of(text, IN_TIME);
        let end = play.drive_in(Arc::new(Leisurely), async |driver| {
            pass(Duration::from_secs(5)).await;
            driver.store.cut(Duration::from_secs(25));
            pass(Duration::from_secs(20)).await;
            driver.stop.send(true).expect("the driver listens");
        });
        assert_eq!(end.await, End::Stopped);
        assert_eq!(play.kinds("r.both.one.1")[..4], ["accepted", "claimed", "reported", "verified"]);
        assert_eq!(play.kinds("r.both.other.1"), ["accepted", "claimed", "released"]);
        assert_eq!(play.stage.witness.violations(), [], "no attempt begins twice");
    });
}

#[test]
fn what_a_paused_driver_holds_is_left_to_it_by_workers_and_drivers_of_other_runs() {
    paused(async {
        let play = Play::of(ONE_TRY, IN_TIME);
        let other = RunId::parse("other").expect("a safe id");
        let end = play.drive(async |driver| {
            pass(Duration::from_secs(5)).await;
            driver.strings.pause(AWAY);
            let worker = async {
                let (store, clock) = (play.stage.memory.used_by("worker"), &play.machine.clock);
                let wish = ClaimRequest {
                    agent: "clerk".to_owned(),
                    claimant: "w".to_owned(),
                    lease_ms: 60_000,
                    count: 1,
                    times_itself: true,
                    author: None,
                };
                let back_at = clock.now() + AWAY;
                while clock.now() < back_at {
                    assert_eq!(store.rescue(100, 0.5, clock.now()).await.expect("it answers"), []);
                    assert_eq!(store.claim(&wish, clock.now()).await.expect("it answers"), []);
                    pass(Duration::from_secs(10)).await;
                }
            };
            let driver = async {
                let (driver, living, stopped) =
                    play.stage.driver(&play.machine, &other, &play.mind, Arc::new(Calm), &Chance::new(8));
                let text = "name: long\nphases: [{id: wait, check: wait}, {id: again, check: wait}]\n";
                play.stage.live(driver, &living, stopped, Some(&definition(text, &[]))).await
            };
            let (_, life) = tokio::join!(worker, driver);
            assert!(matches!(life, Life::Ended(Ok(End::Completed))), "{life:?}");
        });
        assert_eq!(end.await, End::Completed, "{}", failure(&play.read()));
        assert_eq!(play.kinds("r.write.1"), ["accepted", "claimed", "reported", "verified", "routed"]);
        assert!(!play.kinds("r").contains(&"expired".to_owned()), "{:?}", play.kinds("r"));
    });
}

#[test]
fn foreign_handoff_with_the_id_of_a_phase_fails_the_run_and_keeps_the_report_before_it() {
    paused(async {
        let play = Play::of(&format!("{ONE_TRY}  - {{id: publish, agent: writer}}\n"), IN_TIME);
        let id = HandoffId::parse("r.publish.1").expect("a safe id");
        let request = WrittenDocument::new(Dialect::Native, "somebody else's");
        let terms = Terms::between("ana", "somebody");
        let foreign = Accept { run: RunId::alone(&id), id, terms, request, notes: Vec::new() };
        // Doors refuse the ids of a run that has begun; the store itself does not.
        let end = play.drive(async |_| {
            pass(Duration::from_millis(1)).await;
            play.stage.memory.accept(vec![foreign], play.machine.clock.now()).await.expect("accepted");
        });
        let End::Failed(why) = end.await else { panic!("it cannot go on") };
        assert!(why.contains("the id `r.publish.1` belongs to another request"), "{why}");
        assert_eq!(play.kinds("r.write.1")[..4], ["accepted", "claimed", "reported", "verified"]);
    });
}

#[test]
fn what_ends_while_a_store_writes_that_tells_nothing_begins_nothing_twice() {
    let text = "name: lanes\nagents: {a: {command: [a]}, uneven: {command: [b]}}\nphases:\n  - {id: p, agent: a}\n  - {id: each, foreach: \
                '[1, 2, 3, 4, 5, 6]', at_once: 3, phases: [{id: w, agent: uneven}, {id: c, check: 'true'}, {id: d, agent: uneven}]}\n";
    for tenths in [1, 5, 11, 19, 23, 37, 41] {
        let mute = Arc::new(Mute(Duration::from_millis(100 * tenths)));
        paused(async {
            let play = Play::of(text, Worker { works: Duration::from_millis(1_000), panics: Panics::Never });
            assert_eq!(play.drive_in(mute, async |_| {}).await, End::Completed);
            assert_eq!(play.stage.witness.violations(), [], "with answers after {tenths} tenths of a second");
        });
    }
}

#[test]
fn whoever_waits_takes_nothing_from_workers_when_the_store_comes_back() {
    paused(async {
        let stage = Stage::new();
        let machine = stage.machine("a", Duration::ZERO);
        let id = HandoffId::parse("lone").expect("a safe id");
        let request = WrittenDocument::new(Dialect::Native, "{}");
        let terms = Terms { retry: retry::Policy::NEVER, ..Terms::between("a", "b") };
        let accept =
            Accept { id: id.clone(), run: RunId::parse("lone").expect("safe"), terms, request, notes: Vec::new() };
        stage.memory.accept(vec![accept], machine.clock.now()).await.expect("accepted");
        let (agent, claimant) = ("b".to_owned(), "worker".to_owned());
        let wish = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
        let claimed =
            stage.memory.claim(&wish, machine.clock.now()).await.expect("claimed").pop().expect("it is ready");
        let memory = Arc::new(stage.memory.used_by("waiter"));
        let store = Arc::new(Faulty::new(memory, Arc::new(Calm), Arc::default(), stage.tally.clone()));
        let engine = memory::engine(&Arc::new(StillClock::at(machine.clock.now())));
        let engine = Engine { store: store.clone(), clock: machine.clock.clone(), ..engine };
        store.cut(Duration::from_secs(70));
        let wait = WaitFor { agent: None, limit: Some(Duration::from_secs(200)), tell: &|_| {} };
        let worker = async {
            pass(Duration::from_secs(75)).await;
            let beat = Command::Heartbeat(Heartbeat::new(claimed.handoff.fence));
            stage.memory.apply(Order::new(id.clone(), beat), machine.clock.now()).await.expect("nobody has taken it")
        };
        let waiter = engine.wait_for(wait, async || {
            Ok(stage.memory.find(&id).await?.filter(|handoff| handoff.state.name().is_finished()))
        });
        let (_, waited) = tokio::join!(worker, waiter);
        let failed = waited.expect("the store is there").expect("nobody hears of the worker any more");
        assert_eq!(failed.state.name(), StateName::Failed, "what has really ended is noticed");
    });
}

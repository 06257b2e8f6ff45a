//! Long runs: whether a step costs the same at the end of a list as at its beginning, what a driver costs that waits for
//! a person in the middle of it, and how long it takes to take such a run over.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use baton_engine::definition::Definition;
use baton_engine::door::Door;
use baton_engine::driver::{Audience, Driver, End, News};
use baton_engine::known::Decider;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{People, Question, Response};
use baton_engine::run::Run;
use baton_engine::{RunId, Store};
use baton_store::sqlite::Sqlite;
use baton_testbed::Scratch;
use baton_testbed::gauge::{Figure, Limit};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::{Notify, watch};

use super::instant;

/// How many items the list has.
const ITEMS: usize = 10_000;

/// How many events a run has that is taken over.
const EVENTS: u64 = 100_000;

/// How long a driver is watched that has nothing to do.
const IDLE: Duration = Duration::from_secs(10);

/// Drives a list from its beginning to its end. In the middle of it a person is asked, who takes some time.
pub(crate) fn foreach() {
    let scratch = Scratch::new();
    let person = Arc::new(Person::default());
    let ears = Arc::new(Ears::default());
    let idle = runtime().block_on(async {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(&scratch.path("foreach.db")).expect("a store"));
        let driver = Driver { people: person.clone(), ..instant::driver(store, ears.clone()) };
        let definition = instant::list(ITEMS, ITEMS / 2 + 1);
        let driving = tokio::spawn(async move { drive(&driver, &definition).await });
        person.asked.notified().await;
        // What was begun before the question comes to its end.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let before = processor_time();
        tokio::time::sleep(IDLE).await;
        let idle = processor_time() - before;
        person.answered.notify_one();
        assert_eq!(driving.await.expect("no panic"), End::Completed);
        idle
    });
    let steps = ears.0.lock().expect("nobody panics").clone();
    assert_eq!(steps.len(), ITEMS);
    let hundreds: Vec<(Duration, Duration)> = steps
        .windows(100)
        .step_by(100)
        .map(|steps| (steps[99].at - steps[0].at, steps[99].processor - steps[0].processor))
        .collect();
    let (first, last) = (hundreds[0], hundreds[hundreds.len() - 1]);
    for (number, (wall, processor)) in hundreds.iter().enumerate().step_by(hundreds.len() / 10) {
        let (wall, processor) = (wall.as_secs_f64() * 10.0, processor.as_secs_f64() * 10.0);
        println!("  steps from {:>5}: {wall:.2} ms each, {processor:.2} ms of a processor", number * 100);
    }
    let ratio = |last: Duration, first: Duration| last.as_secs_f64() / first.as_secs_f64();
    let figures = [
        ("last hundred beside the first, time", ratio(last.0, first.0), Limit::AtMost(1.3), "x"),
        ("last hundred beside the first, processor", ratio(last.1, first.1), Limit::AtMost(1.3), "x"),
        ("peak memory", peak_megabytes(), Limit::AtMost(200.0), "MB"),
        ("waiting for a person", idle.as_secs_f64() / IDLE.as_secs_f64() * 100.0, Limit::AtMost(0.5), "%"),
    ];
    for (name, ours, limit, unit) in figures {
        println!("{}", Figure { name: format!("foreach, {ITEMS} items: {name}"), ours, limit, unit });
    }
}

/// Takes over a long run that waits for a person.
pub(crate) fn taking_over() {
    let scratch = Scratch::new();
    let path = scratch.path("long.db");
    // Five events for each item, and some for the run and the question.
    let items = usize::try_from(EVENTS / 5).expect("small");
    let definition = instant::list(items + 10, items + 1);
    until_asked(&path, Some(&definition));
    let before = processor_time();
    let (took, events) = until_asked(&path, None);
    let processor = (processor_time() - before).as_secs_f64();
    println!("  {events} events, read and decided in {:.2} s, {processor:.2} s of a processor", took.as_secs_f64());
    assert!(events >= EVENTS, "{events} events are too few");
    let name = format!("taking over a run of {EVENTS} events");
    println!("{}", Figure { name, ours: took.as_secs_f64(), limit: Limit::AtMost(2.0), unit: "s" });
}

/// Drives the run until a person is asked; returns how long that took, and how many events it has.
fn until_asked(path: &Path, definition: Option<&Definition>) -> (Duration, u64) {
    runtime().block_on(async {
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(path).expect("a store"));
        let driver = instant::driver(store.clone(), Arc::new(Ears::default()));
        if let Some(definition) = definition {
            driver.begin(&run(), definition, "bench").await.expect("begun");
        }
        let start = Instant::now();
        let (_stop, stopped) = watch::channel(false);
        let end = driver.drive(&run(), None, stopped).await.expect("driven");
        let took = start.elapsed();
        assert!(matches!(end, End::Waiting(_)), "{end:?}");
        let handoffs = store.handoffs_of(&run()).await.expect("handoffs");
        (took, handoffs.iter().map(|(_, head)| head.seq).max().unwrap_or_default())
    })
}

async fn drive(driver: &Driver, definition: &Definition) -> End {
    driver.begin(&run(), definition, "bench").await.expect("begun");
    let (_stop, stopped) = watch::channel(false);
    driver.drive(&run(), None, stopped).await.expect("driven")
}

fn run() -> RunId {
    RunId::parse("long").expect("a safe id")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Returns the time that this process has spent on processors.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns the most memory that this process has ever had.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

/// Somebody who takes time to answer.
#[derive(Default)]
struct Person {
    asked: Notify,
    answered: Notify,
}

#[async_trait]
impl People for Person {
    async fn decide(&self, _: &Question) -> Option<Response> {
        self.asked.notify_one();
        self.answered.notified().await;
        let decision = Decision::Answer { answers: "revise".to_owned() };
        Some(Response { decision, note: None, by: Decider::account("ana", None), door: Door::Terminal })
    }
}

/// When a step began.
#[derive(Clone, Copy)]
struct Begun {
    at: Instant,
    processor: Duration,
}

/// Hears when each step begins.
#[derive(Default)]
struct Ears(Mutex<Vec<Begun>>);

impl Audience for Ears {
    fn hear(&self, _: &Run, news: &News<'_>) {
        if let News::Begins(_) = news {
            let begun = Begun { at: Instant::now(), processor: processor_time() };
            self.0.lock().expect("nobody panics").push(begun);
        }
    }
}

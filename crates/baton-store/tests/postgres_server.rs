//! What only a server can do to a store: go away and come back, let many nodes start at once, be newer than we are.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::Fence;
use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Accept, Claim, Command, Ending, HandIn, Heartbeat};
use baton_engine::queue::Queue;
use baton_engine::store::{ClaimRequest, Order, StoreError, TransactionStep};
use baton_engine::{HandoffId, Refusal, RunId, Store, Terms};
use baton_store::postgres::Postgres;
use baton_testbed::query;
use jiff::Timestamp;
use tokio::task::JoinSet;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).expect("a time of this century")
}

fn id(name: &str) -> HandoffId {
    HandoffId::parse(name).expect("safe")
}

fn written(text: &str) -> WrittenDocument {
    WrittenDocument { dialect: "native".to_owned(), text: text.to_owned(), path: None, warnings: Box::default() }
}

fn request(name: &str) -> Accept {
    let id = id(name);
    Accept {
        run: RunId::alone(&id),
        id,
        terms: Terms::between("lead", "builder"),
        request: written("build it"),
        notes: Vec::new(),
    }
}

fn report(name: &str, fence: Fence) -> Order {
    let report = HandIn::new(fence, Ending::Complete, written("done"));
    Order::new(id(name), Command::Report(report))
}

fn wish(count: u32) -> ClaimRequest {
    ClaimRequest {
        agent: "builder".to_owned(),
        claimant: "worker".to_owned(),
        lease_ms: 60_000,
        count,
        times_itself: false,
        author: None,
    }
}

async fn connect(url: &str) -> Arc<Postgres> {
    Arc::new(Postgres::connect(url).await.expect("a server"))
}

fn new_database() -> String {
    baton_testbed::PostgresServer::shared().new_database()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_comes_back_with_everything_that_was_accepted() {
    let server = baton_testbed::PostgresServer::start();
    let store = connect(&server.new_database()).await;
    store.accept(vec![request("a")], time(0)).await.unwrap();
    let claimed = store.claim(&wish(1), time(1)).await.unwrap();
    server.kill();
    let waiting = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.apply(report("a", baton_engine::Fence(1)), time(2)).await })
    };
    server.restart();
    assert_eq!(claimed[0].handoff.fence, baton_engine::Fence(1));
    let done = waiting.await.unwrap().unwrap();
    assert_eq!(done.state.finished_at(), Some(time(2)));
    assert_eq!(store.find(&id("a")).await.unwrap(), Some(done));
    assert_eq!(store.history(&RunId::alone(&id("a")), 0, 10).await.unwrap().len(), 3);
    store.accept(vec![request("b")], time(3)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_stays_away_is_an_error_that_says_so() {
    let server = baton_testbed::PostgresServer::start_without_fsync();
    let url = server.new_database();
    let store = connect(&url).await;
    server.kill();
    let Err(StoreError::Unreachable(why)) = store.find(&id("a")).await else { panic!("nobody is there") };
    assert!(why.contains("127.0.0.1:") || why.contains("localhost:") || why.contains('/'), "{why}");
    let Err(StoreError::Unreachable(why)) = Postgres::connect(&url).await else { panic!("nobody is there") };
    assert!(why.contains("refused"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_that_the_server_ends_is_replaced() {
    let url = new_database();
    let store = connect(&url).await;
    store.accept(vec![request("a")], time(0)).await.unwrap();
    let fence = store.claim(&wish(1), time(1)).await.unwrap()[0].handoff.fence;
    for second in 2..6 {
        let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        query(&url, others);
        let heartbeat = Command::Heartbeat(Heartbeat::new(fence));
        store.apply(Order::new(id("a"), heartbeat), time(second)).await.unwrap();
    }
    assert_eq!(store.history(&RunId::alone(&id("a")), 0, 10).await.unwrap().len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn table_that_somebody_has_locked_is_told_as_such_and_used_again_afterwards() {
    let url = new_database();
    let store = connect(&url).await;
    let (somebody, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    somebody.batch_execute("BEGIN; LOCK TABLE handoffs IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let wanted = id("a");
    let (written, read) = tokio::join!(store.accept(vec![request("a")], time(0)), store.find(&wanted));
    for error in [written.unwrap_err(), read.unwrap_err()] {
        let StoreError::Unreachable(why) = &error else { panic!("{error:?}") };
        assert!(why.contains("another session holds a lock in the database"), "{why}");
    }
    somebody.batch_execute("ROLLBACK").await.unwrap();
    store.accept(vec![request("a")], time(0)).await.unwrap();
    assert!(store.find(&id("a")).await.unwrap().is_some());
}

/// A heartbeat would be heard twice without being refused, so the journal tells whether steps were.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_are_carried_out_once_although_connections_end() {
    let url = new_database();
    let store = connect(&url).await;
    let (begun, beginnings) = std::sync::mpsc::channel::<i64>();
    let others = url.clone();
    // All connections end once per round, at whatever moment of it or of a later one.
    let killer = std::thread::spawn(move || {
        for _ in beginnings {
            let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
            query(&others, end);
        }
    });
    let run = RunId::parse("chain").unwrap();
    for number in 0..60 {
        begun.send(number).unwrap();
        let name = format!("a{number}");
        let heartbeat = Command::Heartbeat(Heartbeat::new(baton_engine::Fence(1)));
        let claim = Command::Claim(Claim::by("w", 60_000));
        let steps = vec![
            TransactionStep::Accept(Box::new(Accept { run: run.clone(), ..request(&name) })),
            TransactionStep::Apply(id(&name), claim),
            TransactionStep::Apply(id(&name), heartbeat.clone()),
        ];
        let left = store.carry_out(steps, time(number)).await.unwrap();
        assert_eq!(left.iter().map(|handoff| handoff.version).collect::<Vec<_>>(), [1, 2, 3]);
        let again =
            vec![TransactionStep::Apply(id(&name), heartbeat.clone()), TransactionStep::Apply(id(&name), heartbeat)];
        let left = store.carry_out(again, time(number)).await.unwrap();
        assert_eq!((left[1].version, store.find(&id(&name)).await.unwrap().unwrap().version), (5, 5));
    }
    drop(begun);
    killer.join().unwrap();
    let events = store.history(&run, 0, 1_000).await.unwrap();
    assert_eq!(events.len(), 60 * 5);
    assert!(events.windows(2).all(|pair| pair[1].hash_after(&pair[0].hash) == pair[1].hash));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_handoff_goes_to_one_of_many_nodes() {
    let url = new_database();
    let first = connect(&url).await;
    for round in 0..10 {
        let name = format!("a{round}");
        first.accept(vec![request(&name)], time(round)).await.unwrap();
        let second = connect(&url).await;
        let mut racing = JoinSet::new();
        for number in 0..8 {
            let store = Arc::clone(if number % 2 == 0 { &first } else { &second });
            racing.spawn(async move { store.claim(&wish(1), time(20)).await.unwrap().len() });
        }
        assert_eq!(racing.join_all().await.into_iter().sum::<usize>(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_report_through_two_nodes_counts_once() {
    let url = new_database();
    let (first, second) = (connect(&url).await, connect(&url).await);
    for round in 0..20 {
        let name = format!("a{round}");
        first.accept(vec![request(&name)], time(0)).await.unwrap();
        let fence = first.claim(&wish(1), time(1)).await.unwrap()[0].handoff.fence;
        let (one, other) =
            tokio::join!(first.apply(report(&name, fence), time(2)), second.apply(report(&name, fence), time(2)));
        let repeated = |answer: &Result<_, StoreError>| matches!(answer, Err(StoreError::Refused(Refusal::Repeated)));
        assert!(one.is_ok() != other.is_ok() && (repeated(&one) || repeated(&other)), "{one:?} {other:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limit_of_a_queue_holds_against_many_claimers() {
    let url = new_database();
    let store = connect(&url).await;
    store.set_queue(&Queue { concurrency: Some(3), ..Queue::open("builder") }).await.unwrap();
    let requests = (0..20).map(|number| request(&format!("a{number}"))).collect();
    store.accept(requests, time(0)).await.unwrap();
    let mut claiming = JoinSet::new();
    for _ in 0..8 {
        let url = url.clone();
        claiming.spawn(async move { connect(&url).await.claim(&wish(2), time(1)).await.unwrap().len() });
    }
    assert_eq!(claiming.join_all().await.into_iter().sum::<usize>(), 3);
    store.set_queue(&Queue { paused: true, ..Queue::open("builder") }).await.unwrap();
    assert!(store.claim(&wish(1), time(2)).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handoffs_of_one_run_change_at_the_same_time() {
    let url = new_database();
    let store = connect(&url).await;
    let run = RunId::parse("together").unwrap();
    let requests = (0..16).map(|number| Accept { run: run.clone(), ..request(&format!("a{number}")) }).collect();
    store.accept(requests, time(0)).await.unwrap();
    let mut working = JoinSet::new();
    for _ in 0..16 {
        let store = Arc::clone(&store);
        working.spawn(async move {
            let claimed = store.claim(&wish(1), time(1)).await.unwrap();
            for one in &claimed {
                store.apply(report(one.handoff.id.as_str(), one.handoff.fence), time(2)).await.unwrap();
            }
            claimed.len()
        });
    }
    let done = working.join_all().await.into_iter().sum::<usize>();
    let events = store.history(&run, 0, 100).await.unwrap();
    assert_eq!(events.len(), 16 + 2 * done);
    assert!(events.windows(2).all(|pair| pair[1].hash_after(&pair[0].hash) == pair[1].hash));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_on_one_node_wakes_another() {
    let url = new_database();
    let (sender, waiter) = (connect(&url).await, connect(&url).await);
    // Listening begins with the first wait, and is itself a change.
    let unheard = waiter.changes();
    while waiter.changes() == unheard {
        waiter.changed(unheard, Duration::from_secs(10)).await;
    }
    let seen = waiter.changes();
    sender.accept(vec![request("a")], time(0)).await.unwrap();
    let woken = async {
        while waiter.changes() == seen {
            waiter.changed(seen, Duration::from_secs(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), woken).await.expect("a notification");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_nodes_start_at_once_on_an_empty_database() {
    let url = new_database();
    let mut starting = JoinSet::new();
    for number in 0..8 {
        let url = url.clone();
        starting.spawn(async move {
            let store = connect(&url).await;
            store.accept(vec![request(&format!("a{number}"))], time(0)).await.unwrap();
        });
    }
    starting.join_all().await;
    assert_eq!(query(&url, "SELECT count(*) FROM handoffs").trim(), "8");
    // Each migration was made once, by whoever came first.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut expected: Vec<String> = files
        .map(|file| {
            let (number, name) = file.trim_end_matches(".sql").split_once('_').expect("NNNN_name.sql");
            format!("{}|{name}", number.parse::<u32>().expect("a number"))
        })
        .collect();
    expected.sort();
    let made = query(&url, "SELECT number, name FROM baton_migrations ORDER BY number");
    assert_eq!(made.trim().lines().collect::<Vec<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn database_of_a_newer_program_is_refused() {
    let url = new_database();
    let known = connect(&url).await.checkup().await.unwrap().migration_known;
    query(&url, "INSERT INTO baton_migrations (number, name) VALUES (99, 'tomorrow')");
    let error = Postgres::connect(&url).await.expect_err("newer");
    assert_eq!(error, StoreError::TooNew { found: 99, known });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_may_lose_something_is_no_sound_place() {
    let server = baton_testbed::PostgresServer::start_without_fsync();
    let store = connect(&server.new_database()).await;
    let checkup = store.checkup().await.unwrap();
    assert!(checkup.faults.iter().any(|fault| fault.contains("fsync")), "{:?}", checkup.faults);
    assert!(checkup.place.starts_with("PostgreSQL postgres"), "{}", checkup.place);
}

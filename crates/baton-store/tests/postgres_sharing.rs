//! Callers of one process share transactions on PostgreSQL: each keeps its own answer, and nobody waits for somebody
//! else's lock.

use std::sync::Arc;

use baton_engine::Fence;
use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Accept, Cancel, Claim, Command, Ending, HandIn, Heartbeat};
use baton_engine::queue::Queue;
use baton_engine::store::{ClaimRequest, Order, StoreError, TransactionStep};
use baton_engine::{Handoff, HandoffId, RunId, State, Store, Terms};
use baton_store::postgres::Postgres;
use baton_testbed::query;
use jiff::Timestamp;
use tokio::task::JoinSet;

/// How many callers there are at once: more than one transaction has room for while the first is under way.
const CALLERS: usize = 64;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).expect("a time of this century")
}

fn id(name: &str) -> HandoffId {
    HandoffId::parse(name).expect("safe")
}

fn written(text: &str) -> WrittenDocument {
    WrittenDocument { dialect: "native".to_owned(), text: text.to_owned(), path: None, warnings: Box::default() }
}

fn request(name: &str, agent: &str) -> Accept {
    let id = id(name);
    Accept {
        run: RunId::alone(&id),
        id,
        terms: Terms::between("lead", agent),
        request: written("build it"),
        notes: Vec::new(),
    }
}

fn report(name: &str, fence: Fence) -> Order {
    let report = HandIn::new(fence, Ending::Complete, written("done"));
    Order::new(id(name), Command::Report(report))
}

fn heartbeat(name: &str, fence: Fence) -> Order {
    Order::new(id(name), Command::Heartbeat(Heartbeat::new(fence)))
}

fn claim() -> Command {
    Command::Claim(Claim::by("w", 60_000))
}

fn wish(agent: &str, count: u32) -> ClaimRequest {
    ClaimRequest {
        agent: agent.to_owned(),
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

/// Lets everybody do something at the same time, and returns what came out, in the order of the numbers.
async fn all_at_once<T, F>(count: usize, mut one: impl FnMut(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut callers = JoinSet::new();
    for number in 0..count {
        let answer = one(number);
        callers.spawn(async move { (number, answer.await) });
    }
    let mut answers = callers.join_all().await;
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_share_transactions() {
    let url = new_database();
    let store = connect(&url).await;
    let accepted = all_at_once(1_000, |number| {
        let store = Arc::clone(&store);
        async move { store.accept(vec![request(&format!("a{number}"), "builder")], time(0)).await.unwrap().remove(0) }
    });
    assert!(accepted.await.iter().all(|accepted| !accepted.existing));
    let events = query(&url, "SELECT count(*), count(DISTINCT xmin::text) FROM events");
    let (events, transactions) = events.split_once('|').expect("two numbers");
    assert_eq!(events, "1000");
    assert!(transactions.parse::<u32>().unwrap() < 500, "{transactions} transactions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_one_request_does_not_concern_the_others() {
    let store = connect(&new_database()).await;
    store.accept(vec![request("known", "builder")], time(0)).await.unwrap();
    let answers = all_at_once(CALLERS, |number| {
        let store = Arc::clone(&store);
        let request = match number % 4 {
            0 => request("known", "builder"),
            1 => request("known", "somebody-else"),
            2 => request(&format!("bad{number}"), "no\0body"),
            _ => request(&format!("good{number}"), "builder"),
        };
        async move { store.accept(vec![request], time(1)).await }
    });
    for (number, answer) in answers.await.into_iter().enumerate() {
        match (number % 4, answer) {
            (0, Ok(accepted)) => assert!(accepted[0].existing),
            (1, Err(StoreError::Taken { existing, .. })) => assert_eq!(existing, id("known")),
            (2, Err(_)) => {}
            (3, Ok(accepted)) => assert!(!accepted[0].existing),
            (kind, answer) => panic!("{kind}: {answer:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_that_many_send_at_once_is_accepted_once() {
    let store = connect(&new_database()).await;
    for round in 0..10 {
        let answers = all_at_once(CALLERS, |_| {
            let store = Arc::clone(&store);
            async move { store.accept(vec![request(&format!("a{round}"), "builder")], time(0)).await.unwrap().remove(0) }
        });
        assert_eq!(answers.await.iter().filter(|accepted| !accepted.existing).count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_gets_what_is_for_their_agent_and_nobody_gets_it_twice() {
    let url = new_database();
    let (store, other) = (connect(&url).await, connect(&url).await);
    for agent in ["one", "two", "limited", "paused"] {
        let requests = (0..20).map(|number| request(&format!("{agent}{number}"), agent)).collect();
        store.accept(requests, time(0)).await.unwrap();
    }
    store.set_queue(&Queue { concurrency: Some(3), ..Queue::open("limited") }).await.unwrap();
    store.set_queue(&Queue { paused: true, ..Queue::open("paused") }).await.unwrap();
    let claimed = all_at_once(CALLERS, |number| {
        let store = Arc::clone(if number % 2 == 0 { &store } else { &other });
        let agent = ["one", "two", "limited", "paused"][number / 2 % 4];
        async move { (agent, store.claim(&wish(agent, 2), time(1)).await.unwrap()) }
    });
    let claimed = claimed.await;
    let of = |agent: &str| {
        let ids = claimed.iter().filter(|(whose, _)| *whose == agent).flat_map(|(_, claimed)| claimed);
        let mut ids: Vec<&str> = ids.map(|claimed| claimed.handoff.id.as_str()).collect();
        assert!(ids.iter().all(|id| id.starts_with(agent)), "{ids:?}");
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
        count
    };
    assert_eq!((of("limited"), of("paused")), (3, 0));
    // Rows that somebody takes at the moment are skipped, so some may be left.
    let left = store.claim(&wish("one", 100), time(2)).await.unwrap().len();
    assert_eq!(of("one") + left, 20);
    assert!(claimed.iter().all(|(_, claimed)| claimed.len() <= 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_command_is_refused_for_its_caller_only() {
    let store = connect(&new_database()).await;
    let requests = (0..CALLERS).map(|number| request(&format!("a{number}"), "builder")).collect();
    store.accept(requests, time(0)).await.unwrap();
    store.claim(&wish("builder", 100), time(1)).await.unwrap();
    let answers = all_at_once(CALLERS, |number| {
        let store = Arc::clone(&store);
        let order = match number % 3 {
            0 => report(&format!("a{number}"), baton_engine::Fence(1)),
            1 => report(&format!("a{number}"), baton_engine::Fence(0)),
            _ => report(&format!("nobody{number}"), baton_engine::Fence(1)),
        };
        async move { store.apply(order, time(2)).await }
    });
    for (number, answer) in answers.await.into_iter().enumerate() {
        match (number % 3, answer) {
            (0, Ok(handoff)) => assert!(matches!(handoff.state, State::Completed { .. })),
            (1, Err(StoreError::Refused(_))) | (2, Err(StoreError::NotFound(_))) => {}
            (kind, answer) => panic!("{kind}: {answer:?}"),
        }
    }
    // A report that came with an old token is journalled all the same.
    assert_eq!(store.history(&RunId::alone(&id("a1")), 0, 10).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_of_one_caller_are_undone_without_those_of_the_others() {
    let store = connect(&new_database()).await;
    let chains = all_at_once(CALLERS, |number| {
        let store = Arc::clone(&store);
        let (first, second) = (format!("a{number}"), format!("b{number}"));
        // Four runs, so that several callers write to the same journal.
        let run = RunId::parse(format!("run{}", number % 4)).unwrap();
        let mut steps = vec![
            TransactionStep::Accept(Box::new(Accept { run: run.clone(), ..request(&first, "builder") })),
            TransactionStep::Apply(id(&first), claim()),
            TransactionStep::Accept(Box::new(Accept { run, ..request(&second, "builder") })),
        ];
        if number % 3 == 0 {
            steps.push(TransactionStep::Apply(id(&second), report(&second, baton_engine::Fence(9)).command));
        }
        async move { store.carry_out(steps, time(1)).await }
    });
    for (number, answer) in chains.await.into_iter().enumerate() {
        let there = store.find(&id(&format!("a{number}"))).await.unwrap().is_some();
        assert_eq!((answer.is_ok(), there), (number % 3 != 0, number % 3 != 0), "{number}: {answer:?}");
    }
    for number in 0..4 {
        let events = store.history(&RunId::parse(format!("run{number}")).unwrap(), 0, 1_000).await.unwrap();
        assert!(events.windows(2).all(|pair| pair[1].hash_after(&pair[0].hash) == pair[1].hash));
        assert!(!events.is_empty() && events.len() % 3 == 0);
    }
}

/// Both nodes change the same handoffs, each in its own order: whoever waited for the other would be told by the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_do_not_wait_for_each_other_in_a_circle() {
    let url = new_database();
    let (one, other) = (connect(&url).await, connect(&url).await);
    let requests = (0..CALLERS).map(|number| request(&format!("a{number:02}"), "builder")).collect();
    one.accept(requests, time(0)).await.unwrap();
    one.claim(&wish("builder", 100), time(1)).await.unwrap();
    for round in 0..10 {
        let answers = all_at_once(2 * CALLERS, |number| {
            let (store, name) = match number % 2 {
                0 => (Arc::clone(&one), number / 2),
                _ => (Arc::clone(&other), CALLERS - 1 - number / 2),
            };
            async move { store.apply(heartbeat(&format!("a{name:02}"), baton_engine::Fence(1)), time(2 + round)).await }
        });
        answers.await.into_iter().for_each(|answer| drop(answer.unwrap()));
    }
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(query(&url, deadlocks), "0");
    let told = CALLERS * (1 + 1 + 2 * 10);
    assert_eq!(query(&url, "SELECT count(*) FROM events"), told.to_string(), "accepted, claimed and extended");
}

/// A process that stands still with its machine keeps its locks until the server ends its transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_that_somebody_else_holds_is_waited_for_only_by_those_who_want_it() {
    let url = new_database();
    let store = connect(&url).await;
    let requests = (0..CALLERS).map(|number| request(&format!("a{number}"), "builder")).collect();
    store.accept(requests, time(0)).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; SELECT FROM handoffs WHERE id = 'a7' FOR UPDATE").await.unwrap();
    let cancel = |number: usize| {
        let store = Arc::clone(&store);
        let command = Command::Cancel(Cancel { by: "ana".to_owned(), reason: None });
        async move { store.apply(Order::new(id(&format!("a{number}")), command), time(1)).await }
    };
    let held = tokio::spawn(cancel(7));
    let others = all_at_once(CALLERS, |number| cancel(if number == 7 { 8 } else { number }));
    let cancelled: Vec<Result<Handoff, StoreError>> = others.await;
    assert_eq!(cancelled.iter().filter(|answer| answer.is_ok()).count(), CALLERS - 1, "one was cancelled twice");
    assert!(!held.is_finished());
    client.batch_execute("COMMIT").await.unwrap();
    assert!(matches!(held.await.unwrap().unwrap().state, State::Cancelled { .. }));
}

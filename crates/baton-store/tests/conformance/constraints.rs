//! The database repeats what the lifecycle guarantees: rows that cannot be are refused, whoever writes them.

use super::bed::Bed;
use super::requests::{AGENT, cancel, request, request_in, time, with};

on_every_database! {
    impossible_rows_are_refused,
    possible_rows_are_not,
    impossible_events_are_refused,
    impossible_queues_are_refused,
}

async fn assert_refused(bed: &Bed, statement: &str) {
    let error = bed.sql(statement).await.expect_err(statement).to_lowercase();
    assert!(error.contains("constraint"), "{statement}: {error}");
}

/// `p` is pending, `c` is claimed, `f` is cancelled, `k` has a key.
async fn rows(bed: &Bed) {
    bed.claimed(request("c"), time(0)).await;
    let keyed = with(request("k"), |terms| terms.key = Some("k".to_owned()));
    bed.send([request("p"), request("f"), keyed], time(0)).await;
    bed.apply("f", cancel(), time(1)).await.unwrap();
}

async fn impossible_rows_are_refused(bed: Bed) {
    rows(&bed).await;
    let impossible = [
        ("f", "finished_at = NULL"),
        ("p", "finished_at = 5"),
        ("p", "state = 'completed', ready_at = NULL"),
        ("f", "state = 'pending', finished_at = NULL"),
        ("p", "ready_at = NULL"),
        ("c", "ready_at = 5"),
        ("c", "wake_at = NULL"),
        ("p", "state = 'claimed', ready_at = NULL, fence = 1"),
        ("p", "state = 'verifying', ready_at = NULL"),
        ("c", "fence = 0"),
        ("p", "fence = -1"),
        ("p", "state = 'lost'"),
        ("p", "state = NULL"),
        ("p", "state = 'Pending'"),
        ("p", "priority = 4"),
        ("p", "priority = -1"),
        ("p", "version = 0"),
        ("f", "wake_at = 5"),
        ("p", "accepted_seq = 0"),
        ("p", "last_seq = 0"),
        ("p", "key = 'k'"),
        ("p", "id = 'k'"),
        ("p", "body = NULL"),
        ("p", "run = NULL"),
    ];
    for (id, change) in impossible {
        assert_refused(&bed, &format!("UPDATE handoffs SET {change} WHERE id = '{id}'")).await;
    }
}

/// So that a refusal above has the reason that it seems to have.
async fn possible_rows_are_not(bed: Bed) {
    rows(&bed).await;
    let possible = [
        ("p", "state = 'claimed', ready_at = NULL, fence = 1, wake_at = 5"),
        ("f", "state = 'pending', finished_at = NULL, ready_at = 5"),
        ("c", "state = 'completed', wake_at = NULL, finished_at = 5"),
        ("k", "priority = 3, version = 9, last_seq = 9, wake_at = 5"),
    ];
    for (id, change) in possible {
        bed.sql(&format!("UPDATE handoffs SET {change} WHERE id = '{id}'")).await.expect(change);
    }
}

async fn impossible_events_are_refused(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("r", "b")], time(0)).await;
    for change in ["seq = 1", "seq = 0", "version = 0", "kind = NULL", "detail = NULL", "at = NULL", "hash = NULL"] {
        assert_refused(&bed, &format!("UPDATE events SET {change} WHERE run = 'r' AND seq = 2")).await;
    }
    bed.sql("UPDATE events SET seq = 3 WHERE run = 'r' AND seq = 2").await.unwrap();
}

async fn impossible_queues_are_refused(bed: Bed) {
    bed.store.set_queue(&baton_engine::queue::Queue::open(AGENT)).await.unwrap();
    for change in ["concurrency = -1", "paused = NULL", "agent = NULL"] {
        assert_refused(&bed, &format!("UPDATE queues SET {change}")).await;
    }
    bed.sql("UPDATE queues SET concurrency = 0").await.unwrap();
}

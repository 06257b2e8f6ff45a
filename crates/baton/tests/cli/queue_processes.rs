//! Several processes at once: exactly one gets a handoff, and those who wait are woken.

use std::collections::BTreeSet;
use std::thread;

use baton_testbed::{MOVABLE_CLOCK, PostgresServer, query};

use crate::documents::{REPORT, REQUEST, with};
use crate::queue_life::{done, with_one_sent};
use crate::sandbox::Sandbox;

#[test]
fn of_two_who_claim_the_same_one_gets_it() {
    let sandbox = with_one_sent(&[]);
    let codes: Vec<_> = thread::scope(|scope| {
        let claims: Vec<_> =
            (0..4).map(|_| scope.spawn(|| sandbox.baton(&["claim", "--agent", "finder"]).code)).collect();
        claims.into_iter().map(|claim| claim.join().expect("it ran")).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(1)).count(), 3, "{codes:?}");
}

#[test]
fn many_who_send_and_claim_lose_nothing() {
    let sandbox = Sandbox::new();
    let ids: BTreeSet<String> = (0..8).map(|number| format!("task-{number}")).collect();
    for id in &ids {
        sandbox.write(&format!("{id}.json"), with(REQUEST, "csv-07", id));
    }
    let claimed: Vec<String> = thread::scope(|scope| {
        for id in &ids {
            let sandbox = &sandbox;
            scope.spawn(move || done(sandbox, &["send", "--to", "finder", "--id", id, &format!("{id}.json")]));
        }
        let claim = || done(&sandbox, &["claim", "--agent", "finder", "--wait", "100s", "--json"]).json();
        let claims: Vec<_> = ids.iter().map(|_| scope.spawn(claim)).collect();
        let id = |claim: serde_json::Value| claim["handoff"]["id"].as_str().expect("an id").to_owned();
        claims.into_iter().map(|claim| id(claim.join().expect("it ran"))).collect()
    });
    assert_eq!(claimed.iter().cloned().collect::<BTreeSet<_>>(), ids);
    assert_eq!(claimed.len(), ids.len());
}

#[test]
fn whoever_waits_is_woken_by_the_report() {
    let sandbox = with_one_sent(&[]);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| sandbox.baton(&["wait", "csv-07.research", "--timeout", "100s"]));
        done(&sandbox, &["claim", "--agent", "finder"]);
        done(&sandbox, &["report", "csv-07.research", "--fence", "1", "report.json"]);
        let waited = waiter.join().expect("it ran");
        assert_eq!((waited.code, waited.stdout.as_str()), (Some(0), REPORT), "{waited}");
    });
}

#[test]
fn waiting_gives_up_the_overdue() {
    let sandbox = with_one_sent(&["--deadline", "1ms"]);
    let waited = sandbox.baton(&["wait", "csv-07.research", "--timeout", "100s"]);
    assert_eq!(waited.code, Some(1), "{waited}");
    assert!(waited.stderr.contains("TIMEOUT: the deadline passed while it was pending"), "{waited}");
}

#[test]
fn several_are_waited_for_together() {
    let sandbox = with_one_sent(&[]);
    sandbox.write("second.json", with(REQUEST, "csv-07", "csv-08"));
    done(&sandbox, &["send", "--to", "finder", "second.json"]);
    done(&sandbox, &["claim", "--agent", "finder"]);
    done(&sandbox, &["report", "csv-07.research", "--fence", "1", "report.json"]);
    done(&sandbox, &["cancel", "csv-08.research"]);
    let waited = sandbox.baton(&["wait", "csv-07", "csv-08", "csv-08.research"]);
    assert_eq!(waited.code, Some(1));
    let states: Vec<_> = waited.stdout.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(states, ["completed", "cancelled"]);
}

/// To a machine that was suspended, the server's clock has gone on without it.
#[test]
fn whoever_waited_through_the_night_takes_what_is_sent_in_the_morning() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let url = PostgresServer::shared().new_database();
    query(&url, MOVABLE_CLOCK);
    thread::scope(|scope| {
        let claim = || sandbox.baton(&["claim", "--agent", "finder", "--wait", "100s", "--json", "--store", &url]);
        let waiter = scope.spawn(claim);
        let listens = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^LISTEN'";
        while query(&url, listens) == "0" {
            thread::yield_now();
        }
        query(&url, "UPDATE shift SET by = interval '8 hours'");
        done(&sandbox, &["send", "--to", "finder", "request.json", "--store", &url]);
        let claimed = waiter.join().expect("it ran");
        assert_eq!(claimed.code, Some(0), "{claimed}");
    });
    let hours = "SELECT floor((max(at) - min(at)) / 3600e6) FROM events";
    assert_eq!(query(&url, hours), "0", "the claim is dated after the request, not eight hours before");
}

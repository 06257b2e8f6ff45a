//! `baton audit verify`: what somebody with access to the database can do is found and named.

use baton_engine::Fence;
use baton_engine::failure::{Code, Failure};
use baton_engine::lifecycle::{Command, Fail, Heartbeat};
use insta::assert_snapshot;

use crate::stocked::Stocked;

/// A run with two handoffs and seven events.
fn two() -> Stocked {
    let stocked = Stocked::new();
    let (one, two) = (stocked.accept_with("one", "r", |_| {}), stocked.accept_with("two", "r", |_| {}));
    for id in [&one, &two] {
        let fence = stocked.claim(60_000).fence;
        stocked.apply(id, Command::Heartbeat(Heartbeat::new(fence)));
    }
    let failure = Failure::new(Code::timeout(), "too slow");
    stocked.apply(&one, Command::Fail(Fail::new(Fence(1), failure, 0.0)));
    stocked
}

fn verify(stocked: &Stocked) -> String {
    let run = stocked.sandbox.baton(&["audit", "verify", "r", "--json"]);
    let result = run.json();
    let findings = result["runs"][0]["findings"].as_array().expect("findings");
    assert_eq!(run.code, Some(if findings.is_empty() { 0 } else { 1 }), "{run}");
    let word = |value: &serde_json::Value| value.to_string().replace('"', "");
    let line = |found: &serde_json::Value| {
        format!("{} {} {} {}", word(&found["code"]), word(&found["seq"]), word(&found["handoff"]), word(&found["kind"]))
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn sound_journal_is_sound_and_tells_its_head() {
    let stocked = two();
    let run = stocked.sandbox.baton(&["audit", "verify", "--all"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("sound  r  7 events, 2 handoffs, head "), "{run}");
    let head = run.stdout.lines().next().and_then(|line| line.rsplit(' ').next()).expect("a hash");
    let kept = stocked.sandbox.baton(&["audit", "verify", "one", "--head", head]);
    assert_eq!(kept.code, Some(0), "a handoff stands for its run: {kept}");
    let other = stocked.sandbox.baton(&["audit", "verify", "r", "--head", &"0".repeat(64)]);
    assert_eq!(other.code, Some(1), "{other}");
    assert!(other.stdout.contains("no event has the expected head"), "{other}");
}

#[test]
fn store_is_named_before_or_after_the_action() {
    let stocked = two();
    let elsewhere = stocked.sandbox.path("elsewhere.db");
    std::fs::copy(stocked.database(), &elsewhere).expect("copied");
    let elsewhere = elsewhere.display().to_string();
    let before = stocked.sandbox.baton(&["audit", "--store", &elsewhere, "verify", "--all"]);
    let after = stocked.sandbox.baton(&["audit", "verify", "--all", "--store", &elsewhere]);
    assert_eq!((before.code, after.code), (Some(0), Some(0)), "{before}\n{after}");
    assert_eq!(before.stdout, after.stdout);
    for action in ["verify", "export"] {
        let nowhere = stocked.sandbox.baton(&["audit", action, "--all", "--store", "none.db"]);
        assert!(nowhere.code == Some(2) && nowhere.stderr.contains("none.db does not exist"), "{nowhere}");
        let help = stocked.sandbox.baton(&["audit", action, "--help"]).stdout;
        assert!(help.contains("--store <URL>") && help.contains("--config <FILE>"), "{help}");
    }
}

#[test]
fn json_is_indented_like_any_other() {
    let stocked = two();
    stocked.accept("other");
    for runs in ["--all", "r"] {
        let run = stocked.sandbox.baton(&["audit", "verify", runs, "--json"]);
        assert_eq!(run.stdout, format!("{:#}\n", run.json()));
    }
    let empty = Stocked::new().sandbox.baton(&["audit", "verify", "--all", "--json"]);
    assert_eq!(empty.stdout, format!("{:#}\n", empty.json()));
}

#[test]
fn changed_event_is_named() {
    let stocked = two();
    stocked.sql("UPDATE events SET detail = replace(detail, 'too slow', 'too fast') WHERE seq = 7");
    assert_snapshot!(verify(&stocked), @r"
    changed 7 one failed
    other-row null one null
    ");
}

#[test]
fn removed_moved_and_unreadable_events_are_named() {
    let removed = two();
    removed.sql("DELETE FROM events WHERE seq = 4");
    assert_snapshot!(verify(&removed), @r"
    removed 5 two claimed
    version 7 one failed
    ");

    let moved = two();
    moved.sql("UPDATE events SET seq = CASE seq WHEN 3 THEN 105 ELSE 103 END WHERE seq IN (3, 5)");
    moved.sql("UPDATE events SET seq = seq - 100 WHERE seq > 100");
    assert!(verify(&moved).contains("changed 3 two claimed"), "{}", verify(&moved));

    let unreadable = two();
    unreadable.sql("UPDATE events SET detail = '{' WHERE seq = 3");
    assert!(verify(&unreadable).contains("unreadable 3 one claimed"), "{}", verify(&unreadable));
}

#[test]
fn tail_that_was_cut_off_is_named() {
    let stocked = two();
    stocked.sql("DELETE FROM events WHERE seq = 7");
    assert_snapshot!(verify(&stocked), @"cut-off null one null");
}

#[test]
fn row_that_was_changed_or_removed_is_named() {
    let changed = two();
    changed.sql("UPDATE handoffs SET body = replace(body, '\"attempts\":1', '\"attempts\":0') WHERE id = 'one'");
    assert_snapshot!(verify(&changed), @"other-row null one null");

    let removed = two();
    removed.sql("DELETE FROM handoffs WHERE id = 'one'");
    assert_snapshot!(verify(&removed), @"no-row 7 one null");

    let damaged = two();
    damaged.sql("UPDATE handoffs SET body = 'x' WHERE id = 'one'");
    assert_snapshot!(verify(&damaged), @"damaged null null null");
}

#[test]
fn unknown_run_is_wrong_usage() {
    let stocked = two();
    let run = stocked.sandbox.baton(&["audit", "verify", "nobody"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(stocked.sandbox.baton(&["audit", "verify"]).code, Some(2));
    assert_eq!(stocked.sandbox.baton(&["audit", "verify", "r", "--head", "xyz"]).code, Some(2));
}

#[test]
fn handoff_that_lost_all_of_its_events_at_the_end_of_a_run_is_named() {
    let stocked = two();
    stocked.accept_with("three", "r", |_| {});
    stocked.sql("DELETE FROM events WHERE seq = 8");
    assert_snapshot!(verify(&stocked), @"cut-off null three null");
}

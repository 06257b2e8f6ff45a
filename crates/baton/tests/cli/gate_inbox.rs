//! What waits for a person, over all runs: `baton inbox`, and what `baton show` tells before a decision.

use baton_engine::handoff::WrittenDocument;
use baton_engine::lifecycle::{Command, Ending, HandIn, Verdict, Verify};
use baton_protocol::Dialect;
use insta::assert_snapshot;

use crate::documents::REPORT;
use crate::gates::{digest, with_gate, with_review};
use crate::queue_life::{done, with_one_sent};
use crate::stocked::Stocked;

/// Returns lines without the part that depends on the time.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" · ") {
        Some((before, _)) if line.contains(" · from ") => before.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_waits() {
    let sandbox = with_one_sent(&[]);
    let empty = done(&sandbox, &["inbox"]);
    assert_eq!(empty.stdout, "");
    assert!(empty.stderr.starts_with("nothing is waiting for a person in "), "{empty}");
    assert_eq!(done(&sandbox, &["inbox", "--json"]).json()["waiting"].as_array().map(Vec::len), Some(0));
    assert_eq!(done(&sandbox, &["inbox", "--run", "csv-07.research"]).stdout, "");
    assert_snapshot!(sandbox.baton(&["inbox", "--run", "nowhere"]), @"
    --- stderr
    error: there is no run `nowhere`
    hint: `baton runs` shows what is there
    --- exit 2
    ");
}

#[test]
fn everything_that_waits_is_listed_the_longest_first() {
    let stocked = Stocked::new();
    with_gate(&stocked, "HO-1", "design/approval", &[]);
    with_review(&stocked, "HO-2", "tools/csv/research");
    with_gate(&stocked, "HO-3", "tools", &["continue", "revise", "stop"]);
    let sandbox = &stocked.sandbox;
    assert_snapshot!(without_times(&done(sandbox, &["inbox"]).stdout), @"
    gate          HO-1 · run run-7 · phase design/approval · from architecture
      The design goes to implementation, which costs three weeks
      Upload design complete with 12 ranked risks, all of rank 4 or 5 have a measure; cost estimat…
      baton approve HO-1
      baton reject HO-1

    review        HO-2 · run run-7 · phase tools/csv/research · from b
      Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV w…
      baton approve HO-2
      baton reject HO-2
      baton ask HO-2

    limit         HO-3 · run run-7 · phase tools · from architecture
      The design goes to implementation, which costs three weeks
      choices: continue, revise, stop
      baton answer HO-3
    ");
    let first = done(sandbox, &["inbox", "--limit", "1"]);
    assert!(first.stdout.contains("HO-1") && !first.stdout.contains("HO-2"), "{first}");
    assert!(
        first.stderr.starts_with("2 more are waiting; list them with --after 20") && first.stderr.contains("/HO-1\n"),
        "{first}"
    );
    assert!(done(sandbox, &["inbox", "--color", "always"]).stdout.contains("\u{1b}[32mreview"));
    let store = stocked.database();
    let store = store.to_str().expect("UTF-8");
    let elsewhere = done(sandbox, &["inbox", "--store", store, "--limit", "1"]).stdout;
    assert!(elsewhere.contains(&format!("baton approve HO-1 --store {store}\n")), "{elsewhere}");
}

#[test]
fn machines_get_everything_that_a_decision_needs() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-3", "tools", &["continue", "revise"]);
    let mut waiting = done(&stocked.sandbox, &["inbox", "--run", "run-7", "--json"]).json();
    let waiting = &mut waiting["waiting"][0];
    assert_eq!(waiting["digest"], digest(&stocked, &id));
    assert_eq!(waiting["document"]["text"], crate::gates::GATE);
    for changing in ["digest", "document", "since"] {
        waiting.as_object_mut().expect("an object").remove(changing);
    }
    assert_snapshot!(format!("{waiting:#}"), @r#"
    {
      "id": "HO-3",
      "run": "run-7",
      "phase": "tools",
      "ask": "limit",
      "agent": "architecture",
      "commands": [
        "baton answer HO-3"
      ],
      "title": "The design goes to implementation, which costs three weeks",
      "items": [
        "Unscanned files are deleted after 6 hours"
      ],
      "questions": [],
      "options": [],
      "choices": [
        {
          "choice": "continue",
          "meaning": "Goes on with two more visits"
        },
        {
          "choice": "revise",
          "meaning": "Starts to count again"
        }
      ],
      "trouble": null,
      "examined": [],
      "not_caged": [],
      "inputs": {},
      "decided_before": [],
      "approval": null,
      "approvals": [],
      "lapses_at": null
    }
    "#);
}

#[test]
fn show_tells_what_was_seen_and_what_is_decided_about() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "tools/csv/research");
    let shown = done(&stocked.sandbox, &["show", "HO-2"]).stdout;
    let (now, history) = shown.split_once("\n20").expect("a time begins the history");
    assert_snapshot!(now, @r#"
    handoff   HO-2
    phase     tools/csv/research, visit 1
    run       run-7
    from      a to b
    state     awaiting_person: approve or reject it
    priority  normal
    tries     2 of 4
    failure   VALIDATION_FAILED: artifact-missing: src/export/csv.rs is not there
    refuted   evidence: artifact-missing: src/export/csv.rs is not there

    status    complete, decision PROCEED
    summary   Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV
              writer fits in src/export/csv.rs and needs no dependency.
    also      findings, tokens_used, fields of its dialect (see the whole document)
    evidence  ✓ made src/export/csv.rs, 1204 bytes (sha256 9f86d081884c)
              ✗ tests pass, ended with 1\u{1b}[31m (claim-refuted)
              ? used reading-before-writing, no transcript
    digest    93d46f0949d51112791b80c9070cf84ff44d1488b65efe15a980fa5dfb1318e4
    "#);
    assert!(history.contains("verified"), "{history}");
    let whole = done(&stocked.sandbox, &["show", "HO-2", "--documents"]).stdout;
    assert!(
        whole.contains(&format!(
            "\nreport (task, digest {}):\n{{",
            stocked.find(&id).expect("there").last_report.expect("a report").0
        )),
        "{whole}"
    );
    let json = done(&stocked.sandbox, &["show", "HO-2", "--json"]).json();
    assert_eq!(json["examined"][1]["verdict"], "refuted");
}

#[test]
fn nobody_gets_a_digest_without_what_it_identifies() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let digest = digest(&stocked, &id);
    done(&stocked.sandbox, &["approve", "HO-2", "--yes", "--shown", &digest]);
    let shown = done(&stocked.sandbox, &["show", "HO-2"]).stdout;
    assert!(!shown.contains(&digest) && shown.contains("✗ tests pass"), "{shown}");
}

#[test]
fn what_was_seen_of_an_older_report_is_not_shown_beside_a_newer_one() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let shown = digest(&stocked, &id);
    done(&stocked.sandbox, &["ask", "HO-2", "Why?", "--yes", "--shown", &shown]);
    let fence = stocked.claim(60_000).fence;
    let document = WrittenDocument::new(Dialect::Task, REPORT.replace("912", "913"));
    let report = HandIn::new(fence, Ending::NeedsReview, document);
    stocked.apply(&id, Command::Report(report));
    let verify = Verify {
        fence,
        verdict: Verdict::Verified,
        examined: Vec::new(),
        evidence: None,
        kept: Vec::new(),
        review: false,
        repair: false,
        dice: 0.0,
    };
    stocked.apply(&id, Command::Verify(verify));
    let shown = done(&stocked.sandbox, &["show", "HO-2"]).stdout;
    assert!(shown.contains("awaiting_person") && !shown.contains("✗"), "{shown}");
    let inbox = done(&stocked.sandbox, &["inbox", "--json"]).json();
    assert_eq!(inbox["waiting"][0]["examined"].as_array().map(Vec::len), Some(0));
}

//! Looking at runs: the list, one run, its journal, its picture; waiting for it and calling it off.

use baton_testbed::account;
use insta::assert_snapshot;

use crate::queue_life::done;
use crate::run_letter::{run_letter, settled, with_letter};
use crate::sandbox::Sandbox;

/// A run that waits at its gate.
pub(crate) fn waiting() -> Sandbox {
    let sandbox = with_letter();
    assert_eq!(run_letter(&sandbox, &["--no-input"]).code, Some(3));
    sandbox
}

#[test]
fn runs_are_listed_with_where_they_stand() {
    let sandbox = waiting();
    sandbox.write("request.json", crate::documents::REQUEST);
    done(&sandbox, &["send", "--to", "finder", "request.json"]);
    let listed = done(&sandbox, &["runs"]).stdout;
    let words: Vec<&str> = listed.split_whitespace().collect();
    assert_snapshot!(words[..16].join(" "), @"RUN WORKFLOW STATE GOING ON STARTED TOOK HANDOFFS letter-1 letter waits for a person: release.1 release");
    assert!(!listed.contains("csv-07"), "a handoff is no run: {listed}");
    let json = done(&sandbox, &["runs", "--json"]).json();
    let run = &json["runs"][0];
    assert_eq!((&run["run"], &run["workflow"]), (&"letter-1".into(), &"letter".into()));
    assert_eq!((&run["state"], &run["phases"]), (&"waiting".into(), &serde_json::json!(["release"])));
    let none = Sandbox::new();
    none.write("request.json", crate::documents::REQUEST);
    done(&none, &["send", "--to", "finder", "request.json"]);
    assert!(done(&none, &["runs"]).stderr.starts_with("no workflow run in "));
}

#[test]
fn a_run_is_shown_with_its_phases_and_what_waits() {
    let sandbox = waiting();
    let shown = done(&sandbox, &["show", "letter"]).stdout;
    let shown = settled(&sandbox, &shown);
    let lines: Vec<&str> = shown.lines().filter(|line| !line.starts_with("started")).collect();
    let (heading, rest) = lines.split_at(lines.iter().position(|line| line.is_empty()).expect("a table"));
    assert_snapshot!(heading.join("\n"), @"
    run       letter-1
    workflow  letter
    state     waits for a person (1 question)
    workspace SANDBOX/desk
    logs      SANDBOX/desk/.baton/runs/letter-1
    next      baton answer letter-1.release.1, then baton resume letter-1
    ");
    let asked = rest.iter().skip_while(|line| !line.starts_with("running")).copied().collect::<Vec<_>>();
    assert_snapshot!(asked.join("\n"), @"
    running
      release                  a person must decide (now)

    waits for a person
    gate          letter-1.release.1 · run letter-1 · phase release · from orchestrator · now
      Release: choose one
      choices: send, burn
      baton answer letter-1.release.1
      baton reject letter-1.release.1
    ");
    let json = done(&sandbox, &["show", "letter-1", "--json"]).json();
    assert_eq!(json["state"], "waiting");
    let write = &json["phases"][0];
    assert_eq!((&write["phase"], &write["visits"], &write["attempts"]), (&"write".into(), &2.into(), &4.into()));
    assert_eq!(write["evidence"], serde_json::json!({ "verified": 6, "refuted": 1, "unverifiable": 0 }));
    assert_eq!(json["waiting"][0]["choices"][0]["choice"], "send");
    assert_eq!(json["going_on"][0]["handoff"], "letter-1.release.1");
    let handoff = done(&sandbox, &["show", "letter-1.review.1"]).stdout;
    assert!(handoff.starts_with("handoff   letter-1.review.1\n"), "{handoff}");
}

#[test]
fn the_journal_is_read_as_lines_or_as_objects() {
    let sandbox = waiting();
    let log = done(&sandbox, &["log", "letter-1"]).stdout;
    let routed: Vec<&str> = log.lines().filter(|line| line.contains(" routed ")).map(|line| &line[21..]).collect();
    assert_snapshot!(routed.join("\n"), @"
    write                    routed       to lawyer: route 1 of the workflow leads to lawyer
    write → lawyer           routed       to letter-1.write.1: its result goes back to the handoff that waits for it
    write                    routed       to review: review follows write
    review                   routed       to write: reviewer says CHANGES_REQUESTED
    write #2                 routed       to review: review follows write
    review #2                routed       to spelling: spelling follows review
    spelling                 routed       to release: release follows spelling
    ");
    let objects = done(&sandbox, &["log", "letter-1", "--json"]).stdout;
    assert_eq!(objects.lines().count(), log.lines().count(), "nothing was extended in so short a time");
    let own = done(&sandbox, &["log", "letter-1.review.1", "--follow"]).stdout;
    assert!(own.lines().count() > 3 && own.lines().all(|line| line.contains(" review ")), "{own}");
    let files = done(&sandbox, &["log", "letter-1.write.1", "--files"]).stdout;
    let prompts = files.lines().filter(|line| line.ends_with("/prompt.md")).count();
    assert_eq!(prompts, 3, "one per attempt: {files}");
    assert!(files.lines().all(|line| std::path::Path::new(line).exists()), "{files}");
}

#[test]
fn following_a_run_ends_with_it() {
    let sandbox = waiting();
    done(&sandbox, &["cancel", "letter-1", "--reason", "no paper"]);
    let log = done(&sandbox, &["log", "letter-1", "--follow"]).stdout;
    assert!(
        log.lines().any(|line| line.contains(" cancelled ") && line.ends_with(&format!("by {}: no paper", account()))),
        "{log}"
    );
}

#[test]
fn a_run_is_called_off_with_everything_in_it() {
    let sandbox = waiting();
    assert_eq!(sandbox.baton(&["wait", "letter-1"]).code, Some(3));
    assert_snapshot!(sandbox.baton(&["cancel", "letter-1"]), @"
    letter-1 cancelled
    --- exit 0
    ");
    let list = done(&sandbox, &["list", "--json"]).json();
    let open: Vec<&str> = list["handoffs"]
        .as_array()
        .expect("handoffs")
        .iter()
        .filter_map(|handoff| handoff["state"].as_str())
        .filter(|state| !matches!(*state, "completed" | "cancelled" | "failed"))
        .collect();
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(sandbox.baton(&["wait", "letter-1"]).code, Some(1));
    let resumed = sandbox.baton(&["resume", "letter-1"]);
    assert_eq!(resumed.code, Some(1));
    assert!(resumed.stderr.contains("letter-1 was cancelled"), "{resumed}");
    let audit = sandbox.baton(&["audit", "verify", "letter-1"]);
    assert_eq!(audit.code, Some(0), "{audit}");
}

#[test]
fn the_picture_of_a_run_shows_how_far_it_is() {
    let sandbox = waiting();
    let drawn = done(&sandbox, &["graph", "letter-1", "--format", "mermaid"]).stdout;
    let classes: Vec<&str> =
        drawn.lines().map(str::trim).filter(|line| line.starts_with("class ") && !line.ends_with("beside")).collect();
    assert_snapshot!(classes.join("\n"), @"
    class n2 done
    class n3 done
    class n4 skipped
    class n5 done
    class n6 waiting
    class n8 done
    ");
    assert!(drawn.contains("2 visits, "), "{drawn}");
    let missing = sandbox.baton(&["graph", "lettre"]);
    assert_eq!(missing.code, Some(2), "{missing}");
}

#[test]
fn files_of_attempts_are_listed_for_machines_too() {
    let sandbox = waiting();
    let plain = done(&sandbox, &["log", "letter-1", "--files"]).stdout;
    let listed = done(&sandbox, &["log", "letter-1", "--files", "--json"]).stdout;
    let objects = listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let files: Vec<String> = objects.map(|object| object["file"].as_str().expect("a path").to_owned()).collect();
    assert!(!files.is_empty(), "{listed}");
    assert_eq!(files, plain.lines().collect::<Vec<_>>());
}

#[test]
fn run_that_is_not_there_is_called_a_run() {
    let sandbox = waiting();
    let resumed = sandbox.baton(&["resume", "nope"]);
    assert_snapshot!(resumed.stderr, @r"
    error: there is no run `nope`
    hint: `baton runs` shows what is there
    ");
    assert_eq!(resumed.code, Some(2));
}

//! `baton prune`: what was finished long ago goes, after it was archived.

use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::lifecycle::{Cancel, Command};
use baton_engine::step::{Role, Step};
use baton_protocol::Dialect;

use crate::stocked::Stocked;

fn cancel(stocked: &Stocked, id: &str) {
    let id = stocked.accept(id);
    stocked.apply(&id, Command::Cancel(Cancel { by: "ana".to_owned(), reason: None }));
}

fn stocked() -> Stocked {
    let stocked = Stocked::new();
    ["one", "two", "three"].iter().for_each(|id| cancel(&stocked, id));
    stocked.accept("open");
    stocked
}

#[test]
fn finished_runs_are_archived_and_then_removed() {
    let stocked = stocked();
    let dry = stocked.sandbox.baton(&["prune", "--older-than", "0", "--dry-run", "--json"]);
    assert_eq!((dry.json()["runs"].as_u64(), dry.json()["handoffs"].as_u64()), (Some(3), Some(3)), "{dry}");
    let run = stocked.sandbox.baton(&["prune", "--older-than", "0", "--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!((run.json()["runs"].as_u64(), run.json()["exported"].as_u64()), (Some(3), Some(3)), "{run}");
    for id in ["one", "two", "three"] {
        assert!(stocked.find(&id.to_owned().try_into().expect("safe")).is_none());
        let folder = format!(".project/07-audit/sessions/{id}");
        assert!(stocked.sandbox.read(&format!("{folder}/journal/{id}.yaml")).contains("event: cancelled"));
        assert!(stocked.sandbox.read(&format!("{folder}/handoffs/{id}.yaml")).contains("handoff:"));
    }
    assert!(stocked.find(&"open".to_owned().try_into().expect("safe")).is_some());
    assert!(stocked.sandbox.read("state/current.json").contains("\"open\""));
    let again = stocked.sandbox.baton(&["prune", "--older-than", "0", "--json"]);
    assert_eq!(again.json()["runs"].as_u64(), Some(0), "{again}");
}

#[test]
fn id_of_a_pruned_run_is_not_the_beginning_of_another() {
    let stocked = stocked();
    stocked.accept("one-more");
    assert_eq!(stocked.sandbox.baton(&["prune", "--older-than", "0"]).code, Some(0));
    for command in [&["show", "one"][..], &["cancel", "one"], &["audit", "verify", "one"]] {
        let run = stocked.sandbox.baton(command);
        assert_eq!(run.code, Some(2), "{command:?}: {run}");
        assert!(run.stderr.starts_with("error: the run one was pruned at "), "{command:?}: {run}");
    }
    assert_eq!(
        stocked.sandbox.baton(&["show", "one-m"]).code,
        Some(0),
        "what is there is still found by its beginning"
    );
}

#[test]
fn young_runs_stay() {
    let stocked = stocked();
    let run = stocked.sandbox.baton(&["prune", "--older-than", "1h"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "removed 0 handoffs of 0 runs, archived in .\n"));
}

#[test]
fn nothing_is_removed_where_the_archive_cannot_be_written() {
    let stocked = stocked();
    stocked.sandbox.write(".project", "a file where a folder should be");
    let run = stocked.sandbox.baton(&["prune", "--older-than", "0"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(stocked.find(&"one".to_owned().try_into().expect("safe")).is_some());
}

#[test]
fn broken_run_is_evidence_and_stays() {
    let stocked = stocked();
    stocked.sql("UPDATE events SET detail = '{' WHERE run = 'two' AND seq = 1");
    let run = stocked.sandbox.baton(&["prune", "--older-than", "0", "--json"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert_eq!((run.json()["runs"].as_u64(), run.json()["kept"].as_u64()), (Some(2), Some(1)), "{run}");
    assert!(run.stderr.contains("baton audit verify two"), "{run}");
    assert!(stocked.find(&"two".to_owned().try_into().expect("safe")).is_some());
}

#[test]
fn removing_without_an_archive_needs_yes() {
    let stocked = stocked();
    assert_eq!(stocked.sandbox.baton(&["prune", "--older-than", "0", "--no-export"]).code, Some(2));
    let run = stocked.sandbox.baton(&["prune", "--older-than", "0", "--no-export", "--yes"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "removed 3 handoffs of 3 runs without an archive\none two three\n")
    );
    assert!(!stocked.sandbox.path(".project").exists());
}

#[test]
fn run_that_nobody_can_read_can_be_called_off_and_pruned() {
    let stocked = Stocked::new();
    let step = |role| Step { role, phase: String::new(), visit: 1, within: None, about: None, after: None };
    let unreadable = WrittenDocument::new(Dialect::Native, "[");
    let run = stocked.accept_document("r", "r", unreadable, |terms| terms.step = Some(step(Role::Run)));
    let phase = stocked.accept_with("r.a.1", "r", |terms| terms.step = Some(step(Role::Work)));
    assert_eq!(stocked.sandbox.baton(&["show", "r"]).code, Some(1), "it cannot be read");
    let ended = stocked.sandbox.baton(&["cancel", "r"]);
    assert_eq!(ended.code, Some(0), "{ended}");
    for id in [run, phase] {
        assert_eq!(stocked.find(&id).expect("there").state.name(), StateName::Cancelled);
    }
    let pruned = stocked.sandbox.baton(&["prune", "--older-than", "0", "--no-export", "--yes", "--json"]);
    assert_eq!(pruned.json()["runs"].as_u64(), Some(1), "{pruned}");
}

//! The commands of the queue, used wrongly: what is said, and that nothing happens.

use insta::assert_snapshot;

use crate::documents::{REQUEST, with};
use crate::queue_life::{done, state, with_one_claimed, with_one_sent};
use crate::sandbox::Sandbox;

#[test]
fn ids_that_do_not_exist_or_are_not_unique() {
    let sandbox = with_one_sent(&[]);
    sandbox.write("second.json", with(REQUEST, "csv-07", "csv-08"));
    done(&sandbox, &["send", "--to", "finder", "second.json"]);
    assert_snapshot!(sandbox.baton(&["show", "csv-07.resarch"]), @"
    --- stderr
    error: there is no handoff `csv-07.resarch`
    hint: did you mean `csv-07.research`?
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["wait", "nonsense"]), @"
    --- stderr
    error: there is no handoff `nonsense`
    hint: `baton list` shows what is there
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["cancel", "csv"]), @"
    --- stderr
    error: several ids begin with `csv`: csv-07.research, csv-08.research
    hint: write more of the id
    --- exit 2
    ");
    for odd in ["", "../x", "%", "_", "csv-0_", "a\u{1b}[31mb"] {
        assert_eq!(sandbox.baton(&["show", odd]).code, Some(2), "{odd:?}");
    }
    assert_eq!(sandbox.baton(&["send", "--to", "x", "--returns-to", "none", "request.json"]).code, Some(2));
}

#[test]
fn made_ids_are_found_without_what_they_have_in_common() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", with(REQUEST, "\"task_id\": \"csv-07\",", "\"task_id\": null,"));
    let run = sandbox.baton(&["send", "--to", "finder", "request.json"]);
    // A task without an id is not valid, so the id is taken from the option.
    assert_eq!(run.code, Some(1), "{run}");
    sandbox.write("request.json", REQUEST);
    done(&sandbox, &["send", "--to", "finder", "--id", "hoff-0199aa", "request.json"]);
    assert!(done(&sandbox, &["show", "0199"]).stdout.starts_with("handoff   hoff-0199aa\n"));
}

#[test]
fn wrong_fences_are_refused() {
    let sandbox = with_one_claimed(&[]);
    for fence in ["0", "2", "18446744073709551615"] {
        for command in [&["heartbeat", "csv-07"][..], &["ack", "csv-07"], &["report", "csv-07", "report.json"]] {
            let run = sandbox.baton(&[command, &["--fence", fence]].concat());
            assert_eq!(run.code, Some(1), "{command:?} {fence}\n{run}");
        }
    }
    assert_eq!(sandbox.baton(&["heartbeat", "csv-07", "--fence", "-1"]).code, Some(2));
    assert_eq!(sandbox.baton(&["heartbeat", "csv-07"]).code, Some(2));
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn files_that_cannot_be_sent() {
    let sandbox = Sandbox::new();
    sandbox
        .folder("folder")
        .write("notes.md", "# Only notes\n")
        .write("empty.json", "")
        .write("bytes.json", [0xff, 0xfe]);
    assert_snapshot!(sandbox.baton(&["send", "none.json"]), @"
    --- stderr
    error: none.json: there is no such file or folder
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["send", "folder"]), @"
    --- stderr
    error: folder: this is a folder, not a document
    --- exit 2
    ");
    for file in ["notes.md", "empty.json", "bytes.json"] {
        assert_eq!(sandbox.baton(&["send", "--to", "x", file]).code, Some(1), "{file}");
    }
    assert_eq!(sandbox.baton(&["send", "-", "-"]).code, Some(2));
    assert_eq!(sandbox.baton(&["send"]).code, Some(2));
    assert!(!sandbox.state().root().exists());
}

#[test]
fn options_that_make_no_sense() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let send = |options: &[&str]| sandbox.baton(&[&["send", "request.json", "--to", "finder"], options].concat());
    let wrong: [&[&str]; 22] = [
        &["--deadline", "soon"],
        &["--deadline", "-5m"],
        &["--deadline", "0"],
        &["--deadline", "2020-01-01T00:00:00Z"],
        &["--timeout", "0"],
        &["--timeout", "0.1ms"],
        &["--not-before", "2026-13-01T00:00:00Z"],
        &["--not-before", "2h", "--deadline", "1h"],
        &["--timeout", "5 minutes"],
        &["--retry-delay", ""],
        &["--retry-delay", "31d"],
        &["--max-retries", "1001"],
        &["--max-retries", "-1"],
        &["--backoff", "-2"],
        &["--backoff", "NaN"],
        &["--jitter", "1.5"],
        &["--priority", "urgent"],
        &["--id", "../x"],
        &["--run", "a/b"],
        &["--key", ""],
        &["--from", " "],
        &["--dialect", "morse"],
    ];
    for options in wrong {
        let run = send(options);
        assert_eq!(run.code, Some(2), "{options:?}\n{run}");
        assert!(run.stderr.starts_with("error: "), "{run}");
    }
    for nobody in ["", "@", "@ "] {
        assert_eq!(sandbox.baton(&["send", "--to", nobody, "request.json"]).code, Some(2), "{nobody:?}");
    }
    assert_eq!(sandbox.baton(&["send", "--key", "k", "request.json", "request.json"]).code, Some(2));
    let list = sandbox.baton(&["list"]);
    assert!(list.stdout.is_empty(), "{list}");
}

#[test]
fn claims_that_make_no_sense() {
    let sandbox = with_one_sent(&[]);
    let wrong: [&[&str]; 8] = [
        &["--lease", "0"],
        &["--lease", "25h"],
        &["--lease", "long"],
        &["--count", "0", "--json"],
        &["--count", "2"],
        &["--wait", "ages"],
        &["--dialect", "metadata-block"],
        &["--claimant", "a\nb"],
    ];
    for options in wrong {
        let run = sandbox.baton(&[&["claim", "--agent", "finder"], options].concat());
        assert_eq!(run.code, Some(2), "{options:?}\n{run}");
    }
    assert_eq!(sandbox.baton(&["claim"]).code, Some(2));
    assert_eq!(state(&sandbox), "pending");
}

#[test]
fn other_mistakes() {
    let sandbox = with_one_claimed(&[]);
    let fail = |options: &[&str]| {
        sandbox.baton(&[&["fail", "csv-07", "--fence", "1", "--message", "x"], options].concat()).code
    };
    assert_eq!(fail(&[]), Some(2));
    assert_eq!(fail(&["--code", "timeout"]), Some(2));
    assert_eq!(fail(&["--code", "TIMEOUT", "--permanent", "--transient"]), Some(2));
    assert_eq!(fail(&["--code", "TIMEOUT", "none.json"]), Some(2));
    assert_eq!(sandbox.baton(&["requeue"]).code, Some(2));
    assert_eq!(sandbox.baton(&["requeue", "--all"]).code, Some(2));
    assert_eq!(sandbox.baton(&["requeue", "csv-07", "--all", "--agent", "finder"]).code, Some(2));
    assert_eq!(sandbox.baton(&["queue", "limit", "finder", "0"]).code, Some(2));
    assert_eq!(sandbox.baton(&["queue", "limit", "finder", "few"]).code, Some(2));
    assert_eq!(sandbox.baton(&["queue", "stop", "finder"]).code, Some(2));
    assert_snapshot!(sandbox.baton(&["list", "--state", "complete"]).stderr.lines().next().unwrap_or_default(), @"error: invalid value 'complete' for '--state <STATE>': did you mean `completed`? known: pending, claimed, verifying, blocked, awaiting_person, completed, failed, cancelled");
    assert_eq!(sandbox.baton(&["wait", "csv-07", "--timeout", "soon"]).code, Some(2));
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_key_stands_for_one_request() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("other.json", with(REQUEST, "csv-07", "csv-08"));
    let send = |file: &str, options: &[&str]| {
        sandbox.baton(&[&["send", "--to", "finder", "--key", "k", file], options].concat())
    };
    assert_snapshot!(send("request.json", &["--deadline", "1h"]), @"
    csv-07.research
    --- exit 0
    ");
    assert_snapshot!(send("request.json", &["--deadline", "1h"]), @"
    csv-07.research
    --- stderr
    csv-07.research: sent before; it is pending
    --- exit 0
    ");
    assert_snapshot!(send("other.json", &["--deadline", "1h"]), @"
    --- stderr
    error: the key `k` belongs to another request: csv-07.research
    hint: a key stands for one request: use another key for another request
    --- exit 1
    ");
    assert_eq!(send("request.json", &["--deadline", "2h"]).code, Some(1));
    assert_eq!(send("request.json", &["--deadline", "1h", "--priority", "high"]).code, Some(1));
}

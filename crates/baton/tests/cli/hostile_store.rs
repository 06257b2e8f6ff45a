//! The program on a full disk and on a damaged store: it says what happened and where, and what was sent stays.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::documents::REQUEST;
use crate::queue_life::done;
use crate::sandbox::{BATON, Run, Sandbox};

#[test]
fn full_disk_is_named_and_what_was_sent_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let mut sent = BTreeSet::from(["first".to_owned()]);
    done(&sandbox, &send("first"));
    settle(&sandbox);
    // No file may grow by more than a few pages.
    let blocks = fs::metadata(sandbox.store()).expect("the store is there").len() / 512 + 24;
    let refused = (0..200).find_map(|number| {
        let id = format!("more-{number}");
        let run = with_file_size(&sandbox, blocks, &send(&id));
        match run.code {
            Some(0) => {
                sent.insert(id);
                None
            }
            _ => Some(run),
        }
    });
    let refused = refused.expect("the disk is full some time");
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("cannot be written") && refused.stderr.contains("baton.db"), "{refused}");
    assert!(refused.stderr.contains("hint: free space on the disk"), "{refused}");
    let listed = with_file_size(&sandbox, blocks, &["list", "--json", "--limit", "1000"]);
    assert_eq!(listed.code, Some(0), "what is there can be read on a full disk: {listed}");
    assert_eq!(ids(&listed), sent);

    done(&sandbox, &send("after"));
    sent.insert("after".to_owned());
    assert_eq!(ids(&sandbox.baton(&["list", "--json", "--limit", "1000"])), sent);
    assert_eq!(sandbox.baton(&["audit", "verify", "--all"]).code, Some(0));
}

#[test]
fn damaged_store_is_named_and_never_believed() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let sent: BTreeSet<String> = (0..8).map(|number| format!("task-{number}")).collect();
    for id in &sent {
        done(&sandbox, &send(id));
    }
    settle(&sandbox);
    let whole = fs::read(sandbox.store()).expect("the store is there");
    let mut complaints = 0;
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0x5a);
        fs::write(sandbox.store(), damaged).expect("it can be written");
        let listed = sandbox.baton(&["list", "--json"]);
        match listed.code {
            Some(0) => assert_eq!(ids(&listed), sent, "page {page}"),
            code => {
                assert_eq!(code, Some(2), "page {page}: {listed}");
                assert!(listed.stderr.contains("damaged") && listed.stderr.contains("baton.db"), "{listed}");
            }
        }
        // The doctor looks at the structure, the audit at what it holds; both are run when something seems wrong.
        let doctor = sandbox.baton(&["doctor"]);
        let audit = sandbox.baton(&["audit", "verify", "--all"]);
        assert!(
            !matches!((doctor.code, audit.code), (Some(0), Some(0))),
            "page {page} is not noticed:\n{doctor}\n{audit}"
        );
        assert!(doctor.code != Some(70) && audit.code != Some(70), "page {page}:\n{doctor}\n{audit}");
        complaints += usize::from(listed.code != Some(0));
    }
    assert!(complaints > 0, "no page was needed to list everything");
    fs::write(sandbox.store(), whole).expect("it can be written");
    assert_eq!(sandbox.baton(&["audit", "verify", "--all"]).code, Some(0), "put back from a copy, all is well");
}

/// Brings everything into the file itself: what still lies in the log would hide the damage.
fn settle(sandbox: &Sandbox) {
    let connection = rusqlite::Connection::open(sandbox.store()).expect("it opens");
    let brought = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    assert_eq!(brought.expect("it is ours"), 0, "somebody else has it");
}

fn send(id: &str) -> [&str; 6] {
    ["send", "--to", "finder", "--id", id, "request.json"]
}

/// Runs the program; none of its files may become larger than so many blocks of 512 bytes.
fn with_file_size(sandbox: &Sandbox, blocks: u64, arguments: &[&str]) -> Run {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let arguments = [&["-c", &script, BATON], arguments].concat();
    sandbox.program_with_input("sh", &arguments, b"").expect("there is a shell")
}

fn ids(listed: &Run) -> BTreeSet<String> {
    let value: Value = listed.json();
    let handoffs = value["handoffs"].as_array().unwrap_or_else(|| panic!("{listed}"));
    handoffs.iter().map(|handoff| handoff["id"].as_str().expect("an id").to_owned()).collect()
}

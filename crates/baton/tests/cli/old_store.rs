//! A store that an earlier program has written, and one in which a later program has written.

use rusqlite::Connection;

use crate::queue_life::done;
use crate::sandbox::Sandbox;

const STORE: &str = include_str!("../../../baton-store/tests/stored/store_of_version_1.sql");

/// A folder with the store that an earlier program left behind.
fn sandbox() -> (Sandbox, Connection) {
    let sandbox = Sandbox::new();
    let database = Connection::open(sandbox.path("old.db")).expect("a new file");
    database.execute_batch(STORE).expect("what was left behind is whole");
    (sandbox, database)
}

#[test]
fn store_of_an_earlier_program_is_proved_and_goes_on() {
    let (sandbox, _) = sandbox();
    let store = ["--store", "old.db"];
    let verify = || done(&sandbox, &[&["audit", "verify", "--all"], &store[..]].concat());
    let proved = verify();
    assert!(proved.stdout.contains("sound  t  81 events, 13 handoffs, head 20f3da0e"), "{proved}");
    assert!(proved.stderr.contains("journal intact: 6 runs"), "{proved}");
    // It was sent back with a question, and whoever takes it is told.
    let prompt =
        done(&sandbox, &[&["claim", "--agent", "finder", "--claimant", "w7", "--prompt"], &store[..]].concat());
    assert!(prompt.stdout.contains("Which line?"), "{prompt}");
    let report = "{\"baton\": 1, \"document\": \"report\", \"id\": \"q6\", \"outcome\": \"complete\", \
                  \"summary\": \"The parser of dates is in src/dates.rs, line 12.\"}";
    sandbox.write("report.json", report);
    done(&sandbox, &[&["report", "q6", "--fence", "2", "report.json"], &store[..]].concat());
    let proved = verify();
    assert!(proved.stdout.contains("sound  q6  6 events, 1 handoff"), "{proved}");
    assert!(proved.stderr.contains("journal intact: 6 runs"), "{proved}");
}

#[test]
fn what_a_newer_program_has_written_is_told_as_such() {
    let (sandbox, database) = sandbox();
    let newer = "UPDATE events SET detail = '{\"v\":2,' || substr(detail, 2) WHERE run = 't' AND seq = 5";
    assert_eq!(database.execute(newer, []), Ok(1));
    let shown = sandbox.baton(&["show", "t", "--store", "old.db"]);
    assert_ne!(shown.code, Some(0), "{shown}");
    assert!(shown.stderr.contains("it was written by a newer baton (version 2 "), "{shown}");
    let newer = "UPDATE handoffs SET body = '{\"v\":2,' || substr(body, 8) WHERE id = 'q1'";
    assert_eq!(database.execute(newer, []), Ok(1));
    let shown = sandbox.baton(&["show", "q1", "--store", "old.db"]);
    assert_eq!(shown.code, Some(2), "{shown}");
    assert!(shown.stderr.contains("the row of handoff `q1`: it was written by a newer baton"), "{shown}");
    assert!(shown.stderr.contains("hint: update baton"), "{shown}");
    assert!(!shown.stderr.contains("damaged"), "{shown}");
}

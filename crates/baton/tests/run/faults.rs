//! What goes wrong around a run: agents that take too long, and ids that belong to others.

use baton_engine::failure::Code;

use crate::site::{RUN, Site, find};

const SLOW: &str = "name: slow\nagents: {writer: {command: [./writer.py]}}\n\
    phases: [{id: write, agent: writer, timeout: LIMIT, on_failure: stop, retry: {max_retries: RETRIES, delay: 0s}}]\n";

fn slow(limit: &str, retries: &str) -> String {
    SLOW.replace("LIMIT", limit).replace("RETRIES", retries)
}

#[test]
fn agent_that_takes_too_long_is_asked_to_end_before_it_is_killed() {
    // On a busy machine it takes a moment until the agent listens.
    let body = "def tidy_up(*_):\n    write('tidied.txt', 'up')\n    sys.exit(1)\n\
        signal.signal(signal.SIGTERM, tidy_up)\nsignal.pause()";
    let site = Site::new().workflow(&slow("5s", "0")).agent("writer", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_eq!(site.read(site.scratch.path("workspace/tidied.txt")), "up");
    let failure = find(&site.told(), "write.1").handoff.last_failure.clone().expect("it has failed");
    assert_eq!(failure.code, Code::timeout());
}

#[test]
fn same_time_out_again_and_again_is_not_tried_again() {
    let site = Site::new().workflow(&slow("500ms", "5")).agent("writer", "signal.pause()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let kinds: Vec<String> = site.journal().into_iter().map(|event| event.kind).collect();
    assert!(!kinds.contains(&"expired".to_owned()), "the attempt itself notices: {kinds:?}");
    assert_eq!(find(&site.told(), "write.1").attempts, 3, "three of the same failure are enough");
}

#[test]
fn run_whose_phase_would_have_the_id_of_somebody_elses_handoff_does_not_start() {
    let flow = "name: taken\nagents: {writer: {command: [./writer.py]}}\nphases: [{id: write, agent: writer}]\n";
    let site = Site::new().workflow(flow).agent("writer", "report()");
    site.scratch.write(
        "shed.json",
        r#"{"baton": 1, "document": "request", "to": {"agent": "anybody"}, "intent": "Paint the shed."}"#,
    );
    let sent = site.baton(&["send", "--id", "t.write.1", "shed.json"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("the id `t` belongs to another request: t.write.1"), "{}", ended.stderr);
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(2), "it has not begun: {}", again.stderr);
}

#[test]
fn workflows_that_are_nested_too_deeply_and_a_workspace_whose_name_is_no_text_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new().workflow("name: w\nphases: [{id: inner, workflow: w1.yaml}]\n");
    for number in 1..10 {
        let text = format!("name: w{number}\nphases: [{{id: inner, workflow: w{}.yaml}}]\n", number + 1);
        site.scratch.write(format!("flow/w{number}.yaml"), text);
    }
    site.scratch.write("flow/w10.yaml", "name: w10\nphases: [{id: agree, gate: {items: [It is complete]}}]\n");
    let deep = site.run(&[]);
    assert_eq!(deep.code, Some(2), "{}", deep.stderr);
    assert!(deep.stderr.contains("more than 8 workflows inside each other"), "{}", deep.stderr);
    let site = site.workflow("name: w\nphases: [{id: agree, gate: {items: [It is complete]}}]\n");
    let folder = site.scratch.path("").join(std::ffi::OsStr::from_bytes(b"ws\xff"));
    let mut run = site.command(&["run", "flow", "--id", RUN, "--no-input", "--workspace"]);
    let refused = run.arg(&folder).output().expect("it runs");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("the path of the workspace is not UTF-8"), "{told}");
    assert!(!site.store().exists(), "nothing has begun");
}

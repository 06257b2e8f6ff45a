//! What goes wrong around a run: agents that take too long, and ids that belong to others.

use baton_engine::failure::Code;

use crate::site::{Site, find};

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

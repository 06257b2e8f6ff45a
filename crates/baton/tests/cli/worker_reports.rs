//! `baton worker`: what a command writes, and what becomes of its handoff.

use baton_engine::Fence;
use baton_engine::handoff::StateName;
use baton_engine::retry;
use serde_json::Value;

use crate::documents::{REPORT, report_with};
use crate::stocked::{LONG, Stocked};

fn stocked() -> Stocked {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    stocked
}

/// Runs one handoff without retries; returns the program's exit, the handoff's state and its failure.
fn once(stocked: &Stocked, script: &str) -> (Option<i32>, StateName, String) {
    let id = stocked.accept_with("csv-07", "csv-07", |terms| terms.retry = retry::Policy::NEVER);
    let mut worker = stocked.worker(&["--once"], script);
    let status = worker.wait(LONG).expect("it ends");
    let handoff = stocked.find(&id).expect("there");
    let failure = handoff.last_failure.map(|failure| failure.to_string()).unwrap_or_default();
    (status.code(), handoff.state.name(), failure)
}

#[test]
fn what_the_caller_has_open_is_not_handed_on() {
    let stocked = stocked();
    stocked.accept("csv-07");
    // A folder that is open is a way around every cage.
    let mut shell = stocked.sandbox.command("sh");
    let script = "exec 9</ && exec \"$0\" \"$@\"";
    shell.args(["-c", script, crate::sandbox::BATON, "worker", "--agent", "b", "--once", "--"]);
    shell.args(["sh", "-c", "if test -e /proc/self/fd/9; then exit 7; fi; cat report.json"]);
    let run = crate::sandbox::run(shell, b"");
    assert_eq!(run.code, Some(0), "{run}");
    let id = "csv-07".to_owned().try_into().expect("safe");
    let handoff = stocked.find(&id).expect("there");
    assert_eq!(handoff.state.name(), StateName::Completed, "{run} {:?}", handoff.last_failure);
}

#[test]
fn valid_report_completes_the_handoff() {
    let stocked = stocked();
    let script = "cat > prompt.txt; cp $BATON_REQUEST_FILE request.txt; env | grep ^BATON_ | sort > env.txt; echo working >&2; cat report.json";
    assert_eq!(once(&stocked, script), (Some(0), StateName::Completed, String::new()));
    assert_eq!(stocked.sandbox.read("request.txt"), crate::documents::REQUEST);
    assert!(stocked.sandbox.read("prompt.txt").contains("## Your report"));
    let env = stocked.sandbox.read("env.txt");
    let store = stocked.database().canonicalize().expect("there").display().to_string();
    for line in ["BATON_HANDOFF_ID=csv-07", "BATON_FENCE=1", "BATON_ATTEMPT=1", "BATON_AGENT=b", "BATON_NOTES=[]"] {
        assert!(env.lines().any(|told| told == line), "{line}:\n{env}");
    }
    assert!(env.contains("BATON_STORE=/") && env.contains(store.rsplit('/').next().expect("a name")), "{env}");
}

#[test]
fn garbage_is_a_failure_and_not_a_completion() {
    for script in ["echo all done", "true", "echo '{\"status\": \"complete\"}'", "head -c 5000 /dev/urandom"] {
        let (code, state, failure) = once(&stocked(), script);
        assert_eq!((code, state), (Some(1), StateName::Failed), "{script}");
        assert!(failure.starts_with("VALIDATION_FAILED: "), "{script}: {failure}");
    }
}

#[test]
fn command_that_reports_for_itself_is_believed() {
    let baton = crate::sandbox::BATON;
    // What `baton report` says about it is not a report.
    for aside in [">&2", ""] {
        let stocked = stocked();
        let script = format!("{baton} report $BATON_HANDOFF_ID --fence $BATON_FENCE report.json {aside}");
        assert_eq!(once(&stocked, &script), (Some(0), StateName::Completed, String::new()));
        let shown = stocked.sandbox.baton(&["show", "csv-07", "--events", "--json"]);
        assert!(!shown.stdout.contains("refused"), "{shown}");
    }
}

#[test]
fn command_that_fails_for_itself_is_a_failure_and_tells_its_own_reason() {
    let baton = crate::sandbox::BATON;
    let fail = "fail $BATON_HANDOFF_ID --fence $BATON_FENCE --code TIMEOUT --message 'the index is gone'";
    for aside in [">&2", ""] {
        let (code, state, failure) = once(&stocked(), &format!("{baton} {fail} {aside}"));
        assert_eq!((code, state, failure.as_str()), (Some(1), StateName::Failed, "TIMEOUT: the index is gone"));
    }
}

#[test]
fn report_about_another_task_is_a_failure() {
    let stocked = stocked();
    stocked.sandbox.write("report.json", report_with("csv-07", "csv-08"));
    let (_, state, failure) = once(&stocked, "cat report.json");
    assert_eq!(state, StateName::Failed);
    assert!(failure.contains("report-echo-mismatch"), "{failure}");
}

#[test]
fn exit_and_signal_are_failures_that_say_why() {
    let (code, state, failure) =
        once(&stocked(), "cat report.json; echo first >&2; echo the index is gone >&2; exit 3");
    assert_eq!((code, state), (Some(1), StateName::Failed));
    assert_eq!(failure, "PROCESSING_ERROR: the command ended with 3; it said last:\nfirst\nthe index is gone");
    let (_, _, failure) = once(&stocked(), "kill -SEGV $$");
    assert_eq!(failure, "PROCESSING_ERROR: the command was killed by signal 11 (SIGSEGV)");
}

#[test]
fn flood_of_output_is_bounded() {
    let (_, state, failure) = once(&stocked(), "cat report.json; exec yes");
    assert_eq!(state, StateName::Failed);
    assert_eq!(failure, "VALIDATION_FAILED: the command wrote more than 8 MiB to stdout");
}

#[test]
fn report_that_needs_a_person_waits_for_one() {
    let stocked = stocked();
    stocked.sandbox.write("report.json", report_with("\"PROCEED\"", "\"STOP\""));
    let (code, state, _) = once(&stocked, "cat report.json");
    assert_eq!((code, state), (Some(0), StateName::AwaitingPerson));
}

#[test]
fn unknown_command_ends_with_2_before_anything_is_claimed() {
    let stocked = stocked();
    let id = stocked.accept("csv-07");
    for (command, hint) in [("no-such-command", "name a program in PATH"), ("./report.json", "chmod +x")] {
        let run = stocked.sandbox.baton(&["worker", "--agent", "b", "--", command]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(hint), "{run}");
    }
    assert_eq!(stocked.find(&id).expect("there").fence, Fence(0));
}

#[test]
fn drained_worker_ends_and_tells_each_handoff_as_json() {
    let stocked = stocked();
    for number in 0..5 {
        stocked.accept_with(&format!("h{number}"), &format!("h{number}"), |_| {});
    }
    let mut worker = stocked
        .worker(&["--drain", "--concurrency", "2", "--json", "--log-dir", "logs"], "echo x >&2; cat report.json");
    let lines = worker.stdout.rest(LONG).expect("it ends");
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(0));
    let told: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.len(), 5);
    assert!(told.iter().all(|told| told["state"] == "completed" && told["failure"].is_null()), "{told:?}");
    assert_eq!(stocked.sandbox.read("logs/h3.1.log"), "x\n");
    let said = worker.stderr.take().expect("a pipe").rest(LONG).expect("it ends");
    assert_eq!(said.iter().filter(|line| line.starts_with("claimed ")).count(), 5, "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("completed ")).count(), 5, "{said:?}");
}

#[test]
fn process_that_leaves_its_group_does_not_hold_the_report() {
    let stocked = stocked();
    let (code, state, _) = once(
        &stocked,
        "cat report.json; setsid sh -c 'echo $$ > left.pid; exec sleep 600' & \n while ! test -s left.pid; do :; done",
    );
    let left = stocked.sandbox.read("left.pid");
    baton_testbed::kill(&left);
    assert_eq!((code, state), (Some(0), StateName::Completed));
}

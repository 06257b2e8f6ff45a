//! Agents that lie or fall silent: each is caught, named and tried again with the reasons, and then a person is asked.

use baton_engine::Fence;
use baton_engine::State;

use crate::site::{Ended, RUN, Site, find};

/// One agent in one phase, which may try twice.
fn flow(phase: &str) -> String {
    format!(
        "name: liars\nagents: {{dev: {{command: [./dev.py], retry: {{max_retries: 1, delay: 0s}}}}}}\n\
         phases: [{{id: build, agent: dev{phase}}}]\nlimits: {{same_failure: 9}}\n"
    )
}

/// Lets the agent lie, and looks whether it is caught.
#[track_caller]
fn assert_caught(site: &Site, words: &[&str]) -> Ended {
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "a person is asked\n{}", ended.stderr);
    let run = site.told();
    let build = find(&run, "build.1");
    assert!(matches!(build.handoff.state, State::Failed { .. }), "{:?}", build.handoff.state);
    assert_eq!(build.attempts, 2, "it was tried again, once");
    let failure = build.handoff.last_failure.as_ref().expect("it failed").to_string();
    let shown = site.baton(&["show", &format!("{RUN}.build.1")]).stdout;
    let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
    for word in words {
        assert!(failure.contains(word), "`{word}` is not in the failure: {failure}");
        assert!(shown.contains(word), "`{word}` is not shown: {shown}");
        assert!(prompt.contains(word), "`{word}` is not in the second prompt: {prompt}");
    }
    assert!(matches!(find(&run, "build.failure.1").handoff.state, State::AwaitingPerson { .. }));
    let inbox = site.baton(&["inbox"]);
    assert!(inbox.stdout.contains("build.failure.1"), "{inbox:?}");
    ended
}

fn liar(body: &str) -> Site {
    Site::new().workflow(&flow("")).agent("dev", body)
}

#[test]
fn file_that_was_not_written() {
    assert_caught(&liar("report(artifacts=['parser.py'])"), &["artifact-missing", "parser.py"]);
}

#[test]
fn file_that_is_empty() {
    assert_caught(&liar("write('parser.py', '')\nreport(artifacts=['parser.py'])"), &["artifact-empty", "parser.py"]);
}

#[test]
fn file_outside_of_the_workspace() {
    let body = "write('../stolen.txt', 'x')\nreport(artifacts=['../stolen.txt'])";
    assert_caught(&liar(body), &["artifact-outside-workspace", "stolen.txt"]);
}

#[test]
fn file_outside_of_the_workspace_behind_a_link() {
    let body = "write('../stolen.txt', 'x')\nif not os.path.islink('inside.txt'): os.symlink('../stolen.txt', 'inside.txt')\n\
                report(artifacts=['inside.txt'])";
    assert_caught(&liar(body), &["artifact-outside-workspace", "inside.txt"]);
}

#[test]
fn tests_that_do_not_pass() {
    let phase = ", verify: [{name: tests, run: 'echo three of nine failed; exit 1'}]";
    let site = Site::new().workflow(&flow(phase)).agent("dev", "report(verification={'tests': 'passed'})");
    assert_caught(&site, &["tests", "three of nine failed"]);
}

#[test]
fn skill_that_was_not_used() {
    let site = Site::new()
        .workflow(&flow(", mandatory_skills: [writing-tests]"))
        .agent("dev", "report(skills_invoked=['reading'])");
    assert_caught(&site, &["skill-missing", "writing-tests"]);
}

#[test]
fn file_that_was_not_changed() {
    let site = Site::with_git().workflow(&flow("")).agent("dev", "report(files_modified=['old.txt'])");
    assert_caught(&site, &["file-not-modified", "old.txt"]);
}

#[test]
fn change_that_was_not_told() {
    let body = "write('old.txt', str(time.time_ns()))\nwrite('new.txt', 'x')\nreport(files_modified=['new.txt'])";
    let site = Site::with_git().workflow(&flow("")).agent("dev", body);
    assert_caught(&site, &["modified-not-declared", "old.txt"]);
}

#[test]
fn change_outside_of_what_it_may_write() {
    let body = "os.makedirs('src', exist_ok=True)\nwrite('src/a.py', str(time.time_ns()))\n\
                write('old.txt', str(time.time_ns()))\nreport(files_modified=['src/a.py', 'old.txt'])";
    let site = Site::with_git().workflow(&(flow(", writes: ['src/**']") + "sandbox: off\n")).agent("dev", body);
    assert_caught(&site, &["old.txt", "src/**"]);
}

#[test]
fn end_without_a_report() {
    assert_caught(&liar("sys.exit(0)"), &["VALIDATION_FAILED", "ended without a report"]);
}

#[test]
fn exit_code() {
    assert_caught(&liar("print('no network', file=sys.stderr)\nsys.exit(3)"), &["PROCESSING_ERROR", "3", "no network"]);
}

#[test]
fn death_by_a_signal() {
    assert_caught(&liar("report()\nos.kill(os.getpid(), signal.SIGSEGV)"), &["PROCESSING_ERROR", "SIGSEGV"]);
}

#[test]
fn report_that_cannot_be_read() {
    let garbage = "write(os.environ['BATON_REPORT_FILE'], '{\"baton\": 1, \"document\": \"report\", \"outcome\": ')";
    assert_caught(&liar(garbage), &["unreadable"]);
}

#[test]
fn prose_is_no_report() {
    assert_caught(&liar("print('All done, all tests are green!')"), &["no handoff block found in stdout"]);
}

#[test]
fn status_that_nobody_knows() {
    assert_caught(&liar("report(outcome='mostly done')"), &["unknown-status", "mostly done"]);
}

#[test]
fn binary_output() {
    assert_caught(&liar("sys.stdout.buffer.write(bytes(range(256)) * 64)"), &["VALIDATION_FAILED", "not text"]);
}

#[test]
fn report_of_another_handoff() {
    assert_caught(&liar("report(id='t.deploy.1')"), &["report-echo-mismatch", "t.deploy.1"]);
}

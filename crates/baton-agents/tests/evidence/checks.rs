//! Commands that must pass, and what reports say about them.

use std::fs;
use std::time::Duration;

use baton_engine::evidence::Evidence;
use baton_protocol::model::findings::{Checks, TestCheck, Validate};
use baton_protocol::model::request::Expectations;
use baton_protocol::model::terms::Outcome;
use baton_protocol::model::{PhaseFindings, Report, Request};
use baton_testbed::ChildLines;
use serde_json::{Value, json};

use crate::stage::{Stage, check, owned, refuted, shown};

fn verification(members: Value) -> Report {
    Report { verification: members.as_object().unwrap().clone(), ..Report::default() }
}

#[tokio::test]
async fn what_must_pass_is_run_and_compared() {
    let mut stage = Stage::plain();
    stage.scene.checks = vec![check("tests", "echo 1 of 3 failed; exit 1"), check("build", "true")];
    let report =
        verification(json!({ "tests_passed": true, "build_success": true, "tool_called": true, "coverage": 80 }));
    insta::assert_snapshot!(shown(&stage.examine(&report).await), @"
    Refuted claim-refuted: the check `tests` failed, exit code 1; it wrote: 1 of 3 failed
    Verified claim-refuted: the check `build` passed, exit code 0
    Refuted claim-refuted: claims `verification.tests_passed: true`, but `tests` failed: exit code 1; it wrote: 1 of 3 failed
    Verified claim-refuted: claims `verification.build_success: true`, and Baton saw it pass
    Unverifiable claim-refuted: claims `verification.tool_called: true`, but Baton has no check for it
    ");
    let honest = verification(json!({ "tests_passed": false, "build": "failed" }));
    insta::assert_snapshot!(shown(&stage.examine(&honest).await), @"
    Refuted claim-refuted: the check `tests` failed, exit code 1; it wrote: 1 of 3 failed
    Verified claim-refuted: the check `build` passed, exit code 0
    Verified claim-refuted: claims `verification.tests_passed: false`, and `tests` failed: exit code 1
    Unverifiable claim-refuted: claims `verification.build: false`, but it passes when Baton runs it
    ");
    assert_eq!(refuted(&stage.examine(&Report::default()).await), ["claim-refuted"]);
}

#[tokio::test]
async fn validation_is_compared_as_well() {
    let mut stage = Stage::plain();
    stage.scene.checks = vec![check("unit-tests", "false"), check("lint", "true")];
    let tests = TestCheck { passed: Some(true), ..TestCheck::default() };
    let checks = Checks { tests: Some(tests), ..Checks::default() };
    let validate = Validate { checks: Some(checks), overall_passed: Some(true), ..Validate::default() };
    let report = Report { findings: Some(PhaseFindings::Validate(validate)), ..Report::default() };
    insta::assert_snapshot!(shown(&stage.examine(&report).await), @"
    Refuted claim-refuted: the check `unit-tests` failed, exit code 1
    Verified claim-refuted: the check `lint` passed, exit code 0
    Refuted claim-refuted: claims `findings.checks.tests.passed: true`, but `unit-tests` failed: exit code 1
    Refuted claim-refuted: claims `findings.overall_passed: true`, but `unit-tests` failed: exit code 1
    ");
}

#[tokio::test]
async fn unfinished_work_need_not_pass() {
    let mut stage = Stage::plain();
    stage.scene.checks = vec![check("tests", "touch ran; false")];
    stage.scene.mandatory_skills = owned(&["planning"]);
    let blocked = Report { outcome: Some(Outcome::Blocked), ..Report::default() };
    assert_eq!(shown(&stage.examine(&blocked).await), "");
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn criteria_with_a_command_are_run_once() {
    let mut stage = Stage::plain();
    stage.scene.checks = vec![check("count", "echo x >> runs")];
    let criteria =
        ["Counted: `echo x >> runs`", "`test -s docs/plan.md` passes", "`false` exits with 0", "Plan in `docs`"];
    let expectations = Expectations { success_criteria: owned(&criteria), ..Expectations::default() };
    stage.scene.request = Some(Request { expectations: Some(expectations), ..Request::default() });
    insta::assert_snapshot!(shown(&stage.examine(&Report::default()).await), @"
    Verified claim-refuted: the check `count` passed, exit code 0
    Verified claim-refuted: the criterion “Counted: `echo x >> runs`” holds, exit code 0
    Verified claim-refuted: the criterion “`test -s docs/plan.md` passes” holds, exit code 0
    Refuted claim-refuted: the criterion “`false` exits with 0” does not hold, exit code 1
    Unverifiable modified-not-declared: `runs` was created while the checks ran, which no report names
    ");
    assert_eq!(fs::read_to_string(stage.path("runs")).unwrap(), "x\n");
}

#[tokio::test]
async fn commands_see_only_what_they_are_given() {
    let mut stage = Stage::plain();
    stage.scene.variables = vec![("BATON_PHASE".to_owned(), "quality".to_owned())];
    let outcome =
        stage.eyes.run(&stage.scene, &check("env", "env | grep -v '^_=\\|^PWD=\\|^SHLVL=\\|^PATH=\\|^OLDPWD='")).await;
    assert_eq!((outcome.passed, outcome.tail.as_str()), (true, "BATON_PHASE=quality"));
    assert_eq!(fs::read_to_string(stage.scene.folder.join("verify-env.log")).unwrap().trim(), "BATON_PHASE=quality");
}

#[tokio::test]
async fn programs_are_found_beside_the_workflow() {
    let stage = Stage::plain();
    let script = stage.scene.workflow_folder.join("it's.sh");
    stage.scratch.write(&script, "#!/bin/sh\npwd; exit $1\n");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut program = check("program", "");
    program.words = owned(&["./it's.sh", "0"]);
    let outcome = stage.eyes.run(&stage.scene, &program).await;
    assert_eq!((outcome.passed, outcome.tail.as_str()), (true, stage.scene.workspace.to_str().unwrap()));
    let outcome = stage.eyes.run(&stage.scene, &check("shell", r"./it\'s.sh 7")).await;
    assert_eq!((outcome.passed, outcome.ended.as_str()), (false, "exit code 7"));
}

/// Three that stay: in the group, in a session of its own, and twice forked with other variables. Each holds the pipe.
const STAYING: &str = "exec 9> alive; sleep 600 & setsid sleep 600 & (env -i PATH=$PATH setsid sleep 600 &); ";

#[tokio::test]
async fn time_out_kills_everything_that_was_started() {
    let stage = Stage::plain();
    let alive = alive(&stage);
    let mut check = check("slow", &format!("{STAYING}echo started; wait"));
    check.timeout = Duration::from_millis(300);
    let outcome = stage.eyes.run(&stage.scene, &check).await;
    assert_eq!((outcome.ended.as_str(), outcome.tail.as_str()), ("killed after 0.3 seconds", "started"));
    assert_eq!(alive.join().expect("the pipe can be read").rest(LONG), Ok(Vec::new()), "everybody is dead");
}

#[tokio::test]
async fn children_left_behind_end_with_the_command() {
    let stage = Stage::plain();
    let alive = alive(&stage);
    let outcome = stage.eyes.run(&stage.scene, &check("leaves", &format!("{STAYING}echo done"))).await;
    assert_eq!((outcome.passed, outcome.tail.as_str()), (true, "done"));
    assert_eq!(alive.join().expect("the pipe can be read").rest(LONG), Ok(Vec::new()), "everybody is dead");
}

/// Nothing here takes nearly as long.
const LONG: Duration = Duration::from_secs(60);

/// Makes a pipe in the workspace, and reads it: it has an end when the last process that holds it has ended.
fn alive(stage: &Stage) -> std::thread::JoinHandle<ChildLines> {
    let path = stage.path("alive");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    std::thread::spawn(move || ChildLines::of(fs::File::open(path).unwrap()))
}

#[tokio::test]
async fn flood_and_binary_are_bounded() {
    let stage = Stage::plain();
    let line = "head -c 80000000 /dev/zero; head -c 100 /dev/urandom; printf '\\nthe end'; exit 3";
    let outcome = stage.eyes.run(&stage.scene, &check("flood", line)).await;
    assert!(outcome.ended == "exit code 3" && outcome.tail.ends_with("the end") && outcome.tail.len() < 10_000);
    assert!(fs::metadata(stage.scene.folder.join("verify-flood.log")).unwrap().len() < (64 << 20) + 100);
}

#[tokio::test]
async fn what_cannot_be_started_fails() {
    let stage = Stage::plain();
    for words in [&[][..], &[""], &["no-such-program-anywhere"], &["./missing.sh"]] {
        let mut check = check("../odd name", "");
        check.words = owned(words);
        let outcome = stage.eyes.run(&stage.scene, &check).await;
        assert!(!outcome.passed && !outcome.ended.is_empty(), "{words:?}");
    }
}

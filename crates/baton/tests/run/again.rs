//! Runs that failed, were stopped or wait: they begin again from a phase, or stay until somebody decides elsewhere.

use std::fs;

use baton_engine::State;
use serde_json::{Value, json};

use crate::site::{BATON, LONG, RUN, Site, end, find, listen};

const FLOW: &str = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: build, agent: dev, on_failure: stop}
  - {id: review, agent: dev}
";

/// Fails in the phase `build` until a person has put the tool there that it needs.
const NEEDS_A_TOOL: &str = r#"
with open("calls", "a") as calls:
    calls.write(os.environ["BATON_HANDOFF_ID"] + "\n")
if ".build." in os.environ["BATON_HANDOFF_ID"] and not os.path.exists("tool"):
    sys.exit("cannot find the tool")
report()
"#;

fn failed() -> Site {
    let site = Site::new().workflow(FLOW).agent("dev", NEEDS_A_TOOL);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    site
}

fn calls(site: &Site) -> String {
    site.scratch.read("workspace/calls").replace(&format!("{RUN}."), "").lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn failed_run_does_the_phase_again_where_it_ended() {
    let site = failed();
    site.scratch.write("workspace/tool", "");
    let ended = site.baton(&["retry", "last", "--no-input", "--note", "the tool is there now"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("t starts again from build"), "{}", ended.stderr);
    assert_eq!(calls(&site), "design.1 build.1 build.2 review.1", "what was done stays done");
    let prompt = site.read(site.attempt("build.2", baton_engine::Fence(1)).join("prompt.md"));
    assert!(prompt.contains("cannot find the tool") && prompt.contains("the tool is there now"), "{prompt}");
    let log = site.baton(&["log", RUN]).stdout;
    assert!(log.contains("starts again from build, ") && log.contains("the tool is there now"), "{log}");
    assert_eq!(site.baton(&["audit", "verify", RUN]).code, Some(0));
}

#[test]
fn phase_and_whatever_comes_after_it_are_done_again() {
    let site = failed();
    site.scratch.write("workspace/tool", "");
    let ended = site.resume(&["--from", "design"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(calls(&site), "design.1 build.1 design.2 build.2 review.1");
}

#[test]
fn run_whose_driver_was_killed_goes_back_at_once() {
    let hangs = format!("{NEEDS_A_TOOL}\nif '.review.1' in os.environ['BATON_HANDOFF_ID']:\n    signal.pause()");
    let site = Site::new().workflow(FLOW).agent("dev", &hangs);
    site.scratch.write("workspace/tool", "");
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--json"]);
    driver.close_input();
    driver.stdout.find("t.review.1", LONG).expect("the review begins");
    driver.kill();
    let ended = site.resume(&["--from", "build"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(calls(&site).ends_with("build.2 review.2"), "{}", calls(&site));
}

#[test]
fn run_that_was_cancelled_begins_again() {
    let site = Site::new()
        .workflow(&format!("{FLOW}  - {{id: ship, gate: {{items: [the release]}}}}\n"))
        .agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    assert_eq!(site.baton(&["cancel", RUN]).code, Some(0));
    let ended = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(matches!(find(&site.told(), "ship.2").handoff.state, State::AwaitingPerson { .. }));
    // What waited before does not any more.
    let inbox = site.baton(&["inbox"]).stdout;
    assert!(inbox.contains("t.ship.2") && !inbox.contains("t.ship.1"), "{inbox}");
}

#[test]
fn what_a_person_has_in_hand_is_not_done_again_by_itself() {
    let flow = "name: again\nagents: {dev: {command: [./dev.py]}}\nphases:\n  - {id: build, agent: dev}\n  - {id: sign-off, gate: {items: [it]}, on_failure: build}\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    let retry = || site.baton(&["retry", RUN, "--no-input"]);
    let before = site.journal();
    let waiting = retry();
    assert_eq!(waiting.code, Some(1), "{}", waiting.stderr);
    assert!(waiting.stderr.contains("nothing has failed: `sign-off` waits for a person"), "{}", waiting.stderr);
    assert_eq!(site.journal(), before, "it still waits");
    decided(&site, &["reject", "--note", "too large"]);
    let before = site.journal();
    let rejected = retry();
    assert_eq!(rejected.code, Some(1), "{}", rejected.stderr);
    assert_eq!(site.journal(), before, "the rejection still counts");
    assert_eq!(site.resume(&[]).code, Some(3));
    let shown = digest(&site, "t.sign-off.2");
    assert_eq!(site.baton(&["approve", "t.sign-off.2", "--yes", "--shown", &shown]).code, Some(0));
    let before = site.journal();
    let approved = retry();
    assert_eq!(approved.code, Some(1), "{}", approved.stderr);
    assert!(approved.stderr.contains("baton resume t continues it"), "{}", approved.stderr);
    assert_eq!(site.journal(), before, "the approval still counts");
    assert_eq!(site.resume(&[]).code, Some(0));
}

#[test]
fn run_whose_workspace_belongs_to_another_one_stays_as_it_was() {
    let site = Site::new().workflow(FLOW);
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let body = format!(
        "if os.environ['BATON_RUN'] == 'other':\n    write({begun:?}, 'begun\\n')\n    open({go_on:?}).read()\n{NEEDS_A_TOOL}"
    );
    let site = site.agent("dev", &body);
    assert_eq!(site.run(&[]).code, Some(1), "there is no tool");
    let mut other = site.start(&["run", "flow", "--workspace", "workspace", "--id", "other", "--no-input"]);
    other.close_input();
    listen(&begun).find("begun", LONG).expect("the other run has the workspace");
    let before = site.journal();
    let refused = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(refused.code, Some(75), "{}", refused.stderr);
    assert_eq!(site.journal(), before, "nothing was called off");
    other.kill();
    end(&mut other);
    site.scratch.write("workspace/tool", "");
    assert_eq!(site.baton(&["retry", RUN, "--no-input"]).code, Some(0));
}

#[test]
fn run_that_is_done_and_phases_that_do_not_exist_are_refused() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(0));
    let before = site.journal();
    let done = site.baton(&["retry", RUN]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("t is completed") && done.stderr.contains("baton run"), "{}", done.stderr);
    let unknown = site.resume(&["--from", "buidl"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean `build`?"), "{}", unknown.stderr);
    assert_eq!(site.journal(), before, "nothing has changed");
}

const GATED: &str = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: sign-off, gate: {items: [the design]}, on_failure: stop}
  - {id: build, agent: dev, on_failure: stop}
";

/// Writes a design, and fails in the phase `build`.
const DESIGNS: &str = r#"
if ".build." in os.environ["BATON_HANDOFF_ID"]:
    sys.exit("cannot find the tool")
write("design.md", "as small as can be")
report(artifacts=["design.md"])
"#;

fn decided(site: &Site, verb: &[&str]) {
    let shown = digest(site, "t.sign-off.1");
    let words = [verb, &["t.sign-off.1", "--yes", "--shown", &shown]].concat();
    let decided = site.baton(&words);
    assert_eq!(decided.code, Some(0), "{}", decided.stderr);
}

#[test]
fn nobody_gets_past_a_gate_by_beginning_behind_it() {
    let site = Site::new().workflow(GATED).agent("dev", DESIGNS);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    for from in ["before", "after"] {
        let before = site.journal();
        let refused = site.resume(&["--from", "build"]);
        assert_eq!(refused.code, Some(1), "{from} the rejection: {}", refused.stderr);
        assert!(refused.stderr.contains("has not reached `build` yet; it is at `sign-off`"), "{}", refused.stderr);
        assert_eq!(site.journal(), before, "nothing has changed");
        if from == "before" {
            decided(&site, &["reject", "--feedback", "too small"]);
            assert_eq!(site.resume(&[]).code, Some(1), "it is stopped");
        }
    }
    let asked = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(asked.code, Some(3), "the gate itself is asked again: {}", asked.stderr);
}

/// Fails in `ship`, and in `fix` after it has patched what was approved.
const PATCHES: &str = r#"
me = os.environ["BATON_HANDOFF_ID"]
if ".fix." in me:
    write("patch", "nobody has seen this")
if ".ship." in me or ".fix." in me:
    sys.exit("cannot find the tool")
report()
"#;

#[test]
fn run_goes_back_with_other_inputs() {
    let flow = "name: again
inputs: {target: {required: true}, speed: {default: slow}}
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev, task: 'For {{ inputs.target }}, {{ inputs.speed }}.'}
  - {id: build, agent: dev, task: 'For {{ inputs.target }}, {{ inputs.speed }}.', on_failure: stop}
";
    let site = Site::new().workflow(flow).agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&["--input", "target=test"]).code, Some(1));
    let before = site.journal();
    for (wrong, why) in [("taget=x", "no input `taget`"), ("target", "NAME=VALUE")] {
        let refused = site.resume(&["--from", "build", "--input", wrong]);
        assert_eq!(refused.code, Some(2), "{wrong}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        assert_eq!(site.journal(), before, "nothing has changed");
    }
    site.scratch.write("workspace/tool", "");
    let ended = site.resume(&["--from", "build", "--input", "target=staging"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let prompt = site.read(site.attempt("build.2", baton_engine::Fence(1)).join("prompt.md"));
    assert!(prompt.contains("For staging, slow."), "{prompt}");
    let log = site.baton(&["log", RUN]).stdout;
    assert!(log.contains("starts again from build with target=staging"), "{log}");
    let shown: Value = serde_json::from_str(&site.baton(&["show", RUN, "--json"]).stdout).unwrap();
    assert_eq!(shown["inputs"], json!({ "target": "staging", "speed": "slow" }));
    assert_eq!(site.baton(&["audit", "verify", RUN]).code, Some(0));
}

#[test]
fn approval_counts_only_for_the_inputs_that_a_person_saw() {
    let flow = "name: again
inputs: {target: {required: true}}
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: sign-off, gate: {items: [the build]}}
  - {id: build, agent: dev, on_failure: stop}
";
    let site = Site::new().workflow(flow).agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&["--input", "target=test"]).code, Some(3));
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
    let before = site.journal();
    let refused = site.resume(&["--from", "build", "--input", "target=production"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("comes after `sign-off`, where a person decides"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--from sign-off"), "{}", refused.stderr);
    assert_eq!(site.journal(), before, "nothing has changed");
    let asked = site.resume(&["--from", "sign-off", "--input", "target=production"]);
    assert_eq!(asked.code, Some(3), "a person is asked again: {}", asked.stderr);
    let shown = site.baton(&["show", "t.sign-off.2"]).stdout;
    assert!(shown.contains("inputs    target: production"), "{shown}");
}

#[test]
fn approval_does_not_cover_what_was_done_on_the_way_back_to_the_gate() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: sign-off, gate: {items: [the build]}}
  - {id: ship, agent: dev, on_failure: fix, next: end}
  - {id: fix, agent: dev, on_failure: stop, next: sign-off}
";
    let site = Site::new().workflow(flow).agent("dev", PATCHES);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the fix fails");
    let before = site.journal();
    let refused = site.resume(&["--from", "ship"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let told = "`sign-off` comes before `ship` and has not approved what the run has done since";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
    assert_eq!(site.journal(), before, "nothing has changed");
    let asked = site.resume(&["--from", "sign-off"]);
    assert_eq!(asked.code, Some(3), "the gate itself is asked again: {}", asked.stderr);
}

#[test]
fn gate_that_was_left_out_the_first_time_guards_what_follows_it() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: sign-off, when: \"phases.build.visits > 1\", gate: {items: [the build]}, on_failure: stop}
  - {id: ship, agent: dev, on_failure: build}
";
    let site = Site::new().workflow(flow).agent("dev", PATCHES);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "the second build must be approved: {}", asked.stderr);
    assert_eq!(find(&site.told(), "sign-off.1").step.visit, 1);
    for from in ["before", "after"] {
        let refused = site.resume(&["--from", "ship"]);
        assert_eq!(refused.code, Some(1), "{from} the rejection: {}", refused.stderr);
        assert!(refused.stderr.contains("`sign-off` comes before `ship`"), "{}", refused.stderr);
        if from == "before" {
            decided(&site, &["reject", "--feedback", "too small"]);
            assert_eq!(site.resume(&[]).code, Some(1), "it is stopped");
        }
    }
    assert_eq!(site.resume(&["--from", "build"]).code, Some(3), "what comes before the gate is free");
}

#[test]
fn failed_phase_does_not_lead_around_a_gate_that_its_report_would_have_led_to() {
    let agents = "name: again\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n";
    let left_out = "phases:
  - {id: fix, agent: dev, on_failure: stop}
  - {id: sign-off, when: phases.fix.passed, gate: {items: [the build]}}
  - {id: release, agent: dev}
";
    let routed = "routes: [{agent: dev, status: complete, phase: sign-off}]
phases:
  - {id: fix, agent: dev, on_failure: stop}
  - {id: release, agent: dev, next: end}
  - {id: sign-off, gate: {items: [the build]}, next: release}
";
    for flow in [left_out, routed] {
        let site = Site::new().workflow(&format!("{agents}{flow}")).agent("dev", PATCHES);
        assert_eq!(site.run(&[]).code, Some(1), "the fix fails");
        let refused = site.resume(&["--from", "release"]);
        assert_eq!(refused.code, Some(1), "{flow}: {}", refused.stderr);
        assert!(refused.stderr.contains("has not reached `release` yet; it is at `fix`"), "{}", refused.stderr);
    }
}

#[test]
fn phase_whose_report_was_not_found_good_is_not_skipped() {
    let agents = "name: again\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n";
    let unsure = ("{id: build, agent: dev}", "report(outcome='partial')", 3);
    let rejects = ("{id: build, agent: dev, kind: review, on_failure: stop}", "report(verdict='CHANGES_REQUESTED')", 1);
    let red = ("{id: build, check: 'exit 1', on_failure: stop}", "report()", 1);
    for (phase, body, code) in [unsure, rejects, red] {
        let flow = format!("{agents}phases:\n  - {phase}\n  - {{id: release, check: 'true'}}\n");
        let site = Site::new().workflow(&flow).agent("dev", body);
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(code), "{phase}: {}", ended.stderr);
        for again in ["as it ended", "after it was cancelled"] {
            let refused = site.resume(&["--from", "release"]);
            assert_eq!(refused.code, Some(1), "{phase} {again}: {}", refused.stderr);
            assert!(refused.stderr.contains("has not reached `release` yet; it is at `build`"), "{}", refused.stderr);
            site.baton(&["cancel", RUN]);
        }
    }
}

#[test]
fn phase_that_says_no_the_second_time_is_not_skipped() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: look, agent: dev, kind: review, on_failure: stop}
  - {id: ship, agent: dev, on_failure: build}
";
    let body = r#"
me = os.environ["BATON_HANDOFF_ID"]
if ".ship." in me:
    sys.exit("cannot find the tool")
report(verdict="CHANGES_REQUESTED" if ".look.2" in me else "APPROVED" if ".look." in me else None)
"#;
    let site = Site::new().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "the second look says no: {}", ended.stderr);
    let refused = site.resume(&["--from", "ship"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("`look` comes before `ship`"), "{}", refused.stderr);
    assert_eq!(site.resume(&["--from", "look"]).code, Some(3), "it can be looked at again, and visits are limited");
}

#[test]
fn what_was_approved_and_has_changed_since_must_be_approved_again() {
    let site = Site::new().workflow(GATED).agent("dev", DESIGNS);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
    site.scratch.write("workspace/design.md", "as large as can be");
    let refused = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("but `design.md` has changed since it was shown"), "{}", refused.stderr);
    assert!(refused.stderr.contains("baton resume t --from sign-off"), "{}", refused.stderr);
    site.scratch.write("workspace/design.md", "as small as can be");
    assert_eq!(site.baton(&["retry", RUN, "--no-input"]).code, Some(1), "the build fails again");
    assert_eq!(find(&site.told(), "build.2").step.visit, 2, "but it was begun");
}

#[test]
fn what_was_approved_is_compared_two_phases_later_unless_somebody_in_between_may_change_it() {
    let gated = |writes: &str| {
        let check =
            format!("  - {{id: tidy, check: 'true'{writes}}}\n  - {{id: build, agent: dev, on_failure: stop}}\n");
        let flow = GATED.replace("  - {id: build, agent: dev, on_failure: stop}\n", &check);
        let site = Site::new().workflow(&flow).agent("dev", DESIGNS);
        assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
        decided(&site, &["approve"]);
        assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
        site.scratch.write("workspace/design.md", "as large as can be");
        site.baton(&["retry", RUN, "--no-input"]).stderr
    };
    for nobody in [", writes: []", ", writes: ['src/**']"] {
        let refused = gated(nobody);
        assert!(refused.contains("but `design.md` has changed since it was shown"), "{nobody}: {refused}");
        assert!(refused.contains("baton resume t --from sign-off"), "{refused}");
    }
    for may in ["", ", writes: ['*.md']"] {
        let begun = gated(may);
        assert!(begun.contains("t starts again from build"), "{may}: {begun}");
    }
}

#[test]
fn rejection_is_no_answer_to_how_a_run_goes_on() {
    let flow = FLOW.replace("on_failure: stop", "on_failure: gate");
    let site = Site::new().workflow(&flow).agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    let question = "t.build.failure.1";
    let shown = digest(&site, question);
    let refused = site.baton(&["reject", question, "--feedback", "use another tool", "--yes", "--shown", &shown]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--choice WORD`: retry, continue, stop"), "{}", refused.stderr);
}

#[test]
fn agent_does_not_let_a_run_begin_again() {
    let tries = format!(
        "write('said', subprocess.run([{BATON:?}, 'retry', 't'], capture_output=True, text=True).stderr)\nreport()"
    );
    let site = Site::new()
        .workflow("name: w\nsandbox: off\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: a, agent: dev}]\n");
    let site = site.agent("dev", &tries);
    assert_eq!(site.run(&[]).code, Some(0));
    let said = site.scratch.read("workspace/said");
    assert!(said.contains("an agent cannot decide"), "{said}");
}

#[test]
fn run_that_waits_goes_on_when_somebody_has_decided_elsewhere() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: ship, gate: {items: [the release]}}, {id: a, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--wait"]);
    driver.close_input();
    let told = driver.stderr.as_ref().expect("a pipe").find("baton approve", LONG).expect("it says how to decide");
    assert!(told.contains("t.ship.1"), "{told}");
    let decided = site.baton(&["approve", "t.ship.1", "--yes", "--shown", &digest(&site, "t.ship.1")]);
    assert_eq!(decided.code, Some(0), "{}", decided.stderr);
    assert!(decided.stderr.contains("t continues, driven by"), "{}", decided.stderr);
    assert_eq!(end(&mut driver).code, Some(0));
}

#[test]
fn changed_workflow_is_noticed_and_the_run_goes_on_with_what_it_began_with() {
    let site = failed();
    site.scratch.write("workspace/tool", "");
    site.scratch.write("flow/workflow.yaml", FLOW.replace("review", "audit"));
    let ended = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("workflow.yaml has changed"), "{}", ended.stderr);
    assert!(calls(&site).ends_with("review.1"), "{}", calls(&site));
}

#[test]
fn workflow_of_the_folder_is_run_without_saying_so_and_its_run_is_the_last() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    let mut command = site.command(&["run", "--no-input"]);
    let mut process = baton_testbed::Process::spawn(command.current_dir(site.scratch.path("flow")));
    process.close_input();
    assert_eq!(end(&mut process).code, Some(0));
    let mut command = site.command(&["show", "last"]);
    let mut process = baton_testbed::Process::spawn(command.current_dir(site.scratch.path("flow")));
    process.close_input();
    let shown = end(&mut process);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("review"), "{}", shown.stdout);
}

#[test]
fn whoever_decides_is_told_how_the_run_goes_on() {
    let flow = "name: w\nagents: {}\nphases: [{id: ship, gate: {items: [the release]}}]\n";
    let site = Site::new().workflow(flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let rejected =
        site.baton(&["reject", "t.ship.1", "--note", "not yet", "--yes", "--shown", &digest(&site, "t.ship.1")]);
    assert_eq!(rejected.code, Some(0), "{}", rejected.stderr);
    assert!(rejected.stderr.contains("next: baton resume t"), "{}", rejected.stderr);
}

fn digest(site: &Site, id: &str) -> String {
    let shown = site.baton(&["show", id, "--json"]).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    shown["question"]["digest"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
}

#[test]
fn command_is_run_when_a_person_is_waited_for() {
    let flow = "name: w\nagents: {}\nphases: [{id: ship, gate: {items: [the release]}}]\n";
    let site = Site::new().workflow(flow);
    let command = "echo \\\"$BATON_RUN $BATON_PHASE: $BATON_QUESTION\\\" > told; cat > asked.json";
    site.scratch.write("baton.toml", format!("[notify]\ncommand = \"{command}\"\n"));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert_eq!(site.scratch.read("told").trim(), "t ship: ship: approve?");
    let asked: serde_json::Value = serde_json::from_str(&site.scratch.read("asked.json")).expect("JSON");
    assert_eq!(asked["id"], "t.ship.1");
    site.scratch.write("baton.toml", "[notify]\ncommand = \"exit 7\"\n");
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(3), "the run does not depend on it");
    assert!(ended.stderr.contains("[notify] failed"), "{}", ended.stderr);
}

#[test]
fn output_of_a_phase_is_printed_while_it_works_and_afterwards() {
    let site = Site::new();
    let go = site.pipe("go");
    let body = format!(
        "print('one', flush=True)\nif '.design.' in os.environ['BATON_HANDOFF_ID']: open({go:?}).read()\nprint('two', flush=True)\nreport()"
    );
    let site = site.workflow(FLOW).agent("dev", &body);
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"]);
    driver.close_input();
    driver.stdout.find("t.design.1", LONG).expect("it begins");
    let mut reader = site.start(&["log", RUN, "design", "--output", "--follow"]);
    reader.close_input();
    reader.stdout.find("one", LONG).expect("it is printed while the agent works");
    fs::write(&go, "go").expect("the agent reads it");
    reader.stdout.find("two", LONG).expect("and what comes later, too");
    assert_eq!(reader.wait(LONG).and_then(|status| status.code()), Some(0), "it ends with the phase");
    assert_eq!(end(&mut driver).code, Some(0));
    let printed = site.baton(&["log", "last", "review", "--output"]);
    assert_eq!(printed.stdout, "one\ntwo", "{}", printed.stderr);
    let unknown = site.baton(&["log", RUN, "reviw", "--output"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("did you mean review?"), "{}", unknown.stderr);
}

#[test]
fn simulation_shows_every_way_and_starts_nothing() {
    let flow = "name: w
agents: {dev: {command: [./dev.py]}}
inputs: {feature: {required: true}}
phases: [{id: build, agent: dev, task: 'Build {{ inputs.feature }}'}, {id: ship, gate: {items: [the build], choices: {go: end, no: stop}}}]
";
    let site = Site::new().workflow(flow).agent("dev", "write('started', '')\nreport()");
    let shown = site.baton(&["run", "flow", "--workspace", "workspace", "--simulate"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stderr.contains("reached 2 of 2 phases"), "{}", shown.stderr);
    for way in ["done", "fails", "go", "stop"] {
        assert!(shown.stdout.contains(way), "{way}: {}", shown.stdout);
    }
    let told = site.baton(&["run", "flow", "--workspace", "workspace", "--simulate", "--json"]).stdout;
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["phases"][1]["ways"][0], serde_json::json!({"said": "go", "to": "end"}));
    assert!(!site.scratch.path("workspace/started").exists() && !site.store().exists(), "nothing was started or kept");
}

#[test]
fn changed_workflow_is_named_with_the_command_that_uses_it() {
    let site = Site::new().workflow(&format!("{FLOW}inputs: {{topic: {{required: true}}, size: {{default: 3}}}}\n"));
    let site = site.agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&["--input", "topic=two words"]).code, Some(1));
    let unchanged = site.baton(&["retry", RUN, "--no-input"]);
    assert!(!unchanged.stderr.contains("has changed"), "{}", unchanged.stderr);
    let flow = site.scratch.read("flow/workflow.yaml").replace("agent: dev, on_failure: stop", "check: 'true'");
    site.scratch.write("flow/workflow.yaml", flow);
    for again in [&["retry", RUN, "--no-input"][..], &["resume", RUN, "--from", "build", "--no-input"]] {
        let ended = site.baton(again);
        assert_eq!(ended.code, Some(1), "it still runs the agent: {}", ended.stderr);
        assert!(ended.stderr.contains("the run continues with the version it started with"), "{}", ended.stderr);
    }
    let told = site.baton(&["resume", RUN, "--from", "build", "--no-input"]).stderr;
    let (_, command) = told.split_once("start over:\n").unwrap_or_else(|| panic!("{told}"));
    let command = command.lines().next().unwrap_or_default().trim();
    assert!(command.ends_with("--input 'topic=two words'"), "{command}");
    // What is shown can be pasted.
    let command =
        format!("PATH=\"{}:$PATH\"; {command} --no-input", std::path::Path::new(BATON).parent().unwrap().display());
    let ended = site.program("sh").args(["-c", &command]).output().expect("a shell");
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
}

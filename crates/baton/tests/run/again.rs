//! Runs that failed, were stopped or wait: they begin again from a phase, or stay until somebody decides elsewhere.

use std::fs;

use baton_engine::State;

use crate::behind_gates::decided;
use crate::site::{BATON, LONG, RUN, Site, end, find, listen};

pub(crate) const FLOW: &str = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: build, agent: dev, on_failure: stop}
  - {id: review, agent: dev}
";

/// Fails in the phase `build` until a person has put the tool there that it needs.
pub(crate) const NEEDS_A_TOOL: &str = r#"
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

pub(crate) fn calls(site: &Site) -> String {
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

pub(crate) fn digest(site: &Site, id: &str) -> String {
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
    assert_eq!(
        told["phases"][1]["ways"][0],
        serde_json::json!({"said": "go", "to": "end", "skipped": [], "group": null})
    );
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
    let told = site.baton(&["resume", RUN, "--from", "build", "--input", "topic=one", "--no-input"]).stderr;
    assert!(told.contains("--input 'topic=one'\n") && !told.contains("two words"), "what is given counts: {told}");
    // What is shown can be pasted.
    let command =
        format!("PATH=\"{}:$PATH\"; {command} --no-input", std::path::Path::new(BATON).parent().unwrap().display());
    let ended = site.program("sh").args(["-c", &command]).output().expect("a shell");
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
}

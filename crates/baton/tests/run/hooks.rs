//! Hooks inside of a session that a run has started: judged by what the run knows, in the cage of the agent.

use serde_json::Value;

use crate::site::{BATON, Site};

#[test]
fn hook_in_a_run_judges_by_its_workflow_and_leaves_the_rest_to_the_driver() {
    let site = Site::new()
        .workflow(
            "name: team\nagents:\n  writer: {command: [./writer.py], mandatory_skills: [designing]}\n\
             phases:\n  - {id: build, agent: writer, task: Write the parser for dates.}\n",
        )
        .agent(
            "writer",
            &format!(
                r#"
def stop(name, text):
    told = {{"session_id": "s", "hook_event_name": "Stop", "cwd": workspace, "stop_hook_active": False,
            "last_assistant_message": text}}
    ended = subprocess.run(["{BATON}", "hook", "claude-code"], input=json.dumps(told), capture_output=True, text=True)
    write(name, json.dumps({{"code": ended.returncode, "stdout": ended.stdout, "stderr": ended.stderr}}))

def block(**members):
    document = {{"baton": 1, "document": "report", "id": os.environ["BATON_HANDOFF_ID"], "outcome": "complete",
                "summary": "Wrote the parser for dates and its three tests."}}
    document.update(members)
    return "```json\n" + json.dumps(document) + "\n```\n"

stop("first.json", "Done.")
stop("second.json", block())
stop("third.json", block(skills_invoked=["designing"]))
report(skills_invoked=["designing"])
"#
            ),
        );
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let answer = |name: &str| {
        let told: Value = serde_json::from_str(&site.read(site.scratch.path("workspace").join(name))).expect("JSON");
        assert_eq!((told["code"].as_i64(), told["stderr"].as_str()), (Some(0), Some("")), "{told}");
        told["stdout"].as_str().expect("a text").to_owned()
    };
    assert!(answer("first.json").contains("no fenced JSON block"));
    assert!(answer("second.json").contains("mandatory skill `designing`"));
    assert_eq!(answer("third.json"), "");
    assert_eq!(site.told().handoffs().count(), 2, "the run and its phase, and nothing that a hook has filed");
}

/// Returns an agent that ends when it may, and writes where it may not before. It tells its hooks what Claude Code tells.
fn careless() -> String {
    format!(
        r#"
def hook(name, event, **members):
    told = {{"session_id": "s", "hook_event_name": event, "cwd": workspace}}
    told.update(members)
    ended = subprocess.run(["{BATON}", "hook", "claude-code"], input=json.dumps(told), capture_output=True, text=True)
    write(name, json.dumps({{"code": ended.returncode, "stdout": ended.stdout, "stderr": ended.stderr}}))

document = {{"baton": 1, "document": "report", "id": os.environ["BATON_HANDOFF_ID"], "outcome": "complete",
            "summary": "Wrote the parser for dates and its three tests."}}
block = "```json\n" + json.dumps(document) + "\n```\n"
os.makedirs("docs")
hook("docs/begins.json", "UserPromptSubmit", prompt="Write it.")
write("notes.txt", "only for me")
hook("docs/first.json", "Stop", last_assistant_message=block)
os.remove("notes.txt")
hook("docs/second.json", "Stop", last_assistant_message=block)
report()
"#
    )
}

fn told(site: &Site, name: &str) -> String {
    let told: Value = serde_json::from_str(&site.read(site.scratch.path("workspace/docs").join(name))).expect("JSON");
    assert_eq!((told["code"].as_i64(), told["stderr"].as_str()), (Some(0), Some("")), "{told}");
    told["stdout"].as_str().expect("a text").to_owned()
}

#[test]
fn hook_in_a_run_holds_an_agent_that_wrote_where_its_phase_may_not() {
    let site = Site::new()
        .workflow(
            "name: team\nsandbox: off\nagents:\n  writer: {command: [./writer.py], retry: {max_retries: 0}}\n\
             phases:\n  - {id: build, agent: writer, task: Write the parser for dates., writes: ['docs/**']}\n",
        )
        .agent("writer", &careless());
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(told(&site, "begins.json"), "");
    let first = told(&site, "first.json");
    assert!(first.contains("`notes.txt` was created") && first.contains("only `docs/**` may be written"), "{first}");
    assert_eq!(told(&site, "second.json"), "");
}

#[test]
fn hook_in_a_run_does_not_lay_the_files_of_a_neighbour_at_an_agents_door() {
    let site = Site::new()
        .workflow(
            "name: team\nsandbox: off\nagents:\n  writer: {command: [./writer.py], retry: {max_retries: 0}}\n  other: {command: [./other.py]}\n\
             phases:\n  - id: both\n    parallel:\n      - {id: build, agent: writer, task: Write the parser., writes: ['docs/**']}\n      \
             - {id: test, agent: other, task: Write its tests., writes: ['notes.txt']}\n",
        )
        .agent("writer", &careless())
        .agent("other", "report()");
    site.run(&[]);
    assert_eq!(told(&site, "first.json"), "");
}

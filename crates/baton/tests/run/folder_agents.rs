//! Agents behind folders: what a run writes for them, and what it makes of their answers.

use std::process::Command;

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::evidence::ClaimFinding;
use baton_testbed::Process;
use serde_json::{Value, json};

use crate::site::{Site, end, find};

/// A specialist behind `exchange` between two phases of a lead; more is said about its phase.
fn flow(more: &str) -> Site {
    let workflow = format!(
        "name: folders\n\
         agents:\n\
         \x20 lead: {{command: [./lead.py], retry: {{max_retries: 0}}}}\n\
         \x20 react-specialist: {{directory: exchange, dialect: mailbox, retry: {{max_retries: 0}}}}\n\
         phases:\n\
         \x20 - {{id: plan, agent: lead}}\n\
         \x20 - {{id: '13', agent: react-specialist, task: Make the page., deliverable: react-components{more}}}\n\
         \x20 - {{id: assemble, agent: lead}}\n"
    );
    let site = Site::new().workflow(&workflow).agent("lead", "report()");
    dir(&site, &["init", "exchange"]);
    site
}

/// Starts a run, and claims what it asks of the specialist.
fn start(site: &Site) -> (Process, Value) {
    let mut run = site.start(&["run", "flow", "--workspace", "workspace", "--id", "t", "--no-input"]);
    run.close_input();
    let claim = ["claim", "exchange", "--agent", "react-specialist", "--wait", "60", "--json"];
    let (code, claimed, said) = dir(site, &claim);
    assert_eq!(code, Some(0), "{said}");
    (run, serde_json::from_str(&claimed).expect("the request is JSON"))
}

/// Runs `baton dir` as the specialist does.
fn dir(site: &Site, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command: Command = site.command(&[&["dir"], arguments].concat());
    let output = command.current_dir(site.scratch.path("workspace")).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn request_for_a_folder_says_phases_what_is_wanted_where_it_goes_and_the_whole_prompt() {
    let site =
        flow(", mandatory_skills: [writing-tests], writes: ['src/**'], verify: [{name: unit, run: 'make test'}]");
    let (_run, request) = start(&site);
    assert_eq!(request["source"], json!({"agent_id": "@lead", "phase": "plan", "agent_type": "orchestrator"}));
    let target = json!({"agent_id": "@react-specialist", "phase": 13, "agent_type": "specialist"});
    assert_eq!(request["target"], target);
    let destination = "artifacts/13/artifact-t.13.1-{timestamp}";
    let wanted = json!({"artifact_type": "react-components", "destination": destination});
    assert_eq!(request["expected_output"], wanted);
    let prompt = request["context"]["prompt"].as_str().expect("a prompt");
    let parts = ["Make the page.", "writing-tests", "src/**", "make test", "Wrote the parser for dates", "handoff_id"];
    for part in parts {
        assert!(prompt.contains(part), "`{part}` is not in the prompt: {prompt}");
    }
}

#[test]
fn answer_from_a_folder_of_its_own_is_seen_from_the_workspace() {
    let site = flow("");
    let (mut run, request) = start(&site);
    site.scratch.write("workspace/page.html", "<h1>Page</h1>");
    let id = request["handoff_id"].as_str().expect("an id");
    let (code, _, said) = dir(&site, &["complete", "exchange", id, "--artifact", "page.html"]);
    assert_eq!(code, Some(0), "{said}");
    let ended = end(&mut run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told = site.told();
    let made = find(&told, "13.1");
    let path = made.report().and_then(|report| report.output.as_ref()?.artifact_path.clone()).unwrap_or_default();
    assert!(path.starts_with("exchange/artifacts/13/artifact-t.13.1-") && path.ends_with(".html"), "{path}");
    let claim = format!("`{path}` exists");
    let seen = made.examined.iter().find(|seen| seen.claim == claim).expect("it was looked at");
    assert_eq!(seen.verdict, ClaimFinding::Verified);
}

#[test]
fn what_a_folder_agent_made_and_advises_reaches_the_next_agent_and_the_registry() {
    let site = flow("");
    let text = site.read(site.scratch.path("flow/workflow.yaml"));
    let site = site.workflow(&format!("{text}views: [registry]\n")).agent(
        "lead",
        "made = []\nif os.environ['BATON_PHASE'] == 'assemble':\n    write('app.html', 'x')\n    made = ['app.html']\n\
         report(artifacts=made)",
    );
    let (mut run, request) = start(&site);
    site.scratch.write("workspace/page.html", "<h1>Page</h1>");
    let id = request["handoff_id"].as_str().expect("an id");
    let answer = ["complete", "exchange", id, "--artifact", "page.html", "--type", "react-components"];
    let more =
        ["--next-step", "Wire the store", "--warning", "No tests for print", "--metadata", r#"{"components": 1}"#];
    let (code, _, said) = dir(&site, &[&answer[..], &more].concat());
    assert_eq!(code, Some(0), "{said}");
    let ended = end(&mut run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    let told = site.told();
    let output = find(&told, "13.1").report().and_then(|report| report.output.clone()).expect("an output");
    let path = output.artifact_path.expect("a path");
    let prompt = site.read(site.attempt("assemble.1", Fence(1)).join("prompt.md"));
    let whole = format!("exchange/handoffs/completed/{id}.json");
    for part in [path.as_str(), "Wire the store", "No tests for print", &whole] {
        assert!(prompt.contains(part), "`{part}` is not in the prompt: {prompt}");
    }
    let handed = find(&told, "assemble.1").asked().and_then(|request| request.context.clone()).expect("a context");
    let handed: Vec<&str> = handed.artifacts.iter().map(|artifact| artifact.path()).collect();
    assert_eq!(handed, [path.as_str()]);

    let registry = site.read(site.scratch.path("workspace/artifacts/registry.json"));
    let registry: Value = serde_json::from_str(&registry).expect("JSON");
    let entries = registry["artifacts"].as_array().expect("a list");
    assert_eq!(entries.len(), 2, "the answer itself is a message, and no artifact: {registry:#}");
    assert_eq!([&entries[0]["path"], &entries[1]["path"]], [&json!(path), &json!("app.html")]);
    assert_eq!(entries[0]["artifact_id"], json!(output.artifact_id));
    assert_eq!(entries[0]["type"], "react-components");
    assert_eq!(entries[1]["dependencies"], json!([path]));
    assert_eq!(registry["statistics"]["by_agent"], json!({"lead": 1, "react-specialist": 1}));
}

#[test]
fn request_that_nobody_picks_up_ends() {
    let site = Site::new().workflow(
        "name: folders\nagents: {nobody: {directory: ., timeout: 1s, retry: {max_retries: 0}}}\n\
         phases: [{id: build, agent: nobody}]\n",
    );
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "a person is asked: {}", ended.stderr);
    let run = site.told();
    let build = find(&run, "build.1");
    assert!(matches!(build.handoff.state, State::Failed { .. }), "{:?}", build.handoff.state);
    let failure = build.handoff.last_failure.as_ref().expect("it failed").to_string();
    assert_eq!(failure, "TIMEOUT: @nobody did not pick it up within 1 s");
}

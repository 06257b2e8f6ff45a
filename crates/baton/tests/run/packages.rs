//! Runs of agents that hand over packages: everything in a package reaches whoever it is for.

use baton_engine::Fence;
use baton_engine::State;
use serde_json::json;

use crate::site::{Site, find};

/// Agents that hand in packages. `hand_over` writes one, `now` is a time that fits.
fn agent(said: &str) -> String {
    format!(
        r#"
import datetime
now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

def hand_over(to, reason, context, **members):
    package = {{"id": "HO-2026-777", "timestamp": now, "from": {{"agent": os.environ["BATON_AGENT"]}},
               "to": {{"agent": to, "reason": reason}}, "context": context}}
    package.update(members)
    write(os.environ["BATON_REPORT_FILE"], json.dumps({{"handoff": package}}))
{said}
"#
    )
}

/// The agents are `a`, `b` and whoever helps; each says what its script says.
fn site(phases: &str, a: &str, b: &str) -> Site {
    let reached =
        |name: &str| format!("{name}: {{command: [./{name}.py], dialect: package, retry: {{max_retries: 0}}}}");
    let flow = format!("name: packages\nagents: {{{}, {}}}\nphases:\n{phases}", reached("a"), reached("b"));
    Site::with_git().workflow(&flow).agent("a", &agent(a)).agent("b", &agent(b))
}

const WHOLE: &str = r#"
os.makedirs("docs")
write("docs/design.md", "One table per ledger")
hand_over("b", "w-reason", {"summary": "w-summary: 3 ledgers are designed.",
    "decisions": [{"id": "D-001", "decision": "w-decision", "rationale": "w-rationale"}],
    "artifacts": [{"path": "docs/design.md", "type": "spec", "description": "w-description"}],
    "open_questions": [{"question": "w-question", "priority": "high", "context": "w-context"}]},
    expectations={"deliverable": "w-deliverable", "constraints": ["w-constraint"], "success_criteria": ["12 w-criteria hold"]})
"#;

const DONE: &str = r#"hand_over("orchestrator", "It is done", {"summary": "The importer has 3 files and 12 tests."})"#;

const IN_ORDER: &str = "  - {id: design, agent: a}\n  - {id: build, agent: b}\n";

#[track_caller]
fn assert_in(text: &str, words: &[&str]) {
    let missing: Vec<&&str> = words.iter().filter(|word| !text.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?} not in:\n{text}");
}

#[test]
fn request_of_the_next_agent_carries_what_the_package_before_it_said() {
    let site = site(IN_ORDER, WHOLE, DONE);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let attempt = site.attempt("build.1", Fence(1));
    let request = site.read(attempt.join("request.yaml"));
    let carried = ["w-summary", "D-001", "w-decision", "w-rationale", "w-question", "high", "w-context"];
    assert_in(&request, &carried);
    assert_in(&request, &["path: docs/design.md", "type: spec", "description: w-description"]);
    let asked = ["w-reason", "w-deliverable", "w-constraint", "12 w-criteria hold"];
    assert_in(&site.read(attempt.join("prompt.md")), &asked);
}

#[test]
fn decisions_questions_and_expectations_of_a_package_can_be_named_by_the_workflow() {
    let named =
        "d: phases.design.decisions, q: phases.design.open_questions, e: phases.design.expectations.constraints";
    let phases = format!("  - {{id: design, agent: a}}\n  - {{id: build, agent: b, inputs: {{{named}}}}}\n");
    let site = site(&phases, WHOLE, DONE);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let given = find(&run, "build.1").asked().and_then(|request| request.input.clone()).and_then(|input| input.data);
    let expected = json!({
        "d": [{"id": "D-001", "decision": "w-decision", "rationale": "w-rationale"}],
        "q": [{"question": "w-question", "priority": "high", "context": "w-context"}],
        "e": ["w-constraint"],
    });
    assert_eq!(given, Some(expected));
}

#[test]
fn a_delegation_takes_the_whole_package_to_the_specialist_and_brings_its_return_back() {
    let asks = r#"
if "w-found" in prompt:
    hand_over("orchestrator", "It is done", {"summary": "The design has 4 services; both risks have a measure."})
else:
    hand_over("b", "w-reason", {"summary": "w-summary: the API has 4 services.",
        "open_questions": [{"question": "w-question", "priority": "high", "context": "w-context"}]},
        expectations={"deliverable": "w-deliverable", "constraints": ["w-constraint"], "success_criteria": ["0 w-criteria stay open"]})
"#;
    let returns = r#"hand_over("a", "w-returned", {"summary": "w-found 2 risks in the API.",
        "decisions": [{"id": "SEC-001", "decision": "w-rotation", "rationale": "w-balance"}]}, kind="return")"#;
    let site = site("  - {id: design, agent: a, task: w-task}\n", asks, returns);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let words = [
        "w-task",
        "w-reason",
        "w-summary",
        "w-question",
        "w-context",
        "w-deliverable",
        "w-constraint",
        "0 w-criteria stay open",
    ];
    assert_in(&site.read(site.attempt("design.b.1", Fence(1)).join("prompt.md")), &words);
    let request = site.read(site.attempt("design.b.1", Fence(1)).join("request.yaml"));
    assert_in(&request, &["w-reason", "w-summary", "w-deliverable", "w-constraint", "0 w-criteria stay open"]);
    let again = site.read(site.attempt("design.1", Fence(2)).join("prompt.md"));
    assert_in(&again, &["w-found", "w-rotation", "w-balance", "w-summary", "w-question"]);
}

#[test]
fn a_file_that_was_made_and_is_not_among_the_artifacts_is_noticed() {
    let site = site(IN_ORDER, &format!("{WHOLE}\nwrite('undeclared.txt', 'x')"), DONE);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "a person is asked: {}", ended.stderr);
    let run = site.told();
    let design = &find(&run, "design.1").handoff;
    assert!(matches!(design.state, State::Failed { .. }), "{:?}", design.state);
    let failure = design.last_failure.as_ref().expect("it failed").to_string();
    assert_in(&failure, &["modified-not-declared", "`undeclared.txt` was created"]);
}

#[test]
fn who_gets_a_result_back_or_decides_a_gate_is_not_advised_as_the_next_agent() {
    let gate = r#"
hand_over("human", "BLOCKING gate reached", {"summary": "The design has 4 services and 12 tables."},
    gate={"type": "blocking", "name": "design"}, validation_request={"items": ["There are 4 services"]})"#;
    let returns = r#"hand_over("a", "It is done", {"summary": "The importer has 3 files.",
        "decisions": [{"id": "D-2", "decision": "One file per ledger", "rationale": "They are 2 GB each"}]}, kind="return")"#;
    let site = site(IN_ORDER, gate, returns);
    site.scratch.write("answers.yaml", "- {phase: design, approve: true}\n");
    let ended = site.run(&["--answers", "answers.yaml"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    for step in ["design.1", "build.1"] {
        assert_eq!(find(&run, step).route.as_ref().expect("it went on").instead_of, None, "{step}");
    }
}

#[test]
fn a_gate_blocks_where_the_report_before_it_exceeds_what_needs_no_person() {
    let flow = "name: costs\nagents: {estimator: {command: [./estimator.py]}}\ninputs: {cost: {required: true}}\nphases:\n\
        \x20 - {id: estimate, agent: estimator, task: 'It costs {{ inputs.cost }}'}\n\
        \x20 - {id: large, when: phases.estimate.metrics.cost > 5000, gate: {type: blocking, items: [The cost]}}\n\
        \x20 - {id: small, when: phases.estimate.metrics.cost <= 5000, gate: {type: advisory, after: 1ms, items: [The cost]}}\n";
    let costs = r#"report(metrics={"cost": 6200 if "It costs 6200" in prompt else 800})"#;
    for (cost, code, asked) in [("6200", 3, "large.1"), ("800", 0, "small.1")] {
        let site = Site::new().workflow(flow).agent("estimator", costs);
        let ended = site.run(&["--input", &format!("cost={cost}")]);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        find(&site.told(), asked);
    }
}

#[test]
fn planning_documents_are_frozen_for_phases_that_may_not_write_them() {
    let phases = "  - {id: design, agent: a}\n  - {id: build, agent: b, writes: ['src/**']}\nsandbox: off\n";
    let changes = r#"write("docs/design.md", "Two tables per ledger")
hand_over("orchestrator", "It is done", {"summary": "The importer has 3 files and 12 tests.", "artifacts": ["docs/design.md"]})"#;
    let site = site(phases, WHOLE, changes);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "a person is asked: {}", ended.stderr);
    let run = site.told();
    let failure = find(&run, "build.1").handoff.last_failure.as_ref().expect("it failed").to_string();
    assert_in(&failure, &["writes-outside", "`docs/design.md` was changed"]);
}

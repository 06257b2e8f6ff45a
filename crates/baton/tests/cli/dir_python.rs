//! `baton dir` with plain Python functions on the other side, which know neither locks nor atomic writes.

use std::process::Command;

use serde_json::{Value, json};

use crate::dir_verbs::document;
use crate::sandbox::Sandbox;

const FUNCTIONS: &str = include_str!("../fixtures/handoff.py");

/// A sandbox in which the Python functions run; whether Baton or Python makes the folders is up to the test.
fn beside_python() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("handoff.py", FUNCTIONS).write("task.json", r#"{"page": 1}"#).write("page.json", "{}");
    sandbox
}

/// Runs Python code after the functions; returns the last line that it writes.
fn python(sandbox: &Sandbox, code: &str) -> String {
    let code = format!("from handoff import *\nimport handoff\n{code}");
    let output = Command::new("python3")
        .args(["-W", "ignore", "-c", &code])
        .env("PYTHONIOENCODING", "utf-8")
        .current_dir(sandbox.path("."))
        .output()
        .expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

const CREATE: &str = "print(create_handoff_request('@frontend-specialist', '@react-specialist', {'name': 'Tide'}))";

fn claim(sandbox: &Sandbox) -> Value {
    sandbox.baton(&["dir", "claim", ".", "--agent", "react-specialist", "--json"]).json()
}

#[test]
fn python_asks_and_baton_answers() {
    let sandbox = beside_python();
    let id = python(&sandbox, CREATE);
    let claimed = claim(&sandbox);
    assert_eq!((&claimed["handoff_id"], &claimed["input"]["data"]["name"]), (&json!(id), &json!("Tide")));
    let run = sandbox.baton(&["dir", "complete", ".", &id, "--artifact", "page.json", "--type", "react-components"]);
    assert_eq!(run.code, Some(0), "{run}");
    let answer = python(&sandbox, &format!("print(json.dumps(wait_for_handoff_completion('{id}', 5)))"));
    let answer: Value = serde_json::from_str(&answer).expect("the answer is JSON");
    assert_eq!(
        (&answer["status"], &answer["output"]["artifact_type"]),
        (&json!("completed"), &json!("react-components"))
    );
}

#[test]
fn python_asks_and_baton_fails() {
    let sandbox = beside_python();
    let id = python(&sandbox, CREATE);
    claim(&sandbox);
    let fail = ["dir", "fail", ".", &id, "--code", "DEPENDENCY_MISSING", "--message", "no design", "--permanent"];
    assert_eq!(sandbox.baton(&fail).code, Some(0));
    let raised = python(
        &sandbox,
        &format!("try: wait_for_handoff_completion('{id}', 5)\nexcept HandoffFailedException as e: print('raised', e)"),
    );
    assert_eq!(raised, "raised no design");
}

#[test]
fn failure_of_baton_is_final_for_python_that_asked_without_a_policy() {
    let sandbox = beside_python();
    let id = python(&sandbox, CREATE);
    let claimed = sandbox.baton(&["dir", "claim", ".", "--agent", "react-specialist"]);
    assert!(claimed.stderr.contains("attempt 1 of 1"), "{claimed}");
    for code in ["PROCESSING_ERROR", "DEPENDENCY_MISSING"] {
        let id = if code == "PROCESSING_ERROR" { id.clone() } else { again(&sandbox) };
        let failed = sandbox.baton(&["dir", "fail", ".", &id, "--code", code, "--message", "no design"]);
        assert_eq!(failed.stdout, format!("failed {id}\n"));
        let raised = python(
            &sandbox,
            &format!(
                "try: wait_for_handoff_completion('{id}', 5)\nexcept HandoffFailedException as e: print('raised', e)"
            ),
        );
        assert_eq!(raised, "raised no design", "{code}");
    }
}

/// Asks and claims once more. The functions make one id per second, so the request gets another one.
fn again(sandbox: &Sandbox) -> String {
    let rename = "os.rename(f'handoffs/pending/{made}.json', 'handoffs/pending/second.json')\n\
                  document = json.load(open('handoffs/pending/second.json'))\ndocument['handoff_id'] = 'second'\n\
                  json.dump(document, open('handoffs/pending/second.json', 'w'))\nprint('second')";
    let made = format!(
        "os.makedirs('handoffs/failed', exist_ok=True)\nmade = {}\n{rename}",
        &CREATE["print(".len()..CREATE.len() - 1]
    );
    let id = python(sandbox, &made);
    claim(sandbox);
    id
}

#[test]
fn baton_asks_and_python_answers() {
    let sandbox = beside_python();
    sandbox.baton(&["dir", "init", "."]);
    let create = ["dir", "create", ".", "--from", "@lead", "--to", "@react-specialist", "--input", "task.json"];
    let id = sandbox.baton(&create).stdout.trim().to_owned();
    python(
        &sandbox,
        &format!(
            "handoff.generate_react_components = lambda data: {{'id': 'artifact-1', 'path': 'page.json'}}\n\
             process_handoff_request('{id}')"
        ),
    );
    let run = sandbox.baton(&["dir", "wait", ".", &id, "--json", "--timeout", "60"]);
    assert_eq!((run.code, &run.json()["output"]["artifact_id"]), (Some(0), &json!("artifact-1")));
    assert_eq!(sandbox.baton(&["dir", "sweep", "."]).stdout, "", "there is nothing to put right");
}

#[test]
fn failure_of_python_is_final_without_a_policy() {
    let sandbox = beside_python();
    let id = python(&sandbox, CREATE);
    process_and_raise(&sandbox, &id);
    let run = sandbox.baton(&["dir", "wait", ".", &id, "--timeout", "60"]);
    assert_eq!((run.code, run.stdout), (Some(1), format!("failed {id}: PROCESSING_ERROR: no paper\n")));
    assert_eq!(sandbox.baton(&["dir", "sweep", "."]).stdout, "");
}

#[test]
fn failure_of_python_is_tried_again_if_the_request_says_so() {
    let sandbox = beside_python();
    sandbox.baton(&["dir", "init", "."]);
    let create = ["dir", "create", ".", "--from", "@lead", "--to", "@react-specialist", "--input", "task.json", "--id"];
    sandbox.baton(&[&create[..], &["a", "--max-retries", "1", "--retry-delay", "0"]].concat());
    process_and_raise(&sandbox, "a");
    assert_eq!(document(&sandbox, "failed", "a")["retry_available"], true);
    assert_eq!(sandbox.baton(&["dir", "wait", ".", "a", "--timeout", "0"]).code, Some(1), "it waits on");
    assert_eq!(sandbox.baton(&["dir", "sweep", "."]).stdout, "requeued a\n");
    let claimed = claim(&sandbox);
    assert_eq!((&claimed["attempt"], &claimed["last_error"]["message"]), (&json!(2), &json!("no paper")));
    sandbox.baton(&["dir", "fail", ".", "a", "--message", "still no paper"]);
    assert_eq!(document(&sandbox, "failed", "a")["retry_available"], false);
}

fn process_and_raise(sandbox: &Sandbox, id: &str) {
    let code = format!(
        "def generate(data): raise ValueError('no paper')\n\
         handoff.generate_react_components = generate\nprocess_handoff_request('{id}')"
    );
    python(sandbox, &code);
}

#[test]
fn python_that_asks_with_a_policy_waits_while_baton_tries_again() {
    let sandbox = beside_python();
    let id = python(&sandbox, CREATE);
    let mut request = document(&sandbox, "pending", &id);
    request["retry_policy"] = json!({"max_retries": 1});
    sandbox.write(&format!("handoffs/pending/{id}.json"), request.to_string());
    claim(&sandbox);
    sandbox.baton(&["dir", "fail", ".", &id, "--message", "no paper"]);
    let waited = python(
        &sandbox,
        &format!("try: wait_for_handoff_completion('{id}', 0.01)\nexcept HandoffTimeoutException: print('waits')"),
    );
    assert_eq!(waited, "waits");
    assert_eq!(document(&sandbox, "pending", &id)["retry_count"], 1);
}

#[test]
fn python_that_takes_too_long_is_timed_out() {
    let sandbox = beside_python();
    sandbox.baton(&["dir", "init", "."]);
    let create = ["dir", "create", ".", "--from", "@lead", "--to", "@react-specialist", "--input", "task.json", "--id"];
    sandbox.baton(&[&create[..], &["a", "--timeout", "0.001", "--max-retries", "0"]].concat());
    // Taken on as the functions do it, but never finished.
    python(
        &sandbox,
        "def generate(data): os._exit(0)\nhandoff.generate_react_components = generate\nprocess_handoff_request('a')",
    );
    assert_eq!(document(&sandbox, "in-progress", "a")["status"], "in_progress");
    assert_eq!(sandbox.baton(&["dir", "sweep", "."]).stdout, "failed a\n");
    assert_eq!(document(&sandbox, "failed", "a")["error"]["code"], "TIMEOUT");
}

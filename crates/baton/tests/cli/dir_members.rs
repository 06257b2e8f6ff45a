//! `baton dir`: every member that a request and an answer can have, and the list of artifacts.

use serde_json::{Value, json};

use crate::dir_verbs::{claim, create, document, folders};
use crate::sandbox::Sandbox;

fn registry(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read("artifacts/registry.json")).expect("the list is JSON")
}

#[test]
fn request_says_the_phases_of_both_sides_and_the_backoff() {
    let sandbox = folders();
    let run = create(&sandbox, "a", &["--source-phase", "11", "--target-phase", "review", "--backoff", "1.5"]);
    assert_eq!(run.code, Some(0), "{run}");
    let request = document(&sandbox, "pending", "a");
    assert_eq!((&request["source"]["phase"], &request["target"]["phase"]), (&json!(11), &json!("review")));
    assert_eq!(request["retry_policy"]["backoff_multiplier"], 1.5);
    create(&sandbox, "b", &["--target-phase", "4.5", "--context", r#"{"project_id": "proj-001"}"#]);
    let request = document(&sandbox, "pending", "b");
    assert_eq!((&request["target"]["phase"], &request["context"]["project_id"]), (&json!(4.5), &json!("proj-001")));
    assert_eq!(create(&sandbox, "c", &["--backoff", "0.5"]).code, Some(2));
    assert_eq!(create(&sandbox, "c", &["--context", "[1]"]).code, Some(2));
    assert_eq!(sandbox.baton(&["check", "handoffs"]).code, Some(0));
}

#[test]
fn answer_says_what_was_checked_counted_and_comes_next() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    claim(&sandbox);
    sandbox.write("checked.json", r#"{"status": "passed", "typescript_errors": 0, "tests_passing": true}"#);
    let complete = [
        "dir",
        "complete",
        ".",
        "a",
        "--artifact",
        "page.json",
        "--validation",
        "checked.json",
        "--metadata",
        r#"{"components_generated": 1}"#,
        "--next-step",
        "Link the page",
        "--next-step",
        "Translate it",
        "--warning",
        "the title is long",
        "--error",
        "the first try ran out of memory",
    ];
    let run = sandbox.baton(&complete);
    assert_eq!(run.code, Some(0), "{run}");
    let answer = document(&sandbox, "completed", "a");
    assert_eq!(answer["validation"], json!({"status": "passed", "typescript_errors": 0, "tests_passing": true}));
    assert_eq!(
        (&answer["metadata"]["components_generated"], &answer["metadata"]["artifact_bytes"]),
        (&json!(1), &json!(18))
    );
    assert_eq!(answer["next_steps"], json!(["Link the page", "Translate it"]));
    assert_eq!(answer["warnings"], json!(["the title is long"]));
    assert_eq!(answer["errors"], json!(["the first try ran out of memory"]));
}

#[test]
fn list_of_artifacts_says_phase_agent_status_dependencies_and_what_it_adds_up_to() {
    let sandbox = folders();
    for (id, phase) in [("a", "13"), ("b", "13"), ("c", "review")] {
        let context = json!({ "tech_stack_artifact_id": "artifact-a-1" }).to_string();
        let more = ["--target-phase", phase, "--output-type", "page", "--context", &context];
        create(&sandbox, id, if id == "a" { &more[..4] } else { &more });
        claim(&sandbox);
        let run = sandbox.baton(&["dir", "complete", ".", id, "--artifact", "page.json"]);
        assert_eq!(run.code, Some(0), "{run}");
    }
    let list = registry(&sandbox);
    let entry = &list["artifacts"][1];
    assert_eq!(
        (&entry["phase"], &entry["agent_id"], &entry["status"]),
        (&json!(13), &json!("@writer"), &json!("active"))
    );
    assert_eq!(entry["dependencies"], json!(["artifact-a-1"]));
    assert_eq!(list["artifacts"][0].get("dependencies"), None);
    assert_eq!(
        list["statistics"],
        json!({
            "artifacts": 3, "bytes": 54, "by_type": {"page": 3}, "by_phase": {"13": 2, "review": 1},
            "by_agent": {"@writer": 3},
        })
    );
}

#[test]
fn list_without_statistics_gets_them_with_the_next_artifact() {
    let sandbox = folders();
    let old = "{\"version\": 1, \"artifacts\": [\n{\"artifact_id\":\"old\",\"path\":\"artifacts/old.json\",\"bytes\":5}\n]}\n";
    sandbox.write("artifacts/registry.json", old).write("artifacts/old.json", "{   }");
    create(&sandbox, "a", &[]);
    claim(&sandbox);
    sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json"]);
    let list = registry(&sandbox);
    assert_eq!((&list["artifacts"][0]["artifact_id"], &list["statistics"]["artifacts"]), (&json!("old"), &json!(2)));
    assert_eq!(list["statistics"]["bytes"], 23);
}

#[test]
fn destination_that_ends_with_the_time_gets_the_ending_of_the_file() {
    let sandbox = folders();
    create(&sandbox, "a", &["--destination", "artifacts/pages/page-{timestamp}"]);
    claim(&sandbox);
    let run = sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json"]);
    assert!(run.stdout.starts_with("completed a: artifacts/pages/page-1") && run.stdout.ends_with(".json\n"), "{run}");
}

#[test]
fn artifact_that_the_request_names_must_exist_when_it_is_claimed() {
    let sandbox = folders();
    let context = r#"{"tech_stack_artifact_id": "artifact-tech-stack-001"}"#;
    let created = create(&sandbox, "a", &["--context", context, "--max-retries", "1", "--retry-delay", "0"]);
    assert_eq!(created.code, Some(0), "{created}");
    let told = "the artifact `artifact-tech-stack-001` is not there yet (context.tech_stack_artifact_id names it)";
    assert!(created.stderr.contains(told), "{created}");
    let claimed = claim(&sandbox);
    assert_eq!(claimed.code, Some(1), "{claimed}");
    assert!(claimed.stderr.contains("the artifact `artifact-tech-stack-001` is missing"), "{claimed}");
    let waits = document(&sandbox, "pending", "a");
    assert_eq!((&waits["retry_count"], &waits["last_error"]["code"]), (&json!(1), &json!("DEPENDENCY_MISSING")));
    assert_eq!(claim(&sandbox).code, Some(1), "no attempt is left");
    let failed = document(&sandbox, "failed", "a");
    assert_eq!(failed["error"]["code"], "DEPENDENCY_MISSING");
    assert_eq!(
        failed["error"]["message"],
        "the artifact `artifact-tech-stack-001` is missing (context.tech_stack_artifact_id names it)"
    );
}

#[test]
fn artifact_is_found_in_the_list_under_its_name_or_in_an_answer() {
    let sandbox = folders();
    sandbox.write("artifacts/phase-7/artifact-tech-stack-001.json", "{}").write("design.md", "# Design");
    let answer = json!({"handoff_id": "z", "status": "completed", "output": {"artifact_id": "by-script"}});
    sandbox.write("handoffs/completed/z.json", answer.to_string());
    let known = [
        json!({"tech_stack_artifact_id": "artifact-tech-stack-001"}),
        json!({"earlier": [{"artifact_id": "by-script"}]}),
        json!({"design_artifact_path": "design.md"}),
        json!({"artifact_path": "artifacts/new-{timestamp}.json", "artifact_ids": []}),
    ];
    for (index, context) in known.iter().enumerate() {
        let id = format!("a{index}");
        let created = create(&sandbox, &id, &["--context", &context.to_string()]);
        assert_eq!((created.code, created.stderr.as_str()), (Some(0), ""), "{context}");
        assert_eq!(claim(&sandbox).json()["handoff_id"], id);
    }
    sandbox.write("task.json", r#"{"pages": [{"draft_artifact_path": "nowhere.json"}]}"#);
    let created = create(&sandbox, "b", &[]);
    assert!(
        created.stderr.contains("`nowhere.json` is not there yet (input.data.pages[0].draft_artifact_path"),
        "{created}"
    );
}

//! Files that travel: an agent on another machine reads what was handed over to it, and nothing else of the run.

use serde_json::json;

use crate::client::{Premises, Running};
use crate::remote_machine::RemoteMachine;

const FLOW: &str = "name: team\nagents: {dev: {command: [./dev.sh]}, qa: {queue: true}}\n\
    phases: [{id: plan, agent: dev}, {id: build, agent: dev}, {id: review, agent: qa}]\n";

/// Leaves one file in each phase.
const WRITES: &str = "case $BATON_HANDOFF_ID in *.plan.*) file=plan.md;; *) file=parser.rs;; esac\n\
    echo \"made in $BATON_PHASE\" > $file\n\
    printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \"summary\": \"Wrote the parser for dates and its tests.\", \
    \"artifacts\": [{\"path\": \"%s\"}]}' \"$BATON_HANDOFF_ID\" $file > \"$BATON_REPORT_FILE\"";

/// A run in which `qa` is to review what `dev` has made.
fn reviewing() -> (Premises, Running) {
    reviewing_in(Premises::new().workflow(FLOW, WRITES))
}

fn reviewing_in(premises: Premises) -> (Premises, Running) {
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&person);
    server.post("/api/v1/runs", &json!({ "workflow": "team", "id": "t" })).expect(201);
    server.until("/api/v1/runs/t", |run| run["going_on"][0]["phase"] == "review");
    (premises, server)
}

/// Returns the SHA-256 of the file that a handoff has left.
fn digest(server: &Running, id: &str) -> String {
    let shown = server.get(&format!("/api/v1/handoffs/{id}")).expect(200);
    let claims = shown["examined"].as_array().expect("claims");
    claims.iter().find_map(|claim| claim["sha256"].as_str()).unwrap_or_else(|| panic!("{shown:#}")).to_owned()
}

#[test]
fn agent_elsewhere_reads_the_files_that_were_handed_over_to_it_and_no_others() {
    let (premises, mut server) = reviewing();
    let (given, other) = (digest(&server, "t.build.1"), digest(&server, "t.plan.1"));
    let qa = premises.token(&["--role", "agent", "--agent", "qa"]);
    let stranger = premises.token(&["--role", "agent", "--agent", "stranger"]);
    server.as_owner_of(&qa);
    let claimed = server.post("/api/v1/claims", &json!({ "agent": "team/qa" })).expect(200);
    let claim = &claimed["claims"][0];
    let address = format!("/api/v1/handoffs/t.review.1/artifacts/{given}");
    assert_eq!(claim["artifacts"], json!([{ "path": "parser.rs", "sha256": given, "address": address }]));
    let prompt = claim["prompt"].as_str().expect("a prompt");
    assert!(prompt.contains("`baton show t.review.1 --file PATH` prints it"), "{prompt}");
    let file = server.get(&address);
    assert_eq!((file.status, file.text.as_str()), (200, "made in build\n"));
    assert_eq!(file.header("content-type"), Some("text/plain; charset=utf-8"));
    let hidden = [
        format!("/api/v1/handoffs/t.review.1/artifacts/{other}"),
        format!("/api/v1/handoffs/t.build.1/artifacts/{given}"),
        format!("/api/v1/handoffs/t.plan.1/artifacts/{other}"),
        format!("/api/v1/handoffs/t.review.1/artifacts/{}", "0".repeat(64)),
    ];
    for path in hidden {
        assert_eq!(server.get(&path).problem(404), "unknown", "{path}");
    }
    let read = |server: &Running, digest: &str| {
        server.post("/api/v1/queries", &json!({ "read": "content", "run": "t", "digest": digest })).expect(200)
    };
    assert!(read(&server, &given)["answer"].is_array());
    assert!(read(&server, &other)["answer"].is_null());
    // Naming a file in a report gives nobody the right to read it.
    premises.scratch.write("workspace/.env", "password");
    let mut report = crate::client::report("t.review.1", "complete");
    report["artifacts"] = json!([{ "path": ".env" }]);
    let body = json!({ "fence": claim["fence"], "document": report });
    server.post("/api/v1/handoffs/t.review.1/report", &body);
    let secret = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
    assert_eq!(server.get(&format!("/api/v1/handoffs/t.review.1/artifacts/{secret}")).problem(404), "unknown");
    assert!(read(&server, secret)["answer"].is_null());
    server.as_owner_of(&stranger);
    assert_eq!(server.get(&address).problem(404), "unknown");
}

#[test]
fn agent_elsewhere_gets_neither_what_no_report_names_nor_what_nobody_made() {
    let writes = WRITES.replace("$file\nprintf", "$file\necho unnamed > notes-$BATON_PHASE.txt\nprintf");
    let writes = writes.replace(r#"{"path": "%s"}"#, r#"{"path": "%s"}, {"path": ".env"}"#);
    assert!(writes.contains("notes-") && writes.contains(".env"), "{writes}");
    let premises = Premises::new().workflow(FLOW, &writes);
    premises.scratch.write("workspace/.env", "password");
    let (premises, mut server) = reviewing_in(premises);
    let shown = server.get("/api/v1/handoffs/t.build.1").expect(200);
    let seen: Vec<&str> =
        shown["examined"].as_array().expect("claims").iter().filter_map(|claim| claim["path"].as_str()).collect();
    assert!(seen.contains(&".env") && seen.contains(&"notes-build.txt"), "people see both: {shown:#}");
    let qa = premises.token(&["--role", "agent", "--agent", "qa"]);
    server.as_owner_of(&qa);
    let claimed = server.post("/api/v1/claims", &json!({ "agent": "team/qa" })).expect(200);
    let given = claimed["claims"][0]["artifacts"].as_array().expect("files");
    let paths: Vec<&str> = given.iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["parser.rs"], "{claimed:#}");
    let secret = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
    assert_eq!(server.get(&format!("/api/v1/handoffs/t.review.1/artifacts/{secret}")).problem(404), "unknown");
}

#[test]
fn command_line_prints_a_file_that_was_handed_over() {
    let (premises, server) = reviewing();
    let qa = premises.token(&["--role", "agent", "--agent", "qa"]);
    let machine = RemoteMachine::of(&server, Some(&qa));
    let claimed = machine.does(&["claim", "--agent", "team/qa", "--prompt"]);
    assert!(claimed.stdout.contains("`baton show t.review.1 --file PATH`"), "{claimed}");
    assert_eq!(machine.does(&["show", "t.review.1", "--file", "parser.rs"]).stdout, "made in build\n");
    machine.run(&["show", "t.review.1", "--file", "plan.md"]).is(1, &["no record of a file plan.md", "parser.rs"]);
    machine.run(&["show", "t.build.1", "--file", "parser.rs"]).is(2, &["there is no handoff `t.build.1`"]);
    let (code, shown, stderr) = premises.run(&["show", "t.review.1", "--file", "parser.rs"]);
    assert_eq!((code, shown.as_str()), (Some(0), "made in build\n"), "the same over the database: {stderr}");
}

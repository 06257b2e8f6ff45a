//! Runs of agents that answer tasks: what a phase found and made goes on to the next, and STOP halts.

use baton_engine::Fence;
use serde_json::{Value, json};

use crate::site::{Site, find};

/// An agent that answers a task with what its script puts into `answer`.
fn agent(said: &str) -> String {
    format!(
        r#"
request = json.load(open(os.environ["BATON_REQUEST_FILE"]))
visit = os.environ["BATON_HANDOFF_ID"].rsplit(".")[-1]
answer = {{"task_id": request["task_id"], "phase": request["phase"], "status": "complete", "decision": "PROCEED",
          "issues": []}}
{said}
write(os.environ["BATON_REPORT_FILE"], json.dumps(answer))
"#
    )
}

const FINDS: &str = r#"
answer["findings"] = {"existing_implementations": [{"file": "src/rows.rs", "description": "RowWriter", "relevance": "high"}],
    "conflicts": [], "recommendations": ["Use RowWriter"],
    "patterns_found": [{"file": "src/xlsx.rs", "pattern": "one writer per format", "recommendation": "Follow it"}]}
answer["context_summary"] = "RowWriter in src/rows.rs writes rows; src/xlsx.rs shows how a format uses it."
"#;

const WRITES: &str = r#"
for path in ["csv.rs", "csv_test.rs"]:
    write(path, "// visit " + visit)
answer["findings"] = {"files_created": [{"path": "csv.rs", "purpose": "writes CSV"}], "files_modified": [],
    "tests_written": [{"path": "csv_test.rs", "test_count": 3, "coverage_areas": ["quotes"]}], "implementation_notes": []}
answer["context_summary"] = "csv.rs writes CSV through RowWriter; csv_test.rs has 3 tests."
"#;

/// Validates: says STOP as long as the condition holds.
fn validates(fails: &str) -> String {
    format!(
        r#"
fails = {fails}
tests = {{"passed": not fails, "total": 3, "passed_count": 2 if fails else 3, "failed_count": 1 if fails else 0,
         "failures": ["quotes are doubled"] if fails else []}}
answer["findings"] = {{"checks": {{"tests": tests}}, "overall_passed": not fails, "warnings": [],
    "blocking_issues": ["w-blocking: quotes are doubled in csv.rs"] if fails else []}}
answer["decision"] = "STOP" if fails else "PROCEED"
answer["context_summary"] = "1 of 3 tests fails in csv_test.rs." if fails else "All 3 tests in csv_test.rs pass."
"#
    )
}

fn site(inputs: &str, finds: &str, validates: &str) -> Site {
    let reached = |name: &str| format!("{name}: {{command: [./{name}.py], dialect: task, retry: {{max_retries: 0}}}}");
    let agents = ["finder", "writer", "validator"].map(reached).join(", ");
    let flow = format!(
        "name: csv\nagents: {{{agents}}}\nphases:\n\
         \x20 - {{id: research, agent: finder{inputs}}}\n\
         \x20 - {{id: write, agent: writer}}\n\
         \x20 - {{id: validate, agent: validator}}\n"
    );
    let site = Site::new().workflow(&flow).agent("finder", &agent(finds)).agent("writer", &agent(WRITES));
    site.agent("validator", &agent(validates))
}

fn request(site: &Site, step: &str) -> Value {
    serde_json::from_str(&site.read(site.attempt(step, Fence(1)).join("request.json"))).expect("JSON")
}

#[test]
fn one_task_id_the_specification_and_the_files_go_through_all_phases() {
    let inputs = ", inputs: {spec_path: \"'specs/csv.md'\", relevant_files: [src/lib/, src/rows/]}";
    let site = site(inputs, FINDS, &validates("False"));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = [
        ("research.1", json!(["src/lib/", "src/rows/"]), Value::Null),
        (
            "write.1",
            json!(["src/rows.rs", "src/xlsx.rs"]),
            json!("RowWriter in src/rows.rs writes rows; src/xlsx.rs shows how a format uses it."),
        ),
        (
            "validate.1",
            json!(["csv.rs", "csv_test.rs"]),
            json!("csv.rs writes CSV through RowWriter; csv_test.rs has 3 tests."),
        ),
    ];
    for (step, files, findings) in expected {
        let request = request(&site, step);
        assert_eq!(request["task_id"], "t", "{step}");
        assert_eq!(request["context"]["spec_path"], "specs/csv.md", "{step}");
        assert_eq!(request["context"]["relevant_files"], files, "{step}");
        assert_eq!(request["context"]["previous_findings"], findings, "{step}");
    }
}

#[test]
fn a_failed_validation_goes_back_to_the_writer_without_a_person() {
    let site = site("", FINDS, &validates("visit == '1'"));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "nobody is asked: {}", ended.stderr);
    let prompt = site.read(site.attempt("write.2", Fence(1)).join("prompt.md"));
    for part in ["w-blocking: quotes are doubled in csv.rs", "csv.rs writes CSV through RowWriter"] {
        assert!(prompt.contains(part), "`{part}` is not in the prompt: {prompt}");
    }
    find(&site.told(), "validate.2");
}

#[test]
fn stop_halts_and_a_person_may_stop_go_on_anyway_or_send_it_back() {
    let duplicate = format!("{FINDS}\nanswer.update(decision='STOP', issues=['csv.rs is there already'])");
    for status in ["complete", "blocked"] {
        let stops = format!("{duplicate}\nanswer['status'] = '{status}'");
        let site = site("", &stops, &validates("False"));
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        let inbox: Value = serde_json::from_str(&site.baton(&["inbox", "--json"]).stdout).expect("JSON");
        let asked = &inbox["waiting"][0];
        assert_eq!(asked["title"], "research: STOPPED: csv.rs is there already", "{status}");
        let choices = asked["choices"].as_array().expect("a list").iter().map(|choice| choice["choice"].as_str());
        assert_eq!(choices.collect::<Vec<_>>(), [Some("stop"), Some("continue"), Some("retry")], "{status}");
        let run = site.told();
        assert!(run.handoffs().all(|tracked| tracked.step.phase != "write"), "nobody goes on meanwhile");
    }
}

#[test]
fn what_the_prompt_asks_for_is_accepted_in_phases_that_are_called_anything() {
    // Takes `phase` from the example of its prompt, as an agent does that is told to keep it as it is.
    let answers = |said: &str| {
        let keeps = "answer['phase'] = prompt.split('\"phase\": \"')[1].split('\"')[0]\n\
                     assert answer['phase'] == request['phase'], request";
        agent(&format!("{keeps}\n{said}"))
    };
    let reached = |name: &str| format!("{name}: {{command: [./{name}.py], dialect: task, retry: {{max_retries: 0}}}}");
    let flow = format!(
        "name: csv\nagents: {{{}, {}}}\nphases:\n  - {{id: build, agent: writer}}\n\
         \x20 - {{id: look, kind: review, agent: validator}}\n",
        reached("writer"),
        reached("validator")
    );
    let site = Site::new().workflow(&flow).agent("writer", &answers(WRITES));
    let site = site.agent("validator", &answers(&validates("False")));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(request(&site, "build.1")["phase"], "write");
    let look = request(&site, "look.1");
    assert_eq!((&look["phase"], &look["expected_output"]), (&json!("validate"), &json!("validation_result")));
}

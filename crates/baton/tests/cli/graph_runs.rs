//! Pictures of runs: how far each phase is, the way that was gone, who has helped and who is asked.

use insta::assert_snapshot;

use crate::run_letter::{run_letter, with_letter};
use crate::sandbox::Sandbox;

const TEAM: &str = "name: team
agents: {developer: {command: [sh, agent.sh]}}
phases:
  - {id: build, agent: developer}
  - {id: look, parallel: [{id: one, agent: developer}, {id: two, agent: developer}]}
  - {id: ship, workflow: ./inner.yaml}
  - {id: last, check: 'false', on_failure: gate}
";

const INNER: &str = "name: inner\nphases: [{id: pack, check: 'true'}, {id: send, check: 'true'}]\n";

const AGENT: &str = "echo '{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\", \"summary\": \"Built the parser for dates\"}' > \"$BATON_REPORT_FILE\"
";

/// Draws a run as a flowchart, without the times that it took.
fn drawn(sandbox: &Sandbox, run: &str) -> String {
    let picture = sandbox.baton(&["graph", run]).stdout;
    let timeless = |line: &str| -> String {
        let mut words: Vec<&str> = line.split(' ').collect();
        for index in 1..words.len() {
            let is_number = words[index - 1].starts_with(|first: char| first.is_ascii_digit());
            if is_number && ["s<", "s\"", "ms<", "ms\""].iter().any(|unit| words[index].starts_with(unit)) {
                words[index - 1] = "T";
                words[index] = words[index].trim_start_matches("ms").trim_start_matches('s');
            }
        }
        words.join(" ")
    };
    picture.lines().filter(|line| !line.contains("classDef")).map(|line| timeless(line) + "\n").collect()
}

#[test]
fn members_of_groups_and_nested_workflows_are_marked_and_what_failed_waits_for_the_person_who_is_asked() {
    let sandbox = Sandbox::new();
    sandbox.write("flow/workflow.yaml", TEAM).write("flow/inner.yaml", INNER).write("desk/agent.sh", AGENT);
    let run = sandbox.baton(&["run", "flow", "--workspace", "desk", "--id", "r"]);
    assert_eq!(run.code, Some(3), "{run}");
    assert_snapshot!(drawn(&sandbox, "r"));
    let cancelled = sandbox.baton(&["cancel", "r"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled}");
    let stopped = drawn(&sandbox, "r");
    assert!(!stopped.contains("waiting") && !stopped.contains("running"), "{stopped}");
    assert!(stopped.contains("([\"stopped\"])"), "{stopped}");
}

#[test]
fn the_way_of_a_run_with_its_loops_and_whoever_has_helped_is_drawn() {
    let sandbox = with_letter();
    let run = run_letter(&sandbox, &["--answers", "answers.yaml"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(drawn(&sandbox, "letter-1"));
}

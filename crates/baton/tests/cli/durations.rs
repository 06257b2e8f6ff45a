//! Durations mean the same wherever somebody writes one: options, folders, workflow files.

use crate::documents::REQUEST;
use crate::sandbox::{Run, Sandbox};

/// Writes the same duration in every place that takes one.
fn everywhere(duration: &str) -> Vec<(&'static str, Run)> {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("task.json", "{}");
    sandbox.write(
        "workflow.yaml",
        format!(
            "name: w\nagents: {{a: {{command: [sh, a.sh], timeout: '{duration}'}}}}\nphases: [{{id: one, agent: a}}]\n"
        ),
    );
    sandbox.baton(&["dir", "init", "work"]);
    let create = ["dir", "create", "work", "--from", "@a", "--to", "@b", "--input", "task.json", "--timeout", duration];
    vec![
        ("an option", sandbox.baton(&["send", "request.json", "--to", "finder", "--timeout", duration])),
        ("a moment", sandbox.baton(&["send", "request.json", "--to", "writer", "--id", "two", "--deadline", duration])),
        ("the folders", sandbox.baton(&create)),
        ("a workflow", sandbox.baton(&["workflow", "check", "workflow.yaml"])),
    ]
}

#[test]
fn durations_are_written_in_the_same_way_everywhere() {
    for duration in ["90s", "5min", "5m", "1h30m", "1h 30min", "1.5h", "2d", "1w", "3600", "45000ms"] {
        for (place, run) in everywhere(duration) {
            assert_eq!(run.code, Some(0), "{duration} in {place}:\n{run}");
        }
    }
}

#[test]
fn what_is_not_a_duration_is_refused_everywhere_with_the_same_words() {
    let wrong = [
        ("5 parsecs", "unknown unit of time `parsecs`: use ms, s, m or min, h, d or w"),
        ("1h30", "the last `30` has no unit: add ms, s, m or min, h, d or w"),
        ("200000d", "`200000d` is too long: at most 100 years"),
        ("30m1h", "`30m1h` is not a duration: write each unit once, the largest first"),
    ];
    for (duration, why) in wrong {
        for (place, run) in everywhere(duration) {
            assert!(run.code != Some(0) && run.to_string().contains(why), "{duration} in {place}:\n{run}");
        }
    }
    for (place, run) in everywhere("-1s").into_iter().filter(|(place, _)| *place != "a moment") {
        let expected = "`-1s` is not a duration: write";
        assert!(run.code == Some(if place == "a workflow" { 1 } else { 2 }), "{place}:\n{run}");
        assert!(run.to_string().contains(expected), "{place}:\n{run}");
    }
    let worker = Sandbox::new().baton(&["worker", "--agent", "a", "--timeout", "0s", "--", "true"]);
    assert!(worker.code == Some(2) && worker.to_string().contains("must be longer than 0"), "{worker}");
    for (place, run) in everywhere("soon") {
        let expected =
            if place == "a moment" { "`soon` is not a time: write 20" } else { "`soon` is not a duration: write" };
        assert!(run.code != Some(0) && run.to_string().contains(expected), "{place}:\n{run}");
    }
}

#[test]
fn duration_without_a_value_is_refused_in_every_field_with_its_place() {
    let sandbox = Sandbox::new();
    let flow = "name: w
agents:
  a:
    command: [sh, a.sh]
    EMPTY1
  q:
    queue: true
    EMPTY2
phases:
  - {id: one, agent: a, EMPTY3}
  - {id: two, check: [ls], EMPTY4}
  - {id: ok, gate: {items: [it], EMPTY5}}
EMPTY6
";
    let places = [
        ("EMPTY1", "timeout: EMPTY"),
        ("EMPTY1", "silence: EMPTY"),
        ("EMPTY1", "retry: {delay: EMPTY}"),
        ("EMPTY2", "pick_up_within: EMPTY"),
        ("EMPTY2", "acknowledge: {within: EMPTY}"),
        ("EMPTY3", "timeout: EMPTY"),
        ("EMPTY3", "retry: {delay: EMPTY}"),
        ("EMPTY3", "verify: [{name: v, run: [ls], timeout: EMPTY}]"),
        ("EMPTY4", "timeout: EMPTY"),
        ("EMPTY5", "type: advisory, after: EMPTY"),
        ("EMPTY6", "limits: {wall_clock: EMPTY}"),
    ];
    for (place, field) in places {
        for empty in ["", "null", "~"] {
            let mut text = flow.replace(place, &field.replace("EMPTY", empty));
            for other in 1..=6 {
                text = text.replace(&format!(", EMPTY{other}"), "").replace(&format!("EMPTY{other}"), "");
            }
            let run = sandbox.write("workflow.yaml", &text).baton(&["workflow", "check", "workflow.yaml"]);
            let name =
                field.split(": EMPTY").next().and_then(|before| before.rsplit([' ', '{']).next()).expect("a name");
            let line = text.lines().position(|line| line.contains(&field.replace("EMPTY", empty))).expect("there") + 1;
            let told = run.to_string();
            assert_eq!(run.code, Some(1), "{field} {empty:?}:\n{told}");
            assert!(told.contains(&format!("`{name}` has no value")), "{field} {empty:?}:\n{told}");
            assert!(told.contains(&format!("workflow.yaml:{line}:")), "{field} {empty:?}:\n{told}");
            assert!(told.contains(&format!("or leave `{name}` out")), "{field} {empty:?}:\n{told}");
            assert!(told.contains("1 error"), "one answer: {field} {empty:?}:\n{told}");
        }
    }
}

//! `baton explain`: the manual of the rules.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn rules() -> Vec<Value> {
    Sandbox::new().baton(&["explain", "--json"]).json()["rules"].as_array().expect("rules").clone()
}

fn name(rule: &Value) -> &str {
    rule["name"].as_str().expect("a name")
}

#[test]
fn one_rule_is_explained() {
    assert_snapshot!(Sandbox::new().baton(&["explain", "blocked-names-next-agent"]), @r#"
    # blocked-names-next-agent

    Group blocked, severity error.

    ## What it checks
    Whether a report with the status `blocked` leaves `handoff.next_agent` null or out. It applies to
    metadata-block and phase-block, and to `next.agent` of native reports. Any text there is reported, also an
    empty one or the word "null" in quotes. A report that is not blocked may name a next agent.

    ## Why it matters
    When an agent is blocked, the orchestrator routes by the reason. A blocked agent that names its helper takes
    that decision away: it sends a security question past the security review, or sends the work round in
    circles.

    ## Example
    ```json
    {
      "status": "blocked",
      "blocked_reason": "security_concern",
      "handoff": { "next_agent": "backend-developer", "context": "May session keys be cached in Redis?" }
    }
    ```

    ## Use instead
    ```json
    {
      "status": "blocked",
      "blocked_reason": "security_concern",
      "handoff": { "next_agent": null, "context": "May session keys be cached in Redis?" }
    }
    ```
    --- exit 0
    "#);
}

#[test]
fn one_rule_is_explained_as_json() {
    let rule = Sandbox::new().baton(&["explain", "vague-summary", "--json"]).json();
    assert_eq!(
        (name(&rule), &rule["group"], &rule["configurable"]),
        ("vague-summary", &"context".into(), &true.into())
    );
    assert!(rule["documentation"].as_str().expect("text").starts_with("## What it checks"), "{rule}");
    assert_eq!(rule["error_in"], serde_json::json!(["task"]));
    let fixed = Sandbox::new().baton(&["explain", "--json", "unreadable"]).json();
    assert_eq!(fixed["configurable"], false);
}

#[test]
fn the_list_names_every_rule() {
    let run = Sandbox::new().baton(&["explain"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(rules().len() > 50);
    for rule in rules() {
        let line = format!("  {} ", name(&rule));
        assert_eq!(run.stdout.lines().filter(|text| text.starts_with(&line)).count(), 1, "{line}");
    }
    let groups: Vec<&str> = run.stdout.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    assert_eq!(groups, ["shape", "blocked", "context", "package", "task", "mailbox", "evidence", "workflow"]);
}

#[test]
fn the_whole_manual_has_every_rule() {
    let run = Sandbox::new().baton(&["explain", "--all"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let titles: Vec<&str> = run.stdout.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(titles, rules().iter().map(name).collect::<Vec<_>>());
    for part in ["### What it checks", "### Why it matters", "### Example", "### Use instead"] {
        assert_eq!(run.stdout.lines().filter(|line| *line == part).count(), titles.len(), "{part}");
    }
}

#[test]
fn every_rule_that_is_listed_can_be_explained() {
    let sandbox = Sandbox::new();
    for rule in rules() {
        let run = sandbox.baton(&["explain", name(&rule)]);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stdout.starts_with(&format!("# {}\n\nGroup ", name(&rule))), "{run}");
    }
}

#[test]
fn the_list_has_whole_sentences_and_a_name_that_was_begun_is_found() {
    let sandbox = Sandbox::new();
    let list = sandbox.baton(&["explain"]).stdout;
    let lines = list.lines().filter(|line| line.starts_with("  "));
    lines.for_each(|line| assert!(line.ends_with('.'), "{line}"));
    let unknown = sandbox.baton(&["explain", "unreachable"]);
    assert!(unknown.stderr.contains("did you mean `unreachable-phase`?"), "{unknown}");
}

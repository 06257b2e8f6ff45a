//! For every rule of evidence a report that lies, which the rule must catch, and an honest one, which it must confirm.

use baton_engine::evidence::ClaimFinding;
use baton_protocol::model::request::Context;
use baton_protocol::model::{Report, Request};
use baton_protocol::rules;
use serde_json::{Map, Value};

use crate::stage::{Stage, artifacts, check, modified, owned, refuted, rules_with, shown};

/// One rule on trial; both reports are about the same work.
struct Trial {
    prepare: fn(&mut Stage),
    work: fn(&Stage),
    lie: Report,
    honest: Report,
}

fn quota_changes(stage: &Stage) {
    stage.write("src/quota.rs", "fn quota() { 1 }\n");
}

fn quota_and_limits_change(stage: &Stage) {
    quota_changes(stage);
    stage.write("src/limits.rs", "fn limits() { 1 }\n");
}

fn plan_is_handed_over(stage: &mut Stage) {
    let context = Context { artifacts: artifacts(&["docs/plan.md"]), ..Context::default() };
    stage.scene.request = Some(Request { context: Some(context), ..Request::default() });
}

fn one_skill_was_called(stage: &mut Stage) {
    let call = r#"{"message":{"content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"planning"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: planning"}]}}"#;
    stage.scratch.write("session.jsonl", format!("{call}\n"));
    stage.seal_transcript("session.jsonl");
}

fn invoked(skills: &[&str]) -> Report {
    Report { skills_invoked: owned(skills), ..Report::default() }
}

fn tests_passed(passed: bool) -> Report {
    let verification = Map::from_iter([("tests_passed".to_owned(), Value::Bool(passed))]);
    Report { verification, ..Report::default() }
}

fn trial(rule: &str) -> Option<Trial> {
    let nothing: fn(&mut Stage) = |_| {};
    let idle: fn(&Stage) = |_| {};
    Some(match rule {
        "artifact-changed" => Trial {
            prepare: plan_is_handed_over,
            work: |stage| _ = stage.write("docs/plan.md", "another plan\n"),
            lie: Report::default(),
            honest: modified(&["docs/plan.md"]),
        },
        "file-not-modified" => Trial {
            prepare: nothing,
            work: quota_changes,
            lie: modified(&["src/quota.rs", "src/limits.rs"]),
            honest: modified(&["src/quota.rs"]),
        },
        "modified-not-declared" => Trial {
            prepare: nothing,
            work: quota_and_limits_change,
            lie: modified(&["src/quota.rs"]),
            honest: modified(&["src/quota.rs", "src/limits.rs"]),
        },
        "skill-missing" => Trial {
            prepare: |stage| stage.scene.mandatory_skills = owned(&["planning", "verifying"]),
            work: idle,
            lie: invoked(&["planning"]),
            honest: invoked(&["planning", "Verifying"]),
        },
        "skill-unproven" => Trial {
            prepare: one_skill_was_called,
            work: idle,
            lie: invoked(&["planning", "verifying"]),
            honest: invoked(&["planning"]),
        },
        "claim-refuted" => Trial {
            prepare: |stage| stage.scene.checks = vec![check("tests", "grep -q 1 src/quota.rs"), check("lint", "true")],
            work: idle,
            lie: tests_passed(true),
            honest: tests_passed(false),
        },
        _ => return None,
    })
}

#[tokio::test]
async fn lies_are_refuted_and_the_truth_is_confirmed() {
    // These two are about what was done, not about what is said: they are tried in `changes.rs`.
    let elsewhere = ["writes-outside", "stale-base"];
    for rule in rules::ALL.iter().filter(|rule| rule.is_examined() && !elsewhere.contains(&rule.name)) {
        let trial = trial(rule.name).unwrap_or_else(|| panic!("{} is not tried", rule.name));
        let mut stage = Stage::repository();
        (trial.prepare)(&mut stage);
        let lie = stage.attempt(trial.work, &trial.lie).await;
        assert!(refuted(&lie).contains(&rule.name), "{}:\n{}", rule.name, shown(&lie));
        let honest = stage.examine(&trial.honest).await;
        let others = refuted(&honest).len() - usize::from(rule.name == "claim-refuted");
        assert_eq!(others, 0, "{}:\n{}", rule.name, shown(&honest));
        // Nothing shows in this workspace which skills were used.
        if !["artifact-changed", "skill-missing"].contains(&rule.name) {
            assert!(rules_with(&honest, ClaimFinding::Verified).contains(&rule.name), "{}", shown(&honest));
        }
    }
}

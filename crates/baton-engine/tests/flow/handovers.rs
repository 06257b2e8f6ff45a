//! What one agent hands over reaches the next: nothing is lost between two agents.

use baton_engine::driver::copies_for;
use baton_protocol::Dialect;
use serde_json::json;

use crate::play::{Act, Play};
use crate::telling::{answers, approves, rejects};

const AGENTS: &str = "agents: {a: {command: [./a]}, b: {command: [./b]}, c: {command: [./c]}, help: {command: [./h]}}";

fn flow(phases: &str) -> String {
    format!("name: f\n{AGENTS}\nphases:\n{phases}")
}

/// Returns what the agent of a step was told when it began for the last time.
fn prompt(play: &Play, step: &str) -> String {
    play.prompt(step).text.clone()
}

fn assert_told(prompt: &str, words: &[&str]) {
    let missing: Vec<&&str> = words.iter().filter(|word| !prompt.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?} not in:\n{prompt}");
}

/// A package with a word of its own in every member.
const PACKAGE: &str = "
handoff:
  id: HO-007
  timestamp: 2026-01-05T09:00:00Z
  from: {agent: a, step: 1}
  to: {agent: b, reason: w-reason}
  context:
    summary: w-summary of 3 pages.
    decisions: [{id: ADR-1, decision: w-decision, rationale: w-rationale}]
    artifacts: [{path: docs/w-artifact.md, type: spec, description: w-description}]
    open_questions: [{question: w-question, priority: high, context: w-context}]
  expectations:
    deliverable: w-deliverable
    constraints: [w-constraint]
    success_criteria: [w-criterion]
";

const IN_PACKAGE: [&str; 13] = [
    "HO-007",
    "w-reason",
    "w-summary",
    "ADR-1",
    "w-decision",
    "w-rationale",
    "docs/w-artifact.md",
    "w-description",
    "w-question",
    "w-context",
    "w-deliverable",
    "w-constraint",
    "w-criterion",
];

fn package() -> Act {
    Act::Writes(Dialect::Package, PACKAGE.to_owned())
}

#[test]
fn the_next_agent_gets_the_whole_package() {
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text).recording().tell("plan", [package()]).play();
    assert_told(&prompt(&play, "build.1"), &IN_PACKAGE);
    assert_eq!(play.find("plan.1").route.as_ref().unwrap().to, "build", "it goes on, it does not ask for help");
}

#[test]
fn a_package_to_the_agent_of_the_next_phase_is_sequential_past_checks_and_gates() {
    let phases = "  - {id: plan, agent: a}\n  - {id: lint, check: 'true'}\n  - {id: ok, gate: {items: [x]}}
  - {id: all, parallel: [{id: build, agent: b}, {id: test, agent: c}]}";
    let play = Play::of(&flow(phases)).recording().tell("plan", [package()]).tell("ok?", [approves()]).play();
    assert_told(&prompt(&play, "all.build.1"), &IN_PACKAGE);
    assert_told(&prompt(&play, "all.test.1"), &IN_PACKAGE);
}

#[test]
fn a_package_to_somebody_else_asks_for_help() {
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: c}").replace("b: {command", "x: {command");
    let asks = PACKAGE.replace("agent: b, reason", "agent: help, reason");
    let play = Play::of(&text).recording().tell("plan", [Act::Writes(Dialect::Package, asks)]).play();
    assert_told(&prompt(&play, "plan.help.1"), &IN_PACKAGE);
    let again = prompt(&play, "plan.1");
    assert_told(&again, &["You have worked on this before", "w-summary", "w-decision"]);
}

#[test]
fn every_member_of_a_group_gets_what_came_before_it() {
    let said = json!({"outcome": "complete", "summary": "w-plan made", "files_modified": ["src/w-file.rs"]});
    let text = flow("  - {id: plan, agent: a}\n  - {id: all, parallel: [{id: x, agent: b}, {id: y, agent: c}]}");
    let play = Play::of(&text).recording().tell("plan", [Act::Says(said)]).play();
    for member in ["all.x.1", "all.y.1"] {
        let prompt = prompt(&play, member);
        assert_told(&prompt, &["w-plan made", "src/w-file.rs"]);
        assert!(!prompt.contains("x (now), y"), "what runs at the same time does not follow:\n{prompt}");
    }
}

#[test]
fn the_phase_after_a_group_gets_what_every_member_handed_over() {
    let says = |word: &str| {
        let path = format!("out/{word}.md");
        Act::Says(
            json!({"outcome": "complete", "summary": format!("w-{word}"), "artifacts": [path], "issues": [format!("i-{word}")]}),
        )
    };
    let text = flow("  - {id: all, parallel: [{id: x, agent: a}, {id: y, agent: b}]}\n  - {id: sum, agent: c}");
    let play = Play::of(&text).recording().tell("all/x", [says("one")]).tell("all/y", [says("two")]).play();
    assert_told(&prompt(&play, "sum.1"), &["w-one", "w-two", "out/one.md", "out/two.md", "i-one", "i-two"]);
    let request = play.find("sum.1").asked().unwrap().context.clone().unwrap();
    assert_eq!(request.artifacts.len(), 2);
    assert_eq!(request.handed_over.len(), 2);
}

#[test]
fn every_item_of_a_list_goes_on_from_what_came_before_and_hands_on_all_of_its_phases() {
    let phases = "  - {id: plan, agent: a}
  - {id: each, foreach: \"['p', 'q']\", phases: [{id: make, agent: b}, {id: look, check: 'true'}]}
  - {id: sum, agent: c}";
    let says = |word: &str| Act::Says(json!({"outcome": "complete", "summary": word}));
    let play = Play::of(&flow(phases))
        .recording()
        .tell("plan", [says("w-plan")])
        .tell("each/p/make", [says("w-p")])
        .tell("each/q/make", [says("w-q")])
        .play();
    assert_told(&prompt(&play, "each.p.make.1"), &["w-plan"]);
    assert_told(&prompt(&play, "sum.1"), &["w-p", "w-q"]);
}

#[test]
fn a_helper_gets_task_blockers_failing_output_and_files() {
    let blocked = json!({
        "outcome": "blocked", "blocked_reason": "test_failures", "summary": "w-summary", "attempted": ["w-tried"],
        "blockers": [{"type": "w-type", "description": "w-description", "resolution": "w-resolution"}],
        "verification": {"tests_passed": false, "command_output": "w-output"},
        "files_modified": ["src/w-changed.rs"], "source_files_verified": ["src/w-seen.rs:1-9"],
    });
    let text =
        flow("  - {id: build, agent: a, task: w-task, constraints: [w-constraint]}\nroutes: [{agent: a, to: help}]");
    let play = Play::of(&text).recording().tell("build", [Act::Says(blocked)]).play();
    let words = [
        "w-task",
        "w-constraint",
        "w-summary",
        "w-tried",
        "w-type",
        "w-description",
        "w-resolution",
        "w-output",
        "src/w-changed.rs",
        "src/w-seen.rs",
    ];
    assert_told(&prompt(&play, "build.help.1"), &words);
}

#[test]
fn whoever_starts_again_gets_its_own_report() {
    let first = || Act::Says(json!({"outcome": "needs_review", "summary": "w-first", "artifacts": ["w-made.md"]}));
    let text = flow("  - {id: build, agent: a}");
    let play = Play::of(&text).recording().tell("build", [first()]).tell("build?", [rejects("w-no")]).play();
    assert_told(&prompt(&play, "build.1"), &["You have worked on this before", "w-first", "w-made.md", "w-no"]);
    let asks = || Act::Says(json!({"outcome": "needs_clarification", "summary": "w-far", "questions": ["w-which?"]}));
    let play = Play::of(&text).recording().tell("build", [asks()]).tell("build?", [answers("w-this")]).play();
    assert_told(&prompt(&play, "build.1"), &["w-far", "w-which?", "w-this"]);
    let play = Play::of(&text).recording().tell("build", [Act::Lies("w-not-so")]).play();
    assert_told(&prompt(&play, "build.1"), &["w-not-so"]);
}

#[test]
fn whoever_is_sent_back_gets_its_own_report_what_it_had_and_what_is_wrong() {
    let phases = "  - {id: plan, agent: a}\n  - {id: build, agent: b}\n  - {id: review, agent: c, on_failure: build}";
    let play = Play::of(&flow(phases))
        .recording()
        .tell("plan", [Act::Says(json!({"outcome": "complete", "summary": "w-plan"}))])
        .tell("build", [Act::Says(json!({"outcome": "complete", "summary": "w-built"}))])
        .tell("review", [Act::Says(json!({"outcome": "complete", "verdict": "REJECTED", "issues": ["w-issue"]}))])
        .play();
    assert_told(&prompt(&play, "build.2"), &["w-plan", "w-built", "w-issue", "REJECTED"]);
}

#[test]
fn whoever_repairs_what_a_check_has_found_is_told_that_it_failed_and_not_that_somebody_asked() {
    let phases = "  - {id: build, agent: b}\n  - {id: test, check: 'true'}";
    let play = Play::of(&flow(phases)).recording().tell("test", [Act::Exits(false)]).play();
    let told = prompt(&play, "build.2");
    assert!(told.contains("`check` failed") && !told.contains("asked for changes"), "{told}");
    assert_eq!(told.matches("exit 1").count(), 1, "it is told once: {told}");
}

#[test]
fn the_note_of_an_approval_reaches_the_next_agent() {
    let phases =
        "  - {id: plan, agent: a, review: blocking}\n  - {id: ok, gate: {items: [x]}}\n  - {id: build, agent: b}";
    let approve = |note| Act::Decides(baton_engine::lifecycle::Decision::Approve, Some(note));
    let play =
        Play::of(&flow(phases)).recording().tell("plan?", [approve("w-note")]).tell("ok?", [approve("w-gate")]).play();
    assert_told(&prompt(&play, "build.1"), &["w-note", "w-gate"]);
}

#[test]
fn decisions_and_open_questions_stay_until_somebody_closes_them() {
    let phases =
        "  - {id: plan, agent: a}\n  - {id: build, agent: b}\n  - {id: test, agent: c}\n  - {id: ship, agent: a}";
    let closes = PACKAGE
        .replace("{agent: b, reason: w-reason}", "{agent: orchestrator}")
        .replace(
            "{id: ADR-1, decision: w-decision, rationale: w-rationale}",
            "{id: ADR-2, decision: settled, rationale: 'w-question: yes'}",
        )
        .replace("{question: w-question, priority: high, context: w-context}", "{question: n-question, priority: low}");
    let play = Play::of(&flow(phases))
        .recording()
        .tell("plan", [package()])
        .tell("test", [Act::Writes(Dialect::Package, closes)])
        .play();
    assert_told(&prompt(&play, "test.1"), &["w-decision", "w-question", "plan by a"]);
    let last = prompt(&play, "ship.1");
    assert_told(&last, &["w-decision", "ADR-2", "n-question"]);
    assert!(!last.contains("- w-question"), "it was closed:\n{last}");
}

#[test]
fn the_prompt_names_the_file_with_the_whole_report_and_it_is_there() {
    let block = "# Design\n\nw-prose that nobody else has.\n\n```json\n{\"agent\": \"a\", \"output_type\": \"plan\", \"timestamp\": \"2026-01-05T09:00:00Z\", \"feature_directory\": \"out\", \"skills_invoked\": [], \"status\": \"complete\", \"handoff\": {\"next_agent\": null, \"context\": \"w-context\"}}\n```\n";
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text).recording().tell("plan", [Act::Writes(Dialect::MetadataBlock, block.to_owned())]).play();
    let told = prompt(&play, "build.1");
    let file = ".baton/runs/r/handed/plan.1.1.md";
    assert_told(&told, &["w-context", file, "the text around the block"]);
    let copies = copies_for(&play.run, play.find("build.1"));
    let copy = copies.iter().find(|copy| copy.path == file).expect("the file is written");
    assert!(copy.text.contains("w-prose"));
}

#[test]
fn a_handover_over_the_budget_is_cut_and_its_file_is_named() {
    let long = "word ".repeat(30_000);
    let said = json!({"outcome": "complete", "summary": "w-summary", "next": {"context": long}});
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text).recording().tell("plan", [Act::Says(said)]).play();
    let prompt = play.prompt("build.1");
    assert!(prompt.tokens <= 20_000, "{}", prompt.tokens);
    assert_told(&prompt.text, &["w-summary", "all of it: .baton/runs/r/handed/plan.1.1.json"]);
    assert_eq!(prompt.shortened, ["cut: plan by a (in .baton/runs/r/handed/plan.1.1.json)"]);
    assert!(copies_for(&play.run, play.find("build.1")).iter().any(|copy| copy.text.contains(long.trim_end())));
}

#[test]
fn a_large_group_is_handed_over_in_one_file() {
    let items: Vec<String> = (0..30).map(|number| format!("'i{number}'")).collect();
    let phases = format!(
        "  - {{id: each, foreach: \"[{}]\", phases: [{{id: make, agent: a}}]}}\n  - {{id: sum, agent: b}}\nlimits: {{handoffs: 0}}",
        items.join(", ")
    );
    let says = |number: usize| Act::Says(json!({"outcome": "complete", "summary": format!("w-{number}.")}));
    let mut play = Play::of(&flow(&phases)).recording();
    for number in 0..30 {
        play = play.tell(&format!("each/i{number}/make"), [says(number)]);
    }
    let play = play.play();
    assert_told(&prompt(&play, "sum.1"), &["w-0.", "w-29.", "30 handoffs before"]);
    let copies = copies_for(&play.run, play.find("sum.1"));
    assert!(copies.iter().any(|copy| copy.path.ends_with("sum.1.given.md") && copy.text.contains("w-17.")));
}

#[test]
fn decisions_and_open_questions_of_a_native_report_travel_too() {
    let said = json!({
        "outcome": "complete", "summary": "w-summary",
        "decisions": [{"id": "D-1", "decision": "w-decision", "rationale": "w-why"}],
        "open_questions": [{"question": "w-open?", "priority": "high", "options": ["w-red", "w-blue"]}],
        "constraints": ["w-own"],
    });
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}\n  - {id: test, agent: c}");
    let play = Play::of(&text).recording().tell("plan", [Act::Says(said)]).play();
    assert_told(&prompt(&play, "build.1"), &["w-decision", "w-why", "w-open?", "w-red", "w-blue", "w-own"]);
    assert_told(&prompt(&play, "test.1"), &["w-decision", "w-open?"]);
}

#[test]
fn whoever_is_sent_back_again_is_not_told_what_is_settled() {
    let phases = "  - {id: build, agent: a}\n  - {id: look, parallel: [{id: x, agent: b}, {id: y, agent: c}]}
  - {id: ok, gate: {choices: {ship: next, again: build}}}";
    let no = Act::Says(json!({"outcome": "complete", "verdict": "REJECTED", "issues": ["w-old"]}));
    let yes = || Act::Says(json!({"outcome": "complete", "verdict": "APPROVED"}));
    let play =
        Play::of(&flow(phases)).recording().tell("look/x", [no, yes(), yes()]).tell("ok?", [answers("again")]).play();
    assert_told(&prompt(&play, "build.2"), &["w-old"]);
    let last = prompt(&play, "build.3");
    assert!(!last.contains("w-old") && last.contains("again"), "{last}");
    assert_told(&prompt(&play, "look.x.2"), &["You have worked on this before", "w-old"]);
}

#[test]
fn what_a_person_answered_on_the_way_reaches_the_next_agent() {
    let asks = Act::Says(json!({"outcome": "blocked", "blocked_reason": "unknown", "questions": ["w-which?"]}));
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text).recording().tell("plan", [asks]).tell("plan?question", [answers("w-this")]).play();
    assert_told(&prompt(&play, "build.1"), &["w-which?", "w-this"]);
}

#[test]
fn a_note_beside_an_answer_reaches_the_agent_that_asked() {
    let asks = Act::Says(json!({"outcome": "needs_clarification", "questions": ["w-which?"]}));
    let answer = baton_engine::lifecycle::Decision::Answer { answers: "w-this".to_owned() };
    let text = flow("  - {id: plan, agent: a}");
    let play =
        Play::of(&text).recording().tell("plan", [asks]).tell("plan?", [Act::Decides(answer, Some("w-host"))]).play();
    assert_told(&prompt(&play, "plan.1"), &["w-this", "w-host"]);
}

#[test]
fn a_reviewer_says_no_in_a_package() {
    let no = PACKAGE
        .replace("  context:\n", "  verdict: CHANGES_REQUESTED\n  context:\n")
        .replace("agent: b, reason", "agent: orchestrator, reason");
    let text = flow("  - {id: build, agent: a}\n  - {id: look, agent: b}");
    let play = Play::of(&text).recording().tell("look", [Act::Writes(Dialect::Package, no)]).play();
    assert!(play.story().contains("look.1 -> build"), "{}", play.story());
    assert_told(&prompt(&play, "build.2"), &["CHANGES_REQUESTED", "w-decision"]);
}

#[test]
fn a_decision_of_an_agent_that_asks_for_help_stands() {
    let asks = PACKAGE.replace("agent: b, reason", "agent: human, reason");
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}\n  - {id: test, agent: c}");
    let play = Play::of(&text)
        .recording()
        .tell("plan", [Act::Writes(Dialect::Package, asks)])
        .tell("plan?question", [answers("w-this")])
        .play();
    assert_told(&prompt(&play, "test.1"), &["w-decision"]);
}

#[test]
fn after_a_list_every_phase_of_every_item_is_handed_over() {
    let phases = "  - {id: each, foreach: \"['p', 'q']\", phases: [{id: write, agent: a}, {id: test, agent: b}]}\n  - {id: sum, agent: c}";
    let says = |word: &str| Act::Says(json!({"outcome": "complete", "summary": word, "issues": [format!("i-{word}")]}));
    let play = Play::of(&flow(phases))
        .recording()
        .tell("each/p/write", [says("w-p")])
        .tell("each/q/write", [says("w-q")])
        .tell("each/q/test", [says("w-t")])
        .play();
    assert_told(&prompt(&play, "sum.1"), &["w-p", "w-q", "w-t", "i-w-p", "i-w-q"]);
}

#[test]
fn decisions_of_the_same_name_in_lanes_beside_each_other_all_stand() {
    let phases = "  - {id: each, foreach: \"['p', 'q']\", phases: [{id: write, agent: a}]}\n  - {id: sum, agent: c}\n  - {id: end-of-it, agent: b}";
    let says = |word: &str| {
        Act::Says(json!({"outcome": "complete", "summary": "s", "decisions": [{"id": "D-1", "decision": word}]}))
    };
    let play = Play::of(&flow(phases))
        .recording()
        .tell("each/p/write", [says("w-p")])
        .tell("each/q/write", [says("w-q")])
        .play();
    assert_told(&prompt(&play, "end-of-it.1"), &["w-p", "w-q"]);
    let later =
        Play::of(&flow(phases)).recording().tell("each/p/write", [says("w-p")]).tell("sum", [says("w-sum")]).play();
    let last = prompt(&later, "end-of-it.1");
    assert!(last.contains("w-sum") && !last.contains("w-p"), "{last}");
}

#[test]
fn the_note_of_whoever_goes_on_after_a_failure_reaches_the_next_agent() {
    let stop = Act::Says(json!({"outcome": "complete", "decision": "STOP", "summary": "s"}));
    let go = baton_engine::lifecycle::Decision::Answer { answers: "continue".to_owned() };
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text)
        .recording()
        .tell("plan", [stop])
        .tell("plan?failure", [Act::Decides(go, Some("w-note"))])
        .play();
    assert_told(&prompt(&play, "build.1"), &["w-note"]);
}

#[test]
fn an_index_that_does_not_fit_stands_in_a_file() {
    let decisions: Vec<serde_json::Value> =
        (0..3_000).map(|number| json!({"id": format!("D-{number}"), "decision": format!("w-{number}. Of many words this one has a few more")})).collect();
    let said = json!({"outcome": "complete", "summary": "s", "decisions": decisions});
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}\n  - {id: test, agent: c}");
    let play = Play::of(&text).recording().tell("plan", [Act::Says(said)]).play();
    let file = ".baton/runs/r/handed/test.1.earlier.md";
    assert_told(&prompt(&play, "test.1"), &[file]);
    let copies = copies_for(&play.run, play.find("test.1"));
    assert!(copies.iter().any(|copy| copy.path == file && copy.text.contains("w-2999.")));
}

#[test]
fn what_is_too_long_for_any_prompt_is_listed_like_every_other_cut() {
    let said = json!({"outcome": "complete", "summary": "s", "issues": vec!["x".repeat(1_000); 2_000]});
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b}");
    let play = Play::of(&text).recording().tell("plan", [Act::Says(said)]).play();
    let file = ".baton/runs/r/handed/plan.1.1.json";
    assert_eq!(play.prompt("build.1").shortened, [format!("cut: plan by a (in {file})")]);
    assert_told(&prompt(&play, "build.1"), &[&format!("all of it: {file}")]);
}

/// A report of a reviewer who has written the findings above the block.
const REVIEW: &str = "# Review\n\n1. w-finding in count.py:12\n\n```json\n{\"agent\": \"b\", \"output_type\": \"review\", \
    \"feature_directory\": \"out\", \"skills_invoked\": [], \"status\": \"complete\", \"verdict\": \"CHANGES_REQUESTED\", \
    \"handoff\": {\"context\": \"Two findings, see the review above.\"}}\n```\n";

#[test]
fn what_a_reviewer_writes_above_the_block_reaches_whoever_must_change_the_work() {
    let text = flow("  - {id: build, agent: a}\n  - {id: review, agent: b, on_failure: build}");
    let review = Act::Writes(Dialect::MetadataBlock, REVIEW.to_owned());
    let play = Play::of(&text).recording().tell("review", [review]).play();
    let again = prompt(&play, "build.2");
    assert_told(&again, &["w-finding in count.py:12", "whole report: ", "`b` asked for changes."]);
    assert_eq!(again.matches("Two findings, see the review above.").count(), 1, "it is said once:\n{again}");
}

#[test]
fn summary_of_a_metadata_block_is_its_context() {
    let text = flow("  - {id: plan, agent: a}\n  - {id: build, agent: b, inputs: {design: phases.plan.summary}}");
    let block = REVIEW.replace("\"verdict\": \"CHANGES_REQUESTED\", ", "");
    let play = Play::of(&text).recording().tell("plan", [Act::Writes(Dialect::MetadataBlock, block)]).play();
    assert_told(&prompt(&play, "build.1"), &["\"design\": \"Two findings, see the review above.\""]);
}

#[test]
fn coding_agent_ends_its_last_message_with_the_report_unless_the_workflow_says_otherwise() {
    let text = |report: &str| {
        format!("name: f\nagents: {{a: {{profile: claude{report}}}}}\nphases: [{{id: plan, agent: a, writes: []}}]\n")
    };
    let told = |report: &str| prompt(&Play::of(&text(report)).recording().play(), "plan.1");
    let usual = told("");
    assert_told(
        &usual,
        &["End your final message with this fenced `json` block. Nothing may follow it.", "Change no file."],
    );
    assert!(!usual.contains("BATON_") && !usual.contains("OUTPUT_DIRECTORY"), "{usual}");
    assert_told(&told(", report: file"), &["Write the report to `.baton/runs/", "/plan.1/1/report.md`"]);
}

#[test]
fn gate_that_was_rejected_is_not_told_as_approved() {
    let phases = "  - {id: build, agent: a}\n  - {id: look, agent: b}
  - {id: ok, on_failure: build, gate: {items: [x]}}";
    let play = Play::of(&flow(phases)).recording().tell("ok?", [rejects("w-iso dates"), approves()]).play();
    let told = prompt(&play, "look.2");
    assert!(told.contains("ok: rejected by") && told.contains("w-iso dates"), "{told}");
    assert!(!told.contains("approved by"), "{told}");
}

//! What a workflow inside another one says about itself holds in there, and what is said around it holds above that.

use baton_engine::engine::settings_of_phase;
use baton_engine::flow;
use baton_engine::step::Role;
use baton_protocol::Settings;
use serde_json::json;

use crate::play::{Act, Play, definition};
use crate::telling::{answers, verdict};

const AGENTS: &str = "agents: {dev: {command: [./d], retry: {max_retries: 9, delay: 0s}}, rev: {command: [./r]}}";

/// A workflow with another one inside it, each with lines of its own before the phases.
fn play(outer: &str, inner: &str) -> Play {
    let outer = format!(
        "name: outer\n{AGENTS}\n{outer}\nphases:\n  - {{id: plan, agent: dev}}\n  - {{id: deep, workflow: inner.yaml}}\n  - {{id: check, agent: rev, on_failure: deep}}\n"
    );
    let inner =
        format!("name: inner\n{AGENTS}\n{inner}\nphases: [{{id: build, agent: dev}}, {{id: review, agent: rev}}]\n");
    Play::with(&definition(&outer, &[("inner.yaml", &inner)], json!({})))
}

/// What a person is asked at a limit.
fn asked(play: &Play) -> Option<String> {
    let limit = play.run.waiting().find(|tracked| tracked.step.role == Role::Limit)?;
    Some(flow::question(&play.run, limit).expect("a question").title)
}

fn never_content(times: usize) -> Vec<Act> {
    vec![verdict("CHANGES_REQUESTED", "Again."); times]
}

#[test]
fn handoffs_of_a_nested_workflow_count_inside_it() {
    let play = play("", "limits: {handoffs: 3, visits_per_phase: 0}").tell("deep/review", never_content(9)).play();
    let asked = asked(&play).expect("a person is asked");
    assert!(asked.contains("in deep: 3 handoffs were made; the limit is 3"), "{asked}");
    assert_eq!(play.run.counted.handoffs, 5, "the plan and the phase itself are outside");
}

#[test]
fn every_visit_of_a_nested_workflow_counts_by_itself() {
    let play = play("", "limits: {handoffs: 2, visits_per_phase: 1}").tell("check", never_content(2)).play();
    assert!(play.story().ends_with("check.3 -> end\ncompleted"), "{}", play.story());
    assert!(play.story().contains("deep.build.3 to dev"), "{}", play.story());
}

#[test]
fn limits_around_a_nested_workflow_hold_above_its_own() {
    let play = play("limits: {handoffs: 4}", "limits: {handoffs: 40, visits_per_phase: 0, ping_pong: 0}")
        .tell("deep/review", never_content(9))
        .play();
    let asked = asked(&play).expect("a person is asked");
    assert!(asked.contains("4 handoffs were made; the limit is 4") && !asked.contains("in deep"), "{asked}");
}

#[test]
fn what_is_usual_does_not_stand_against_what_a_nested_workflow_allows() {
    let visits = |outer: &str, inner: &str| {
        let play = play(outer, &format!("limits: {{ping_pong: 0, {inner}}}")).tell("deep/review", never_content(9));
        asked(&play.play()).expect("a person is asked")
    };
    assert!(visits("", "visits_per_phase: 5").contains("the phase deep/build was visited 5 times; the limit is 5"));
    assert!(visits("", "").contains("visited 3 times; the limit is 3"), "the usual limit holds where nobody says more");
    let outer = "limits: {visits_per_phase: 2}";
    assert!(visits(outer, "visits_per_phase: 5").contains("visited 2 times; the limit is 2"));
}

#[test]
fn same_failure_is_counted_by_the_innermost_workflow_that_says_how_often() {
    let attempts = |outer: &str, inner: &str| {
        let play = play(outer, inner).tell("deep/build", vec![Act::Fails("no compiler"); 9]).play();
        play.find("deep.build.1").attempts
    };
    assert_eq!(attempts("", ""), 3);
    assert_eq!(attempts("", "limits: {same_failure: 5}"), 5);
    assert_eq!(attempts("limits: {same_failure: 2}", "limits: {same_failure: 5}"), 2);
}

#[test]
fn revising_at_a_limit_counts_anew_inside_as_well() {
    let play = play("", "limits: {handoffs: 3, visits_per_phase: 0}")
        .tell("deep/review", never_content(2))
        .tell("deep/build?limit", [answers("revise")])
        .play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
}

#[test]
fn tokens_and_time_of_a_nested_workflow_are_limited() {
    let spent = Act::Says(json!({"outcome": "complete", "summary": "Wrote it.", "tokens_used": 900}));
    let by_tokens = play("", "limits: {tokens: 500}").tell("plan", [spent.clone()]).tell("deep/build", [spent]).play();
    let title = asked(&by_tokens).expect("a person is asked");
    assert!(title.contains("in deep: 9"), "{title}");
    let slow = Act::Takes(std::time::Duration::from_secs(90));
    let by_time = play("", "limits: {wall_clock: 60s}").tell("plan", [slow.clone()]).tell("deep/build", [slow]).play();
    let title = asked(&by_time).expect("a person is asked");
    assert!(title.contains("in deep: it has taken 9"), "{title}");
}

#[test]
fn output_goes_where_the_innermost_workflow_says() {
    let place = |outer: &str, inner: &str, step: &str| {
        let prompt = play(outer, inner).recording().play().prompt(step).text.clone();
        let line = prompt.lines().find(|line| line.contains("OUTPUT_DIRECTORY: ")).expect("a place").to_owned();
        line.rsplit_once(' ').expect("a path").1.to_owned()
    };
    let outer = "inputs: {title: {default: Login Page}}\noutput_directory: 'out/{{ inputs.title | slug }}'";
    assert_eq!(place(outer, "output_directory: 'deep/{{ run.workflow }}'", "deep.build.1"), "deep/inner");
    assert_eq!(place(outer, "output_directory: 'deep/{{ run.workflow }}'", "plan.1"), "out/login-page");
    assert_eq!(place(outer, "", "deep.build.1"), "out/login-page", "its template speaks of the inputs of its own run");
}

#[test]
fn smallest_summary_around_a_report_counts() {
    let tokens = |outer: &str, inner: &str| {
        let play = play(&format!("limits: {{{outer}}}"), &format!("limits: {{{inner}}}"));
        settings_of_phase(&play.run.definition, "deep/build", &Settings::default()).summary_tokens
    };
    assert_eq!(tokens("summary_tokens: 100", "summary_tokens: 400"), 100);
    assert_eq!(tokens("summary_tokens: 400", "summary_tokens: 100"), 100);
    assert_eq!(tokens("summary_tokens: 100", ""), 100);
    assert_eq!(tokens("summary_tokens: 100", "summary_tokens: 0"), 100);
    assert_eq!(tokens("", ""), Settings::default().summary_tokens);
}

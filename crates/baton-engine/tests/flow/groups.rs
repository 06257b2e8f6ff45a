//! Groups: phases at the same time, once for each item, workflows inside workflows, and what comes out of them.

use serde_json::{Value, json};

use crate::play::{Act, Play, definition};
use crate::telling::{answers, approves, assert_story, blocked, complete, findings, rejects, verdict};

const AGENTS: &str = "agents: {dev: {command: [./d], retry: {max_retries: 0}}, ops: {command: [./o]}}";

fn flow(phases: &str) -> String {
    format!("name: f\n{AGENTS}\nphases:\n{phases}")
}

fn quality(pass_when: &str) -> String {
    flow(&format!(
        "  - {{id: build, agent: dev}}
  - {{id: quality, pass_when: {pass_when}, on_failure: stop, parallel: [{{id: lint, check: 'true'}}, {{id: unit, check: 'true'}}, {{id: audit, agent: ops}}]}}
  - {{id: ship, agent: ops}}"
    ))
}

#[test]
fn branches_run_at_the_same_time_and_are_judged_together() {
    let play = Play::of(&quality("all_must_pass")).tell("quality/audit", [complete("Nothing found.")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> quality
         quality.1 to group
         quality.lint.1 to check
         quality.unit.1 to check
         quality.audit.1 to ops
         quality.lint.1 -> end
         quality.unit.1 -> end
         quality.audit.1 -> end
         quality.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    assert_eq!(
        findings(&play, "quality.1"),
        json!({
            "results": [
                {"task_id": "r.quality.lint.1", "type": "lint", "passed": true, "summary": "The check passed."},
                {"task_id": "r.quality.unit.1", "type": "unit", "passed": true, "summary": "The check passed."},
                {"task_id": "r.quality.audit.1", "type": "audit", "passed": true, "summary": "Nothing found."},
            ],
            "aggregation": {"total": 3, "passed": 3, "failed": 0, "rule": "all_must_pass", "overall_passed": true},
        })
    );
}

#[test]
fn rule_decides_whether_a_group_passes() {
    let rules: [(&str, [bool; 4]); 4] = [
        ("all_must_pass", [false, false, false, true]),
        ("any_pass", [false, true, true, true]),
        ("majority_pass", [false, false, true, true]),
        ("{at_least: 1}", [false, true, true, true]),
    ];
    for (rule, outcomes) in rules {
        for (passing, expected) in outcomes.into_iter().enumerate() {
            let audit = if passing > 2 { complete("ok") } else { verdict("rejected", "bad") };
            let play = Play::of(&quality(rule))
                .tell("quality/lint", [Act::Exits(passing > 0)])
                .tell("quality/unit", [Act::Exits(passing > 1)])
                .tell("quality/audit", [audit])
                .play();
            let found = findings(&play, "quality.1");
            let aggregation = &found["aggregation"];
            assert_eq!(aggregation["overall_passed"], expected, "{rule} with {passing}");
            assert_eq!((&aggregation["passed"], &aggregation["failed"]), (&json!(passing), &json!(3 - passing)));
            assert_eq!(play.story().ends_with("completed"), expected, "{rule} with {passing}:\n{}", play.story());
        }
    }
}

#[test]
fn group_that_did_not_pass_goes_back_to_the_agent_before_it() {
    let text = quality("all_must_pass").replace("on_failure: stop, ", "");
    let play = Play::of(&text).recording().tell("quality/unit", [Act::Exits(false)]).play();
    assert!(
        play.story().contains("quality.1 -> build\nbuild.2 to dev\nbuild.2 -> quality\nquality.2 to group"),
        "{}",
        play.story()
    );
    assert!(play.story().ends_with("quality.2 -> ship\nship.1 to ops\nship.1 -> end\ncompleted"), "{}", play.story());
    let told = &play.prompt("build.2").text;
    assert!(told.contains("2 of 3 passed; failed: unit") && told.contains("The check failed"), "{told}");
}

#[test]
fn group_whose_reviews_were_never_given_asks_a_person() {
    let agents = "agents: {dev: {command: [./d]}, rev: {command: [./r], retry: {max_retries: 0}}}";
    let text = format!(
        "name: f\n{agents}\nphases:\n  - {{id: build, agent: dev}}\n  - {{id: looks, pass_when: all_must_pass, parallel: \
         [{{id: one, agent: rev, kind: review}}, {{id: two, agent: rev, kind: review}}]}}"
    );
    for text in
        [&text, &text.replace(", kind: review", ""), &text.replace("all_must_pass", "all_must_pass, on_failure: build")]
    {
        let approved = verdict("APPROVED", "fine");
        let play = Play::of(text).tell("looks/one", [Act::Fails("exit 3")]).tell("looks/two", [approved]).play();
        assert!(play.story().ends_with("looks.failure.1 waits for a person"), "{text}: {}", play.story());
        assert_eq!(play.run.visits("build"), 1, "nobody has asked for changes");
        let play = Play::of(text)
            .recording()
            .tell("looks/one", [Act::Fails("exit 3")])
            .tell("looks/two", [verdict("CHANGES_REQUESTED", "too slow"), verdict("APPROVED", "fine")])
            .play();
        assert_eq!(play.run.visits("build"), 2, "one of them was given, and it counts: {text}: {}", play.story());
        let told = &play.prompt("build.2").text;
        assert!(
            told.contains("too slow") && !told.contains("`rev` failed"),
            "whoever builds cannot change that: {told}"
        );
        assert_eq!(told.matches("too slow").count(), 1, "it is told once: {told}");
        assert!(told.contains("The work did not pass. Who asked for changes has said below which."), "{told}");
    }
}

#[test]
fn agent_that_gives_up_fails_its_branch_only() {
    let text = flow(
        "  - {id: both, pass_when: any_pass, parallel: [{id: one, agent: dev}, {id: two, agent: ops}]}\n  - {id: ship, agent: ops}",
    );
    let play = Play::of(&text).tell("both/one", [Act::Fails("exit 3")]).play();
    assert_story(
        &play,
        "both.1 to group
         both.one.1 to dev
         both.two.1 to ops
         both.one.1 fails
         both.one.1 -> stop
         both.two.1 -> end
         both.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
}

#[test]
fn people_are_asked_inside_of_branches() {
    let text = flow(
        "  - id: both
    parallel:
      - {id: ok, gate: {items: [speed]}}
      - {id: two, agent: dev, on_failure: gate}
      - {id: three, agent: ops, review: blocking}
  - {id: ship, agent: ops}",
    );
    let play = Play::of(&text).tell("both/two", [Act::Fails("exit 3")]).play();
    assert_story(
        &play,
        "both.1 to group
         both.ok.1 to human
         both.two.1 to dev
         both.three.1 to ops
         both.two.1 fails
         both.two.1 -> human
         both.two.failure.1 to human
         both.ok.1 waits for a person
         both.three.1 waits for a person
         both.two.failure.1 waits for a person",
    );
    let play = Play::of(&text)
        .tell("both/two", [Act::Fails("exit 3")])
        .tell("both/two?failure", [answers("retry")])
        .tell("both/ok?", [approves()])
        .tell("both/three?", [approves()])
        .play();
    assert!(play.story().ends_with("both.1 -> ship\nship.1 to ops\nship.1 -> end\ncompleted"), "{}", play.story());
    assert_eq!(findings(&play, "both.1")["aggregation"]["passed"], 3);
    let play = Play::of(&text).tell("both/ok?", [rejects("No.")]).tell("both/three?", [approves()]).play();
    assert_eq!(findings(&play, "both.1")["aggregation"]["passed"], 2, "{}", play.story());
}

#[test]
fn blocked_agent_in_a_branch_is_helped() {
    let text = flow(
        "  - {id: both, parallel: [{id: one, agent: dev}, {id: two, agent: ops}]}\nroutes: [{agent: dev, reason: lost, to: ops}]",
    );
    let play = Play::of(&text).tell("both/one", [blocked("lost")]).play();
    assert_story(
        &play,
        "both.1 to group
         both.one.1 to dev
         both.two.1 to ops
         both.one.1 -> ops
         both.one.ops.1 to ops
         both.two.1 -> end
         both.one.1 resumed by ops
         both.one.ops.1 -> r.both.one.1
         both.one.1 -> end
         both.1 -> end
         completed",
    );
}

const TOOLS: &str = "  - {id: scout, agent: ops}
  - id: tools
    foreach: phases.scout.verification.tools
    as: tool
    phases:
      - {id: design, agent: dev, task: 'Design {{ tool }}'}
      - {id: test, check: 'true'}
  - {id: ship, agent: ops}";

fn scouts(tools: &Value) -> Act {
    Act::Says(json!({"outcome": "complete", "verification": {"tools": tools}}))
}

#[test]
fn phases_run_once_for_each_item() {
    let play = Play::of(&flow(TOOLS)).tell("scout", [scouts(&json!(["get-issue", "list"]))]).play();
    assert_story(
        &play,
        "scout.1 to ops
         scout.1 -> tools
         tools.1 to group
         tools.get-issue.design.1 to dev
         tools.list.design.1 to dev
         tools.get-issue.design.1 -> tools/get-issue/test
         tools.get-issue.test.1 to check
         tools.list.design.1 -> tools/list/test
         tools.list.test.1 to check
         tools.get-issue.test.1 -> end
         tools.list.test.1 -> end
         tools.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    let asked = play.find("tools.get-issue.design.1").asked().unwrap();
    assert_eq!(asked.instructions.as_deref(), Some("Design get-issue"));
    assert_eq!(findings(&play, "tools.1")["aggregation"]["total"], 2);
}

#[test]
fn list_without_items_is_done_at_once() {
    let play = Play::of(&flow(TOOLS)).tell("scout", [scouts(&json!([]))]).play();
    assert_story(
        &play,
        "scout.1 to ops
         scout.1 -> tools
         tools.1 to group
         tools.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    let counted = flow(TOOLS).replace("as: tool\n", "as: tool\n    pass_when: {at_least: 1}\n");
    let play = Play::of(&counted).tell("scout", [scouts(&json!([]))]).play();
    assert!(counted.contains("at_least") && !play.story().contains("ship.1"), "nobody has passed: {}", play.story());
}

#[test]
fn items_of_the_same_name_are_kept_apart() {
    let tools = json!(["a b", "a-b", "a/b", {"id": "a b", "size": 1}, 7, 7, "a-b-2", "", "c-11", "c", "c"]);
    let play = Play::of(&flow(TOOLS)).tell("scout", [scouts(&tools)]).play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
    let designs = play.run.handoffs().filter(|tracked| tracked.step.phase.ends_with("/design"));
    let mut paths: Vec<&str> = designs.map(|tracked| tracked.step.phase.as_str()).collect();
    assert_eq!(paths.len(), 11, "{paths:?}");
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), 11, "{paths:?}");
    assert_eq!(findings(&play, "tools.1")["aggregation"]["passed"], 11);
}

#[test]
fn no_more_items_at_once_than_allowed() {
    let text = flow(&TOOLS.replace("    as: tool\n", "    as: tool\n    at_once: 2\n"));
    let mut play = Play::of(&text).tell("scout", [scouts(&json!(["a", "b", "c", "d", "e"]))]);
    let mut most = 0;
    while play.advance() {
        let open = play.run.open().filter(|tracked| tracked.step.phase.starts_with("tools/"));
        most = most.max(open.count());
    }
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert_eq!(most, 2);
}

#[test]
fn eight_items_are_worked_on_at_once_unless_the_workflow_says_otherwise() {
    let tools: Vec<String> = (0..20).map(|number| format!("t{number}")).collect();
    let most = |at_once: &str| {
        let text = flow(&TOOLS.replace("    as: tool\n", &format!("    as: tool\n{at_once}")));
        let text = format!("{text}\nlimits: {{handoffs: 0}}");
        let mut play = Play::of(&text).tell("scout", [scouts(&json!(tools))]);
        let mut most = 0;
        while play.advance() {
            most = most.max(play.run.open().filter(|tracked| tracked.step.phase.starts_with("tools/")).count());
        }
        assert!(play.story().ends_with("completed"), "{}", play.story());
        most
    };
    assert_eq!((most(""), most("    at_once: 0\n"), most("    at_once: 3\n")), (8, 20, 3));
}

#[test]
fn item_is_left_out_when_its_turn_comes() {
    let items = "[{id: a, on: false}, {id: b, on: true}, {id: c, on: false}, {id: d, on: true}, {id: e, on: false}]";
    let text = flow(
        "  - id: each\n    foreach: inputs.list\n    at_once: 1\n    phases: [{id: one, agent: dev, when: item.on}]",
    )
    .replace("name: f\n", &format!("name: f\ninputs: {{list: {{default: {items}}}}}\n"));
    let play = Play::of(&text).play();
    assert_story(
        &play,
        "each.1 to group
         each.b.one.1 to dev
         each.b.one.1 -> end
         each.d.one.1 to dev
         each.d.one.1 -> end
         each.1 -> end
         completed",
    );
    assert_eq!(findings(&play, "each.1")["aggregation"]["total"], 2);
}

#[test]
fn check_that_fails_goes_back_within_its_item() {
    let play = Play::of(&flow(TOOLS))
        .tell("scout", [scouts(&json!(["a", "b"]))])
        .tell("tools/a/test", [Act::Exits(false)])
        .play();
    assert!(play.story().contains("tools.a.test.1 -> tools/a/design\ntools.a.design.2 to dev"), "{}", play.story());
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert_eq!(play.run.visits("tools/b/design"), 1);
}

#[test]
fn what_is_no_list_stops_the_run_with_the_reason() {
    let play = Play::of(&flow(TOOLS)).tell("scout", [scouts(&json!("a"))]).play();
    assert!(
        play.story().contains("failed: phase tools: `foreach: phases.scout.verification.tools` is not a list"),
        "{}",
        play.story()
    );
}

const INNER: &str = "name: inner
inputs: {feature: {required: true}}
agents: {worker: {command: [./w]}, boss: {command: [./b]}}
phases:
  - {id: draft, agent: worker, task: 'Draft {{ inputs.feature }}'}
  - {id: ok, gate: {}}
  - {id: final, agent: boss}";

#[test]
fn workflow_runs_as_a_phase_and_its_gate_comes_up() {
    let outer = flow(
        "  - {id: plan, agent: dev}\n  - {id: deep, workflow: inner.yaml, inputs: {feature: phases.plan.summary}}\n  - {id: ship, agent: ops}",
    );
    let outer = definition(&outer, &[("inner.yaml", INNER)], json!({}));
    let begin = || Play::with(&outer).tell("plan", [complete("login")]);
    let play = begin().play();
    assert_story(
        &play,
        "plan.1 to dev
         plan.1 -> deep
         deep.1 to group
         deep.draft.1 to worker
         deep.draft.1 -> deep/ok
         deep.ok.1 to human
         deep.ok.1 waits for a person",
    );
    assert_eq!(play.find("deep.draft.1").asked().unwrap().instructions.as_deref(), Some("Draft login"));
    let play = begin().tell("deep/ok?", [rejects("Longer."), approves()]).play();
    assert!(
        play.story().ends_with(
            "deep.ok.1 rejected: Longer.\ndeep.ok.1 -> deep/draft\ndeep.draft.2 to worker\ndeep.draft.2 -> deep/ok\n\
             deep.ok.2 to human\ndeep.ok.2 approved\ndeep.ok.2 -> deep/final\ndeep.final.1 to boss\n\
             deep.final.1 -> end\ndeep.1 -> ship\nship.1 to ops\nship.1 -> end\ncompleted"
        ),
        "{}",
        play.story()
    );
}

#[test]
fn workflow_in_a_foreach_in_a_branch() {
    let outer = flow(
        "  - id: all
    parallel:
      - {id: lint, check: 'true'}
      - id: each
        foreach: inputs.names
        as: name
        phases: [{id: deep, workflow: inner.yaml, inputs: {feature: name}}]
  - {id: ship, agent: ops}",
    );
    let outer = outer.replace("name: f\n", "name: f\ninputs: {names: {default: [x, y]}}\n");
    let outer = definition(&outer, &[("inner.yaml", INNER)], json!({}));
    let play =
        Play::with(&outer).tell("all/each/x/deep/ok?", [approves()]).tell("all/each/y/deep/ok?", [approves()]).play();
    assert!(
        play.story().ends_with("all.each.1 -> end\nall.1 -> ship\nship.1 to ops\nship.1 -> end\ncompleted"),
        "{}",
        play.story()
    );
    let drafts = play.find("all.each.y.deep.draft.1").asked().unwrap();
    assert_eq!(drafts.instructions.as_deref(), Some("Draft y"));
    assert_eq!(findings(&play, "all.1")["aggregation"]["passed"], 2);
}

#[test]
fn stop_at_a_limit_in_a_group_stops_the_run() {
    let text =
        flow("  - {id: each, foreach: inputs.names, phases: [{id: t, check: 'true'}]}\nlimits: {visits_per_phase: 1}");
    let text = text.replace("name: f\n", "name: f\ninputs: {names: {default: [x]}}\n");
    let play = Play::of(&text)
        .tell("each/x/t", [Act::Exits(false)])
        .tell("each/x/t?failure", [answers("retry")])
        .tell("each/x/t?limit", [answers("stop")])
        .play();
    assert!(play.story().contains("each.x.t.limit.1 -> stop\n"), "{}", play.story());
    assert!(play.run.is_finished() && !play.story().ends_with("completed"), "{}", play.story());
}

#[test]
fn limit_while_a_branch_is_blocked_does_not_hold_it_afterwards() {
    let text = flow(
        "  - {id: both, parallel: [{id: one, agent: dev}, {id: two, agent: ops}]}\nroutes: [{agent: dev, reason: lost, to: ops}]\nlimits: {handoffs: 3}",
    );
    let play = Play::of(&text).tell("both/one", [blocked("lost")]).tell("both/one?limit", [answers("continue")]).play();
    assert!(play.story().ends_with("both.one.1 -> end\nboth.1 -> end\ncompleted"), "{}", play.story());
}

#[test]
fn branch_cannot_lead_to_another_one() {
    let text = flow(
        "  - {id: both, pass_when: any_pass, parallel: [{id: one, check: 'true'}, {id: which, gate: {choices: {again: one, go: next}}}]}",
    );
    let play = Play::of(&text).tell("both/which?", [answers("again")]).play();
    assert!(play.story().contains("both.which.1 -> stop") && play.story().ends_with("completed"), "{}", play.story());
    let why = &play.find("both.which.1").route.as_ref().unwrap().why;
    assert!(why.contains("both/one runs at the same time"), "{why}");
}

#[test]
fn every_phase_of_an_item_can_be_left_out() {
    let text = flow(
        "  - {id: each, foreach: inputs.names, as: name, phases: [{id: a, agent: dev, when: \"name == 'x'\"}, {id: b, agent: ops, when: \"name == 'y'\"}]}\n  - {id: ship, agent: ops}",
    );
    let text = text.replace("name: f\n", "name: f\ninputs: {names: {default: [x, y, z]}}\n");
    let play = Play::of(&text).play();
    assert!(play.story().ends_with("completed"), "{}", play.story());
    assert_eq!(
        (play.run.visits("each/x/a"), play.run.visits("each/x/b"), play.run.visits("each/y/b")),
        (1, 0, 1),
        "{}",
        play.story()
    );
    assert_eq!((play.run.visits("each/z/a"), play.run.visits("each/z/b")), (0, 0), "{}", play.story());
}

#[test]
fn branch_is_left_out_when_its_condition_does_not_hold() {
    let text = flow(
        "  - {id: both, parallel: [{id: one, agent: dev, when: 'false'}, {id: two, agent: ops}]}\n  - {id: ship, agent: ops}",
    );
    let play = Play::of(&text).play();
    assert_story(
        &play,
        "both.1 to group
         both.two.1 to ops
         both.two.1 -> end
         both.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
}

#[test]
fn whoever_judges_in_a_group_or_is_called_reviewer_is_told_how_to_say_no() {
    let members = "parallel: [{id: safe, agent: s}, {id: fast, agent: s, writes: [docs/**]}]";
    let prompts = |dialect: &str, group: &str| {
        let agents = format!("agents: {{dev: {{command: [./d]}}, s: {{command: [./s], dialect: {dialect}}}}}");
        let phases =
            format!("  - {{id: build, agent: dev}}\n  - {{id: looks, {group}{members}}}\n  - {{id: review, agent: s}}");
        let play = Play::of(&format!("name: f\n{agents}\nphases:\n{phases}\n")).recording().play();
        ["looks.safe.1", "looks.fast.1", "review.1"].map(|step| play.prompt(step).text.clone())
    };
    for dialect in ["native", "metadata-block", "phase-block", "mailbox"] {
        let told = prompts(dialect, "pass_when: all_must_pass, ").map(|prompt| prompt.contains("CHANGES_REQUESTED"));
        assert_eq!(told, [true, false, true], "{dialect}");
        let told = prompts(dialect, "").map(|prompt| prompt.contains("CHANGES_REQUESTED"));
        assert_eq!(told, [false, false, true], "{dialect}: a group of workers");
    }
    let told = prompts("task", "pass_when: all_must_pass, ").map(|prompt| prompt.contains("overall_passed"));
    assert_eq!(told, [true, false, true]);
}

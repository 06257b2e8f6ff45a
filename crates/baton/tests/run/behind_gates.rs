//! Going back does not lead around a gate: what a person has not approved as it is now is asked again.

use serde_json::{Value, json};

use crate::again::{NEEDS_A_TOOL, digest};
use crate::site::{RUN, Site, find};

const GATED: &str = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: sign-off, gate: {items: [the design]}, on_failure: stop}
  - {id: build, agent: dev, on_failure: stop}
";

/// Writes a design, and fails in the phase `build`.
const DESIGNS: &str = r#"
if ".build." in os.environ["BATON_HANDOFF_ID"]:
    sys.exit("cannot find the tool")
write("design.md", "as small as can be")
report(artifacts=["design.md"])
"#;

pub(crate) fn decided(site: &Site, verb: &[&str]) {
    let shown = digest(site, "t.sign-off.1");
    let words = [verb, &["t.sign-off.1", "--yes", "--shown", &shown]].concat();
    let decided = site.baton(&words);
    assert_eq!(decided.code, Some(0), "{}", decided.stderr);
}

#[test]
fn nobody_gets_past_a_gate_by_beginning_behind_it() {
    let site = Site::new().workflow(GATED).agent("dev", DESIGNS);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    for from in ["before", "after"] {
        let before = site.journal();
        let refused = site.resume(&["--from", "build"]);
        assert_eq!(refused.code, Some(1), "{from} the rejection: {}", refused.stderr);
        assert!(refused.stderr.contains("has not reached `build` yet; it is at `sign-off`"), "{}", refused.stderr);
        assert_eq!(site.journal(), before, "nothing has changed");
        if from == "before" {
            decided(&site, &["reject", "--feedback", "too small"]);
            assert_eq!(site.resume(&[]).code, Some(1), "it is stopped");
        }
    }
    let asked = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(asked.code, Some(3), "the gate itself is asked again: {}", asked.stderr);
}

/// Fails in `ship`, and in `fix` after it has patched what was approved.
const PATCHES: &str = r#"
me = os.environ["BATON_HANDOFF_ID"]
if ".fix." in me:
    write("patch", "nobody has seen this")
if ".ship." in me or ".fix." in me:
    sys.exit("cannot find the tool")
report()
"#;

#[test]
fn run_goes_back_with_other_inputs() {
    let flow = "name: again
inputs: {target: {required: true}, speed: {default: slow}}
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev, task: 'For {{ inputs.target }}, {{ inputs.speed }}.'}
  - {id: build, agent: dev, task: 'For {{ inputs.target }}, {{ inputs.speed }}.', on_failure: stop}
";
    let site = Site::new().workflow(flow).agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&["--input", "target=test"]).code, Some(1));
    let before = site.journal();
    for (wrong, why) in [("taget=x", "no input `taget`"), ("target", "NAME=VALUE")] {
        let refused = site.resume(&["--from", "build", "--input", wrong]);
        assert_eq!(refused.code, Some(2), "{wrong}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        assert_eq!(site.journal(), before, "nothing has changed");
    }
    site.scratch.write("workspace/tool", "");
    let ended = site.resume(&["--from", "build", "--input", "target=staging"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let prompt = site.read(site.attempt("build.2", baton_engine::Fence(1)).join("prompt.md"));
    assert!(prompt.contains("For staging, slow."), "{prompt}");
    let log = site.baton(&["log", RUN]).stdout;
    assert!(log.contains("starts again from build with target=staging"), "{log}");
    let shown: Value = serde_json::from_str(&site.baton(&["show", RUN, "--json"]).stdout).unwrap();
    assert_eq!(shown["inputs"], json!({ "target": "staging", "speed": "slow" }));
    assert_eq!(site.baton(&["audit", "verify", RUN]).code, Some(0));
}

#[test]
fn approval_counts_only_for_the_inputs_that_a_person_saw() {
    let flow = "name: again
inputs: {target: {required: true}}
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: design, agent: dev}
  - {id: sign-off, gate: {items: [the build]}}
  - {id: build, agent: dev, on_failure: stop}
";
    let site = Site::new().workflow(flow).agent("dev", NEEDS_A_TOOL);
    assert_eq!(site.run(&["--input", "target=test"]).code, Some(3));
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
    let before = site.journal();
    let refused = site.resume(&["--from", "build", "--input", "target=production"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("comes after `sign-off`, where a person decides"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--from sign-off"), "{}", refused.stderr);
    assert_eq!(site.journal(), before, "nothing has changed");
    let asked = site.resume(&["--from", "sign-off", "--input", "target=production"]);
    assert_eq!(asked.code, Some(3), "a person is asked again: {}", asked.stderr);
    let shown = site.baton(&["show", "t.sign-off.2"]).stdout;
    assert!(shown.contains("inputs    target: production"), "{shown}");
}

#[test]
fn approval_does_not_cover_what_was_done_on_the_way_back_to_the_gate() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: sign-off, gate: {items: [the build]}}
  - {id: ship, agent: dev, on_failure: fix, next: end}
  - {id: fix, agent: dev, on_failure: stop, next: sign-off}
";
    let site = Site::new().workflow(flow).agent("dev", PATCHES);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the fix fails");
    let before = site.journal();
    let refused = site.resume(&["--from", "ship"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let told = "`sign-off` comes before `ship` and has not approved what the run has done since";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
    assert_eq!(site.journal(), before, "nothing has changed");
    let asked = site.resume(&["--from", "sign-off"]);
    assert_eq!(asked.code, Some(3), "the gate itself is asked again: {}", asked.stderr);
}

#[test]
fn gate_that_was_left_out_the_first_time_guards_what_follows_it() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: sign-off, when: \"phases.build.visits > 1\", gate: {items: [the build]}, on_failure: stop}
  - {id: ship, agent: dev, on_failure: build}
";
    let site = Site::new().workflow(flow).agent("dev", PATCHES);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "the second build must be approved: {}", asked.stderr);
    assert_eq!(find(&site.told(), "sign-off.1").step.visit, 1);
    for from in ["before", "after"] {
        let refused = site.resume(&["--from", "ship"]);
        assert_eq!(refused.code, Some(1), "{from} the rejection: {}", refused.stderr);
        assert!(refused.stderr.contains("`sign-off` comes before `ship`"), "{}", refused.stderr);
        if from == "before" {
            decided(&site, &["reject", "--feedback", "too small"]);
            assert_eq!(site.resume(&[]).code, Some(1), "it is stopped");
        }
    }
    assert_eq!(site.resume(&["--from", "build"]).code, Some(3), "what comes before the gate is free");
}

#[test]
fn failed_phase_does_not_lead_around_a_gate_that_its_report_would_have_led_to() {
    let agents = "name: again\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n";
    let left_out = "phases:
  - {id: fix, agent: dev, on_failure: stop}
  - {id: sign-off, when: phases.fix.passed, gate: {items: [the build]}}
  - {id: release, agent: dev}
";
    let routed = "routes: [{agent: dev, status: complete, phase: sign-off}]
phases:
  - {id: fix, agent: dev, on_failure: stop}
  - {id: release, agent: dev, next: end}
  - {id: sign-off, gate: {items: [the build]}, next: release}
";
    for flow in [left_out, routed] {
        let site = Site::new().workflow(&format!("{agents}{flow}")).agent("dev", PATCHES);
        assert_eq!(site.run(&[]).code, Some(1), "the fix fails");
        let refused = site.resume(&["--from", "release"]);
        assert_eq!(refused.code, Some(1), "{flow}: {}", refused.stderr);
        assert!(refused.stderr.contains("has not reached `release` yet; it is at `fix`"), "{}", refused.stderr);
    }
}

#[test]
fn phase_whose_report_was_not_found_good_is_not_skipped() {
    let agents = "name: again\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n";
    let unsure = ("{id: build, agent: dev}", "report(outcome='partial')", 3);
    let rejects = ("{id: build, agent: dev, kind: review, on_failure: stop}", "report(verdict='CHANGES_REQUESTED')", 1);
    let red = ("{id: build, check: 'exit 1', on_failure: stop}", "report()", 1);
    for (phase, body, code) in [unsure, rejects, red] {
        let flow = format!("{agents}phases:\n  - {phase}\n  - {{id: release, check: 'true'}}\n");
        let site = Site::new().workflow(&flow).agent("dev", body);
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(code), "{phase}: {}", ended.stderr);
        for again in ["as it ended", "after it was cancelled"] {
            let refused = site.resume(&["--from", "release"]);
            assert_eq!(refused.code, Some(1), "{phase} {again}: {}", refused.stderr);
            assert!(refused.stderr.contains("has not reached `release` yet; it is at `build`"), "{}", refused.stderr);
            site.baton(&["cancel", RUN]);
        }
    }
}

#[test]
fn phase_that_says_no_the_second_time_is_not_skipped() {
    let flow = "name: again
agents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}
phases:
  - {id: build, agent: dev}
  - {id: look, agent: dev, kind: review, on_failure: stop}
  - {id: ship, agent: dev, on_failure: build}
";
    let body = r#"
me = os.environ["BATON_HANDOFF_ID"]
if ".ship." in me:
    sys.exit("cannot find the tool")
report(verdict="CHANGES_REQUESTED" if ".look.2" in me else "APPROVED" if ".look." in me else None)
"#;
    let site = Site::new().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "the second look says no: {}", ended.stderr);
    let refused = site.resume(&["--from", "ship"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("`look` comes before `ship`"), "{}", refused.stderr);
    assert_eq!(site.resume(&["--from", "look"]).code, Some(3), "it can be looked at again, and visits are limited");
}

#[test]
fn what_was_approved_and_has_changed_since_must_be_approved_again() {
    let site = Site::new().workflow(GATED).agent("dev", DESIGNS);
    assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
    decided(&site, &["approve"]);
    assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
    site.scratch.write("workspace/design.md", "as large as can be");
    let refused = site.baton(&["retry", RUN, "--no-input"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("but `design.md` has changed since it was shown"), "{}", refused.stderr);
    assert!(refused.stderr.contains("baton resume t --from sign-off"), "{}", refused.stderr);
    site.scratch.write("workspace/design.md", "as small as can be");
    assert_eq!(site.baton(&["retry", RUN, "--no-input"]).code, Some(1), "the build fails again");
    assert_eq!(find(&site.told(), "build.2").step.visit, 2, "but it was begun");
}

#[test]
fn what_was_approved_is_compared_two_phases_later_unless_somebody_in_between_may_change_it() {
    let gated = |writes: &str| {
        let check =
            format!("  - {{id: tidy, check: 'true'{writes}}}\n  - {{id: build, agent: dev, on_failure: stop}}\n");
        let flow = GATED.replace("  - {id: build, agent: dev, on_failure: stop}\n", &check);
        let site = Site::new().workflow(&flow).agent("dev", DESIGNS);
        assert_eq!(site.run(&[]).code, Some(3), "a person must decide");
        decided(&site, &["approve"]);
        assert_eq!(site.resume(&[]).code, Some(1), "the build fails");
        site.scratch.write("workspace/design.md", "as large as can be");
        site.baton(&["retry", RUN, "--no-input"]).stderr
    };
    for nobody in [", writes: []", ", writes: ['src/**']"] {
        let refused = gated(nobody);
        assert!(refused.contains("but `design.md` has changed since it was shown"), "{nobody}: {refused}");
        assert!(refused.contains("baton resume t --from sign-off"), "{refused}");
    }
    for may in ["", ", writes: ['*.md']"] {
        let begun = gated(may);
        assert!(begun.contains("t starts again from build"), "{may}: {begun}");
    }
}

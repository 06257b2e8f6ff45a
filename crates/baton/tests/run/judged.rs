//! What makes a report of a run wrong: somebody else's name, another phase, evidence that contradicts it; and what a
//! workflow or a project lets pass.

use baton_engine::Fence;
use baton_engine::State;

use crate::site::{RUN, Site, find};

/// An agent that hands in a phase block. `said` changes its members.
fn reporter(said: &str) -> String {
    format!(
        r#"
import datetime
now = datetime.datetime.now(datetime.timezone.utc)
block = {{"agent": "dev", "output_type": "implementation", "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "feature_directory": os.environ["BATON_OUTPUT_DIRECTORY"], "skills_invoked": [], "status": "complete",
    "phase": "implementation", "summary": "Wrote src/quota.rs, which counts calls per tenant; 14 tests pass.",
    "verification": {{"tests_passed": True}},
    "handoff": {{"next_phase": "complete", "next_agent": None, "context": "Quota::count in src/quota.rs is ready."}}}}
{said}
write(os.environ["BATON_REPORT_FILE"], "Log\n\n```json\n" + json.dumps(block, indent=2) + "\n```\n")
"#
    )
}

fn flow(phase: &str, more: &str) -> String {
    format!(
        "name: judged\nagents: {{dev: {{command: [./dev.py], dialect: phase-block, retry: {{max_retries: 0}}}}}}\n\
         phases: [{{id: {phase}, agent: dev}}]\n{more}"
    )
}

fn site(phase: &str, more: &str, said: &str) -> Site {
    Site::new().workflow(&flow(phase, more)).agent("dev", &reporter(said))
}

#[track_caller]
fn assert_accepted(site: &Site) {
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[track_caller]
fn assert_refused(site: &Site, phase: &str, words: &[&str]) {
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "a person is asked\n{}", ended.stderr);
    let run = site.told();
    let handoff = &find(&run, &format!("{phase}.1")).handoff;
    assert!(matches!(handoff.state, State::Failed { .. }), "{:?}", handoff.state);
    let failure = handoff.last_failure.as_ref().expect("it failed").to_string();
    for word in words {
        assert!(failure.contains(word), "`{word}` is not in the failure: {failure}");
    }
}

#[test]
fn report_in_the_name_of_another_agent_is_refused() {
    assert_refused(
        &site("implementation", "", r#"block["agent"] = "somebody-else""#),
        "implementation",
        &["report-echo-mismatch", "`somebody-else`", "`dev` did the work"],
    );
    assert_refused(&site("implementation", "", r#"block["agent"] = " ""#), "implementation", &["`agent` is blank"]);
}

#[test]
fn spelling_of_a_name_does_not_matter() {
    assert_accepted(&site("implementation", "", r#"block.update(agent="DEV", phase="Implementation")"#));
}

#[test]
fn report_about_another_phase_is_refused() {
    assert_refused(
        &site("implementation", "", r#"block["phase"] = "review""#),
        "implementation",
        &["report-echo-mismatch", "the phase `review`", "done in `implementation`"],
    );
}

#[test]
fn phase_with_a_name_of_its_own_takes_that_or_a_word_of_the_protocol() {
    for word in ["build", "implementation"] {
        assert_accepted(&site("build", "", &format!("block['phase'] = '{word}'")));
    }
    let other = "block['phase'] = 'shipping'";
    assert_refused(&site("build", "", other), "build", &["`shipping`"]);
}

#[test]
fn time_that_is_rounded_to_the_minute_is_no_lie() {
    assert_accepted(&site("implementation", "", r#"block["timestamp"] = now.strftime("%Y-%m-%dT%H:%M:00Z")"#));
}

#[test]
fn output_that_contradicts_the_tests_is_refused() {
    let said = r#"block["verification"]["command_output"] = "Tests: 15 passed, 3 failed, 18 total""#;
    assert_refused(&site("implementation", "", said), "implementation", &["output-contradicts-claim", "3 failed"]);
}

#[test]
fn limit_of_summary_tokens_counts_in_every_dialect() {
    let said = r#"block["handoff"]["context"] = "Quota::count in src/quota.rs counts calls per tenant. " * 20"#;
    assert_accepted(&site("implementation", "", said));
    let limited = site("implementation", "limits: {summary_tokens: 100}\n", said);
    assert_refused(&limited, "implementation", &["summary-over-budget", "the budget is 100"]);
}

const SKILLED: &str = "name: judged
agents: {dev: {command: [./dev.py], mandatory_skills: [testing-first], retry: {max_retries: 0}}}
phases: [{id: build, agent: dev}]
";

#[test]
fn workflow_may_log_a_missing_skill_instead_of_refusing_it() {
    let strict = Site::new().workflow(SKILLED).agent("dev", "report()");
    assert_refused(&strict, "build", &["skill-missing"]);
    let allow = "allow: [{rule: skill-missing, reason: we only log it}]\n";
    let lenient = Site::new().workflow(&format!("{SKILLED}{allow}")).agent("dev", "report()");
    assert_accepted(&lenient);
    let shown = lenient.baton(&["show", &format!("{RUN}.build.1")]).stdout;
    assert!(shown.contains("skill-missing") && shown.contains("(allowed: we only log it)"), "{shown}");
}

#[test]
fn project_may_log_a_missing_skill_instead_of_refusing_it() {
    for level in ["warning", "off"] {
        let site = Site::new().workflow(SKILLED).agent("dev", "report()");
        site.scratch.write("baton.toml", format!("[rules]\nskill-missing = \"{level}\"\n"));
        assert_accepted(&site);
        let shown = site.baton(&["show", &format!("{RUN}.build.1")]).stdout;
        assert!(shown.contains(&format!("(allowed: skill-missing is set to {level})")), "{shown}");
    }
}

#[test]
fn blocked_report_can_lead_to_a_phase_that_its_agents_and_reasons_fit() {
    let flow = "name: judged
agents: {lead: {command: [./lead.py]}, frontend-dev: {command: [./dev.py]}}
phases: [{id: design, agent: lead}, {id: build, agent: frontend-dev}]
routes: [{agent: 'frontend-*', reason: 'design*', phase: design}]
";
    let dev = r#"
if os.path.exists("asked"):
    report()
else:
    write("asked", "")
    report("blocked", blocked_reason="design_gap", attempted=["read design.md"],
           next={"context": "Which currency do refunds use?"})
"#;
    let site = Site::new().workflow(flow).agent("lead", "report()").agent("dev", dev);
    assert_accepted(&site);
    let run = site.told();
    assert!(matches!(find(&run, "build.1").handoff.state, State::Cancelled { .. }));
    assert!(matches!(find(&run, "build.2").handoff.state, State::Completed { .. }));
    let prompt = site.read(site.attempt("design.2", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("Which currency do refunds use?") && prompt.contains("read design.md"), "{prompt}");
}

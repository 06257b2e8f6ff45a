//! Every row of the built-in table, the order of rows, and that there is always an answer.

use baton_protocol::model::terms::Outcome;
use baton_protocol::workflow::{DEFAULT_ROUTES, HUMAN, Workflow, read};
use proptest::prelude::*;

use super::*;

fn workflow(text: &str) -> Workflow {
    let reading = read(text.as_bytes());
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    reading.workflow.expect("readable")
}

/// A workflow with every agent of the built-in table.
fn everybody() -> Workflow {
    let mut agents: Vec<&str> = DEFAULT_ROUTES.iter().flat_map(|row| [row.agent, row.to]).collect();
    agents.sort_unstable();
    agents.dedup();
    agents.retain(|agent| *agent != "*" && *agent != HUMAN);
    let declared: String = agents.iter().map(|agent| format!("  {agent}: {{queue: true}}\n")).collect();
    workflow(&format!("name: all\nagents:\n{declared}phases: [{{id: a, agent: tool-lead}}]\n"))
}

fn blocked(workflow: &Workflow, agent: &str, reason: &str) -> RoutedReport {
    route(workflow, agent, Outcome::Blocked, Some(reason), None)
}

#[test]
fn built_in_table() {
    let workflow = everybody();
    let agent = |name: &str| Target::Agent(name.to_owned());
    for (who, reason, target) in [
        ("integration-developer", "security_concern", agent("backend-security")),
        ("integration-developer", "architecture_decision", agent("integration-lead")),
        ("integration-developer", "test_failures", agent("backend-tester")),
        ("integration-developer", "missing_requirements", Target::Human),
        ("backend-tester", "missing_test_plan", agent("test-lead")),
        ("backend-reviewer", "implementation_unclear", agent("integration-developer")),
        ("backend-security", "architecture_change_needed", agent("integration-lead")),
        ("tool-developer", "security_concern", agent("tool-lead")),
        ("tool-developer", "architecture_decision", agent("tool-lead")),
        ("tool-developer", "test_failures", agent("tool-tester")),
        ("tool-tester", "security_concern", agent("tool-lead")),
        ("tool-tester", "architecture_decision", agent("tool-lead")),
        ("tool-reviewer", "security_concern", agent("tool-lead")),
        ("tool-reviewer", "architecture_decision", agent("tool-lead")),
        ("tool-reviewer", "test_failures", agent("tool-tester")),
        ("tool-developer", "out_of_scope", Target::Human),
        ("claude", "schema_discovery_failed", Target::Human),
        ("anybody", "missing_requirements", Target::Human),
        ("anybody", "unknown", Target::Human),
        ("Integration_Developer", "SECURITY-CONCERN", agent("backend-security")),
    ] {
        let routed = blocked(&workflow, who, reason);
        assert_eq!(routed.target, target, "{who} {reason}: {}", routed.why);
        assert!(matches!(routed.row, RouteRow::Default(_)), "{who} {reason}");
    }
}

#[test]
fn each_built_in_row_is_the_first_that_fits_it() {
    let workflow = everybody();
    for (index, row) in DEFAULT_ROUTES.iter().enumerate() {
        let agent = if row.agent == "*" { "somebody" } else { row.agent };
        assert_eq!(blocked(&workflow, agent, row.reason).row, RouteRow::Default(index), "{row:?}");
    }
}

#[test]
fn rows_of_the_workflow_come_first_and_the_first_counts() {
    let workflow = workflow(
        "name: a\nagents: {dev: {queue: true}, lead: {queue: true}}\nphases: [{id: p, agent: dev}, {id: q, agent: lead}]\n\
routes:\n  - {agent: dev, reason: legal, to: lead}\n  - {agent: '*', reason: unknown, to: lead}\n  \
- {agent: dev, status: complete, verdict: CHANGES_REQUESTED, phase: p}\n  - {agent: dev, reason: legal, to: human}\n  \
- {agent: dev, reason: nobody, to: ghost}\n  - {agent: dev, reason: nowhere}\n",
    );
    let seen = |status, reason, verdict| route(&workflow, "dev", status, reason, verdict);
    let blocked = |reason| seen(Outcome::Blocked, Some(reason), None);
    assert_eq!(
        (blocked("Legal").target, blocked("legal").row),
        (Target::Agent("lead".to_owned()), RouteRow::Workflow(0))
    );
    assert_eq!(blocked("unknown").row, RouteRow::Workflow(1));
    let changes = seen(Outcome::Complete, None, Some("changes requested"));
    assert_eq!((changes.target, changes.row), (Target::Phase("p".to_owned()), RouteRow::Workflow(2)));
    assert_eq!(seen(Outcome::Complete, None, Some("APPROVED")).row, RouteRow::Fallback);
    assert_eq!(seen(Outcome::Complete, Some("unknown"), None).row, RouteRow::Fallback);
    assert_eq!(seen(Outcome::Blocked, None, None).row, RouteRow::Fallback);
    insta::assert_snapshot!(blocked("nobody").why, @"route 5 of the workflow leads to ghost, which this workflow does not have: a person decides");
    insta::assert_snapshot!(blocked("nowhere").why, @"route 6 of the workflow has no target: a person decides");
    insta::assert_snapshot!(blocked("odd").why, @"no route matches blocked of dev with reason odd: a person decides");
    insta::assert_snapshot!(blocked("out_of_scope").why, @"the built-in route of * with reason out_of_scope leads to a person");
}

#[test]
fn agents_and_reasons_can_be_patterns() {
    let workflow = workflow(
        "name: a\nagents: {frontend-dev: {queue: true}, frontend-lead: {queue: true}, back: {queue: true}}\n\
phases: [{id: p, agent: frontend-dev}]\n\
routes:\n  - {agent: 'frontend-*', reason: 'security*', to: back}\n  - {agent: 'frontend-*', to: frontend-lead}\n  \
- {agent: '*', reason: '*_failures', phase: p}\n",
    );
    let row = |agent, reason| blocked(&workflow, agent, reason).row;
    assert_eq!(row("frontend-dev", "security_concern"), RouteRow::Workflow(0));
    assert_eq!(row("Frontend_Lead", "Security-Hole"), RouteRow::Workflow(0));
    assert_eq!(row("frontend-dev", "insecurity"), RouteRow::Workflow(1));
    assert_eq!(row("back", "test_failures"), RouteRow::Workflow(2));
    assert_eq!(row("back", "security_concern"), RouteRow::Fallback);
}

#[test]
fn an_agent_that_is_not_there_gets_nothing() {
    let workflow = workflow(
        "name: a\nagents: {integration-developer: {queue: true}}\nphases: [{id: p, agent: integration-developer}]\n",
    );
    let routed = blocked(&workflow, "integration-developer", "security_concern");
    assert_eq!((routed.target, routed.row), (Target::Human, RouteRow::Default(0)));
    insta::assert_snapshot!(routed.why, @"the built-in route of integration-developer with reason security_concern leads to backend-security, which this workflow does not have: a person decides");
}

proptest! {
    #[test]
    fn there_is_always_an_answer_that_exists(
        agent in prop_oneof![Just("dev".to_owned()), Just("tool-developer".to_owned()), ".{0,8}"],
        status in prop::sample::select(Outcome::ALL.to_vec()),
        reason in prop::option::of(prop_oneof![Just("security_concern".to_owned()), Just("unknown".to_owned()), ".{0,8}"]),
        verdict in prop::option::of(".{0,8}"),
        rows in prop::collection::vec((prop::option::of("[*]|dev|tool-lead"), "[a-z]{0,4}", prop::option::of("tool-lead|ghost|human")), 0..4),
    ) {
        let mut workflow = workflow("name: a\nagents: {dev: {queue: true}, tool-lead: {queue: true}}\nphases: [{id: p, agent: dev}]\n");
        workflow.routes = rows.into_iter().map(|(agent, reason, to)| RouteFields {
            agent, to, reason: Some(reason).filter(|reason| !reason.is_empty()), ..RouteFields::default()
        }).collect();
        let routed = route(&workflow, &agent, status, reason.as_deref(), verdict.as_deref());
        match routed.target {
            Target::Agent(name) => prop_assert!(workflow.agent(&name).is_some()),
            Target::Human | Target::Phase(_) => {}
        }
        prop_assert!(!routed.why.is_empty());
        if status != Outcome::Blocked {
            prop_assert!(!matches!(routed.row, RouteRow::Default(_)));
        }
    }
}

//! The built-in route table for blocked agents, in the words of both protocol families that have one.

/// A row of the built-in table: where a blocked agent's work goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultRoute {
    /// The agent that is blocked; `*` for all.
    pub agent: &'static str,
    /// Why it is blocked.
    pub reason: &'static str,
    /// The agent that can help, or `human`.
    pub to: &'static str,
}

const fn row(agent: &'static str, reason: &'static str, to: &'static str) -> DefaultRoute {
    DefaultRoute { agent, reason, to }
}

/// The word for a person in routes.
pub const HUMAN: &str = "human";

/// The built-in table; the first row that fits counts. What fits no row goes to a person.
pub const DEFAULT_ROUTES: &[DefaultRoute] = &[
    row("integration-developer", "security_concern", "backend-security"),
    row("integration-developer", "architecture_decision", "integration-lead"),
    row("integration-developer", "test_failures", "backend-tester"),
    row("integration-developer", "missing_requirements", HUMAN),
    row("backend-tester", "missing_test_plan", "test-lead"),
    row("backend-reviewer", "implementation_unclear", "integration-developer"),
    row("backend-security", "architecture_change_needed", "integration-lead"),
    row("tool-developer", "security_concern", "tool-lead"),
    row("tool-developer", "architecture_decision", "tool-lead"),
    row("tool-developer", "test_failures", "tool-tester"),
    row("tool-tester", "security_concern", "tool-lead"),
    row("tool-tester", "architecture_decision", "tool-lead"),
    row("tool-reviewer", "security_concern", "tool-lead"),
    row("tool-reviewer", "architecture_decision", "tool-lead"),
    row("tool-reviewer", "test_failures", "tool-tester"),
    row("*", "out_of_scope", HUMAN),
    row("*", "schema_discovery_failed", HUMAN),
    row("*", "missing_requirements", HUMAN),
    row("*", "unknown", HUMAN),
];

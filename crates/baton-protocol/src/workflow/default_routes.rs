//! The built-in route table for blocked agents, in the words of both protocol families that have one, and the reasons
//! in it.

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

/// The reasons that the table knows.
pub const REASONS: &[&str] = &[
    "security_concern",
    "architecture_decision",
    "test_failures",
    "missing_requirements",
    "unknown",
    "missing_test_plan",
    "implementation_unclear",
    "architecture_change_needed",
    "out_of_scope",
    SCHEMA_DISCOVERY_FAILED,
];

/// Those of them that every agent may give, whatever it works on.
pub const COMMON_REASONS: &[&str] =
    &["security_concern", "architecture_decision", "missing_requirements", "test_failures", "out_of_scope", "unknown"];

/// The reason that only the protocol of phases has.
pub const SCHEMA_DISCOVERY_FAILED: &str = "schema_discovery_failed";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn reasons_are_those_of_the_table() {
        let routed: BTreeSet<&str> = DEFAULT_ROUTES.iter().map(|route| route.reason).collect();
        assert_eq!(REASONS.iter().copied().collect::<BTreeSet<_>>(), routed);
        assert!(COMMON_REASONS.iter().all(|reason| routed.contains(reason)));
    }
}

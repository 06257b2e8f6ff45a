//! Documents that are handed in: one valid of each kind.

/// A task, which does not say to whom.
pub(crate) const REQUEST: &str = r#"{
  "task_id": "csv-07",
  "phase": "research",
  "context": {
    "feature": "csv-export",
    "spec_path": "specs/export.md",
    "relevant_files": ["src/export/"],
    "constraints": ["no new dependencies"]
  },
  "instructions": "Find where rows are written today and which trait a CSV writer must implement",
  "expected_output": "structured_findings"
}
"#;

/// A request that says neither its id nor between whom.
pub(crate) const NAMELESS: &str = r#"{
  "baton": 1,
  "document": "request",
  "instructions": "Find where rows are written today, and name the trait that a CSV writer must implement."
}
"#;

/// A complete report, which answers [`REQUEST`].
pub(crate) const REPORT: &str = r#"{
  "task_id": "csv-07",
  "phase": "research",
  "status": "complete",
  "decision": "PROCEED",
  "findings": {
    "existing_implementations": [
      { "file": "src/export/xlsx.rs", "description": "XLSX writer behind RowWriter", "relevance": "high" }
    ],
    "conflicts": [],
    "patterns_found": [
      { "file": "src/export/xlsx.rs", "pattern": "one writer per format", "recommendation": "do the same" }
    ],
    "recommendations": ["add src/export/csv.rs"]
  },
  "context_summary": "Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer.",
  "tokens_used": 912,
  "issues": []
}
"#;

/// A package to another agent.
pub(crate) const PACKAGE: &str = r#"handoff:
  id: HO-2026-031
  timestamp: "2026-04-08T11:05:00Z"
  from:
    agent: architecture
  to:
    agent: security-review
    reason: The upload endpoint accepts files from anonymous visitors
  context:
    summary: The upload service has one endpoint and scans each file before it is listed; 24 hours are kept unscanned.
    artifacts:
      - path: docs/upload/architecture.md
        type: spec
        description: Components, sequence diagrams, limits
  expectations:
    deliverable: Ranked list of risks with one measure for each
    constraints:
      - Answer before 2026-04-15
    success_criteria:
      - Every threat in docs/upload/threats.md has a rank from 1 to 5
"#;

/// Somebody has understood everything and begins.
pub(crate) const UNDERSTOOD: &str = r"acknowledgment:
  received: true
  from: architecture
  understood:
    task: Rank the threats of the upload path and name one measure for each
  starting: true
";

/// Somebody must know more before the work can begin.
pub(crate) const NOT_UNDERSTOOD: &str = r"acknowledgment:
  received: true
  from: architecture
  understood:
    task: Rank the threats of the upload path
  questions:
    - Is the virus scanner itself part of the path?
  starting: false
";

/// Returns a document with one piece of it replaced.
pub(crate) fn with(document: &str, old: &str, new: &str) -> String {
    assert!(document.contains(old), "{old} is not in the document");
    document.replacen(old, new, 1)
}

/// Returns the report of somebody who has worked, but says that nothing may follow.
pub(crate) fn stop() -> String {
    with(&with(REPORT, "\"complete\"", "\"partial\""), "PROCEED", "STOP")
}

/// Returns the result of [`PACKAGE`], handed back as a package.
pub(crate) fn returned() -> String {
    let swapped = with(
        PACKAGE,
        "agent: architecture\n  to:\n    agent: security-review",
        "agent: security-review\n  to:\n    agent: architecture",
    );
    with(&swapped, "handoff:\n", "handoff:\n  type: return\n")
        + "  result:\n    status: complete\n    summary: Six threats are ranked; each has one measure in docs/upload/risks.md.\n"
}

/// Returns a complete report in the native form.
pub(crate) fn native(members: &str) -> String {
    format!(r#"{{"baton": 1, "document": "report", "outcome": "complete", {members}}}"#)
}

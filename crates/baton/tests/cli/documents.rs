//! Documents that the tests hand over: one valid of each kind, and some with known mistakes.

/// A valid metadata block in Markdown.
pub(crate) const BLOCK: &str = r#"# Architecture: tide tables

Section 1 describes the fetcher, section 2 the cache.

```json
{
  "agent": "harbour-architect",
  "output_type": "architecture",
  "timestamp": "2026-03-02T09:41:17Z",
  "feature_directory": ".output/tide-tables",
  "skills_invoked": ["reading-before-writing"],
  "source_files_verified": ["src/tides.rs:1-40"],
  "status": "complete",
  "handoff": {
    "next_agent": "harbour-developer",
    "context": "Implement sections 1 and 2 of architecture.md. Reuse Fetcher::get in src/fetch.rs; the cache holds 48 hours."
  }
}
```
"#;

/// A blocked block with two errors and two warnings.
pub(crate) const BROKEN_BLOCK: &str = r#"# Review

```json
{
  "agent": "harbour-reviewer",
  "output_type": "review",
  "timestamp": "2026-03-04T00:00:00Z",
  "feature_directory": ".output/tide-tables",
  "skills_invoked": ["reviewing-code"],
  "status": "blocked",
  "blocked_reason": "tests_missing",
  "handoff": {
    "next_agent": "harbour-developer",
    "context": "Add tests for Cache::expire in src/cache.rs: 48 hours exactly, and one second more."
  }
}
```
"#;

/// A valid package, as YAML.
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
    open_questions:
      - question: How long may an unscanned file be kept when the scanner is down?
        priority: high
  expectations:
    deliverable: Ranked list of risks with one measure for each
    constraints:
      - Answer before 2026-04-15
    success_criteria:
      - Every threat in docs/upload/threats.md has a rank from 1 to 5
"#;

/// A valid acknowledgment, as YAML.
pub(crate) const ACKNOWLEDGMENT: &str = r#"acknowledgment:
  received: true
  from: architecture
  understood:
    task: Rank the threats of the upload path and name one measure for each
  questions:
    - Is the virus scanner itself part of the path?
  starting: true
"#;

/// An acknowledgment of somebody who begins without a question, as YAML.
pub(crate) const UNDERSTOOD: &str = r#"acknowledgment:
  received: true
  from: architecture
  understood:
    task: Rank the threats of the upload path and name one measure for each
  starting: true
"#;

/// A package with two errors and two warnings, as YAML.
pub(crate) const BROKEN_PACKAGE: &str = r#"handoff:
  id: HO-2026-032
  from:
    agent: design
  to:
    agent: frontend
    reason: Design finished
  context:
    summary: Finished the work
  expectations:
    success_criteria:
      - Write clean code
"#;

/// A valid task request.
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

/// A valid task report, which answers [`REQUEST`].
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
  "context_summary": "Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV writer fits in src/export/csv.rs and needs no dependency.",
  "tokens_used": 912,
  "issues": []
}
"#;

/// A valid mailbox answer.
pub(crate) const FAILURE: &str = r#"{
  "handoff_id": "hoff-20260317-0004",
  "timestamp": "2026-03-17T13:10:00Z",
  "status": "failed",
  "timestamp_failed": "2026-03-17T13:10:07Z",
  "execution_time_seconds": 7,
  "source": { "agent_id": "@dashboard-lead", "phase": 11 },
  "target": { "agent_id": "@chart-specialist", "phase": 13 },
  "error": {
    "code": "SCHEMA_VALIDATION_FAILED",
    "message": "charts[0].series must have at least one entry",
    "severity": "error",
    "timestamp": "2026-03-17T13:10:06Z"
  },
  "retry_available": true,
  "retry_count": 1,
  "max_retries": 3,
  "recovery_actions": ["Name at least one field to draw", "Send the request again"]
}
"#;

/// A valid phase block, alone in a JSON file.
pub(crate) const PHASE: &str = r#"{
  "agent": "search-developer",
  "output_type": "implementation",
  "timestamp": "2026-02-11T15:20:44Z",
  "feature_directory": ".output/suggestions",
  "skills_invoked": ["developing-with-tests"],
  "source_files_verified": ["src/index.ts:1-3"],
  "status": "complete",
  "phase": "implementation",
  "summary": "Implemented prefix suggestions over 40,000 products: p95 6 ms, 11 MB of memory, 22 tests passing",
  "files_modified": ["src/suggest.ts"],
  "artifacts": ["out/measurements.md"],
  "verification": { "tests_passed": true },
  "handoff": {
    "next_phase": "review",
    "next_agent": "search-reviewer",
    "context": "suggest.ts builds the prefix index from index.ts. Please look at the tie-break in rank(): it prefers shorter names.",
    "blockers": []
  }
}
"#;

/// Returns [`REPORT`] with one text replaced by another; the text must be there.
pub(crate) fn report_with(old: &str, new: &str) -> String {
    with(REPORT, old, new)
}

/// Returns a document with one text replaced by another; the text must be there.
pub(crate) fn with(document: &str, old: &str, new: &str) -> String {
    assert!(document.contains(old), "{old} is not in the document");
    document.replacen(old, new, 1)
}

//! Filled-in findings for each phase of the task dialect.

use baton_protocol::model::findings::{
    Aggregation, Check, Checks, ExistingImplementation, FileCreated, FileModified, Parallel, ParallelResult,
    PatternFound, PhaseFindings, Relevance, Research, SecurityCheck, TestCheck, TestsWritten, Validate, Write,
};
use baton_protocol::model::terms::TaskPhase;

/// Makes findings of a phase that made the file at `path`.
pub(super) fn of(phase: TaskPhase, path: &str) -> PhaseFindings {
    match phase {
        TaskPhase::Research => PhaseFindings::Research(research()),
        TaskPhase::Write => PhaseFindings::Write(write(path)),
        TaskPhase::Validate => PhaseFindings::Validate(validate()),
        TaskPhase::Parallel => PhaseFindings::Parallel(parallel()),
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn research() -> Research {
    Research {
        existing_implementations: vec![ExistingImplementation {
            file: text("src/rows.rs"),
            description: text("Reads rows of the old import"),
            relevance: Some(Relevance::High),
        }],
        conflicts: Vec::new(),
        patterns_found: vec![PatternFound {
            file: text("src/orders.rs"),
            pattern: text("One type per table with a from_row function"),
            recommendation: text("Do the same for customers"),
        }],
        recommendations: vec!["Extend src/rows.rs instead of writing a second reader".to_owned()],
    }
}

fn write(path: &str) -> Write {
    Write {
        files_created: vec![FileCreated { path: text(path), purpose: text("Says how the 12 fields are mapped") }],
        files_modified: vec![FileModified {
            path: text("src/rows.rs"),
            changes: text("Rows without an id go into a list of their own"),
        }],
        tests_written: vec![TestsWritten {
            path: text("tests/rows.rs"),
            test_count: Some(4),
            coverage_areas: vec!["rows without an id".to_owned(), "rows with two ids".to_owned()],
        }],
        implementation_notes: vec!["REQ-7 is open because the API has no call for it".to_owned()],
    }
}

fn validate() -> Validate {
    Validate {
        checks: Some(Checks {
            types: Some(Check { passed: Some(true), ..Check::default() }),
            lint: Some(Check { passed: Some(true), ..Check::default() }),
            tests: Some(TestCheck {
                passed: Some(true),
                total: Some(31),
                passed_count: Some(31),
                failed_count: Some(0),
                coverage: Some(87.into()),
                failures: Vec::new(),
            }),
            security: Some(SecurityCheck { passed: Some(true), issues: Vec::new() }),
        }),
        overall_passed: Some(true),
        blocking_issues: Vec::new(),
        warnings: vec!["tests/rows.rs does not cover rows with more than 2 ids".to_owned()],
    }
}

fn parallel() -> Parallel {
    let result = |task: &str, summary: &str| ParallelResult {
        task_id: text(task),
        r#type: text(task),
        passed: Some(true),
        summary: text(summary),
        ..ParallelResult::default()
    };
    Parallel {
        results: vec![
            result("lint", "No findings in 14 files"),
            result("security", "2 queries looked at, both with bound values"),
        ],
        aggregation: Some(Aggregation {
            total: Some(2),
            passed: Some(2),
            failed: Some(0),
            rule: text("all_must_pass"),
            overall_passed: Some(true),
        }),
    }
}

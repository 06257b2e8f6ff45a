//! Filled-in findings for each phase of the task dialect.

use baton_protocol::model::findings::{
    Aggregation, Check, Checks, ExistingImplementation, FileCreated, FileModified, Parallel, ParallelResult,
    PatternFound, PhaseFindings, Relevance, Research, SecurityCheck, TestCheck, TestsWritten, Validate, Write,
};
use baton_protocol::model::terms::TaskPhase;

/// Makes findings of a phase that made the file at `path`, if it made one.
pub(super) fn of(phase: TaskPhase, path: Option<&str>) -> PhaseFindings {
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
            file: text("<a file that is there>"),
            description: text("<what it does>"),
            relevance: Some(Relevance::High),
        }],
        conflicts: Vec::new(),
        patterns_found: vec![PatternFound {
            file: text("<a file that is there>"),
            pattern: text("<what is done there>"),
            recommendation: text("<what to do here>"),
        }],
        recommendations: vec!["<what the next phase should do>".to_owned()],
    }
}

fn write(path: Option<&str>) -> Write {
    Write {
        files_created: path
            .map(|path| FileCreated { path: text(path), purpose: text("<what it is for>") })
            .into_iter()
            .collect(),
        files_modified: vec![FileModified { path: text("<a file that was there>"), changes: text("<what is new>") }],
        tests_written: vec![TestsWritten {
            path: text("<a file with tests>"),
            test_count: Some(4),
            coverage_areas: vec!["<what they test>".to_owned()],
        }],
        implementation_notes: vec!["<what the next phase must know>".to_owned()],
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
        warnings: Vec::new(),
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
        results: vec![result("lint", "<what came out>"), result("security", "<what came out>")],
        aggregation: Some(Aggregation {
            total: Some(2),
            passed: Some(2),
            failed: Some(0),
            rule: text("all_must_pass"),
            overall_passed: Some(true),
        }),
    }
}

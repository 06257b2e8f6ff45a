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

/// A check that has failed: whoever copies the numbers of an example must not approve anything with them.
fn validate() -> Validate {
    Validate {
        checks: Some(Checks {
            types: Some(Check { passed: Some(true), ..Check::default() }),
            lint: Some(Check { passed: Some(true), ..Check::default() }),
            tests: Some(TestCheck {
                passed: Some(false),
                total: Some(31),
                passed_count: Some(29),
                failed_count: Some(2),
                coverage: Some(87.into()),
                failures: vec!["<the test that failed>".to_owned()],
            }),
            security: Some(SecurityCheck { passed: Some(true), issues: Vec::new() }),
        }),
        overall_passed: Some(false),
        blocking_issues: vec!["<what must be solved first, with file and line>".to_owned()],
        warnings: Vec::new(),
    }
}

/// One of two has failed, for the same reason.
fn parallel() -> Parallel {
    let result = |task: &str, passed: bool, summary: &str| ParallelResult {
        task_id: text(task),
        r#type: text(task),
        passed: Some(passed),
        summary: text(summary),
        ..ParallelResult::default()
    };
    Parallel {
        results: vec![result("lint", true, "<what came out>"), result("security", false, "<what came out>")],
        aggregation: Some(Aggregation {
            total: Some(2),
            passed: Some(1),
            failed: Some(1),
            rule: text("all_must_pass"),
            overall_passed: Some(false),
        }),
    }
}

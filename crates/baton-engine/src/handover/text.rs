//! What a report or a package says to the next agent, in words. Every member is named here: one that is added to the
//! model does not compile until somebody decides where it goes.

use baton_protocol::Dialect;
use baton_protocol::model::findings::{Checks, PhaseFindings};
use baton_protocol::model::report::{Blocker, Output, ReportQuestion, SuggestedNext};
use baton_protocol::model::request::{Context, DecisionMade, Expectations, OpenQuestion, Party};
use baton_protocol::model::terms::Outcome;
use baton_protocol::model::{Artifact, Report, Request, SourceRange};
use serde_json::{Map, Value};

use super::sheet::{Sheet, cut};
use crate::run::LastReport;

/// How much of the Markdown around a block stands in the prompt.
const PROSE_CHARACTERS_MAX: usize = 6_000;

/// How much of the output of a failed check stands in the prompt: its end says most.
const OUTPUT_CHARACTERS_MAX: usize = 2_000;

/// Writes what a report or a package says.
pub(super) fn told(sheet: &mut Sheet, told: &LastReport) {
    let extensions = match &told.package {
        Some(package) => {
            request(sheet, package);
            &package.extensions
        }
        None => {
            report(sheet, &told.report);
            &told.report.extensions
        }
    };
    // What the dialect has no name for was meant for somebody all the same.
    // An answer in a folder repeats its request, which nobody needs again.
    let own = extensions.iter().filter(|_| told.written.dialect != Dialect::Mailbox.as_str());
    let own = own.flat_map(|extensions| &extensions.fields).filter(|(_, value)| !is_empty(value));
    sheet.list("also said", own.map(|(pointer, value)| format!("{}: {}", name_of(pointer), cut(&plain(value)))));
}

/// Hands over the Markdown before the block of a report: a reviewer writes there what must change.
pub(super) fn prose(sheet: &mut Sheet, told: &LastReport) {
    let dialect = Dialect::parse(&told.written.dialect);
    if !matches!(dialect, Some(Dialect::MetadataBlock | Dialect::PhaseBlock)) {
        return;
    }
    let before = told.written.text.rsplit_once("```json").or_else(|| told.written.text.rsplit_once("\n```\n{"));
    let Some(prose) = before.map(|(before, _)| before.trim()).filter(|prose| !prose.is_empty()) else { return };
    match prose.char_indices().nth(PROSE_CHARACTERS_MAX) {
        Some((end, _)) => sheet.text("text of the report", &format!("{}…", &prose[..end])),
        None => sheet.text("text of the report", prose),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Names a member by its place, without the root that every package has.
fn name_of(pointer: &str) -> String {
    let path = pointer.strip_prefix("/handoff").unwrap_or(pointer);
    path.trim_start_matches('/').replace("~1", "/").replace("~0", "~")
}

fn report(sheet: &mut Sheet, report: &Report) {
    let Report {
        // Who, when and how much: the whole report has them.
        id: _,
        from: _,
        phase: _,
        output_type: _,
        timestamp: _,
        requested_at: _,
        started_at: _,
        skills_invoked: _,
        library_skills_read: _,
        retry: _,
        tokens_used: _,
        execution_time_seconds: _,
        metrics: _,
        extensions: _,
        to,
        outcome,
        verdict,
        decision: advice,
        feature_directory,
        summary,
        source_files_verified,
        files_modified,
        artifacts,
        verification,
        validation,
        findings,
        blocked_reason,
        attempted,
        blockers,
        questions,
        decisions,
        open_questions,
        next,
        output,
        error,
        recovery_actions,
        next_steps,
        warnings,
        errors,
        issues,
    } = report;
    let unfinished = outcome.filter(|outcome| *outcome != Outcome::Complete);
    sheet.line("outcome", unfinished.map(Outcome::as_str));
    sheet.line("verdict", verdict.as_deref());
    sheet.line("decision", advice.map(|advice| advice.as_str()));
    sheet.line("summary", summary.as_deref());
    if let Some(SuggestedNext { agent, phase, context }) = next {
        sheet.line("context", context.as_deref());
        sheet.line("suggested next agent", agent.as_deref());
        sheet.line("suggested next phase", phase.as_ref().map(ToString::to_string).as_deref());
    }
    sheet.line("addressed because", to.as_ref().and_then(|to| to.reason.as_deref()));
    sheet.line("reason", blocked_reason.as_deref());
    sheet.list("blockers", blockers.iter().map(blocker));
    sheet.list("tried so far", attempted);
    sheet.list("questions", questions.iter().map(asked));
    sheet.list("decisions", decisions.iter().map(decision));
    sheet.list("open questions", open_questions.iter().map(open_question));
    sheet.list("issues", issues);
    if let Some(error) = error {
        let code = error.code.as_deref().unwrap_or("error");
        sheet.line(code, error.message.as_deref());
    }
    sheet.list("errors", errors.iter().map(plain));
    sheet.list("warnings", warnings.iter().map(plain));
    sheet.list("what would help", recovery_actions);
    sheet.list("next steps", next_steps);
    sheet.line("output directory", feature_directory.as_deref());
    if let Some(Output { artifact_id, artifact_path, artifact_type, schema_compliance }) = output {
        let details = [artifact_id, artifact_type, schema_compliance].into_iter().flatten();
        let details = details.map(String::as_str).collect::<Vec<_>>().join(", ");
        let path = artifact_path.as_deref().unwrap_or_default();
        sheet.line("result", Some(&if details.is_empty() { path.to_owned() } else { format!("{path} ({details})") }));
    }
    sheet.list("artifacts", artifacts.iter().map(artifact));
    sheet.list("files changed", files_modified);
    sheet.list("files looked at", source_files_verified);
    if let Some(findings) = findings {
        found(sheet, findings);
    }
    failing(sheet, "verification", verification, unfinished.is_some() || verdict.is_some());
    failing(sheet, "validation", validation, unfinished.is_some());
}

/// What the phases of a task found is read in the file; files, problems and warnings are needed at once.
fn found(sheet: &mut Sheet, findings: &PhaseFindings) {
    let with = |path: &Option<String>, what: &Option<String>| {
        let what = what.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
        format!("{}{what}", path.as_deref().unwrap_or_default())
    };
    match findings {
        PhaseFindings::Research(research) => {
            let there = research.existing_implementations.iter().map(|one| with(&one.file, &one.description));
            sheet.list("relevant files", there);
            sheet.list("patterns", research.patterns_found.iter().map(|one| with(&one.file, &one.pattern)));
        }
        PhaseFindings::Write(write) => {
            sheet.list("files created", write.files_created.iter().map(|one| with(&one.path, &one.purpose)));
            sheet.list("files modified", write.files_modified.iter().map(|one| with(&one.path, &one.changes)));
            sheet.list("tests written", write.tests_written.iter().filter_map(|one| one.path.as_deref()));
        }
        PhaseFindings::Validate(validate) => {
            sheet.list("blocking issues", &validate.blocking_issues);
            if let Some(checks) = &validate.checks {
                sheet.list("failing checks", failed_checks(checks));
            }
            sheet.list("warnings of the checks", &validate.warnings);
        }
        PhaseFindings::Parallel(parallel) => {
            let line = |one: &baton_protocol::model::findings::ParallelResult| {
                let passed = if one.passed == Some(true) { "passed" } else { "did not pass" };
                let name = one.r#type.as_deref().or(one.task_id.as_deref()).unwrap_or_default();
                format!("{name} {passed}: {}", one.summary.as_deref().unwrap_or_default())
            };
            sheet.list("results", parallel.results.iter().map(line));
        }
    }
}

fn failed_checks(checks: &Checks) -> Vec<String> {
    let mut failed = Vec::new();
    for (name, check) in [("types", &checks.types), ("lint", &checks.lint)] {
        failed.extend(check.iter().flat_map(|check| &check.errors).map(|error| format!("{name}: {error}")));
    }
    failed.extend(checks.tests.iter().flat_map(|tests| &tests.failures).map(|failure| format!("tests: {failure}")));
    failed.extend(checks.security.iter().flat_map(|check| &check.issues).map(|issue| format!("security: {issue}")));
    failed
}

/// What was checked matters at once where something did not pass.
fn failing(sheet: &mut Sheet, name: &str, checked: &Map<String, Value>, matters: bool) {
    let fails = |value: &Value| matches!(value, Value::Bool(false));
    if !matters && !checked.values().any(fails) {
        return;
    }
    let line = |(key, value): (&String, &Value)| {
        let text = plain(value);
        let from = text.char_indices().rev().nth(OUTPUT_CHARACTERS_MAX).map_or(0, |(from, _)| from);
        let cut = if from > 0 { "… " } else { "" };
        format!("{key}: {cut}{}", &text[from..])
    };
    sheet.list(name, checked.iter().map(line));
}

fn request(sheet: &mut Sheet, request: &Request) {
    let Request {
        // Who, when and how long: the whole package has them.
        timestamp: _,
        state: _,
        started_at: _,
        from: _,
        phase: _,
        workflow: _,
        timeout_seconds: _,
        priority: _,
        retry: _,
        retry_count: _,
        extensions: _,
        id,
        kind,
        to,
        instructions,
        context,
        expectations: expected,
        gate,
        verdict,
        input,
    } = request;
    sheet.line("verdict", verdict.as_deref());
    sheet.line("package", id.as_deref());
    sheet.line("kind", kind.map(|kind| kind.as_str()));
    if let Some(Party { agent, reason, .. }) = to {
        sheet.line("addressed to", agent.as_deref());
        sheet.line("reason", reason.as_deref());
    }
    sheet.line("task", instructions.as_deref());
    if let Some(context) = context {
        knows(sheet, context);
    }
    if let Some(expected) = expected {
        expectations(sheet, expected);
    }
    if let Some(gate) = gate {
        sheet.list("to be looked at", &gate.items);
        sheet.list("options", gate.options.iter().map(|(word, meaning)| format!("{word}: {}", plain(meaning))));
    }
    if let Some(data) = input.as_ref().and_then(|input| input.data.as_ref()) {
        sheet.text("data", &plain(data));
    }
}

fn knows(sheet: &mut Sheet, context: &Context) {
    let Context {
        summary,
        feature,
        spec_path,
        relevant_files,
        decisions,
        artifacts,
        open_questions,
        facts,
        // What the sender itself was given is not its own.
        handed_over: _,
    } = context;
    sheet.line("summary", summary.as_deref());
    sheet.line("feature", feature.as_deref());
    sheet.line("specification", spec_path.as_deref());
    sheet.list("decisions", decisions.iter().map(decision));
    sheet.list("open questions", open_questions.iter().map(open_question));
    sheet.list("artifacts", artifacts.iter().map(artifact));
    sheet.list("relevant files", relevant_files);
    sheet.list("facts", facts.iter().map(|(name, value)| format!("{name}: {}", plain(value))));
}

pub(super) fn expectations(sheet: &mut Sheet, expected: &Expectations) {
    let Expectations { deliverable, constraints, success_criteria, output, schema, destination } = expected;
    sheet.line("deliverable", deliverable.as_deref());
    sheet.list("constraints", constraints);
    sheet.list("success criteria", success_criteria);
    sheet.line("form of the answer", output.as_deref());
    sheet.line("schema", schema.as_deref());
    sheet.line("destination", destination.as_deref());
}

/// Writes what is in the way in one text.
pub fn blocker(blocker: &Blocker) -> String {
    let kind = blocker.r#type.as_ref().map(|kind| format!("{kind}: ")).unwrap_or_default();
    let solved = blocker.resolution.as_ref().map(|text| format!(" (would be solved by: {text})")).unwrap_or_default();
    format!("{kind}{}{solved}", blocker.description.as_deref().unwrap_or_default())
}

fn asked(question: &ReportQuestion) -> String {
    let fields = &question.fields;
    let mut text = fields.question.clone().unwrap_or_default();
    let options: Vec<String> = fields.options.iter().map(plain).collect();
    for (name, said) in [
        ("category", fields.category.clone()),
        ("options", (!options.is_empty()).then(|| options.join(" | "))),
        ("impact", fields.impact.clone()),
        ("assumed without an answer", fields.default_assumption.clone()),
    ] {
        text.extend(said.map(|said| format!(" ({name}: {said})")));
    }
    text
}

/// Writes what a document says about a file in one text.
pub fn artifact(artifact: &Artifact) -> String {
    let fields = &artifact.fields;
    let id = fields.id.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
    let kind = fields.r#type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let description = fields.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{}{id}{kind}{description}", artifact.path())
}

pub(crate) fn decision(made: &DecisionMade) -> String {
    let id = made.id.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
    let rationale = made.rationale.as_ref().map(|why| format!(" (because: {why})")).unwrap_or_default();
    format!("{id}{}{rationale}", made.decision.as_deref().unwrap_or_default())
}

/// Writes a question that is not settled in one text.
pub fn open_question(open: &OpenQuestion) -> String {
    let priority = open.priority.map(|priority| format!(" [{}]", priority.as_str())).unwrap_or_default();
    let context = open.context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
    let options: Vec<String> = open.options.iter().map(plain).collect();
    let options = if options.is_empty() { String::new() } else { format!(" (options: {})", options.join(" | ")) };
    format!("{}{priority}{context}{options}", open.question.as_deref().unwrap_or_default())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Names what only the whole document has.
pub(super) fn beyond(told: &LastReport) -> Vec<&'static str> {
    let LastReport { written, report, package, .. } = told;
    let mut beyond = Vec::new();
    let block = matches!(written.dialect.as_str(), "metadata-block" | "phase-block");
    let prose = written.text.find("```").is_some_and(|end| !written.text[..end].trim().is_empty());
    if block && prose {
        beyond.push("the text around the block");
    }
    if report.findings.is_some() && package.is_none() {
        beyond.push("findings");
    }
    if !report.verification.is_empty() || !report.validation.is_empty() {
        beyond.push("verification");
    }
    if !report.metrics.is_empty() {
        beyond.push("metrics");
    }
    beyond
}

/// Returns the files that a report speaks of, each once.
pub(crate) fn paths(told: &LastReport) -> Vec<String> {
    let LastReport { report, package, .. } = told;
    let mut paths: Vec<String> = report.files_modified.clone();
    paths.extend(report.output.as_ref().and_then(|output| output.artifact_path.clone()));
    match &report.findings {
        Some(PhaseFindings::Research(research)) => {
            paths.extend(research.existing_implementations.iter().filter_map(|one| one.file.clone()));
            paths.extend(research.patterns_found.iter().filter_map(|one| one.file.clone()));
        }
        Some(PhaseFindings::Write(write)) => {
            paths.extend(write.files_created.iter().filter_map(|one| one.path.clone()));
            paths.extend(write.files_modified.iter().filter_map(|one| one.path.clone()));
            paths.extend(write.tests_written.iter().filter_map(|one| one.path.clone()));
        }
        Some(PhaseFindings::Validate(_) | PhaseFindings::Parallel(_)) | None => {}
    }
    paths.extend(package.iter().filter_map(|package| package.context.as_ref()).flat_map(|c| c.relevant_files.clone()));
    paths.extend(report.source_files_verified.iter().map(|file| SourceRange::parse(file).path.to_owned()));
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| !path.trim().is_empty() && seen.insert(path.clone()));
    paths
}

/// Returns the specification that a package names.
pub(crate) fn spec_path(told: &LastReport) -> Option<String> {
    told.package.as_ref()?.context.as_ref()?.spec_path.clone()
}

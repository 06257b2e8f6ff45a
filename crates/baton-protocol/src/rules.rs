//! The rules: one file each, with its documentation. The name of a rule is its code.
//!
//! A rule sees one document in its canonical form, with what is known around it, and says what it finds.
//! Rules of the shape are applied while reading; the others have a `check`, but for those about evidence that only
//! whoever runs the work has seen.

use serde_json::Value;

use crate::diagnostic::{self, Finding, Place, Severity};
use crate::dialect::Dialect;
use crate::model::{Acknowledgment, Document, Report, Request};
use crate::settings::Settings;
use crate::surroundings::Surroundings;
use crate::workflow;

/// What a rule is about; the order of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Whether it can be read, and has its fields.
    Shape,
    /// What a blocked agent must say.
    Blocked,
    /// What the next agent needs.
    Context,
    /// Packages between agents and people.
    Package,
    /// Tasks and their answers.
    Task,
    /// Files that move between folders.
    Mailbox,
    /// What can be seen in the workspace.
    Evidence,
    /// Workflow files.
    Workflow,
}

impl Group {
    /// Returns the name used in the manual.
    pub fn as_str(self) -> &'static str {
        match self {
            Group::Shape => "shape",
            Group::Blocked => "blocked",
            Group::Context => "context",
            Group::Package => "package",
            Group::Task => "task",
            Group::Mailbox => "mailbox",
            Group::Evidence => "evidence",
            Group::Workflow => "workflow",
        }
    }
}

/// One rule.
///
/// ```
/// use baton_protocol::rules::{Group, Rule};
///
/// let rule = Rule::find("vague-summary").expect("it is one of the rules");
/// assert_eq!(rule.group, Group::Context);
/// // What it checks, why that matters, an example: this is what `baton explain vague-summary` shows.
/// assert!(rule.manual().contains("## Why it matters"));
/// ```
#[derive(Debug)]
pub struct Rule {
    /// Its name, which is the code of its diagnostics.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// How much it matters unless configured otherwise.
    pub severity: Severity,
    /// Dialects where it is an error whatever `severity` says.
    pub error_in: &'static [Dialect],
    /// Whether its severity cannot be changed: without it, what cannot be read could pass.
    pub fixed: bool,
    /// The manual, in Markdown.
    pub docs: &'static str,
    /// How it looks.
    pub check: RuleCheck,
}

/// How a rule looks.
#[derive(Debug)]
pub enum RuleCheck {
    /// It reports while a document is read, or when work is verified.
    WhileReading,
    /// At a document of a handoff.
    Document(fn(&Case<'_>, &mut RuleFindings<'_>)),
    /// At a workflow file.
    Workflow(fn(&workflow::WorkflowCase<'_>, &mut RuleFindings<'_>)),
}

impl Rule {
    /// Finds a rule by its name.
    pub fn find(name: &str) -> Option<&'static Rule> {
        ALL.iter().copied().find(|rule| rule.name == name)
    }

    /// Returns whether it needs more than the document and the workspace, so that only a run can apply it.
    pub fn is_examined(&self) -> bool {
        self.group == Group::Evidence && matches!(self.check, RuleCheck::WhileReading)
    }

    /// Returns the manual, without the space that a doc comment puts before each line.
    pub fn manual(&self) -> String {
        self.docs.lines().map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
    }

    /// Returns the severity in a dialect, unless configured otherwise.
    pub fn severity_in(&self, dialect: Option<Dialect>) -> Severity {
        if dialect.is_some_and(|dialect| self.error_in.contains(&dialect)) { Severity::Error } else { self.severity }
    }
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// How the document is written.
    pub dialect: Dialect,
    /// The document.
    pub document: &'a Document,
    /// What is known around it.
    pub surroundings: &'a Surroundings<'a>,
    /// What the project has configured.
    pub settings: &'a Settings,
}

impl<'a> Case<'a> {
    /// Returns the request, if that is what the document is.
    pub fn request(&self) -> Option<&'a Request> {
        match self.document {
            Document::Request(request) => Some(request),
            _ => None,
        }
    }

    /// Returns the acknowledgment, if that is what the document is.
    pub fn acknowledgment(&self) -> Option<&'a Acknowledgment> {
        match self.document {
            Document::Acknowledgment(acknowledgment) => Some(acknowledgment),
            _ => None,
        }
    }

    /// Returns the report, if that is what the document is.
    pub fn report(&self) -> Option<&'a Report> {
        match self.document {
            Document::Report(report) => Some(report),
            _ => None,
        }
    }

    /// Returns the request if the rules of packages apply to it: a package, or the native form of one.
    pub fn package(&self) -> Option<&'a Request> {
        if matches!(self.dialect, Dialect::Package | Dialect::Native) { self.request() } else { None }
    }

    /// Returns what the document said at a place, in its own dialect, that the canonical form does not hold.
    pub fn kept(&self, source_pointer: &str) -> Option<&'a Value> {
        let own = |dialect: Option<&str>| dialect == Some(self.dialect.as_str());
        let mut extensions = self.document.extensions().iter().filter(|extensions| own(extensions.dialect.as_deref()));
        extensions.find_map(|extensions| extensions.fields.get(source_pointer))
    }

    /// Returns whether the document is a metadata block or a phase block.
    pub fn is_block(&self) -> bool {
        matches!(self.dialect, Dialect::MetadataBlock | Dialect::PhaseBlock)
    }
}

/// Takes what one rule finds, with pointers into the canonical form.
#[derive(Debug)]
pub struct RuleFindings<'f> {
    rule: &'static Rule,
    found: &'f mut diagnostic::Findings,
}

impl RuleFindings<'_> {
    /// Adds a finding at the value under a canonical pointer: what is wrong, and what to do.
    pub fn add(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        let rule = self.rule;
        self.found.add(rule, || Finding::new(rule, Place::Canonical(pointer.to_owned()), message).help(help));
    }

    /// Adds a finding at the name of the member under a pointer.
    pub fn add_name(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        let rule = self.rule;
        self.found.add(rule, || Finding::new(rule, Place::Name(pointer.to_owned()), message).help(help));
    }
}

/// Applies every rule about documents that is not switched off.
pub fn apply(case: &Case<'_>, found: &mut diagnostic::Findings) {
    for rule in active(case.settings) {
        if let RuleCheck::Document(check) = rule.check {
            check(case, &mut RuleFindings { rule, found });
        }
    }
}

/// Applies every rule about workflow files that is not switched off.
pub fn apply_to_workflow(case: &workflow::WorkflowCase<'_>, found: &mut diagnostic::Findings) {
    for rule in active(case.settings) {
        if let RuleCheck::Workflow(check) = rule.check {
            check(case, &mut RuleFindings { rule, found });
        }
    }
}

fn active(settings: &Settings) -> impl Iterator<Item = &'static Rule> {
    ALL.iter().copied().filter(|rule| !settings.is_off(rule))
}

/// Declares a rule: its manual, `"name": Group, Severity`, where it is always an error, and how it looks.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        $name:literal: $group:ident, $severity:ident
        $(, error_in [$($dialect:ident),*])?
        $(=> $check:ident)?
    ) => {
        rule!(@ false, $(#[doc = $doc])* $name, $group, $severity, [$($($dialect),*)?], [$($check)?]);
    };
    ($(#[doc = $doc:literal])* fixed $name:literal: $group:ident, $severity:ident $(=> $check:ident)?) => {
        rule!(@ true, $(#[doc = $doc])* $name, $group, $severity, [], [$($check)?]);
    };
    ($(#[doc = $doc:literal])* $name:literal: Workflow, $severity:ident => workflow $check:ident) => {
        rule!(@ false, $(#[doc = $doc])* $name, Workflow, $severity, [], [workflow $check]);
    };
    (@ $fixed:literal, $(#[doc = $doc:literal])* $name:literal, $group:ident, $severity:ident,
        [$($dialect:ident),*], [$($check:ident)*]) => {
        $(#[doc = $doc])*
        pub static RULE: $crate::rules::Rule = $crate::rules::Rule {
            name: $name,
            group: $crate::rules::Group::$group,
            severity: $crate::diagnostic::Severity::$severity,
            error_in: &[$($crate::dialect::Dialect::$dialect),*],
            fixed: $fixed,
            docs: concat!($($doc, "\n"),*),
            check: rule!(@check $($check)*),
        };
    };
    (@check) => { $crate::rules::RuleCheck::WhileReading };
    (@check $check:ident) => { $crate::rules::RuleCheck::Document($check) };
    (@check workflow $check:ident) => { $crate::rules::RuleCheck::Workflow($check) };
}

/// Lists the rule files and collects them, in the order of the manual.
macro_rules! rules {
    ($($module:ident)*) => {
        $(pub mod $module;)*
        /// All rules, in the order of the manual.
        pub static ALL: &[&Rule] = &[$(&$module::RULE),*];
    };
}

rules! {
    unreadable
    unknown_dialect
    missing_field
    wrong_type
    unknown_status
    unknown_decision
    unknown_phase
    unknown_kind
    unknown_priority
    bad_timestamp
    unsafe_id
    bad_allow
    unknown_field
    unknown_reason
    placeholder
    copied_example
    text_after_block
    several_blocks
    byte_order_mark
    carriage_return
    invented_timestamp
    absolute_path
    bad_coverage
    review_without_verdict
    blocked_without_reason
    blocked_without_attempts
    blocked_names_next_agent
    blocked_without_blockers
    blockers_without_block
    missing_context
    vague_summary
    vague_context
    summary_over_budget
    long_summary
    raw_dump_in_summary
    missing_verification
    other_output_directory
    implicit_context
    artifact_unreferenced
    unknown_artifact_type
    unmeasurable_criterion
    unmeasurable_constraint
    question_without_priority
    delegation_without_deliverable
    escalation_not_to_human
    return_without_result
    step_mismatch
    gate_without_items
    report_echo_mismatch
    decision_contradicts_status
    proceed_with_failed_check
    output_contradicts_claim
    overall_contradicts_checks
    aggregation_mismatch
    findings_shape
    input_violates_schema
    output_violates_schema
    schema_missing
    status_folder_mismatch
    retry_over_limit
    unknown_error_code
    response_without_request
    time_runs_backwards
    artifact_missing
    artifact_empty
    artifact_outside_workspace
    source_lines_missing
    artifact_changed
    file_not_modified
    modified_not_declared
    writes_outside
    skill_missing
    skill_unproven
    claim_refuted
    stale_base
    unknown_workflow_field
    agent_kind
    phase_kind
    gate_kind
    gate_approvers
    duplicate_phase
    unsafe_name
    unknown_agent
    unused_agent
    missing_task
    unknown_target
    route_without_target
    shadowed_route
    missing_target
    unreachable_phase
    verdict_not_required
    endless_cycle
    bad_expression
    single_braces
    unknown_reference
    input_contradiction
    bad_limit
    bad_variable
    missing_file
    missing_command
    nested_workflow
    withheld_key
}

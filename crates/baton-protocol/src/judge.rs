//! Judges a reading: applies the rules, the configuration and the permissions, and finds the positions.

use crate::diagnostic::{Diagnostic, Finding, Place, Severity};
use crate::dialect::Dialect;
use crate::model::Document;
use crate::positions::Positions;
use crate::reading::Reading;
use crate::rules::{self, Case, Rule, bad_timestamp, missing_field, time_runs_backwards};
use crate::settings::{Permission, Settings};
use crate::surroundings::Surroundings;

/// What is said about one document.
#[derive(Debug, Default)]
pub struct Judgement {
    /// What counts, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// What was found but is allowed.
    pub allowed: Vec<AllowedFinding>,
    /// Whether the document could be read and nothing in it is an error.
    pub valid: bool,
}

/// Something that was found but is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFinding {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Why it is allowed.
    pub reason: String,
    /// Whether the project allows it, and not the document itself.
    pub by_project: bool,
}

impl Judgement {
    /// Counts the diagnostics of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }
}

/// Judges a reading of `bytes`.
///
/// ```
/// use baton_protocol::{Hints, Settings, Surroundings};
///
/// let text = br#"{"baton": 1, "document": "report", "summary": "It's done."}"#;
/// let reading = baton_protocol::read(text, Hints::default());
/// let judgement = baton_protocol::judge(text, &reading, &Surroundings::default(), &Settings::default());
/// // A report that does not say how the work ended never counts.
/// assert!(!judgement.valid);
/// ```
pub fn judge(bytes: &[u8], reading: &Reading<'_>, surroundings: &Surroundings<'_>, settings: &Settings) -> Judgement {
    let mut findings = reading.findings.clone();
    let mut while_reading = findings.as_slice().len();
    if let (Some(dialect), Some(document)) = (reading.dialect, &reading.document) {
        rules::apply(&Case { dialect, document, surroundings, settings }, &mut findings);
    }
    let mut judgement = Judgement::default();
    // Most documents have no findings, and then no positions are needed.
    if !findings.is_empty() {
        let mut findings = findings.into_vec();
        let positions = Positions::of(bytes, reading.block.as_ref(), &findings);
        if surroundings.times_are_kept {
            let counts = |finding: &Finding| !missing_field::is_missing_time(finding);
            while_reading = findings[..while_reading].iter().filter(|finding| counts(finding)).count();
            findings.retain(counts);
        }
        findings.iter_mut().for_each(|finding| translate(finding, &positions, reading));
        drop_consequences(&mut findings, while_reading, settings);
        let (dialect, own, times_are_kept) = (reading.dialect, &reading.permissions, surroundings.times_are_kept);
        let terms = Terms { dialect, own, settings, times_are_kept };
        judgement.conclude(findings, &positions, &terms);
    }
    judgement.valid = reading.document.as_ref().is_some_and(has_outcome) && judgement.count(Severity::Error) == 0;
    judgement
}

/// A report without a status is never valid, whatever is configured or allowed.
fn has_outcome(document: &Document) -> bool {
    match document {
        Document::Report(report) => report.outcome.is_some(),
        Document::Request(_) | Document::Acknowledgment(_) => true,
    }
}

/// What decides how much a finding counts.
pub(crate) struct Terms<'a> {
    /// How the document is written.
    pub dialect: Option<Dialect>,
    /// What the document allows itself.
    pub own: &'a [Permission],
    /// What the project has configured.
    pub settings: &'a Settings,
    /// Whether times that the document says itself count for little.
    pub times_are_kept: bool,
}

impl Terms<'_> {
    /// Returns how much a finding counts; `None` if not at all.
    fn severity(&self, rule: &'static Rule) -> Option<Severity> {
        let severity = self.settings.severity(rule, self.dialect)?;
        let is_of_time = [bad_timestamp::RULE.name, time_runs_backwards::RULE.name].contains(&rule.name);
        // Somebody who has set it means it.
        let is_set = self.settings.levels.contains_key(rule.name);
        Some(if self.times_are_kept && is_of_time && !is_set { severity.min(Severity::Warning) } else { severity })
    }
}

impl Judgement {
    /// Takes all findings, with their severities and positions, in the order of the file.
    pub(crate) fn conclude(&mut self, findings: Vec<Finding>, positions: &Positions<'_, '_>, terms: &Terms<'_>) {
        for finding in findings {
            self.take(finding, positions, terms);
        }
        self.diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, std::cmp::Reverse(diagnostic.severity)));
    }

    fn take(&mut self, finding: Finding, positions: &Positions<'_, '_>, terms: &Terms<'_>) {
        let settings = terms.settings;
        let Some(severity) = terms.severity(finding.rule) else { return };
        let by_project = settings.permission(finding.rule).filter(|_| !finding.rule.fixed);
        let own = terms.own.iter().find(|permission| permission.rule == finding.rule.name);
        let by_itself = own.filter(|_| !finding.rule.fixed && settings.file_permissions.covers(severity));
        let given = by_project.or(by_itself).map(|permission| permission.reason.clone());
        let mut diagnostic = positions.diagnostic(finding, severity);
        match given {
            Some(reason) => self.allowed.push(AllowedFinding { diagnostic, reason, by_project: by_project.is_some() }),
            None => {
                if own.is_some() {
                    let help = diagnostic.help.take().map(|help| format!("{help}; ")).unwrap_or_default();
                    diagnostic.help = Some(format!("{help}only the project can allow this, in baton.toml"));
                }
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

/// A value that could not be read is not judged any further: what was said while reading explains it already.
pub(crate) fn drop_consequences(findings: &mut Vec<Finding>, while_reading: usize, settings: &Settings) {
    let is_cause = |finding: &&Finding| {
        ["wrong-type", "unknown-status"].contains(&finding.rule.name) && !settings.is_off(finding.rule)
    };
    let causes: Vec<String> =
        findings[..while_reading].iter().filter(is_cause).map(|finding| finding.place.pointer().to_owned()).collect();
    if causes.is_empty() {
        return;
    }
    let follows = |pointer: &str| {
        causes.iter().any(|cause| {
            pointer.strip_prefix(cause.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut index = 0;
    findings.retain(|finding| {
        index += 1;
        index <= while_reading || !follows(finding.place.pointer())
    });
}

/// Turns a canonical pointer into the one that the document really has.
fn translate(finding: &mut Finding, positions: &Positions<'_, '_>, reading: &Reading<'_>) {
    let (Place::Canonical(pointer), Some(dialect), Some(document)) =
        (&finding.place, reading.dialect, &reading.document)
    else {
        return;
    };
    let spellings = dialect.source_pointers(document.kind(), pointer);
    let written = spellings.iter().find(|pointer| positions.has(pointer)).or(spellings.first()).cloned();
    finding.place = Place::Value(written.unwrap_or_default());
}

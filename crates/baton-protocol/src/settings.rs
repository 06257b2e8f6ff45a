//! What a project has configured: severities, permissions and words of its own.

use std::collections::BTreeMap;

use crate::diagnostic::Severity;
use crate::dialect::Dialect;
use crate::rules::Rule;

/// The severity that a project gives to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The rule does not speak.
    Off,
    /// The rule speaks with this severity in every dialect.
    At(Severity),
}

impl Level {
    /// Finds a level by its name.
    pub fn parse(name: &str) -> Option<Level> {
        match name {
            "off" => Some(Level::Off),
            "info" => Some(Level::At(Severity::Info)),
            "warning" => Some(Level::At(Severity::Warning)),
            "error" => Some(Level::At(Severity::Error)),
            _ => None,
        }
    }
}

/// Permission to break a rule, with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The name of the rule.
    pub rule: String,
    /// Why.
    pub reason: String,
}

/// What documents may allow themselves.
///
/// Documents are written by the agents that are judged: what is an error is allowed by the project or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePermissions {
    /// Nothing.
    None,
    /// Rules that are no errors.
    Warnings,
    /// Every rule that can be configured.
    All,
}

impl FilePermissions {
    /// Finds the setting by its name.
    pub fn parse(name: &str) -> Option<FilePermissions> {
        match name {
            "none" => Some(FilePermissions::None),
            "warnings" => Some(FilePermissions::Warnings),
            "all" => Some(FilePermissions::All),
            _ => None,
        }
    }

    /// Says whether a document may allow itself a finding of this severity.
    pub fn covers(self, severity: Severity) -> bool {
        match self {
            FilePermissions::None => false,
            FilePermissions::Warnings => severity < Severity::Error,
            FilePermissions::All => true,
        }
    }
}

/// What a project has configured.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Severities by rule name.
    pub levels: BTreeMap<&'static str, Level>,
    /// What the project or workflow allows in every document.
    pub permissions: Vec<Permission>,
    /// What documents may allow themselves.
    pub file_permissions: FilePermissions,
    /// Reasons for being blocked that the project knows beyond the usual ones.
    pub reasons: Vec<String>,
    /// Phases that the project knows beyond the usual ones.
    pub phases: Vec<String>,
    /// The most tokens that a summary may have.
    pub summary_tokens: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            levels: BTreeMap::new(),
            permissions: Vec::new(),
            file_permissions: FilePermissions::Warnings,
            reasons: Vec::new(),
            phases: Vec::new(),
            summary_tokens: 500,
        }
    }
}

impl Settings {
    /// Says whether a rule does not speak at all.
    pub fn is_off(&self, rule: &Rule) -> bool {
        !rule.fixed && self.levels.get(rule.name) == Some(&Level::Off)
    }

    /// Returns the severity of a rule in a dialect; `None` if it is off.
    pub fn severity(&self, rule: &Rule, dialect: Option<Dialect>) -> Option<Severity> {
        match self.levels.get(rule.name).filter(|_| !rule.fixed) {
            Some(Level::Off) => None,
            Some(Level::At(severity)) => Some(*severity),
            None => Some(rule.severity_in(dialect)),
        }
    }

    /// Returns why a rule may be broken in every document.
    pub fn permission(&self, rule: &Rule) -> Option<&Permission> {
        self.permissions.iter().find(|permission| permission.rule == rule.name)
    }
}

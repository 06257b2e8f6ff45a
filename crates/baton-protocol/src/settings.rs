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
    /// The rule has this severity in every dialect.
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
    /// Rules below the severity `error`.
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

    /// Returns whether a document may allow itself a finding of this severity.
    pub fn covers(self, severity: Severity) -> bool {
        match self {
            FilePermissions::None => false,
            FilePermissions::Warnings => severity < Severity::Error,
            FilePermissions::All => true,
        }
    }
}

/// The people that a key belongs to: names in which `*` is any text and `?` any letter; those after `!` are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principals(pub Vec<String>);

impl Principals {
    /// Takes a list with commas between the names.
    pub fn parse(list: &str) -> Principals {
        Principals(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Returns whether somebody is one of them.
    pub fn include(&self, name: &str) -> bool {
        let mut left_out = self.0.iter().filter_map(|pattern| pattern.strip_prefix('!'));
        let mut included = self.0.iter().filter(|pattern| !pattern.starts_with('!'));
        !left_out.any(|pattern| fits(pattern, name)) && included.any(|pattern| fits(pattern, name))
    }

    /// Returns the names without those that are patterns.
    pub fn plain(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str).filter(|name| !name.contains(['*', '?', '!']))
    }
}

/// A key that the project names, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// Whose it is.
    pub principals: Principals,
    /// What tells it from other keys.
    pub fingerprint: String,
    /// Where it stands: file and line.
    pub place: String,
    /// Why nothing that is signed with it counts; `None` if it does.
    pub useless: Option<String>,
}

/// Compares with a pattern, row by row: which beginnings of the name the beginning of the pattern fits.
fn fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut row = vec![false; name.len() + 1];
    row[0] = true;
    for letter in pattern.chars() {
        let mut next = vec![letter == '*' && row[0]];
        for (index, other) in name.iter().enumerate() {
            next.push(match letter {
                '*' => row[index + 1] || next[index],
                '?' => row[index],
                letter => row[index] && letter == *other,
            });
        }
        row = next;
    }
    row[name.len()]
}

/// What a project has configured.
#[derive(Debug, Clone, PartialEq)]
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
    /// The public keys of those who can sign decisions in this project.
    pub signers: Vec<Signer>,
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
            signers: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns whether a rule is off.
    pub fn is_off(&self, rule: &Rule) -> bool {
        !rule.fixed && self.levels.get(rule.name) == Some(&Level::Off)
    }

    /// Returns the severity of a rule in a dialect; `None` if it is off.
    pub fn severity(&self, rule: &Rule, dialect: Option<Dialect>) -> Option<Severity> {
        match self.levels.get(rule.name) {
            Some(Level::Off) if !rule.fixed => None,
            Some(Level::At(severity)) if !rule.fixed => Some(*severity),
            _ => Some(rule.severity_in(dialect)),
        }
    }

    /// Returns why a rule may be broken in every document.
    pub fn permission(&self, rule: &Rule) -> Option<&Permission> {
        self.permissions.iter().find(|permission| permission.rule == rule.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principals_are_patterns_as_in_openssh() {
        for (list, name, expected) in [
            ("ana", "ana", true),
            ("ana", "Ana", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("a?c, b", "abc", true),
            ("a?c", "ac", false),
            ("*@example.com,!eve@*", "ana@example.com", true),
            ("*@example.com,!eve@*", "eve@example.com", false),
            ("!eve", "ana", false),
        ] {
            assert_eq!(Principals::parse(list).include(name), expected, "{list} {name}");
        }
    }
}

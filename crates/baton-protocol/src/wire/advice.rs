//! How a reader answers mistakes in documents that have no members but those of their structures.

use std::borrow::Cow;

use super::{Reader, Token, closest};
use crate::diagnostic::{Finding, Place};
use crate::rules;
use crate::tree::Node;

/// What is known about the documents that are read. Places are written like pointers, with `#` for any index and `*` for any
/// name that the author has chosen: `/agents/*/timeout`.
#[derive(Debug)]
pub struct Advice {
    /// The rule that reports unknown fields.
    pub unknown: &'static rules::Rule,
    /// Returns what is to be written at a place instead of a value of the wrong type.
    pub instead: fn(place: &str, written: &Node<'_>) -> Option<String>,
    /// Returns an example of what is written at a place.
    pub example: fn(place: &str) -> Option<&'static str>,
    /// Returns what is said about a member that other tools have at a place.
    pub foreign: fn(place: &str, name: &str) -> Option<Foreign>,
}

/// What is said about a member that other tools have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It has another name here.
    Renamed(&'static str),
    /// It does not exist; this says how its purpose is reached.
    Explained(&'static str),
}

impl Reader {
    /// Returns the place of the value being read, as advice is given for it.
    fn place(&self) -> String {
        self.path.iter().fold(String::new(), |place, token| match token {
            Token::Name(name) => place + "/" + name,
            Token::Chosen(_) => place + "/*",
            Token::Index(_) => place + "/#",
        })
    }

    /// Returns what is to be written in the place of a value of the wrong type.
    pub(super) fn right_type(&self, expected: &str, written: &Node<'_>) -> Option<String> {
        match self.advice {
            None => Some(format!("write {expected} in its place")),
            Some(advice) => (advice.instead)(&self.place(), written),
        }
    }

    /// Returns how a member is written that is missing.
    pub(super) fn example_of(&self, name: &str) -> Option<String> {
        let example = self.advice.and_then(|advice| (advice.example)(&format!("{}/{name}", self.place())))?;
        Some(format!("add it: `{name}: {example}`"))
    }

    /// Returns which member was meant by a name that the structure does not know.
    pub(super) fn meant(&self, name: &str, known: &[&'static str]) -> Option<Foreign> {
        let foreign = self.advice.and_then(|advice| (advice.foreign)(&self.place(), name));
        // Not everything that has the usual name elsewhere has a place here.
        let fits = |foreign: &Foreign| !matches!(foreign, Foreign::Renamed(meant) if !known.contains(meant));
        foreign.filter(fits).or_else(|| closest(name, known).map(Foreign::Renamed))
    }

    /// Returns whether a missing field is present under an unknown (probably misspelt) name.
    pub(super) fn is_under_another_name(
        &self,
        missing: &str,
        known: &[&'static str],
        members: &[(Cow<'_, str>, Node<'_>)],
    ) -> bool {
        let mut unknown = members.iter().filter(|(name, _)| !known.contains(&name.as_ref()));
        self.advice.is_some()
            && unknown
                .any(|(name, _)| matches!(self.meant(name, known), Some(Foreign::Renamed(meant)) if meant == missing))
    }

    /// Returns whether the value before this one in its list was reported already: one mistake, one answer.
    pub(super) fn repeats_itself(&self) -> bool {
        let Some(last) = self.findings.as_slice().last().filter(|_| self.advice.is_some()) else { return false };
        let is_sibling = |list: &str| last.place.pointer().rsplit_once('/').is_some_and(|(before, _)| before == list);
        matches!(self.path.last(), Some(Token::Index(1..)))
            && std::ptr::eq(last.rule, &rules::wrong_type::RULE)
            && self.pointer().rsplit_once('/').is_some_and(|(list, _)| is_sibling(list))
    }

    /// Reports a member whose value was forgotten, unless that was said already.
    pub(super) fn report_null(&mut self, name: &str) {
        let Some(advice) = self.advice else { return };
        let pointer = self.pointer();
        if self.findings.as_slice().last().is_some_and(|last| last.place.pointer() == pointer) {
            return;
        }
        let help = match (advice.example)(&self.place()) {
            Some(example) => format!("write it like this: `{name}: {example}`; or leave `{name}` out"),
            None => format!("write a value, or leave `{name}` out"),
        };
        let message = format!("`{name}` has no value");
        self.findings.push(Finding::new(&rules::wrong_type::RULE, Place::Name(pointer), message).help(help));
    }
}

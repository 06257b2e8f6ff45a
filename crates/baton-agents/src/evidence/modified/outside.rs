//! Where a phase may write, and what has changed elsewhere: files of the work, branches, and what git ignores.

use std::collections::BTreeSet;

use baton_engine::evidence::ExaminedClaim;
use baton_protocol::rules::writes_outside;

use super::{Comparison, TOLD, in_one};
use crate::evidence::changes::{Change, ChangesBeside};
use crate::evidence::entry::{refuted, unchecked, unverifiable, verified};
use crate::evidence::ignored::IgnoredChanges;
use crate::evidence::named;

impl Comparison<'_> {
    /// Looks for changed files that the phase may not write.
    pub(in crate::evidence) fn outside(&self) -> Vec<ExaminedClaim> {
        if self.scene.writes.is_none() {
            return Vec::new();
        }
        let (rule, only, outside) = (&writes_outside::RULE, self.may_write(), self.outside_in_words());
        let claim = format!("whether anything{outside} was changed cannot be checked");
        let changed = self.changes.during().and_then(|during| Ok((during, self.changes.left_over()?)));
        let changed = changed.and_then(|(during, left_over)| Ok((during, left_over, self.beside_the_work()?)));
        let (during, left_over, beside) = match changed {
            Ok(changed) => changed,
            Err(why) => return vec![unchecked(rule, claim, why)],
        };
        let mut strangers = self.sort(during, |path, _| self.may_be_written(path) || self.changes.is_undone(path));
        strangers.extend(self.sort(&beside.during, |path, _| !is_ref(path)));
        let may = self.may_only();
        let mut strange = self.sort(left_over, |path, _| self.may_be_written(path));
        strange.extend(self.sort(&beside.left_over, |path, _| self.may_be_written(path)));
        let (wrong, unclear) = self.left_wrong(rule, strangers.own, strange.own);
        let mut examined = self.pinned(&wrong, |told| refuted(rule, told, &*may));
        let ignored = self.sort(&beside.during, |path, _| is_ref(path));
        let ignored = [ignored.own, ignored.anybody].concat();
        if !ignored.is_empty() {
            // Programs of people write there, too.
            let seen = format!("{may}; git ignores it, and it is not clear by whom");
            examined.push(unchecked(rule, in_one(&ignored), seen));
        }
        if !strangers.anybody.is_empty() {
            let seen = format!("{claim}: another agent may write it, too");
            examined.push(unchecked(rule, in_one(&strangers.anybody), seen));
        }
        if !strangers.caged.is_empty() {
            let seen = format!("by another agent: the cage lets this one write only {only}");
            examined.push(verified(rule, in_one(&strangers.caged), seen));
        }
        if !strangers.beside.is_empty() {
            examined.push(unverifiable(rule, in_one(&strangers.beside), "where only another agent may write"));
        }
        if !unclear.is_empty() {
            let seen = "since the first attempt; it is not clear by whom";
            examined.push(unchecked(rule, in_one(&unclear), seen));
        }
        examined.extend(self.in_caches(&beside.caches, ""));
        if examined.is_empty() {
            examined.push(self.nothing_outside());
        }
        let is_unnamed = |(path, _): &(&String, &Change)| {
            self.writes.fit(path) && !self.named.hold(path) && !self.changes.is_output(path)
        };
        let inside: Vec<(&String, &Change)> =
            during.iter().filter(|_| !named::claims_a_list(self.report)).chain(left_over).filter(is_unnamed).collect();
        examined.extend(self.pinned(&inside, |words| verified(rule, words, "where it may write")));
        examined
    }

    /// Puts down that the phase wrote only where it may.
    pub(super) fn nothing_outside(&self) -> ExaminedClaim {
        verified(&writes_outside::RULE, format!("nothing{} was changed", self.outside_in_words()), "")
    }

    fn outside_in_words(&self) -> String {
        match self.scene.writes.as_deref() {
            Some([]) => String::new(),
            _ => format!(" outside {}", self.may_write()),
        }
    }

    /// Returns what changed beside the work where this phase may not write, and where nothing kept its agent from writing.
    pub(super) fn beside_the_work(&self) -> Result<&ChangesBeside, &'static str> {
        let look = || {
            let counts = |path: &str| !self.is_open(path) && !self.is_read_only(path);
            let mut beside = self.changes.beside_the_work(self.root, counts)?;
            beside.during.retain(|path, _| !self.is_on_the_way(path));
            beside.left_over.retain(|path, _| !self.is_on_the_way(path));
            Ok(beside)
        };
        self.beside.get_or_init(look).as_ref().map_err(|why| *why)
    }

    /// Returns what changed of what git ignores while commands ran, where this phase may not write.
    pub(super) fn ignored_by_commands(&self) -> Result<IgnoredChanges, &'static str> {
        let mut ignored = self.changes.ignored_since(self.root, |path| !self.is_open(path))?;
        ignored.files.retain(|path, _| !self.is_on_the_way(path));
        Ok(ignored)
    }

    /// Puts down which caches of tools were written: a tool does so by itself, and a phase that says where it writes means
    /// other files.
    pub(super) fn in_caches(&self, caches: &BTreeSet<String>, when: &str) -> Option<ExaminedClaim> {
        let told = caches.iter().take(TOLD).map(|cache| format!("`{cache}`")).collect::<Vec<_>>().join(", ");
        let more = caches.len().saturating_sub(TOLD);
        let more = if more > 0 { format!(" and {more} more caches") } else { String::new() };
        let seen = "which git ignores and tools write by themselves: what is in there is not compared";
        let entry =
            || unverifiable(&writes_outside::RULE, format!("something in {told}{more} was changed{when}"), seen);
        (!caches.is_empty()).then(entry)
    }

    /// Returns whether the phase may write a path, or everything in it.
    fn is_open(&self, path: &str) -> bool {
        self.may_be_written(path) || self.writes.fit(&format!("{path}/."))
    }

    /// Returns whether a path is a folder that the phase may have to make.
    fn is_on_the_way(&self, path: &str) -> bool {
        let patterns = self.scene.writes.iter().flatten();
        patterns
            .map(|pattern| pattern.trim_start_matches("./"))
            .any(|pattern| pattern.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns whether the phase may write a path.
    pub(super) fn may_be_written(&self, path: &str) -> bool {
        self.writes.fit(path) || self.changes.is_output(path)
    }

    /// Returns whether the cage kept the agent from a path. It lets everything be written in the nearest folder of a pattern
    /// that was there when the agent began.
    pub(super) fn is_read_only(&self, path: &str) -> bool {
        let nearest = |pattern: &String| {
            let literal = pattern.trim_start_matches("./").split(['*', '?', '[', '{']).next().unwrap_or_default();
            let mut folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
            while !folder.is_empty() && !self.changes.had(folder) {
                folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
            }
            path.starts_with(folder)
        };
        // Commands may write elsewhere, and nobody knows which of them an earlier driver has run.
        let is_kept = self.scene.is_caged && !self.scene.is_interrupted && !self.changes.is_output(path);
        is_kept && self.scene.writes.as_ref().is_some_and(|writes| !writes.iter().any(nearest))
    }

    /// Returns where the phase may write, in words.
    pub(super) fn may_write(&self) -> String {
        let patterns = self.scene.writes.iter().flatten().map(|pattern| format!("`{pattern}`"));
        match patterns.collect::<Vec<_>>() {
            none if none.is_empty() => "nothing".to_owned(),
            patterns => patterns.join(", "),
        }
    }

    /// Returns what a change elsewhere contradicts.
    pub(super) fn may_only(&self) -> String {
        match self.scene.writes.as_deref() {
            Some([]) => "but no file may be written".to_owned(),
            _ => format!("but only {} may be written", self.may_write()),
        }
    }
}

/// Returns whether a path tells where a branch or a tag stands.
fn is_ref(path: &str) -> bool {
    path.starts_with(".git/")
}

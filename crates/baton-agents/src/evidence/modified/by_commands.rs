//! What changes while commands run: they may run what an agent has written, and what follows may build on what they make.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_protocol::rules::{artifact_changed, modified_not_declared, writes_outside};

use super::{ChangedFile, Comparison, Strangers, handed_over, in_one};
use crate::evidence::changes::Change;
use crate::evidence::entry::{refuted, unchecked, unverifiable, verified};
use crate::evidence::named::{self, Places};
use crate::evidence::snapshot::path_of;

impl Comparison<'_> {
    /// Judges what has changed while commands ran: they may have been written by the agent.
    pub(in crate::evidence) fn examine_commands(
        &self,
        changed: Result<BTreeMap<String, Change>, &'static str>,
        told: &HashSet<String>,
    ) -> Vec<ExaminedClaim> {
        let claim = "while the checks ran";
        let is_restricted = self.scene.writes.is_some();
        let changed = match changed {
            Ok(changed) => changed,
            Err(why) if is_restricted => {
                return vec![unchecked(&writes_outside::RULE, format!("what changed {claim} cannot be checked"), why)];
            }
            Err(_) => return Vec::new(),
        };
        let mut examined = self.configuration(&changed);
        let handed_over = Places::new(self.root, handed_over(self.scene));
        let (artifacts, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            changed.into_iter().partition(|(path, _)| handed_over.hold(path) && !self.named.hold(path));
        let strangers = self.sort_of_commands(&artifacts, |_, _| false);
        let seen = "but it was handed over";
        let wrong = |told: String| refuted(&artifact_changed::RULE, format!("{told} {claim}"), seen);
        examined.extend(self.pinned(&strangers.own, wrong));
        let by_anybody = [strangers.anybody, strangers.beside].concat();
        if !by_anybody.is_empty() {
            let seen = "although it was handed over, by them or by another agent: unclear which";
            examined.push(unchecked(&artifact_changed::RULE, format!("{} {claim}", in_one(&by_anybody)), seen));
        }
        if is_restricted {
            let strangers = self.sort_of_commands(&rest, |path, _| self.may_be_written(path));
            let (rule, may) = (&writes_outside::RULE, self.may_only());
            examined.extend(self.pinned(&strangers.own, |told| refuted(rule, format!("{told} {claim}"), &*may)));
            if !strangers.anybody.is_empty() {
                let seen = format!("{may}: by them or by another agent, unclear which");
                examined.push(unchecked(rule, format!("{} {claim}", in_one(&strangers.anybody)), seen));
            }
            if !strangers.beside.is_empty() {
                let told = format!("{} {claim}", in_one(&strangers.beside));
                examined.push(unverifiable(rule, told, "where only another agent may write"));
            }
            examined.extend(self.ignored_while(claim));
        }
        let is_new = |(path, _): &(&String, &Change)| !told.contains(*path) && !self.named.hold(path);
        let new: Vec<(&String, &Change)> = rest.iter().filter(is_new).collect();
        let (fitting, strange): (Vec<_>, Vec<_>) = new.into_iter().partition(|(path, _)| self.may_be_written(path));
        let rule = &modified_not_declared::RULE;
        examined.extend(
            self.pinned(&fitting, |words| verified(rule, format!("{words} {claim}"), "where it may be written")),
        );
        if !is_restricted {
            let seen = "which no report names";
            // What others say that they write is told and bound as their work.
            let strange: Vec<_> = strange.into_iter().filter(|(path, _)| !self.others.fit(path)).collect();
            examined.extend(self.pinned(&strange, |words| unverifiable(rule, format!("{words} {claim}"), seen)));
        }
        examined
    }

    /// Judges what commands have changed of what git ignores, outside of `writes`. Tests may write results there, and what
    /// later phases run may lie there: only a person can tell.
    fn ignored_while(&self, claim: &str) -> Vec<ExaminedClaim> {
        let (rule, may) = (&writes_outside::RULE, self.may_only());
        let ignored = match self.ignored_by_commands() {
            Ok(ignored) => ignored,
            Err(why) => {
                let told = format!("what changed {claim} of what git ignores cannot be checked");
                return vec![unchecked(rule, told, why)];
            }
        };
        let strangers = self.sort_of_commands(&ignored.files, |_, _| false);
        let files = [strangers.own, strangers.anybody].concat();
        let told = || unchecked(rule, format!("{} {claim}", in_one(&files)), format!("{may}; git ignores it"));
        let caches = self.in_caches(&ignored.caches, &format!(" {claim}"));
        (!files.is_empty()).then(told).into_iter().chain(caches).collect()
    }

    /// Returns what was put down before commands ran and is not so any more.
    pub(in crate::evidence) fn denied_by(
        &self,
        changed: &Result<BTreeMap<String, Change>, &'static str>,
        seen: &[ExaminedClaim],
    ) -> Vec<ExaminedClaim> {
        let is_told =
            seen.iter().any(|one| one.rule == writes_outside::RULE.name && one.verdict != ClaimFinding::Verified);
        let is_changed =
            |wanted: &dyn Fn(&String) -> bool| changed.as_ref().map_or(true, |changed| changed.keys().any(wanted));
        let outside = (is_told || is_changed(&|path| !self.may_be_written(path))).then(|| self.nothing_outside());
        let unnamed = is_changed(&|path| !self.named.hold(path)).then(|| self.nothing_else()).flatten();
        outside.into_iter().chain(unnamed).collect()
    }

    /// Sorts what changed while commands ran: they may write where their agent could not.
    fn sort_of_commands<'c>(
        &self,
        changes: &'c BTreeMap<String, Change>,
        fine: impl Fn(&str, Change) -> bool,
    ) -> Strangers<'c> {
        self.sort_within(changes, fine, |_| false)
    }

    /// Puts down what has changed since a check began first: what follows may build on it, and no report names it.
    pub(in crate::evidence) fn changed_by_check(&self, check: &str) -> Vec<ExaminedClaim> {
        let rule = &modified_not_declared::RULE;
        let ran = format!("while the check `{check}` ran");
        let changed = self.changes.during().and_then(|during| Ok((during, self.changes.left_over()?)));
        let (during, left_over) = match changed {
            Ok(changed) => changed,
            Err(why) => return vec![unverifiable(rule, format!("what changed {ran} cannot be checked"), why)],
        };
        let is_fine =
            |path: &str, _| self.scene.writes.is_none() || self.may_be_written(path) || self.changes.is_undone(path);
        let strayed = self.sort(during, is_fine).own;
        let may = self.may_only();
        let mut examined =
            self.pinned(&strayed, |words| refuted(&writes_outside::RULE, format!("{words} {ran}"), &*may));
        if let Some(Ok(beside)) = self.scene.writes.is_some().then(|| self.beside_the_work()) {
            let strayed = self.sort(&beside.during, |_, _| false).own;
            examined
                .extend(self.pinned(&strayed, |words| refuted(&writes_outside::RULE, format!("{words} {ran}"), &*may)));
        }
        examined.extend(self.still_strayed(during));
        let strayed: HashSet<&String> = strayed.into_iter().map(|(path, _)| path).collect();
        let rest: Vec<ChangedFile<'_>> =
            during.iter().filter(|(path, _)| !strayed.contains(path)).chain(left_over).collect();
        examined.extend(self.pinned(&rest, |words| verified(rule, format!("{words} {ran}"), "")));
        let told = during.keys().chain(left_over.keys()).cloned().collect();
        let made = |path: &str| verified(rule, format!("`{path}` exists, which the check `{check}` may write"), "");
        let outputs = self.outputs(&told).into_iter().chain(self.ignored_outputs());
        examined.extend(outputs.map(|path| self.files.pin_key(made(&path), path)));
        examined
    }

    /// Returns what the same check has written before where it may not, and what is still as it left it: a check that runs
    /// once more is not right because nothing has changed since.
    pub(in crate::evidence) fn still_strayed(&self, during: &BTreeMap<String, Change>) -> Vec<ExaminedClaim> {
        let mut latest: BTreeMap<&String, &ExaminedClaim> = BTreeMap::new();
        for strayed in self.scene.strayed.iter().filter(|_| self.scene.writes.is_some()) {
            latest.extend(strayed.path.as_ref().map(|path| (path, strayed)));
        }
        let is_still = |(path, strayed): &(&String, &ExaminedClaim)| {
            let is_told = during.contains_key(*path) || self.may_be_written(path);
            !is_told && self.files.identify(path) == strayed.identity()
        };
        latest.into_iter().filter(is_still).map(|(_, strayed)| strayed.clone()).collect()
    }

    /// Returns the folders of `writes` that git ignores: nothing else would show what is in them.
    fn ignored_outputs(&self) -> BTreeSet<String> {
        let named = self.scene.writes.iter().flatten().map(|pattern| pattern.trim_end_matches("/**"));
        let inner = named.filter_map(|path| named::inside(self.root, Path::new(path)));
        let is_meant = |path: &String| self.changes.ignored_folder(self.root, path) && !self.changes.is_own(path);
        inner.filter(|path| is_meant(path) && self.root.join(path_of(path)).is_dir()).collect()
    }
}

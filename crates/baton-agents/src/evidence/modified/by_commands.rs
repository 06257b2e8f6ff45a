//! What changes while commands run: they may run what an agent has written, and what follows may build on what they make.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use baton_engine::evidence::ExaminedClaim;
use baton_protocol::rules::{artifact_changed, modified_not_declared, writes_outside};

use super::{ChangedFile, Comparison, handed_over};
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
        let own = self.sort(&artifacts, |_, _| false).own;
        let seen = "but it was handed over";
        examined.extend(self.pinned(&own, |told| refuted(&artifact_changed::RULE, format!("{told} {claim}"), seen)));
        if is_restricted {
            let strangers = self.sort(&rest, |path, _| self.may_be_written(path));
            let may = self.may_only();
            let rule = &writes_outside::RULE;
            examined.extend(self.pinned(&strangers.own, |told| refuted(rule, format!("{told} {claim}"), &*may)));
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
            let strange: Vec<_> = strange.into_iter().filter(|(path, _)| !self.may_be_of_others(path)).collect();
            examined.extend(self.pinned(&strange, |words| unverifiable(rule, format!("{words} {claim}"), seen)));
        }
        examined
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

//! Changed files: every one that is named has changed, and every one that has changed is named and may be.
//!
//! What an agent may not do is never left open: it is refuted, or a person must look. What others who work at the same
//! time may have done is told as such.

mod by_commands;
mod outside;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use baton_engine::evidence::{ClaimFinding, ClaimKind, ExaminedClaim, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::{
    Rule, artifact_changed, artifact_outside_workspace, file_not_modified, modified_not_declared, stale_base,
    writes_outside,
};

use super::changes::{Change, Changes, ChangesBeside, Trace};
use super::checks;
use super::entry::{refuted, unchanged, unchecked, unverifiable, verified};
use super::files::FileEyes;
use super::named::{self, Places};
use super::patterns::Patterns;
use super::snapshot::{CONFIGURATION, path_of};
use super::sources;
use crate::workspace::WorkspaceFolder;

/// How many files are listed one by one.
const TOLD: usize = 20;

/// How many files that no report names are identified, as many as a decision is bound to.
const IDENTIFIED: usize = 1_000;

/// What the changes are compared with.
pub(super) struct Comparison<'a> {
    files: FileEyes<'a>,
    root: &'a Path,
    scene: &'a Scene,
    report: &'a Report,
    changes: &'a Changes,
    /// What the report names as made or changed.
    named: Places,
    /// Where the phase may write, if that is restricted.
    writes: Patterns,
    /// Where others say that they may write.
    others: Patterns,
    /// Whether somebody else may write everywhere.
    anybody: bool,
    /// What changed beside the work; looking takes a while.
    beside: OnceCell<Result<ChangesBeside, &'static str>>,
}

/// A file, and what happened to it.
type ChangedFile<'c> = (&'c String, &'c Change);

/// Changes that are not fine, by who may have made them.
#[derive(Default)]
struct Strangers<'c> {
    /// Only the agent.
    own: Vec<ChangedFile<'c>>,
    /// The agent, or somebody who says that they may write there.
    beside: Vec<ChangedFile<'c>>,
    /// The agent, or somebody who may write everywhere.
    anybody: Vec<ChangedFile<'c>>,
    /// Somebody else who may write there: for the agent it was read-only.
    caged: Vec<ChangedFile<'c>>,
}

impl<'c> Strangers<'c> {
    fn extend(&mut self, more: Strangers<'c>) {
        self.own.extend(more.own);
        self.beside.extend(more.beside);
        self.anybody.extend(more.anybody);
        self.caged.extend(more.caged);
    }
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        workspace: &'a WorkspaceFolder,
        scene: &'a Scene,
        report: &'a Report,
        changes: &'a Changes,
    ) -> Self {
        let root = workspace.root();
        let named = named::made(report).into_iter().chain(named::modified(report));
        let (anybody, others) = scene.others_write.iter().cloned().partition::<Vec<_>, _>(|pattern| pattern == "**");
        let (named, others) = (Places::new(root, named), Patterns::new(&others));
        let (writes, anybody) = (Patterns::new(scene.writes.as_deref().unwrap_or_default()), !anybody.is_empty());
        let files = FileEyes::new(workspace, &scene.views);
        Comparison { files, root, scene, report, changes, named, writes, others, anybody, beside: OnceCell::new() }
    }

    /// Compares what a report says about changes with the changes.
    pub(super) fn examine(&self) -> Vec<ExaminedClaim> {
        let mut examined: Vec<ExaminedClaim> =
            named::modified(self.report).into_iter().map(|path| self.claimed(path)).collect();
        examined.extend(self.undeclared());
        examined.extend(self.outside());
        examined.extend(self.in_output());
        let told = examined.iter().filter_map(|seen| seen.path.clone()).collect();
        examined.extend(self.outputs(&told).into_iter().map(|path| self.output(&path)));
        examined.extend(self.changes.during().into_iter().flat_map(|during| self.configuration(during)));
        examined.extend(self.changes.left_over().iter().flat_map(|left_over| self.configuration(left_over)));
        examined.extend(self.configuration(&self.changes.above()));
        examined.extend(self.handed_over());
        examined.extend(self.moved_on());
        examined
    }

    /// Looks at one file that the report says was changed.
    fn claimed(&self, path: &str) -> ExaminedClaim {
        let claim = format!("claims to have changed `{path}`");
        let inner = named::inside(self.root, Path::new(path));
        let rule = &file_not_modified::RULE;
        match inner.map_or(Trace::Outside, |inner| self.changes.trace(self.root, &inner)) {
            Trace::Changed(change) => {
                let seen = verified(rule, format!("`{path}` was {}", change.as_str()), "as reported");
                self.files.pin(seen, path)
            }
            Trace::Same => refuted(rule, claim, format!("but `{path}` is unchanged")),
            Trace::Never => refuted(rule, claim, "but it does not exist, and did not before"),
            Trace::Outside => refuted(&artifact_outside_workspace::RULE, claim, "but it lies outside the workspace"),
            Trace::Unknown(why) => {
                self.files.pin(unverifiable(rule, claim, format!("which cannot be checked: {why}")), path)
            }
        }
    }

    /// Looks for changed files that the report should name.
    fn undeclared(&self) -> Vec<ExaminedClaim> {
        let rule = &modified_not_declared::RULE;
        let all = named::claims_a_list(self.report);
        let new = self.scene.names_new_files;
        let counts = |change: Change| all || !new || change == Change::Created;
        let changed = self.changes.during().and_then(|during| Ok((during, self.changes.left_over()?)));
        let (strangers, left_over, is_told_elsewhere) = match &changed {
            Ok((during, left_over)) => {
                // Without a list, what the phase may write is told together with that.
                let told = |path: &str| !all && !new && self.writes.fit(path);
                // Where the phase may not write, it is told who may have written.
                let is_outside = |path: &str| self.scene.writes.is_some() && !self.may_be_written(path);
                let elsewhere = |path: &str| is_outside(path) && self.may_be_of_others(path);
                // What is in the output directory is told in any case.
                let fine =
                    |path: &str| self.named.hold(path) || self.changes.is_output(path) || told(path) || elsewhere(path);
                let is_fine = |path: &str, change: Change| !counts(change) || fine(path);
                // What was left where the phase may not write is told with that.
                let left = self.sort(left_over, |path, change| is_fine(path, change) || is_outside(path));
                let is_unnamed = |path: &str, change: Change| counts(change) && !self.named.hold(path);
                let is_told_elsewhere =
                    during.iter().any(|(path, change)| is_unnamed(path, *change) && elsewhere(path))
                        || left_over.iter().any(|(path, change)| is_unnamed(path, *change) && is_outside(path));
                // Whoever has removed what an earlier attempt made need not name it.
                let is_no_change = |path: &str, change: Change| is_fine(path, change) || self.changes.is_undone(path);
                (self.sort(during, is_no_change), left, is_told_elsewhere)
            }
            Err(why) if all || new => {
                let claim = "whether every changed file is named cannot be checked";
                return vec![unchecked(rule, claim, *why)];
            }
            Err(_) => return Vec::new(),
        };
        let mut examined = Vec::new();
        let by_others = [&strangers.beside[..], &strangers.anybody, &strangers.caged].concat();
        let is_wrong = |path: &str| (all || new) && self.scene.refuted.hold(rule, path);
        // What an earlier report was refuted for is not made good by leaving it there.
        let (again, left): (Vec<_>, Vec<_>) = left_over.own.iter().copied().partition(|(path, _)| is_wrong(path));
        let (wrong, unclear, open) = match all || new {
            // Its commands may have made that, before the driver died that ran them.
            true if self.scene.is_interrupted && checks::runs_commands(self.scene, self.report) => {
                (again, strangers.own, left)
            }
            true => ([strangers.own, again].concat(), Vec::new(), left),
            false => (again, Vec::new(), [strangers.own, left].concat()),
        };
        let by_commands =
            "which the report does not name, by the agent or by its checks, which were interrupted: unclear which";
        examined.extend(self.pinned(&unclear, |words| unchecked(rule, words, by_commands)));
        examined.extend(self.pinned(&wrong, |words| refuted(rule, words, "but the report does not name it")));
        examined.extend(self.pinned(&open, |words| unverifiable(rule, words, "which the report does not name")));
        if !by_others.is_empty() {
            examined.push(unverifiable(
                rule,
                in_one(&by_others),
                "by it or by another agent at the same time: unclear which",
            ));
        }
        if examined.is_empty() && !is_told_elsewhere {
            examined.extend(self.nothing_else());
        }
        examined
    }

    /// Puts down that the report names whatever it should name.
    fn nothing_else(&self) -> Option<ExaminedClaim> {
        let claim = match named::claims_a_list(self.report) {
            true => "every changed file is named",
            false if self.scene.names_new_files => "every new file is named",
            false => return None,
        };
        Some(verified(&modified_not_declared::RULE, claim, "nothing else has changed"))
    }

    /// Puts down what has changed in the output directory and is not named: it needs no naming, but people decide about it.
    fn in_output(&self) -> Vec<ExaminedClaim> {
        let changed = self.changes.during().into_iter().chain(self.changes.left_over()).flatten();
        let unnamed: Vec<ChangedFile<'_>> =
            changed.filter(|(path, _)| self.changes.is_output(path) && !self.named.hold(path)).collect();
        self.pinned(&unnamed, |words| verified(&modified_not_declared::RULE, words, "in the output directory"))
    }

    /// Puts down each of some changes, with what identifies the file: people decide about it although no report names it.
    fn pinned(&self, changes: &[ChangedFile<'_>], entry: impl Fn(String) -> ExaminedClaim) -> Vec<ExaminedClaim> {
        let identified = changes.iter().take(IDENTIFIED);
        let told = identified.map(|changed| self.files.pin_key(entry(in_words(changed)), changed.0.clone()));
        let rest = changes.len().saturating_sub(IDENTIFIED);
        let files = if rest == 1 { "file" } else { "files" };
        let were = if rest == 1 { "was" } else { "were" };
        let rest = (rest > 0).then(|| {
            let more = entry(format!("{rest} more {files}, which no decision is bound to, {were} changed"));
            // That a claim is so cannot be said of files that nobody has looked at.
            let verdict = match more.verdict {
                ClaimFinding::Verified => ClaimFinding::Unverifiable,
                verdict => verdict,
            };
            ExaminedClaim { verdict, kind: Some(ClaimKind::Unbound), ..more }
        });
        told.chain(rest).collect()
    }

    /// Returns the files that `writes` names one by one, beside those that are told already. Whoever names a file wants it
    /// to be looked at: also one that git ignores, and one that was written again as it was. A folder stands for whatever
    /// may change in it, and is not looked at as a whole.
    fn outputs(&self, told: &HashSet<String>) -> BTreeSet<String> {
        let named = self.scene.writes.iter().flatten();
        let inner = named.filter_map(|path| named::inside(self.root, Path::new(path)));
        let is_meant = |path: &String| self.writes.fit(path) && !told.contains(path) && !self.changes.is_own(path);
        inner.filter(|path| is_meant(path) && self.root.join(path_of(path)).is_file()).collect()
    }

    /// Puts down a file that the phase is there to write, and that no line is about yet.
    fn output(&self, path: &str) -> ExaminedClaim {
        let rule = &writes_outside::RULE;
        let bytes = fs::metadata(self.root.join(path_of(path))).map(|metadata| metadata.len()).unwrap_or_default();
        let exists = format!("`{path}` exists, {bytes} {}", if bytes == 1 { "byte" } else { "bytes" });
        let seen = match self.changes.trace(self.root, path) {
            Trace::Changed(change) => verified(rule, in_words(&(&path.to_owned(), &change)), "where it may write"),
            Trace::Same => unchanged(verified(rule, exists, "")),
            Trace::Never | Trace::Outside | Trace::Unknown(_) => verified(rule, exists, ""),
        };
        self.files.pin_key(seen, path.to_owned())
    }

    /// Looks for files that would tell Baton itself how to work, from its next command on: that is for people to say.
    fn configuration(&self, changed: &BTreeMap<String, Change>) -> Vec<ExaminedClaim> {
        let is_meant = |path: &String| self.scene.writes.iter().flatten().any(|pattern| pattern == path);
        let is_ours = |path: &String| Path::new(path).file_name().is_some_and(|name| name == CONFIGURATION);
        let ours = changed.iter().filter(|(path, _)| is_ours(path) && !is_meant(path));
        let seen = "which configures Baton: look at it before you use Baton there";
        ours.map(|changed| unchecked(&writes_outside::RULE, in_words(&changed), seen)).collect()
    }

    /// Looks for artifacts of earlier phases that changed although nobody says so.
    fn handed_over(&self) -> Vec<ExaminedClaim> {
        let handed_over = handed_over(self.scene);
        let rule = &artifact_changed::RULE;
        let changed = self.changes.during().and_then(|during| Ok((during, self.changes.left_over()?)));
        let (during, left_over) = match changed {
            Ok(changed) => changed,
            Err(_) if handed_over.is_empty() => return Vec::new(),
            Err(why) => {
                return vec![unchecked(
                    rule,
                    "whether the files that were handed over are unchanged cannot be checked",
                    why,
                )];
            }
        };
        let inner: Vec<String> =
            handed_over.into_iter().filter_map(|path| named::inside(self.root, Path::new(path))).collect();
        let among = |changes: &BTreeMap<String, Change>| -> BTreeMap<String, Change> {
            inner.iter().filter_map(|path| Some((path.clone(), *changes.get(path)?))).collect()
        };
        let (during, left_over) = (among(during), among(left_over));
        let strangers = self.sort(&during, |path, _| self.named.hold(path));
        let left_over = self.sort(&left_over, |path, _| self.named.hold(path));
        let (wrong, unclear) = self.left_wrong(rule, strangers.own, left_over.own);
        let unnamed = "but it was handed over, and the report does not name it";
        let mut examined = self.pinned(&wrong, |told| refuted(rule, told, unnamed));
        if !strangers.anybody.is_empty() {
            let seen = "although it was handed over, by it or by another agent at the same time: unclear which";
            examined.push(unchecked(rule, in_one(&strangers.anybody), seen));
        }
        if !unclear.is_empty() {
            let seen = "since the first attempt, although it was handed over; it is not clear by whom";
            examined.push(unchecked(rule, in_one(&unclear), seen));
        }
        examined
    }

    /// Returns what this attempt has done wrong, with what an earlier one was refuted for and was left as it was; and of the
    /// rest that was left, nobody knows who did it.
    fn left_wrong<'c>(
        &self,
        rule: &Rule,
        done: Vec<ChangedFile<'c>>,
        left: Vec<ChangedFile<'c>>,
    ) -> (Vec<ChangedFile<'c>>, Vec<ChangedFile<'c>>) {
        let (again, unclear) = left.into_iter().partition(|(path, _)| self.scene.refuted.hold(rule, path));
        ([done, again].concat(), unclear)
    }

    /// Looks for sources that somebody else changed while the agent read them.
    fn moved_on(&self) -> Vec<ExaminedClaim> {
        let Ok(during) = self.changes.during() else { return Vec::new() };
        let sources = self.report.source_files_verified.iter();
        let inner = sources.filter_map(|source| sources::path_of(self.root, source));
        let changed =
            inner.filter(|path| during.contains_key(path) && self.may_be_of_others(path) && !self.named.hold(path));
        let seen = "but another agent may have changed it meanwhile";
        changed.map(|path| unverifiable(&stale_base::RULE, format!("claims to have read `{path}`"), seen)).collect()
    }

    /// Sorts what changed while the agent worked and is not fine by who may have done it.
    fn sort<'c>(&self, changes: &'c BTreeMap<String, Change>, fine: impl Fn(&str, Change) -> bool) -> Strangers<'c> {
        self.sort_within(changes, fine, |path| self.is_read_only(path))
    }

    /// Sorts what changed and is not fine by who may have done it; some was read-only for whoever is judged.
    fn sort_within<'c>(
        &self,
        changes: &'c BTreeMap<String, Change>,
        fine: impl Fn(&str, Change) -> bool,
        is_read_only: impl Fn(&str) -> bool,
    ) -> Strangers<'c> {
        let mut strangers = Strangers::default();
        for (path, change) in changes.iter().filter(|(path, change)| !fine(path, **change)) {
            let list = match () {
                () if self.may_be_of_others(path) && is_read_only(path) => &mut strangers.caged,
                () if self.others.fit(path) => &mut strangers.beside,
                () if self.may_be_of_others(path) => &mut strangers.anybody,
                () => &mut strangers.own,
            };
            list.push((path, change));
        }
        strangers
    }

    /// Returns whether somebody beside the agent may write a path.
    fn may_be_of_others(&self, path: &str) -> bool {
        // All who work at the same time put their output into one directory.
        let is_shared = || self.changes.is_output(path) && !self.scene.others_write.is_empty();
        self.anybody || self.others.fit(path) || is_shared()
    }
}

fn in_words((path, change): &ChangedFile<'_>) -> String {
    format!("`{path}` was {}", change.as_str())
}

/// Returns the paths of the artifacts that came with the request.
fn handed_over(scene: &Scene) -> Vec<&str> {
    let context = scene.request.as_ref().and_then(|request| request.context.as_ref());
    context.map(|context| context.artifacts.iter().map(|artifact| artifact.path()).collect()).unwrap_or_default()
}

/// Lists the first of many in one sentence.
fn in_one(strangers: &[ChangedFile<'_>]) -> String {
    let rest = strangers.len().saturating_sub(TOLD);
    let more = (rest > 0).then(|| format!("and {rest} more files changed"));
    strangers.iter().take(TOLD).map(in_words).chain(more).collect::<Vec<_>>().join(", ")
}

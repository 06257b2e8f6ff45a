//! Changed files: every one that is named has changed, and every one that has changed is named and may be.

use std::path::Path;

use baton_engine::evidence::{Examined, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::{
    artifact_changed, artifact_outside_workspace, file_not_modified, modified_not_declared, stale_base, writes_outside,
};

use super::changes::{Change, Changes, Trace};
use super::entry::{refuted, unverifiable, verified};
use super::named::{self, Places};
use super::patterns::Patterns;
use super::sources;

/// So many files are told one by one.
const TOLD: usize = 20;

/// What the changes are compared with.
struct Comparison<'a> {
    root: &'a Path,
    scene: &'a Scene,
    report: &'a Report,
    changes: &'a Changes,
    /// What the report names as made or changed.
    named: Places,
    others: Patterns,
}

/// Says whether a report and a scene say anything about changes, so that looking is worth it.
pub(super) fn is_worth_it(scene: &Scene, report: &Report) -> bool {
    let sources = !report.source_files_verified.is_empty() && !scene.others_write.is_empty();
    named::claims_a_list(report)
        || scene.names_new_files
        || scene.writes.is_some()
        || !handed_over(scene).is_empty()
        || sources
}

/// Compares what a report says about changes with the changes.
pub(super) fn examine(root: &Path, scene: &Scene, report: &Report, changes: &Changes) -> Vec<Examined> {
    let named = named::made(report).into_iter().chain(named::modified(report));
    let comparison = Comparison {
        root,
        scene,
        report,
        changes,
        named: Places::new(root, named),
        others: Patterns::new(&scene.others_write),
    };
    let mut examined: Vec<Examined> =
        named::modified(report).into_iter().map(|path| comparison.claimed(path)).collect();
    examined.extend(comparison.undeclared());
    examined.extend(comparison.outside());
    examined.extend(comparison.handed_over());
    examined.extend(comparison.moved_on());
    examined
}

/// Returns the paths of the artifacts that came with the request.
fn handed_over(scene: &Scene) -> Vec<&str> {
    let context = scene.request.as_ref().and_then(|request| request.context.as_ref());
    context.map(|context| context.artifacts.iter().map(|artifact| artifact.path()).collect()).unwrap_or_default()
}

impl Comparison<'_> {
    /// Looks at one file that the report says was changed.
    fn claimed(&self, path: &str) -> Examined {
        let claim = format!("`{path}` was changed");
        let inner = named::inside(self.root, Path::new(path));
        let rule = &file_not_modified::RULE;
        match inner.map_or(Trace::Outside, |inner| self.changes.trace(self.root, &inner)) {
            Trace::Changed(change, sha256) => Examined { sha256, ..verified(rule, claim, change.as_str()) },
            Trace::Same => refuted(rule, claim, "it is as it was before the attempt"),
            Trace::Never => refuted(rule, claim, "it does not exist, and did not before the attempt"),
            Trace::Outside => refuted(&artifact_outside_workspace::RULE, claim, "it lies outside the workspace"),
            Trace::Unknown(why) => unverifiable(rule, claim, why),
        }
    }

    /// Looks for changed files that the report should name.
    fn undeclared(&self) -> Vec<Examined> {
        let all = named::claims_a_list(self.report);
        let claim = match (all, self.scene.names_new_files) {
            (true, _) => "these files were changed, and no others",
            (false, true) => "these files were made, and no others",
            (false, false) => return Vec::new(),
        };
        let rule = &modified_not_declared::RULE;
        let feature = Places::new(self.root, &self.report.feature_directory);
        let fine = |path: &str| self.named.hold(path) || feature.hold(path) || self.others.fit(path);
        match self.strangers(|path, change| fine(path) || (!all && change != Change::Created)) {
            Err(why) => vec![unverifiable(rule, claim, why)],
            Ok(strangers) if strangers.is_empty() => vec![verified(rule, claim, "nothing else has changed")],
            Ok(strangers) => tell(strangers, |seen| refuted(rule, claim, seen)),
        }
    }

    /// Looks for changed files that the phase may not write.
    fn outside(&self) -> Vec<Examined> {
        let Some(allowed) = &self.scene.writes else { return Vec::new() };
        let rule = &writes_outside::RULE;
        let claim = match allowed.is_empty() {
            true => "nothing was written".to_owned(),
            false => format!("only {} was written", allowed.join(", ")),
        };
        let writes = Patterns::new(allowed);
        match self.strangers(|path, _| writes.fit(path) || self.others.fit(path)) {
            Err(why) => vec![unverifiable(rule, claim, why)],
            Ok(strangers) if strangers.is_empty() => vec![verified(rule, claim, "nothing else has changed")],
            Ok(strangers) => tell(strangers, |seen| refuted(rule, claim.clone(), seen)),
        }
    }

    /// Looks for artifacts of earlier phases that changed although nobody says so.
    fn handed_over(&self) -> Vec<Examined> {
        let Ok(during) = self.changes.during() else { return Vec::new() };
        let inner = handed_over(self.scene).into_iter().filter_map(|path| named::inside(self.root, Path::new(path)));
        let changed = inner.filter_map(|path| Some((*during.get(&path)?, path)));
        let unnamed = changed.filter(|(_, path)| !self.named.hold(path) && !self.others.fit(path));
        let claim = |path: &str| format!("`{path}` is as it was handed over");
        let tell = |(change, path): (Change, String)| {
            refuted(&artifact_changed::RULE, claim(&path), format!("it was {} and is not named", change.as_str()))
        };
        unnamed.map(tell).collect()
    }

    /// Looks for sources that somebody else changed while the agent read them.
    fn moved_on(&self) -> Vec<Examined> {
        let Ok(during) = self.changes.during() else { return Vec::new() };
        let sources = self.report.source_files_verified.iter();
        let inner = sources.filter_map(|source| sources::path_of(self.root, source));
        let changed = inner.filter(|path| during.contains_key(path) && self.others.fit(path) && !self.named.hold(path));
        let seen = "somebody else changed it during the attempt; which state was read, nobody can tell";
        changed.map(|path| unverifiable(&stale_base::RULE, format!("`{path}` was read as it is"), seen)).collect()
    }

    /// Lists what changed and is not fine, in words.
    fn strangers(&self, fine: impl Fn(&str, Change) -> bool) -> Result<Vec<String>, &'static str> {
        let during = self.changes.during()?;
        let strangers = during.iter().filter(|(path, change)| !fine(path, **change));
        Ok(strangers.map(|(path, change)| format!("`{path}` was {}", change.as_str())).collect())
    }
}

/// Tells the first of many one by one, and the number of the rest.
fn tell(mut strangers: Vec<String>, entry: impl Fn(String) -> Examined) -> Vec<Examined> {
    let rest = strangers.len().saturating_sub(TOLD);
    strangers.truncate(TOLD);
    let more = (rest > 0).then(|| format!("so were {rest} more files"));
    strangers.into_iter().chain(more).map(entry).collect()
}

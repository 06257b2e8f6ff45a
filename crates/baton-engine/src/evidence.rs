//! Evidence, as a port: what Baton sees itself, claim by claim, before a report counts.

mod approved;

pub use approved::{
    ChangedFile, FileIdentity, ReportedFile, SeenFile, after_approval, changed_files, changed_since_shown, handed_over,
    left, seen_files, unchanged_since, unseen, when_asked,
};

use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_protocol::model::{Report, Request};
use baton_protocol::rules::{Rule, artifact_changed, modified_not_declared, writes_outside};
use baton_protocol::settings::Level;
use baton_protocol::workflow::Confinement;
use baton_protocol::{Settings, Severity};
use serde::{Deserialize, Serialize};

use crate::handoff::Digest;
use crate::stored;

/// How many findings of one rule are listed when a report is refused.
const LISTED: usize = 20;

/// Looks at what a report claims.
#[async_trait]
pub trait Evidence: Send + Sync {
    /// Looks how the workspace is before attempts begin in it; `None` if that cannot be seen.
    async fn remember(&self, workspace: &Path) -> Option<Moment>;

    /// Keeps how it was before an attempt where it survives a crash and its agent cannot change it. The attempt begins
    /// afterwards.
    async fn keep(&self, scene: &Scene);

    /// Compares every claim of a report with what can be seen.
    async fn examine(&self, scene: &Scene, report: &Report) -> Vec<ExaminedClaim>;

    /// Finds out what is at paths of a workspace now, in their order, without what Baton itself keeps there
    /// (`views`). The error says why the workspace cannot be examined.
    async fn identify(
        &self,
        workspace: &Path,
        views: &[PathBuf],
        paths: Vec<String>,
    ) -> Result<Vec<FileIdentity>, WorkspaceFault>;

    /// Reads the files that were looked at, those in folders as well, as far as there is room for them and they are as
    /// they were then.
    async fn contents(
        &self,
        workspace: &Path,
        views: &[PathBuf],
        examined: &[ExaminedClaim],
        room: KeptBytes,
    ) -> Vec<Content>;

    /// Lists the files that have changed since the attempt began, as far as that can be told.
    async fn changed(&self, scene: &Scene) -> ChangedFiles;

    /// Runs a command. Returns whether it passes, and what has changed while it ran.
    async fn run(&self, scene: &Scene, check: &CheckCommand) -> CheckOutcome;
}

/// Why a workspace cannot be examined.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceFault {
    /// It is not there, or not for us.
    #[error("cannot open the workspace {}: {source}", path.display())]
    Unreachable {
        /// Where it should be.
        path: PathBuf,
        /// Why it cannot be opened.
        source: io::Error,
    },
    /// Something else is there.
    #[error("the workspace {} is not a folder", .0.display())]
    NoFolder(PathBuf),
}

/// The state of a workspace at one moment. Only the implementation knows its content; the journal has its digest.
#[derive(Clone)]
pub struct Moment {
    /// What identifies it, where it is kept.
    pub digest: Option<Digest>,
    /// The content, for the implementation that took it.
    pub seen: Arc<dyn Any + Send + Sync>,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Moment) -> bool {
        Arc::ptr_eq(&self.seen, &other.seen)
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Moment").field(&self.digest).finish()
    }
}

/// What has changed since an attempt began.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChangedFiles {
    /// The files, in words.
    pub files: Vec<String>,
    /// How the workspace was when somebody looked.
    pub after: Option<Moment>,
}

/// The transcript of an agent's session, as it was when the agent had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Where it is.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

/// An attempt before this one, at the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierAttempt {
    /// Its folder.
    pub folder: PathBuf,
    /// What identifies how the workspace was before it.
    pub baseline: Option<Digest>,
    /// Whether it is one of the same handoff, and not of an earlier visit.
    pub is_own: bool,
}

/// Where an attempt happens, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// Where the agent works.
    pub workspace: PathBuf,
    /// The folder of the workflow file; `./` in commands is there.
    pub workflow_folder: PathBuf,
    /// Where logs of this attempt are kept. It exists.
    pub folder: PathBuf,
    /// Earlier attempts at the same work, the first one first: what those changed is part of the work.
    pub earlier: Vec<EarlierAttempt>,
    /// What identifies how the workspace was before the attempt, by the journal.
    pub baseline: Option<Digest>,
    /// How the workspace was before the attempt, unless that was another process.
    pub before: Option<Moment>,
    /// How the workspace was when the agent had ended, if somebody looked.
    pub after: Option<Moment>,
    /// Where the agent was told to put its output: what it writes there needs no naming.
    pub output_directory: Option<PathBuf>,
    /// What was asked.
    pub request: Option<Request>,
    /// Commands that must pass.
    pub checks: Vec<CheckCommand>,
    /// Commands that decide in place of a person once everything else was looked at.
    pub gate_checks: Vec<CheckCommand>,
    /// Whether another driver may have begun to run these, and nobody knows what they did.
    pub is_interrupted: bool,
    /// What the same commands have written before where they may not, as it was then.
    pub strayed: Vec<ExaminedClaim>,
    /// Skills that must have been used.
    pub mandatory_skills: Vec<String>,
    /// Patterns of the files that may have changed; `None` for all.
    pub writes: Option<Vec<String>>,
    /// What commands may see, change and use up.
    pub confinement: Confinement,
    /// Whether the rest of the workspace was read-only for the agent, as far as patterns can say that to a cage.
    pub is_caged: bool,
    /// Patterns of files that others may have changed meanwhile.
    pub others_write: Vec<String>,
    /// Files that were examined as the work of others between the attempts: these answer for them.
    pub settled: Vec<String>,
    /// What earlier reports of the same handoff were refuted for: what was wrong once and is as it was is still wrong.
    pub refuted: RefutedFiles,
    /// Files and folders that Baton itself keeps in the workspace while the agent works.
    pub views: Vec<PathBuf>,
    /// Whether every new file must be named: the artifacts of a package are all that was made.
    pub names_new_files: bool,
    /// The transcript of the agent's session, where there is one.
    pub transcript: Option<Transcript>,
    /// The skills that its program showed to have been used, by name or by path; `None` if it shows nothing of the kind.
    pub skills: Option<Vec<String>>,
    /// Variables that commands are given: name and value.
    pub variables: Vec<(String, String)>,
}

/// A command that passes or fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckCommand {
    /// Its name.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Variables that it inherits, by name or by pattern.
    pub env: Vec<String>,
    /// Variables that are set for it.
    pub set_env: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutcome {
    /// Whether it passed.
    pub passed: bool,
    /// How it ended, in a few words.
    pub ended: String,
    /// The last that it wrote.
    pub tail: String,
    /// The files that changed while it ran: people decide about them, too.
    pub examined: Vec<ExaminedClaim>,
}

/// What came out about one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedClaim {
    /// The rule that it was examined by: `artifact-missing`, `skill-unproven`, …
    pub rule: String,
    /// What the report says, in a few words.
    pub claim: String,
    /// Whether it is so.
    pub verdict: ClaimFinding,
    /// What was seen.
    pub seen: String,
    /// The file or folder that was looked at: its path in the workspace, or an absolute one outside of it.
    pub path: Option<String>,
    /// Its SHA-256, in hexadecimal: of a folder, that of the list of all names and contents in it. Without one and without
    /// a mark, there is nothing at the path.
    pub sha256: Option<String>,
    /// What else tells whether it is the same: that it can be run, or of what is too large for a hash, its size and when
    /// it was last changed.
    pub mark: Option<String>,
    /// Why the claim need not be so: the workflow or the project lets it pass.
    pub allowed: Option<String>,
    /// Whether a person must look: it is about a restriction, and Baton cannot tell whether the agent kept to it.
    pub asks_person: bool,
    /// What it is beside its words, where something depends on that.
    pub kind: Option<ClaimKind>,
}

/// What an examined claim is beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// It is about a file that nobody has made or changed since the first attempt.
    Unchanged,
    /// It counts files that are too many to be identified one by one.
    Unbound,
    /// It is about an approved file that is not what was shown.
    ChangedSince,
    /// It came out of the commands that decide in place of a person: one of them, or a file that changed while it ran.
    GateCheck,
}

/// The changed files that reports of a handoff were refuted for, by the rule: it should have named them, or should not have
/// changed them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefutedFiles {
    paths: BTreeSet<(&'static str, String)>,
    /// The rules for which there were others, which nobody has listed.
    and_others: BTreeSet<&'static str>,
}

impl RefutedFiles {
    /// Adds those that one more report was refuted for.
    pub fn add(&mut self, examined: &[ExaminedClaim]) {
        let rules = [&modified_not_declared::RULE, &writes_outside::RULE, &artifact_changed::RULE];
        for examined in examined.iter().filter(|examined| examined.is_wrong()) {
            let Some(rule) = rules.iter().find(|rule| rule.name == examined.rule) else { continue };
            match &examined.path {
                Some(path) => drop(self.paths.insert((rule.name, path.clone()))),
                // Those who wrote down no paths wrote down nothing of the others either.
                None if rule.name == modified_not_declared::RULE.name || examined.is_unbound() => {
                    self.and_others.insert(rule.name);
                }
                None => {}
            }
        }
    }

    /// Returns these and others.
    #[must_use]
    pub fn and(mut self, others: &RefutedFiles) -> RefutedFiles {
        self.paths.extend(others.paths.iter().cloned());
        self.and_others.extend(&others.and_others);
        self
    }

    /// Returns the files that may not be where they are, so that the next attempt can remove them.
    pub fn to_undo(&self) -> Vec<String> {
        let is_outside = |(rule, _): &&(&'static str, String)| *rule == writes_outside::RULE.name;
        self.paths.iter().filter(is_outside).map(|(_, path)| path.clone()).collect()
    }

    /// Returns whether a file is one of those that a rule was about, or may be.
    pub fn hold(&self, rule: &Rule, path: &str) -> bool {
        self.and_others.contains(rule.name) || self.paths.contains(&(rule.name, path.to_owned()))
    }
}

/// A file as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// What identifies it: the SHA-256 of its bytes.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// How much of the examined files is kept, so that people on other machines can see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptBytes {
    /// Of one file; larger ones are not kept.
    pub file: u64,
    /// Of all files of a run.
    pub run: u64,
}

impl Default for KeptBytes {
    fn default() -> KeptBytes {
        KeptBytes { file: 1024 * 1024, run: 16 * 1024 * 1024 }
    }
}

/// Whether a claim is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimFinding {
    /// It was seen.
    Verified,
    /// Something else was seen.
    Refuted,
    /// Baton cannot tell whether the claim is true.
    Unverifiable,
}

/// Marks what the workflow or the project lets pass: a rule that may be broken, or that is less than an error.
///
/// The default severity of a rule does not count here, only what somebody has configured.
pub fn allow(examined: &mut [ExaminedClaim], settings: &Settings) {
    let counts = |examined: &&mut ExaminedClaim| examined.verdict == ClaimFinding::Refuted || examined.asks_person;
    for examined in examined.iter_mut().filter(counts) {
        let Some(rule) = Rule::find(&examined.rule) else { continue };
        let level = match settings.levels.get(rule.name) {
            Some(Level::Off) => Some("off"),
            Some(Level::At(severity)) if *severity < Severity::Error => Some(severity.as_str()),
            Some(Level::At(_)) | None => None,
        };
        let permission = settings.permission(rule).map(|permission| permission.reason.clone());
        examined.allowed = permission.or_else(|| level.map(|level| format!("{} is set to {level}", rule.name)));
    }
}

/// Identifies what was seen; `None` if nothing was.
pub fn digest(examined: &[ExaminedClaim]) -> Option<Digest> {
    (!examined.is_empty()).then(|| Digest::of(stored::examined(examined).as_bytes()))
}

/// Returns what was refuted and is not allowed, one line each; `None` if nothing was. Of many findings of one rule, the first
/// are listed and the rest counted.
///
/// Further lines of what a command wrote are indented, so that none of them can pass as a finding.
pub fn refuted(examined: &[ExaminedClaim]) -> Option<String> {
    let mut found: HashMap<&str, usize> = HashMap::new();
    let mut lines = Vec::new();
    for examined in examined.iter().filter(|examined| examined.is_wrong()) {
        let count = found.entry(&examined.rule).or_default();
        *count += 1;
        if *count <= LISTED {
            lines.push((&*examined.rule, examined.sentence().replace('\n', "\n    ")));
        }
    }
    let mut cut: Vec<(&str, usize)> = found.into_iter().filter(|(_, count)| *count > LISTED).collect();
    cut.sort_unstable();
    lines.extend(cut.into_iter().map(|(rule, count)| (rule, format!("and {} more like these", count - LISTED))));
    (!lines.is_empty())
        .then(|| lines.iter().map(|(rule, line)| format!("{rule}: {line}")).collect::<Vec<_>>().join("\n"))
}

/// Returns whether something that the agent may not do could not be checked: a person must look before the report counts.
pub fn asks_person(examined: &[ExaminedClaim]) -> bool {
    left_to_person(examined).next().is_some()
}

/// Returns what a person must look at because it could not be checked.
pub fn left_to_person(examined: &[ExaminedClaim]) -> impl Iterator<Item = &ExaminedClaim> {
    examined.iter().filter(|examined| examined.asks_person && examined.allowed.is_none())
}

impl ExaminedClaim {
    /// Puts down what came out under a rule.
    pub fn new(rule: &str, verdict: ClaimFinding, claim: impl Into<String>, seen: impl Into<String>) -> ExaminedClaim {
        let (rule, claim, seen) = (rule.to_owned(), claim.into(), seen.into());
        let (path, sha256, mark, allowed) = (None, None, None, None);
        ExaminedClaim { rule, claim, verdict, seen, path, sha256, mark, allowed, asks_person: false, kind: None }
    }

    /// Returns whether the report names the file, and the attempt or one before it has made or changed it. Only such files
    /// are handed over: whoever names a file must not thereby make it readable for others.
    pub fn is_handed_over(&self) -> bool {
        let is_unnamed = [modified_not_declared::RULE.name, writes_outside::RULE.name].contains(&self.rule.as_str());
        self.path.is_some() && !is_unnamed && self.kind != Some(ClaimKind::Unchanged)
    }

    /// Returns whether it is refuted, and nobody lets that pass. What a gate's own commands show is for a person.
    pub fn is_wrong(&self) -> bool {
        self.verdict == ClaimFinding::Refuted && self.allowed.is_none() && self.kind != Some(ClaimKind::GateCheck)
    }

    /// Returns whether it is about a file that a command has written where it may not.
    pub(crate) fn has_strayed(&self) -> bool {
        self.verdict == ClaimFinding::Refuted && self.rule == writes_outside::RULE.name && self.path.is_some()
    }

    /// Puts it down as what may be the doing of commands that were interrupted: what is wrong is for a person.
    pub(crate) fn of_interrupted(self) -> ExaminedClaim {
        if self.verdict == ClaimFinding::Refuted { self.of_gate() } else { self }
    }

    /// Puts it down as what came out of the commands of a gate. What is not as it should be is for a person.
    pub(crate) fn of_gate(self) -> ExaminedClaim {
        let asks_person = self.asks_person || self.verdict == ClaimFinding::Refuted || self.is_unbound();
        ExaminedClaim { asks_person, kind: Some(ClaimKind::GateCheck), ..self }
    }

    /// Returns whether it counts files that are too many to be identified one by one.
    pub(crate) fn is_unbound(&self) -> bool {
        self.kind == Some(ClaimKind::Unbound)
    }

    /// Returns whether it is about a file that the phase may write, that no report names, and that nobody has changed.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.path.is_some() && self.rule == writes_outside::RULE.name && self.kind == Some(ClaimKind::Unchanged)
    }

    /// Returns what came out in one sentence: the claim, and what was seen of it.
    pub fn sentence(&self) -> String {
        match (self.claim.is_empty(), self.seen.is_empty()) {
            (_, true) => self.claim.clone(),
            (true, false) => self.seen.clone(),
            (false, false) => format!("{}, {}", self.claim, self.seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::settings::Permission;

    use super::*;

    fn skill() -> Vec<ExaminedClaim> {
        vec![ExaminedClaim::new("skill-missing", ClaimFinding::Refuted, "mandatory skill x", "not named in the report")]
    }

    #[test]
    fn refuted_claim_counts_unless_somebody_allows_it() {
        let mut examined = skill();
        allow(&mut examined, &Settings::default());
        assert!(refuted(&examined).is_some());
        let reason = "we only log it".to_owned();
        let permissions = vec![Permission { rule: "skill-missing".to_owned(), reason: reason.clone() }];
        allow(&mut examined, &Settings { permissions, ..Settings::default() });
        assert_eq!((refuted(&examined), examined[0].allowed.clone()), (None, Some(reason)));
    }

    #[test]
    fn only_an_error_refutes_a_report() {
        for (level, counts) in [("off", false), ("info", false), ("warning", false), ("error", true)] {
            let mut examined = skill();
            let levels = [("skill-missing", Level::parse(level).expect("a level"))].into();
            allow(&mut examined, &Settings { levels, ..Settings::default() });
            assert_eq!(refuted(&examined).is_some(), counts, "{level}");
            assert_eq!(examined[0].verdict, ClaimFinding::Refuted);
        }
    }
}

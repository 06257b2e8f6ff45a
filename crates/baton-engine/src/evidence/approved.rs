//! Files that people approve: as they were reported, as they are when somebody is asked, and whether they are still so.

use std::collections::{HashMap, HashSet};

use baton_protocol::rules::artifact_changed;

use super::{ClaimFinding, ClaimKind, ExaminedClaim};

/// A file or folder as it was when it was looked at, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    /// Its path in the workspace, or an absolute one outside of it.
    pub path: String,
    /// Its SHA-256, in hexadecimal; `None` if nothing was there.
    pub sha256: Option<String>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileIdentity {
    /// A file or a folder.
    There {
        /// Its SHA-256: of a folder, that of the list of all names and contents in it.
        sha256: Option<String>,
        /// What else tells whether it is the same: that it can be run, or what is known of it without a hash.
        mark: Option<String>,
    },
    /// Nothing.
    Nothing,
    /// Something that cannot be compared later, and why.
    Unknown(String),
}

/// A file that a report names, which a person is asked about at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    /// The phase of the report.
    pub phase: String,
    /// Whether it is a folder in which a later report names something.
    pub is_worked_in: bool,
    /// What was seen of it.
    pub examined: ExaminedClaim,
}

/// A file that is not as it was when people decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// Its SHA-256 then; `None` if it was not part of the decision.
    pub before: Option<String>,
    /// Its SHA-256 now; `None` if it is gone, or not part of the decision any more.
    pub now: Option<String>,
}

/// How many unchanged files are named.
const NAMED: usize = 20;

/// Returns the files that were looked at.
pub fn seen_files<'e>(examined: impl IntoIterator<Item = &'e ExaminedClaim>) -> impl Iterator<Item = SeenFile> {
    examined
        .into_iter()
        .filter_map(|examined| Some(SeenFile { path: examined.path.clone()?, sha256: examined.sha256.clone() }))
}

/// Returns what a person was shown of files, in journals from before they were looked at when the question was put.
pub fn handed_over(files: &[SeenFile]) -> Vec<ExaminedClaim> {
    let seen = |file: &SeenFile| ExaminedClaim {
        path: Some(file.path.clone()),
        sha256: file.sha256.clone(),
        ..changed(ClaimFinding::Verified, format!("`{}` as it was handed over", file.path), String::new())
    };
    files.iter().map(seen).collect()
}

/// Returns what a person is asked about a file: as it was reported, or what it is instead.
pub fn when_asked(file: &ReportedFile, now: &FileIdentity) -> ExaminedClaim {
    let ReportedFile { phase, is_worked_in, examined } = file;
    if examined.identity() == *now {
        return examined.clone();
    }
    let path = examined.path.clone().unwrap_or_default();
    let then = match (&examined.sha256, &examined.mark) {
        (Some(sha256), _) => format!("it was reported with the sha256 {}", short(sha256)),
        (None, Some(mark)) => format!("it was reported with {mark}"),
        (None, None) => "it was reported as removed".to_owned(),
    };
    let since = if *is_worked_in { "; a later report names something in it" } else { "" };
    let claim = format!("`{path}` is not as {phase} reported it");
    let told =
        ExaminedClaim { asks_person: !is_worked_in, ..changed(ClaimFinding::Unverifiable, claim, String::new()) };
    told.of(path, now, &format!("{then}{since}"))
}

/// Returns what a person is asked about a file that a phase may have written before it failed, or has not.
pub fn left(phase: &str, path: String, now: &FileIdentity) -> ExaminedClaim {
    if *now == FileIdentity::Nothing {
        let claim = format!("`{path}` does not exist: {phase}, which failed, has not made it");
        return ExaminedClaim { path: Some(path), ..changed(ClaimFinding::Unverifiable, claim, String::new()) };
    }
    let claim = format!("`{path}` was left by {phase}, which failed");
    changed(ClaimFinding::Unverifiable, claim, String::new()).of(path, now, "it is covered as it is now")
}

/// Compares files that a person has approved with what is there now; `None` if they are the same. Otherwise returns
/// everything that was seen, with what has changed for a person to look at.
pub fn after_approval(examined: &[ExaminedClaim], now: &[FileIdentity]) -> Option<Vec<ExaminedClaim>> {
    let mut now = now.iter();
    let mut same = true;
    let compare = |seen: &ExaminedClaim| {
        let Some(path) = &seen.path else { return seen.clone() };
        let unseen = FileIdentity::Unknown("it was not looked at".to_owned());
        let now = now.next().unwrap_or(&unseen);
        if seen.identity() == *now {
            return seen.as_approved();
        }
        same = false;
        let told =
            changed(ClaimFinding::Unverifiable, format!("`{path}` has changed since it was shown"), String::new());
        let told = ExaminedClaim { asks_person: true, kind: Some(ClaimKind::ChangedSince), ..told };
        told.of(path.clone(), now, "look at it as it is now")
    };
    let examined = examined.iter().map(compare).collect();
    (!same).then_some(examined)
}

/// Returns the files that are not as they were when people decided about them, those that are gone first, and how many are.
pub fn changed_files(before: &[ExaminedClaim], now: &[ExaminedClaim]) -> (Vec<ChangedFile>, usize) {
    let (were, are) = (identities(before), identities(now));
    let gone = before.iter().filter(|seen| seen.path.as_deref().is_some_and(|path| !are.contains_key(path)));
    let mut met = HashSet::new();
    let paths = gone.chain(now).filter_map(|seen| seen.path.as_deref()).filter(|path| met.insert(*path));
    let (same, changed): (Vec<&str>, Vec<&str>) = paths.partition(|path| were.get(path) == are.get(path));
    let sha256 = |identity: Option<&FileIdentity>| match identity {
        Some(FileIdentity::There { sha256, .. }) => sha256.clone(),
        Some(FileIdentity::Nothing | FileIdentity::Unknown(_)) | None => None,
    };
    let file =
        |path: &str| ChangedFile { path: path.to_owned(), before: sha256(were.get(path)), now: sha256(are.get(path)) };
    (changed.into_iter().map(file).collect(), same.len())
}

/// Returns what stood at each path. A report may name a file as made and as changed: the first counts.
fn identities(examined: &[ExaminedClaim]) -> HashMap<&str, FileIdentity> {
    examined.iter().rev().filter_map(|seen| Some((seen.path.as_deref()?, seen.identity()))).collect()
}

/// Names the files that are as they were when a person rejected them; `None` if none of them is.
pub fn unchanged_since(rejected: &[ExaminedClaim], now: &[ExaminedClaim]) -> Option<String> {
    let of = |examined: &ExaminedClaim| Some((examined.path.clone()?, examined.identity()));
    let before: Vec<(String, FileIdentity)> = rejected.iter().filter_map(of).collect();
    let files: Vec<(String, FileIdentity)> = now.iter().filter_map(of).collect();
    let same: Vec<String> =
        files.iter().filter(|file| before.contains(file)).map(|(path, _)| format!("`{path}`")).collect();
    let more = same.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match same.len() {
        0 => None,
        all if all == files.len() && all == before.len() => {
            Some("since then, none of the files has changed".to_owned())
        }
        _ => Some(format!("unchanged since then: {}{more}", same[..same.len().min(NAMED)].join(", "))),
    }
}

/// Returns which approved files are not what was shown; nothing if that is not why somebody is asked.
pub fn changed_since_shown(examined: &[ExaminedClaim]) -> impl Iterator<Item = &ExaminedClaim> {
    examined.iter().filter(|examined| examined.asks_person && examined.kind == Some(ClaimKind::ChangedSince))
}

/// Records that the files of a decision could not be examined.
pub fn unseen(why: &str) -> ExaminedClaim {
    let claim = "the files that this is about could not be checked".to_owned();
    ExaminedClaim { asks_person: true, ..changed(ClaimFinding::Unverifiable, claim, why.to_owned()) }
}

impl ExaminedClaim {
    /// Returns what stood at its path; only of what has one.
    pub fn identity(&self) -> FileIdentity {
        match (&self.sha256, &self.mark) {
            (None, None) => FileIdentity::Nothing,
            (sha256, mark) => FileIdentity::There { sha256: sha256.clone(), mark: mark.clone() },
        }
    }

    /// Describes what is at a path now, with something about it if it is there.
    fn of(self, path: String, now: &FileIdentity, about: &str) -> ExaminedClaim {
        let path = Some(path);
        match now.clone() {
            FileIdentity::There { sha256, mark } => {
                ExaminedClaim { path, sha256, mark, seen: about.to_owned(), ..self }
            }
            FileIdentity::Nothing => ExaminedClaim { path, seen: format!("it is gone; {about}"), ..self },
            // Nothing would ever be the same as this: who approves it is told, and it is not compared again.
            FileIdentity::Unknown(why) => {
                ExaminedClaim { seen: format!("{about}; it cannot be compared: {why}"), ..self }
            }
        }
    }

    /// Describes it after people have approved it: what had changed has not changed again.
    fn as_approved(&self) -> ExaminedClaim {
        let path = self.path.clone().unwrap_or_default();
        match self.asks_person && self.rule == artifact_changed::RULE.name {
            true => ExaminedClaim {
                claim: format!("`{path}` is as it was last shown"),
                verdict: ClaimFinding::Verified,
                seen: String::new(),
                asks_person: false,
                kind: None,
                ..self.clone()
            },
            false => self.clone(),
        }
    }
}

fn changed(verdict: ClaimFinding, claim: String, seen: String) -> ExaminedClaim {
    ExaminedClaim::new(artifact_changed::RULE.name, verdict, claim, seen)
}

fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}

//! What a person is told at a gate: what was seen of the work and the checks that the run stands on there, and which files
//! the decision is bound to.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use baton_protocol::rules::{artifact_changed, claim_refuted};

use crate::evidence::{ClaimFinding, ClaimKind, ExaminedClaim, ReportedFile};
use crate::handover::{earlier_visits, stands_on};
use crate::run::{Run, TrackedHandoff};
use crate::step::{Role, Step};

/// A decision is bound to so many files: each is hashed before it is asked for and once more after it.
const FILES_MAX: usize = 1_000;

/// How many lines are shown beside the files.
const LINES_MAX: usize = 100;

/// Something that a person is shown at a gate.
pub(crate) enum GateLine {
    /// A file that a report names.
    File(ReportedFile),
    /// Anything else.
    Seen(ExaminedClaim),
}

/// Returns whether there are files that a decision at a gate is bound to.
pub(super) fn has_files(run: &Run, step: &Step) -> bool {
    visits(run, step).iter().any(|visit| visit.examined().any(|seen| seen.path.is_some()))
}

/// A visit of a phase that a gate stands on.
struct StandingVisit<'r> {
    tracked: &'r TrackedHandoff,
    is_last: bool,
}

impl<'r> StandingVisit<'r> {
    /// Returns what was seen in it. A gate repeats what was seen before it: its own is only what its commands did.
    fn examined(&self) -> impl Iterator<Item = &'r ExaminedClaim> + use<'r> {
        let is_gate = self.tracked.step.role == Role::Gate;
        self.tracked.examined.iter().filter(move |seen| !is_gate || seen.kind == Some(ClaimKind::GateCheck))
    }

    /// Returns whether commands were run in it, and nobody has reported anything.
    fn has_only_commands(&self) -> bool {
        matches!(self.tracked.step.role, Role::Check | Role::Gate)
    }
}

/// Returns all visits of the phases that a gate stands on, the latest first. What an earlier visit made is still there if a later
/// one had nothing to do about it.
fn visits<'r>(run: &'r Run, step: &'r Step) -> Vec<StandingVisit<'r>> {
    let last = stands_on(run, step);
    let earlier = last.iter().flat_map(|tracked| earlier_visits(run, &tracked.step));
    let earlier: Vec<_> = earlier.map(|tracked| StandingVisit { tracked, is_last: false }).collect();
    let last = last.into_iter().map(|tracked| StandingVisit { tracked, is_last: true });
    let mut visits: Vec<_> = last.chain(earlier).collect();
    visits.sort_by_key(|visit| Reverse(visit.tracked.handoff.state.finished_at()));
    visits
}

/// Returns what is shown at a gate without files.
pub(super) fn without_files(run: &Run, step: &Step) -> Vec<ExaminedClaim> {
    let seen = |line| match line {
        GateLine::Seen(examined) => Some(examined),
        GateLine::File(_) => None,
    };
    gate_lines(run, step).into_iter().filter_map(seen).collect()
}

/// Returns what is shown at a gate, in the order in which it was seen. Of a file that several reports name, the last
/// counts.
pub(crate) fn gate_lines(run: &Run, step: &Step) -> Vec<GateLine> {
    let work = visits(run, step);
    let is_told =
        |visit: &&StandingVisit<'_>| visit.is_last && !visit.tracked.examined.is_empty() && !visit.has_only_commands();
    let told = work.iter().filter(is_told);
    let is_about_files = work.iter().any(|visit| may_write(run, visit.tracked));
    let mut telling = Telling { names_phases: told.count() > 1, is_about_files, ..Telling::default() };
    for (place, visit) in work.iter().enumerate().filter(|(_, visit)| !visit.has_only_commands()) {
        let paths = visit.examined().filter_map(|examined| examined.path.clone());
        telling.reported.extend(paths.map(|path| (path, place)));
    }
    for (place, visit) in work.into_iter().enumerate() {
        telling.take(&visit, place);
    }
    telling.finish()
}

/// Collects from the latest to the earliest.
#[derive(Default)]
struct Telling {
    /// Whether each line says which phase it is about.
    names_phases: bool,
    /// Whether a phase is there to write files.
    is_about_files: bool,
    /// The files that phases report, each with the place of the earliest such phase; the latest phase has the first place.
    reported: HashMap<String, usize>,
    lines: Vec<GateLine>,
    /// The files of later reports; in their order, what lies in a folder follows it.
    later: BTreeSet<String>,
    files: usize,
    files_left_out: usize,
    seen: usize,
    seen_left_out: usize,
}

impl Telling {
    fn take(&mut self, visit: &StandingVisit<'_>, place: usize) {
        let tracked = visit.tracked;
        let mut own = HashSet::new();
        let mut lines = Vec::new();
        for examined in visit.examined() {
            let examined = self.with_phase(visit, examined);
            match &examined.path {
                // A report may name a file as made and as changed: it is the same file, and is told once.
                Some(path) if self.later.contains(path) => {}
                // It is told how it differs from what was reported.
                Some(path)
                    if (visit.has_only_commands() || examined.is_left_alone())
                        && self.reported.get(path).is_some_and(|earlier| *earlier > place) => {}
                Some(path) => {
                    if !own.insert(path.clone()) {
                        continue;
                    } else if self.files < FILES_MAX {
                        self.files += 1;
                        lines.push(self.file(tracked, &examined, path));
                    } else {
                        self.files_left_out += 1;
                    }
                }
                // What the decision is not bound to, nobody lets pass without looking.
                None if examined.is_unbound() => {
                    lines.extend(self.other(ExaminedClaim { asks_person: true, ..examined }))
                }
                None if visit.is_last => lines.extend(self.other(examined)),
                None => {}
            }
        }
        if tracked.step.role == Role::Check && visit.is_last {
            lines.extend(self.other(check(tracked)));
        }
        self.later.extend(own);
        self.lines.extend(lines.into_iter().rev());
    }

    fn file(&self, tracked: &TrackedHandoff, examined: &ExaminedClaim, path: &str) -> GateLine {
        let folder = format!("{path}/");
        let is_worked_in = self.later.range(folder.clone()..).next().is_some_and(|later| later.starts_with(&folder));
        GateLine::File(ReportedFile { phase: tracked.step.phase.clone(), is_worked_in, examined: examined.clone() })
    }

    /// Names the phase of a line, if several have something to say. A check is named in what was seen of it.
    fn with_phase(&self, visit: &StandingVisit<'_>, examined: &ExaminedClaim) -> ExaminedClaim {
        let mut examined = examined.clone();
        // What a gate shows is its own only if its own commands did it.
        examined.kind = examined.kind.filter(|kind| *kind != ClaimKind::GateCheck);
        if self.names_phases && !visit.has_only_commands() {
            let last = if examined.seen.is_empty() { &mut examined.claim } else { &mut examined.seen };
            *last = format!("{last} · phase {}", visit.tracked.step.phase);
        }
        examined
    }

    fn other(&mut self, examined: ExaminedClaim) -> Option<GateLine> {
        self.seen += 1;
        // What is not as it should be is told in any case.
        let is_told = self.seen <= LINES_MAX || examined.verdict == ClaimFinding::Refuted || examined.asks_person;
        self.seen_left_out += usize::from(!is_told);
        is_told.then_some(GateLine::Seen(examined))
    }

    fn finish(mut self) -> Vec<GateLine> {
        self.lines.reverse();
        let Telling { mut lines, files, is_about_files, files_left_out, seen_left_out, .. } = self;
        lines.extend((is_about_files && files == 0).then(|| GateLine::Seen(no_file())));
        if files_left_out > 0 {
            let claim = format!("{files_left_out} more reported files are not bound to this decision");
            let seen = format!("only {FILES_MAX} are checked again after it, those of the latest reports");
            lines.push(GateLine::Seen(line(
                artifact_changed::RULE.name,
                ClaimFinding::Unverifiable,
                claim,
                seen,
                true,
            )));
        }
        if seen_left_out > 0 {
            let claim = format!("{seen_left_out} more lines of evidence are shown with the earlier phases");
            lines.push(GateLine::Seen(line(
                claim_refuted::RULE.name,
                ClaimFinding::Verified,
                claim,
                "nothing in them is refuted".to_owned(),
                false,
            )));
        }
        lines
    }
}

/// Returns whether a phase is there to write files.
pub(super) fn may_write(run: &Run, tracked: &TrackedHandoff) -> bool {
    let located = run.definition.locate(&tracked.step.phase);
    located.is_some_and(|located| located.phase().writes.as_ref().is_some_and(|writes| !writes.0.is_empty()))
}

/// Warns whoever approves that no change after it will be noticed.
pub(super) fn no_file() -> ExaminedClaim {
    let claim = "no file is covered by this approval".to_owned();
    line(artifact_changed::RULE.name, ClaimFinding::Unverifiable, claim, String::new(), false)
}

/// Describes how a check ended.
fn check(tracked: &TrackedHandoff) -> ExaminedClaim {
    let report = tracked.report();
    let ended = report.and_then(|report| report.verification.get("ended")?.as_str()).unwrap_or_default();
    let (verdict, word) = match tracked.passed() {
        true => (ClaimFinding::Verified, "passed"),
        false => (ClaimFinding::Refuted, "failed, and was let pass"),
    };
    let claim = format!("the check `{}` {word}", tracked.step.phase);
    line(claim_refuted::RULE.name, verdict, claim, ended.to_owned(), false)
}

fn line(rule: &str, verdict: ClaimFinding, claim: String, seen: String, asks_person: bool) -> ExaminedClaim {
    ExaminedClaim { asks_person, ..ExaminedClaim::new(rule, verdict, claim, seen) }
}

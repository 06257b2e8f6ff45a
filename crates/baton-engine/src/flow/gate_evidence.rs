//! What a person is told at a gate: what was seen of the work and the checks that the run stands on there, and which files
//! the decision is bound to.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use baton_protocol::rules::{artifact_changed, claim_refuted};
use baton_protocol::wire::same_word;

use crate::evidence::{ClaimFinding, ClaimKind, ExaminedClaim, ReportedFile};
use crate::failure::Failure;
use crate::handoff::State;
use crate::handover::{earlier_visits, stands_on};
use crate::run::{CONTINUE, Run, TrackedHandoff};
use crate::step::{Role, Step};

/// A decision is bound to so many files: each is hashed before it is asked for and once more after it.
const FILES_MAX: usize = 1_000;

/// How many lines are shown beside the files.
const LINES_MAX: usize = 100;

/// Something that a person is shown at a gate.
pub(crate) enum GateLine {
    /// A file that a report names.
    File(ReportedFile),
    /// A file that a phase which failed may have written. No report that counts names it.
    Left {
        /// The phase.
        phase: String,
        /// Its path in the workspace.
        path: String,
    },
    /// Anything else.
    Seen(ExaminedClaim),
}

/// Returns whether there are files that a decision at a gate is bound to.
pub(super) fn has_files(run: &Run, step: &Step) -> bool {
    let mut visits = visits(run, step).into_iter();
    visits.any(|visit| visit.left(run).next().is_some() || visit.examined().any(|seen| seen.path.is_some()))
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

    /// Returns whether an agent has failed in it, which may have left anything, and nobody has done its work again.
    fn has_failed(&self) -> bool {
        let is_work = self.tracked.step.role == Role::Work;
        self.is_last && is_work && !matches!(self.tracked.handoff.state, State::Completed { .. })
    }

    /// Returns the files that it may have written before it failed, as far as the workflow names them one by one.
    fn left(&self, run: &'r Run) -> impl Iterator<Item = &'r str> + use<'r> {
        let writes = Some(self).filter(|visit| visit.has_failed()).and_then(|visit| writes(run, visit.tracked));
        writes.into_iter().flatten().map(String::as_str).filter(|path| is_one_file(path))
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
        GateLine::File(_) | GateLine::Left { .. } => None,
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
        telling.take(run, &visit, place);
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
    fn take(&mut self, run: &Run, visit: &StandingVisit<'_>, place: usize) {
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
                Some(path) if own.insert(path.clone()) => {
                    lines.extend(self.bound().then(|| self.file(tracked, &examined, path)));
                }
                Some(_) => {}
                // What the decision is not bound to, nobody lets pass without looking.
                None if examined.is_unbound() => {
                    lines.extend(self.other(ExaminedClaim { asks_person: true, ..examined }))
                }
                None if visit.is_last => lines.extend(self.other(examined)),
                None => {}
            }
        }
        for path in visit.left(run) {
            if !self.later.contains(path) && own.insert(path.to_owned()) && self.bound() {
                lines.push(GateLine::Left { phase: tracked.step.phase.clone(), path: path.to_owned() });
            }
        }
        let is_told = tracked.step.role == Role::Check || !matches!(tracked.handoff.state, State::Completed { .. });
        if visit.is_last && is_told {
            lines.extend(self.other(ended(run, tracked)));
            let all_named = || writes(run, tracked).is_some_and(|writes| writes.iter().all(|path| is_one_file(path)));
            if visit.has_failed() && !all_named() {
                let claim = format!("what `{}` has changed is not covered by this approval", tracked.step.phase);
                lines.extend(self.other(line(
                    artifact_changed::RULE.name,
                    ClaimFinding::Unverifiable,
                    claim,
                    String::new(),
                    false,
                )));
            }
        }
        self.later.extend(own);
        self.lines.extend(lines.into_iter().rev());
    }

    /// Counts a file that the decision is bound to; returns whether there is room for it.
    fn bound(&mut self) -> bool {
        let has_room = self.files < FILES_MAX;
        if has_room {
            self.files += 1
        } else {
            self.files_left_out += 1
        }
        has_room
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
    writes(run, tracked).is_some_and(|writes| !writes.is_empty())
}

/// Returns what a phase may write, if the workflow says so.
fn writes<'r>(run: &'r Run, tracked: &TrackedHandoff) -> Option<&'r [String]> {
    let located = run.definition.locate(&tracked.step.phase)?;
    located.phase().writes.as_ref().map(|writes| writes.0.as_slice())
}

/// Returns whether something that a phase may write is one file or folder, and no pattern.
fn is_one_file(path: &str) -> bool {
    !path.contains(['*', '?', '[', '{'])
}

/// Warns whoever approves that no change after it will be noticed.
pub(super) fn no_file() -> ExaminedClaim {
    let claim = "no file is covered by this approval".to_owned();
    line(artifact_changed::RULE.name, ClaimFinding::Unverifiable, claim, String::new(), false)
}

/// Describes how a check ended, or why a phase has failed.
fn ended(run: &Run, tracked: &TrackedHandoff) -> ExaminedClaim {
    let ended = tracked.report().and_then(|report| report.verification.get("ended")?.as_str());
    let failure = tracked.handoff.last_failure.as_ref().filter(|_| !tracked.passed());
    let seen = ended.map(str::to_owned).or_else(|| failure.map(Failure::in_one_line)).unwrap_or_default();
    let (verdict, word) = match tracked.passed() {
        true => (ClaimFinding::Verified, "passed"),
        false if was_let_pass(run, tracked) => (ClaimFinding::Refuted, "failed, and was let pass"),
        false => (ClaimFinding::Refuted, "failed"),
    };
    let what = if tracked.step.role == Role::Check { "the check " } else { "" };
    line(claim_refuted::RULE.name, verdict, format!("{what}`{}` {word}", tracked.step.phase), seen, false)
}

/// Returns whether a person let the run go on past a phase that failed, or past a group that it belongs to.
fn was_let_pass(run: &Run, tracked: &TrackedHandoff) -> bool {
    let was_answered = |failed: &TrackedHandoff| {
        let mut questions = run.about(&failed.handoff.id).filter(|asked| asked.step.role == Role::Failure);
        questions.any(|asked| asked.answer().is_some_and(|answer| same_word(answer, CONTINUE)))
    };
    was_answered(tracked) || run.around(&tracked.step).any(was_answered)
}

fn line(rule: &str, verdict: ClaimFinding, claim: String, seen: String, asks_person: bool) -> ExaminedClaim {
    ExaminedClaim { asks_person, ..ExaminedClaim::new(rule, verdict, claim, seen) }
}

//! Where the phases of a run stand, in the order of the workflow.

use std::collections::{HashMap, HashSet};

use baton_engine::definition::Definition;
use baton_engine::handoff::State;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_protocol::workflow::Phase;
use jiff::Timestamp;

/// Where a phase or a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    InProgress,
    Blocked,
    AwaitingPerson,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Blocked => "blocked",
            Status::AwaitingPerson => "awaiting_person",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Skipped => "skipped",
        }
    }

    fn is_current(self) -> bool {
        matches!(self, Status::InProgress | Status::Blocked | Status::AwaitingPerson)
    }
}

/// Where a phase stands, with the phases inside it.
pub(super) struct PhaseProgress<'r> {
    /// Its position among its neighbours, from 1.
    pub(super) number: usize,
    /// Its path.
    pub(super) path: String,
    pub(super) phase: &'r Phase,
    pub(super) status: Status,
    /// Why it was left out or is blocked.
    pub(super) reason: Option<String>,
    pub(super) visits: u32,
    /// Its latest visit.
    pub(super) latest: Option<&'r TrackedHandoff>,
    pub(super) members: Vec<PhaseProgress<'r>>,
}

impl PhaseProgress<'_> {
    pub(super) fn started_at(&self) -> Option<Timestamp> {
        let latest = self.latest?;
        // A group is claimed by nobody before it is done.
        let begun = latest.begun_at.filter(|_| latest.step.role != Role::Group);
        match self.status {
            Status::Pending => begun,
            _ => begun.or(Some(latest.handoff.accepted_at)),
        }
    }

    pub(super) fn finished_at(&self) -> Option<Timestamp> {
        self.latest?.handoff.state.finished_at()
    }
}

/// Returns the phases of a run, those inside others below them.
pub(super) fn phases(run: &Run) -> Vec<PhaseProgress<'_>> {
    let visited = Visited::of(run);
    visited.progress(&run.definition, &run.definition.workflow.phases, "")
}

/// Returns the first phase that somebody works on or that waits for something.
pub(super) fn current<'p, 'r>(phases: &'p [PhaseProgress<'r>]) -> Option<&'p PhaseProgress<'r>> {
    phases.iter().find(|phase| phase.status.is_current())
}

/// Returns where the run stands.
pub(super) fn of_run(run: &Run) -> Status {
    let is_busy = |tracked: &TrackedHandoff| {
        let works = matches!(tracked.handoff.state, State::Claimed { .. } | State::Verifying);
        works && !matches!(tracked.step.role, Role::Run | Role::Group)
    };
    match &run.root().handoff.state {
        State::Completed { .. } => Status::Completed,
        State::Failed { .. } => Status::Failed,
        State::Cancelled { .. } => Status::Cancelled,
        _ if run.waiting().next().is_some() && !run.open().any(is_busy) => Status::AwaitingPerson,
        _ => Status::InProgress,
    }
}

/// What was visited in a run, by path; made once, so that long runs are looked through once.
struct Visited<'r> {
    latest: HashMap<&'r str, &'r TrackedHandoff>,
    /// What was visited inside a path.
    inside: HashMap<&'r str, Vec<&'r str>>,
    /// Why phases were left out.
    skipped: HashMap<String, &'r str>,
    /// The phases that a person is asked about.
    asked: HashSet<&'r str>,
    is_completed: bool,
    run: &'r Run,
}

impl<'r> Visited<'r> {
    fn of(run: &'r Run) -> Visited<'r> {
        let is_completed = matches!(run.root().handoff.state, State::Completed { .. });
        let (latest, inside, skipped) = (HashMap::new(), HashMap::new(), HashMap::new());
        let asked = run.waiting().map(|tracked| tracked.step.phase.as_str()).collect();
        let mut visited = Visited { latest, inside, skipped, asked, is_completed, run };
        let mut known = HashSet::new();
        for tracked in run.handoffs() {
            let path = tracked.step.phase.as_str();
            if tracked.step.role.is_phase() {
                visited.latest.insert(path, tracked);
                for (end, _) in path.match_indices('/') {
                    let segment = path[end + 1..].split('/').next().unwrap_or_default();
                    if known.insert(&path[..end + 1 + segment.len()]) {
                        visited.inside.entry(&path[..end]).or_default().push(segment);
                    }
                }
            }
            let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
            for skipped in tracked.route.iter().flat_map(|route| &route.skipped) {
                visited.skipped.insert(format!("{folder}{}", skipped.phase), &skipped.when);
            }
        }
        visited
    }

    fn progress(&self, definition: &'r Definition, phases: &'r [Phase], prefix: &str) -> Vec<PhaseProgress<'r>> {
        let progress = |(index, phase): (usize, &'r Phase)| {
            let path = format!("{prefix}{}", phase.id());
            let latest = self.latest.get(path.as_str()).copied();
            let (status, reason) = self.status(&path, latest);
            PhaseProgress {
                number: index + 1,
                members: self.members(definition, phase, &path),
                visits: self.run.visits(&path),
                path,
                phase,
                status,
                reason,
                latest,
            }
        };
        phases.iter().enumerate().map(progress).collect()
    }

    fn members(&self, definition: &'r Definition, phase: &'r Phase, path: &str) -> Vec<PhaseProgress<'r>> {
        let prefix = format!("{path}/");
        match &phase.workflow {
            Some(nested) => match definition.nested.get(nested) {
                Some(nested) => self.progress(nested, &nested.workflow.phases, &prefix),
                None => Vec::new(),
            },
            None if phase.foreach.is_some() => {
                let items = self.inside.get(path).into_iter().flatten();
                items.flat_map(|item| self.progress(definition, &phase.phases, &format!("{prefix}{item}/"))).collect()
            }
            None => self.progress(definition, &phase.parallel, &prefix),
        }
    }

    fn status(&self, path: &str, latest: Option<&TrackedHandoff>) -> (Status, Option<String>) {
        let Some(latest) = latest else {
            let why = self.skipped.get(path).filter(|why| !why.is_empty()).map(|why| (*why).to_owned());
            let left_out = self.skipped.contains_key(path) || self.is_completed;
            return (if left_out { Status::Skipped } else { Status::Pending }, why);
        };
        if self.asked.contains(path) {
            return (Status::AwaitingPerson, None);
        }
        let begun = latest.attempts > 0 || latest.step.role == Role::Group;
        match &latest.handoff.state {
            State::Pending { .. } if !begun => (Status::Pending, None),
            State::Pending { .. } | State::Claimed { .. } | State::Verifying => (Status::InProgress, None),
            State::Blocked { reason } => (Status::Blocked, Some(reason.to_string())),
            State::AwaitingPerson { .. } => (Status::AwaitingPerson, None),
            State::Completed { .. } if latest.passed() => (Status::Completed, None),
            State::Completed { .. } => (Status::Failed, latest.report().and_then(|report| report.verdict.clone())),
            State::Failed { .. } => {
                (Status::Failed, latest.handoff.last_failure.as_ref().map(|failure| failure.to_string()))
            }
            State::Cancelled { .. } => (Status::Cancelled, None),
        }
    }
}

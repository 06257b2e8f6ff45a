//! Beginning again: a person lets a run go back to one of its phases, and what came after it is done again.

use std::collections::HashSet;
use std::time::Duration;

use baton_protocol::model::terms::Outcome;
use serde_json::{Map, Value};

use super::feedback::what_failed;
use super::guards::{Approach, asks_person, is_turned_down};
use super::turn::{Turn, onward};
use super::{FlowFault, call_off};
use crate::definition::{Definition, InputFault, LocatedPhase};
use crate::draft::Draft;
use crate::handoff::{About, Note, State};
use crate::lifecycle::{Command, Refusal, Requeue};
use crate::overlap::overlap;
use crate::route::{RouteRow, route};
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// How long whoever let a run begin again has to take it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a run cannot begin again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWayBack {
    /// Its workflow has no such phase.
    #[error("unknown phase `{given}`")]
    Unknown {
        /// What was given.
        given: String,
        /// The phases that there are.
        phases: Vec<String>,
    },
    /// The phase is part of another one, which is done as a whole.
    #[error("`{given}` is part of `{phase}`, which is done again as a whole")]
    Inside {
        /// What was given.
        given: String,
        /// The phase that it is part of.
        phase: String,
    },
    /// No phase was entered yet.
    #[error("the run has not entered any phase yet")]
    NotBegun,
    /// Nothing has failed in it, and a person is asked or has just decided.
    #[error("nothing has failed: {}", in_its_place(.decided, .phase))]
    NothingFailed {
        /// The phase that waits for a person, or was decided about.
        phase: String,
        /// Whether somebody has decided.
        decided: bool,
    },
    /// It has never come to the phase, and something else comes first.
    #[error("the run has not reached `{given}` yet; it is at `{at}`")]
    NotReached {
        /// What was given.
        given: String,
        /// The phase that it came to last.
        at: String,
    },
    /// A person has been asked again on the way to the phase, and has not let the run pass since.
    #[error("`{gate}` comes before `{given}` and has not approved what the run has done since")]
    Guarded {
        /// What was given.
        given: String,
        /// The phase in which a person is asked.
        gate: String,
    },
    /// What a person has approved before the phase has changed.
    #[error("`{given}` follows an approval in `{gate}`, but {changes}")]
    Changed {
        /// The phase to begin from.
        given: String,
        /// The phase in which it was approved.
        gate: String,
        /// What has changed.
        changes: String,
    },
    /// A person decides before the phase, and would not see the other inputs.
    #[error("`{given}` comes after `{gate}`, where a person decides, and nobody there would see the other inputs")]
    Unseen {
        /// The phase to begin from.
        given: String,
        /// The phase in which a person decides.
        gate: String,
    },
    /// Other inputs cannot be given.
    #[error(transparent)]
    Input(#[from] InputFault),
    /// Somebody has just let it begin again from another phase.
    #[error("already restarted from `{0}`")]
    Begun(String),
    /// It goes on, or is done.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Where a run begins again, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restart {
    /// The phase; default: the one that it came to last.
    pub from: Option<String>,
    /// What the agent of that phase must know.
    pub note: Option<String>,
    /// Inputs of the run that are different from then on.
    pub inputs: Map<String, Value>,
}

/// Lets a run begin again from a phase, or from the one that it came to last. What is open in it is called off. Returns the
/// phase.
pub fn begin_again(draft: &mut Draft, restart: &Restart, by: &str) -> Result<String, NoWayBack> {
    let phase = match restart.from.as_deref() {
        Some(given) => named(&draft.run, given)?,
        // It was told from where, and has not come so far.
        None if let Some(from) = draft.run.begins_again().and_then(|again| again.from.clone()) => from,
        None => {
            refuse_what_is_well(&draft.run)?;
            last_entered(&draft.run).ok_or(NoWayBack::NotBegun)?.step.phase.clone()
        }
    };
    // Somebody may have cancelled it since.
    let is_open = !draft.run.root().handoff.state.name().is_finished();
    match draft.run.begins_again().filter(|_| is_open) {
        Some(again) if again.from.as_ref() == Some(&phase) && restart.says_no_more() => return Ok(phase),
        // Somebody else has just said from where, and is about to drive it.
        Some(again) if draft.at < draft.run.changed_at + PATIENCE => {
            return Err(NoWayBack::Begun(again.from.clone().unwrap_or_default()));
        }
        _ => {}
    }
    let inputs = restart.other_inputs(&draft.run)?;
    pass_gates(&draft.run, &phase, !inputs.is_empty())?;
    call_off(draft);
    let root = &draft.run.root().handoff;
    let (root, seen) = (root.id.clone(), Some(root.version));
    let note = restart.note.clone();
    let requeue = Requeue { by: by.to_owned(), note, from: Some(phase.clone()), inputs, seen };
    draft.apply(&root, Command::Requeue(requeue))?;
    Ok(phase)
}

fn in_its_place(decided: &bool, phase: &str) -> String {
    match decided {
        true => format!("`{phase}` was decided, and the run goes on from there"),
        false => format!("`{phase}` waits for a person"),
    }
}

/// Refuses to do the last phase again if it has not failed and people have it in their hands: what they have decided, or are about
/// to decide, would be lost.
fn refuse_what_is_well(run: &Run) -> Result<(), NoWayBack> {
    if run.root().handoff.state.name().is_finished() {
        return Ok(());
    }
    let refuse = |tracked: &TrackedHandoff, decided| {
        Err(NoWayBack::NothingFailed { phase: tracked.step.phase.clone(), decided })
    };
    // What was rejected or answered waits for its agent again.
    let is_sent_on =
        |tracked: &&TrackedHandoff| tracked.decided.is_some() && matches!(tracked.handoff.state, State::Pending { .. });
    let mut open = run.open().filter(|tracked| tracked.handoff.approved || is_sent_on(tracked));
    if let Some(decided) = open.next().or_else(|| run.undecided().find(|tracked| tracked.decided.is_some())) {
        return refuse(decided, true);
    }
    let is_trouble = |tracked: &&TrackedHandoff| !tracked.step.role.is_phase();
    match run.waiting().next() {
        Some(asked) if !run.waiting().any(|tracked| is_trouble(&tracked)) => refuse(asked, false),
        _ => Ok(()),
    }
}

impl Restart {
    fn says_no_more(&self) -> bool {
        self.note.is_none() && self.inputs.is_empty()
    }

    /// Returns the inputs that are different from those that the run has.
    fn other_inputs(&self, run: &Run) -> Result<Map<String, Value>, InputFault> {
        let mut all = run.definition.inputs.clone();
        all.extend(self.inputs.clone());
        Definition::inputs(&run.definition.workflow, all)?;
        let mut others = self.inputs.clone();
        others.retain(|name, value| run.definition.inputs.get(name) != Some(value));
        Ok(others)
    }
}

fn named(run: &Run, given: &str) -> Result<String, NoWayBack> {
    let phases = &run.definition.workflow.phases;
    let (outer, inner) = given.split_once('/').map_or((given, None), |(outer, inner)| (outer, Some(inner)));
    match (phases.iter().any(|phase| phase.id() == outer), inner) {
        (true, None) => Ok(given.to_owned()),
        (true, Some(_)) => Err(NoWayBack::Inside { given: given.to_owned(), phase: outer.to_owned() }),
        (false, _) => {
            let phases = phases.iter().map(|phase| phase.id().to_owned()).collect();
            Err(NoWayBack::Unknown { given: given.to_owned(), phases })
        }
    }
}

/// Refuses a phase behind a question that a person has not answered with a yes: beginning again is not a way around a gate.
///
/// With other inputs, another way may lead to the phase, with gates that were left out before. So nobody goes behind a place where
/// a person decides until the run has come there by itself with the inputs that it has now.
fn pass_gates(run: &Run, phase: &str, has_other_inputs: bool) -> Result<(), NoWayBack> {
    let since = run.before_its_inputs();
    let is_reached = run.handoffs().skip(since).any(|tracked| tracked.step.phase == phase);
    if run.latest(phase).is_none() {
        let at = last_entered(run).ok_or(NoWayBack::NotBegun)?;
        if !leads_to(run, at, phase) {
            return Err(NoWayBack::NotReached { given: phase.to_owned(), at: at.step.phase.clone() });
        }
    }
    let Some(approach) = Approach::to(run, phase) else { return Ok(()) };
    if (has_other_inputs || since > 0 && !is_reached)
        && let Some(gate) = approach.decided_before()
    {
        return Err(NoWayBack::Unseen { given: phase.to_owned(), gate: gate.to_owned() });
    }
    match approach.guard(since) {
        Some(gate) => Err(NoWayBack::Guarded { given: phase.to_owned(), gate: gate.to_owned() }),
        None => Ok(()),
    }
}

/// Returns whether a phase comes right after the one that the run reached last, as if that one had succeeded. A phase
/// that has reported without being accepted has not. Whether a gate in between would have been left out, or a route
/// taken, depends on a report that nobody has.
fn leads_to(run: &Run, at: &TrackedHandoff, phase: &str) -> bool {
    let is_work = matches!(at.step.role, Role::Work | Role::Check) && !asks_person(run, at) && !is_turned_down(run, at);
    let Some(located) = run.definition.locate(&at.step.phase).filter(|_| is_work) else { return false };
    let Ok(next) = onward(run, &located, None) else { return false };
    let asks = |name: &str| run.definition.locate(name).is_none_or(|at| at.phase().gate.is_some() || has_review(&at));
    let is_routed = located.phase().agent.as_deref().is_some_and(|agent| {
        let routed = route(&located.definition.workflow, agent, Outcome::Complete, None, None);
        matches!(routed.row, RouteRow::Workflow(_))
    });
    !is_routed
        && !next.route.skipped.iter().any(|skipped| asks(&skipped.phase))
        && matches!(next.turn, Turn::Phase { path, .. } if path == phase)
}

fn has_review(located: &LocatedPhase<'_>) -> bool {
    located.phase().review.is_some()
}

/// Something that people approved on the way to a phase.
pub(crate) struct EarlierApproval<'r> {
    /// What they approved.
    pub(crate) gate: &'r TrackedHandoff,
    /// Patterns of the files that the phases since then may change. What they cover is theirs.
    changed_since: Vec<String>,
}

impl EarlierApproval<'_> {
    /// Returns whether nobody since then may change a file or folder that was approved.
    pub(crate) fn holds_for(&self, path: &str) -> bool {
        let inside = format!("{path}/**");
        !self.changed_since.iter().any(|pattern| overlap(pattern, path) || overlap(pattern, &inside))
    }
}

/// Returns what people approved on the way to a phase, also inside of groups, as far back as it is known which files the phases
/// since then may change.
pub(crate) fn approved_before<'r>(run: &'r Run, phase: &str) -> Vec<EarlierApproval<'r>> {
    let entered = run.latest(phase).and_then(|visit| visit.step.after.as_ref());
    let mut next = entered.and_then(|after| run.find(&run.speaker(after))).or_else(|| before(run, phase));
    let (mut approved, mut changed_since, mut met) = (Vec::new(), Vec::new(), HashSet::new());
    while let Some(tracked) = next.filter(|tracked| met.insert(tracked.handoff.id.as_str())) {
        let all = with_members(run, tracked);
        for gate in &all {
            let is_latest = run.latest(&gate.step.phase).is_some_and(|latest| latest.handoff.id == gate.handoff.id);
            if is_latest && gate.passed() && asks_person(run, gate) {
                approved.push(EarlierApproval { gate, changed_since: changed_since.clone() });
            }
        }
        for worker in all.iter().filter(|tracked| matches!(tracked.step.role, Role::Work | Role::Check)) {
            let located = run.definition.locate(&worker.step.phase);
            // Who may change everything may have changed what was approved before.
            let Some(writes) = located.and_then(|located| located.phase().writes.clone()) else { return approved };
            changed_since.extend(writes.0);
        }
        next = tracked.step.after.as_ref().and_then(|after| run.find(&run.speaker(after)));
    }
    approved
}

/// Returns a handoff with everything inside of it.
fn with_members<'r>(run: &'r Run, tracked: &'r TrackedHandoff) -> Vec<&'r TrackedHandoff> {
    let (mut open, mut all) = (vec![tracked], Vec::new());
    while let Some(tracked) = open.pop() {
        open.extend(run.members(&tracked.handoff.id));
        all.push(tracked);
    }
    all
}

/// Returns the last visit of a phase of the run itself.
fn last_entered(run: &Run) -> Option<&TrackedHandoff> {
    let root = &run.root().handoff.id;
    run.handoffs().rev().find(|tracked| tracked.step.role.is_phase() && tracked.step.within.as_ref() == Some(root))
}

/// Enters the phase that a run begins again from, with what it was given the last time and with what went wrong there.
pub(super) fn enter(draft: &mut Draft, requeue: &Requeue) -> Result<(), FlowFault> {
    let phase = requeue.from.as_deref().unwrap_or_default();
    let earlier = draft.run.latest(phase);
    let previous = match earlier {
        Some(earlier) => earlier.step.after.clone(),
        None => before(&draft.run, phase).map(|before| before.handoff.id.clone()),
    };
    let mut notes = earlier.map(|earlier| what_failed(&draft.run, earlier)).unwrap_or_default();
    notes.extend(requeue.note.as_deref().map(|text| Note::new(About::Requeued, &*requeue.by, text)));
    let root = draft.run.root().handoff.id.clone();
    super::enter::enter(draft, phase, Some(root), previous.as_ref(), notes)
}

/// Finds what a phase that was never entered goes on from: the nearest phase before it that was.
fn before<'r>(run: &'r Run, phase: &str) -> Option<&'r TrackedHandoff> {
    let phases = &run.definition.workflow.phases;
    phases.iter().take_while(|other| other.id() != phase).filter_map(|other| run.latest(other.id())).last()
}

//! What happens next in a run: pure decisions over what its journal tells.
//!
//! [`settle`] adds to a draft whatever follows without anybody's work: the first phase, what follows from a report, a
//! delegation for a blocked agent, a gate, the end. What needs work is found by [`work`].

mod again;
mod enter;
mod fault;
mod feedback;
mod following;
mod gate_evidence;
mod gates;
mod guards;
mod join;
mod judging;
pub(crate) mod limits;
mod questions;
mod requests;
mod trouble;
mod turn;
mod unblock;
mod values;
mod waiting;

pub(crate) use again::approved_before;
pub use again::{NoWayBack, Restart, begin_again};
pub use fault::{FlowFault, PhasePart, UnfitDocument};
pub use following::following;
pub(crate) use gate_evidence::{GateLine, gate_lines};
pub(crate) use gates::{deciding_checks, gate_of};
pub use gates::{lapses_at, question};
pub(crate) use join::claim;
pub(crate) use judging::judges;
pub use limits::same_failure;
pub use questions::{offered, questions};
pub use requests::fits;
pub(crate) use requests::{write, written};
pub use trouble::trouble;
pub(crate) use turn::is_review;
pub use turn::{Turn, after, who_can_change_it};
pub use values::{names, result};
pub use waiting::{Comes, comes, is_held, overspends, waits_until};

use std::collections::HashMap;

use crate::draft::Draft;
use crate::failure::{Code, Failure, Transience};
use crate::handoff::State;
use crate::id::HandoffId;
use crate::lifecycle::{Cancel, Command, Fail, HandIn, Requeue};
use crate::run::{Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::step::{ORCHESTRATOR, Role};

/// How often one phase may end within one transaction. A workflow that is right needs once or twice; one whose phases
/// need nobody's work may go round for ever.
pub(crate) const ROUNDS_MAX: u32 = 1_000;

/// What must be decided.
enum Open {
    /// The run has not begun.
    Beginning,
    /// The run begins again from a phase.
    Again(Requeue),
    /// What follows from how a handoff ended.
    Outcome(HandoffId),
    /// Who helps a blocked agent.
    Blocked(HandoffId),
    /// Whether a group can go on or is done.
    Group(HandoffId),
    /// It has changed, but nothing follows from it now.
    Nothing(HandoffId),
}

/// Decides everything that can be decided now. Returns why the run cannot go on, if it cannot.
///
/// ```
/// use baton_engine::draft::Draft;
/// use baton_engine::store::TransactionStep;
/// # let now = jiff::Timestamp::UNIX_EPOCH;
///
/// let workflow = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";
/// let mut draft = Draft::new(&baton_engine::memory::begun(workflow, now), now);
/// baton_engine::flow::settle(&mut draft)?;
/// // What follows from the beginning of a run is its first phase.
/// assert!(matches!(&draft.steps[..], [TransactionStep::Accept(first)] if first.id.as_str() == "r.build.1"));
/// # Ok::<(), baton_engine::flow::FlowFault>(())
/// ```
pub fn settle(draft: &mut Draft) -> Result<(), FlowFault> {
    if is_driven(&draft.run) {
        waiting::interrupt(draft)?;
    }
    let mut rounds: HashMap<String, u32> = HashMap::new();
    while !draft.run.is_finished() && is_driven(&draft.run) {
        let Some(open) = next_open(&draft.run) else { return Ok(()) };
        match open {
            Open::Beginning => enter::begin(draft)?,
            Open::Again(requeue) => again::enter(draft, &requeue)?,
            Open::Nothing(id) => draft.run.looked_at(&id),
            Open::Outcome(id) => {
                let phase = draft.run.find(&id).map(|tracked| tracked.step.phase.clone()).unwrap_or_default();
                let ended = rounds.entry(phase).or_default();
                *ended += 1;
                if *ended > ROUNDS_MAX {
                    return Err(FlowFault::Endless);
                }
                if draft.run.find(&id).is_some_and(is_called_off_group) {
                    call_off_all(draft, "what it belongs to was called off", |run, open| {
                        run.around(&open.step).any(|group| group.handoff.id == id)
                    });
                }
                turn::settle(draft, &id)?;
            }
            Open::Blocked(id) => unblock::unblock(draft, &id)?,
            Open::Group(id) => {
                draft.run.looked_at(&id);
                join::advance(draft, &id)?;
            }
        }
    }
    Ok(())
}

/// Decides what follows from how one handoff ended, or from what blocks it, and nothing else.
pub(crate) fn settle_one(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let state = draft.run.find(id).map(|tracked| &tracked.handoff.state);
    match state {
        Some(State::Blocked { .. }) => unblock::unblock(draft, id),
        _ => turn::settle(draft, id),
    }
}

/// Returns whether nothing has happened since it was last decided what follows.
pub fn is_settled(run: &Run) -> bool {
    run.is_finished() || !is_driven(run) || next_open(run).is_none()
}

/// Only a run that somebody drives goes on.
fn is_driven(run: &Run) -> bool {
    matches!(run.root().handoff.state, State::Claimed { .. })
}

fn next_open(run: &Run) -> Option<Open> {
    if is_held(run) {
        return None;
    }
    if let Some(requeue) = run.begins_again() {
        return Some(Open::Again(requeue.clone()));
    }
    if run.handoffs().len() == 1 {
        return Some(Open::Beginning);
    }
    run.undecided().next().map(|tracked| open_of(run, tracked))
}

fn open_of(run: &Run, tracked: &TrackedHandoff) -> Open {
    let id = tracked.handoff.id.clone();
    match &tracked.handoff.state {
        State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => Open::Outcome(id),
        State::Blocked { .. } if unblock::is_open(run, tracked) => Open::Blocked(id),
        State::Pending { .. } if tracked.step.role == Role::Group && join::can_advance(run, tracked) => Open::Group(id),
        State::Pending { .. }
        | State::Claimed { .. }
        | State::Verifying
        | State::Blocked { .. }
        | State::AwaitingPerson { .. } => Open::Nothing(id),
    }
}

/// Returns the handoffs that the driver itself must see to: agents that it reaches, and commands.
pub fn work(run: &Run) -> impl Iterator<Item = &TrackedHandoff> {
    run.open().filter(|tracked| {
        let has_work = match tracked.step.role {
            // The files that a gate is about are looked at before somebody is asked, and once more after an approval.
            Role::Work | Role::Check | Role::Delegation | Role::Gate => true,
            Role::Run | Role::Group | Role::Escalation | Role::Failure | Role::Limit => false,
        };
        has_work
            && !matches!(tracked.handoff.state, State::AwaitingPerson { .. } | State::Blocked { .. })
            && !tracked.handoff.state.name().is_finished()
    })
}

/// Ends the run well.
fn complete(draft: &mut Draft, why: &str) -> Result<(), FlowFault> {
    let root = draft.run.root();
    let (id, fence) = (root.handoff.id.clone(), root.handoff.fence);
    let (ending, document) = (crate::lifecycle::Ending::Complete, requests::final_report(&draft.run, why));
    let report = Command::Report(HandIn::new(fence, ending, document));
    Ok(draft.apply(&id, report)?)
}

/// Ends the run because it cannot go on.
pub fn fail(draft: &mut Draft, why: &str) {
    // Only a run that is driven can fail; another one has ended already.
    let _ = stop(draft, why);
}

/// Calls off what still goes on in a run that has ended.
pub fn call_off(draft: &mut Draft) {
    call_off_all(draft, "the run has stopped", |_, open| open.step.role != Role::Run);
}

/// Calls off what is open and wanted.
fn call_off_all(draft: &mut Draft, why: &str, is_wanted: impl Fn(&Run, &TrackedHandoff) -> bool) {
    let run = &draft.run;
    let unfinished = |tracked: &&TrackedHandoff| !tracked.handoff.state.name().is_finished() && is_wanted(run, tracked);
    let mut ids: Vec<HandoffId> = run.open().filter(unfinished).map(|tracked| tracked.handoff.id.clone()).collect();
    if planted(Bug::CallOffForgetsOne) {
        ids.pop();
    }
    for id in ids {
        let cancel = Command::Cancel(Cancel { by: ORCHESTRATOR.to_owned(), reason: Some(why.to_owned()) });
        // Whoever waits for one that was called off before it goes on, and is called off in its turn.
        let _ = draft.apply(&id, cancel);
    }
}

/// Returns whether somebody has called off a group as a whole.
fn is_called_off_group(tracked: &TrackedHandoff) -> bool {
    tracked.step.role == Role::Group && matches!(tracked.handoff.state, State::Cancelled { .. })
}

/// Ends the run without success: what still goes on is called off.
fn stop(draft: &mut Draft, why: &str) -> Result<(), FlowFault> {
    let root = draft.run.root();
    let (root_id, fence) = (root.handoff.id.clone(), root.handoff.fence);
    call_off(draft);
    let failure = Failure { chance: Transience::Permanent, ..Failure::new(Code::processing_error(), why) };
    let fail = Command::Fail(Fail::new(fence, failure, 0.0));
    Ok(draft.apply(&root_id, fail)?)
}

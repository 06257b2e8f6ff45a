//! The life of one handoff: a pure function from (handoff, command, time) to the handoff after it and the actions.
//!
//! Nothing here does I/O, reads a clock or throws dice. What is accepted becomes an event; applying the events in
//! their order gives the handoff again ([`replay`]). One file per command says what it does in every state.

pub(crate) mod accept;
mod acknowledge;
mod action;
mod cancel;
mod claim;
mod decide;
mod expire;
mod fail;
mod heartbeat;
mod refusal;
mod release;
mod report;
mod requeue;
mod resume;
mod route;
pub(crate) mod table;
mod verify;

pub use accept::{Accept, AcceptFault, NameFault};
pub use acknowledge::Acknowledge;
pub use action::{ACTIONS, Action};
pub use cancel::Cancel;
pub use claim::{Claim, holds, readable_claimant};
pub use decide::{Decide, Decision};
pub use expire::Expire;
pub use fail::{Again, Fail};
pub use heartbeat::Heartbeat;
pub use refusal::{REFUSALS, Refusal, RefusedCommand};
pub use release::Release;
pub use report::{Ending, HandIn};
pub use requeue::Requeue;
pub use resume::Resume;
pub use route::{Route, SkippedPhase};
pub use table::{Cell, LifecycleRow, rows};
pub use verify::{Verdict, Verify};

use std::sync::Arc;

use jiff::Timestamp;

use crate::handoff::{Handoff, State, whole};
use crate::journal::Fact;
use crate::known::CommandAuthor;

/// The longest lease that a claim or a heartbeat gives.
pub const LEASE_MS_MAX: u64 = 24 * 3600 * 1000;

/// What can be asked of a handoff that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Take it and work on it.
    Claim(Claim),
    /// Say whether the request was understood.
    Acknowledge(Acknowledge),
    /// Say that the work goes on.
    Heartbeat(Heartbeat),
    /// Hand in what came out.
    Report(HandIn),
    /// Say that the attempt failed.
    Fail(Fail),
    /// Say what the evidence showed.
    Verify(Verify),
    /// Notice that a lease, a timeout, a deadline or the time to claim or acknowledge it has ended.
    Expire(Expire),
    /// Go on with what the blocked agent waited for.
    Resume(Resume),
    /// Tell a person's decision.
    Decide(Decide),
    /// Call it off.
    Cancel(Cancel),
    /// Bring a dead letter back.
    Requeue(Requeue),
    /// Let go of it.
    Release(Release),
    /// Record what follows from how it ended.
    Route(Route),
}

/// A handoff after a command, and what the surroundings must do now.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The handoff after the command.
    pub handoff: Handoff,
    /// What happened, for the journal.
    pub fact: Fact,
    /// What must be done now.
    pub actions: Vec<Action>,
}

impl Command {
    /// Returns the verb.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Claim(_) => "claim",
            Command::Acknowledge(_) => "acknowledge",
            Command::Heartbeat(_) => "heartbeat",
            Command::Report(_) => "report",
            Command::Fail(_) => "fail",
            Command::Verify(_) => "verify",
            Command::Expire(_) => "expire",
            Command::Resume(_) => "resume",
            Command::Decide(_) => "decide",
            Command::Cancel(_) => "cancel",
            Command::Requeue(_) => "requeue",
            Command::Release(_) => "release",
            Command::Route(_) => "route",
        }
    }

    /// Says who sent it, where the journal keeps that.
    #[must_use]
    pub(crate) fn sent_by(mut self, author: Option<Arc<CommandAuthor>>) -> Command {
        let kept = match &mut self {
            Command::Claim(claim) => &mut claim.author,
            Command::Acknowledge(acknowledge) => &mut acknowledge.author,
            Command::Heartbeat(heartbeat) => &mut heartbeat.author,
            Command::Report(report) => &mut report.author,
            Command::Fail(fail) => &mut fail.author,
            // These say themselves who it was, or no door sends them.
            Command::Verify(_)
            | Command::Expire(_)
            | Command::Resume(_)
            | Command::Decide(_)
            | Command::Cancel(_)
            | Command::Requeue(_)
            | Command::Release(_)
            | Command::Route(_) => return self,
        };
        *kept = author;
        self
    }

    /// Returns who sent it, where a door knew and the journal keeps it.
    pub fn author(&self) -> Option<&CommandAuthor> {
        match self {
            Command::Claim(claim) => claim.author.as_deref(),
            Command::Acknowledge(acknowledge) => acknowledge.author.as_deref(),
            Command::Heartbeat(heartbeat) => heartbeat.author.as_deref(),
            Command::Report(report) => report.author.as_deref(),
            Command::Fail(fail) => fail.author.as_deref(),
            Command::Verify(_)
            | Command::Expire(_)
            | Command::Resume(_)
            | Command::Decide(_)
            | Command::Cancel(_)
            | Command::Requeue(_)
            | Command::Release(_)
            | Command::Route(_) => None,
        }
    }

    /// Returns whether only whoever holds a claim says this.
    pub fn is_of_claimant(&self) -> bool {
        match self {
            Command::Acknowledge(_)
            | Command::Heartbeat(_)
            | Command::Report(_)
            | Command::Fail(_)
            | Command::Verify(_)
            | Command::Release(_) => true,
            Command::Claim(_)
            | Command::Expire(_)
            | Command::Resume(_)
            | Command::Decide(_)
            | Command::Cancel(_)
            | Command::Requeue(_)
            | Command::Route(_) => false,
        }
    }
}

/// Applies a command. The time of an event is never before that of the one before it.
///
/// ```
/// use baton_engine::handoff::StateName;
/// use baton_engine::lifecycle::{self, Claim, Command, Refusal};
/// # let now = jiff::Timestamp::UNIX_EPOCH;
///
/// let pending = baton_engine::memory::request("csv-07", "finder").apply(now).handoff;
/// let claim = Command::Claim(Claim::by("worker-1", 60_000));
/// let claimed = lifecycle::apply(&pending, claim.clone(), now)?.handoff;
/// assert_eq!((claimed.state.name(), claimed.fence), (StateName::Claimed, pending.fence.next()));
///
/// let twice = lifecycle::apply(&claimed, claim, now);
/// assert_eq!(twice, Err(Refusal::WrongState { state: StateName::Claimed, participle: "claimed" }));
/// # Ok::<(), Refusal>(())
/// ```
pub fn apply(handoff: &Handoff, command: Command, at: Timestamp) -> Result<Transition, Refusal> {
    match &command {
        Command::Decide(decide) => decide.is_possible(handoff, at)?,
        Command::Expire(_) if !expire::is_due(handoff, at) => return Err(Refusal::NotExpired),
        _ => {}
    }
    let (handoff, actions) = happen(handoff, &command, at)?;
    Ok(Transition { handoff, fact: Fact::from(command), actions })
}

fn happen(handoff: &Handoff, command: &Command, at: Timestamp) -> Result<(Handoff, Vec<Action>), Refusal> {
    let at = whole(at).max(handoff.changed_at);
    let mut next = handoff.clone();
    let actions = match command {
        Command::Claim(claim) => claim.apply(&mut next, at),
        Command::Acknowledge(acknowledge) => acknowledge.apply(&mut next, at),
        Command::Heartbeat(heartbeat) => heartbeat.apply(&mut next, at),
        Command::Report(report) => report.apply(&mut next, at),
        Command::Fail(fail) => fail.apply(&mut next, at),
        Command::Verify(verify) => verify.apply(&mut next, at),
        Command::Expire(expire) => expire.apply(&mut next, at),
        Command::Resume(resume) => resume.apply(&mut next, at),
        Command::Decide(decide) => decide.apply(&mut next, at),
        Command::Cancel(cancel) => cancel.apply(&mut next, at),
        Command::Requeue(requeue) => requeue.apply(&mut next, at),
        Command::Release(release) => release.apply(&mut next, at),
        Command::Route(route) => route.apply(&mut next, at),
    }?;
    // What was approved is not what comes next.
    if !next.approved && !matches!(next.state, State::AwaitingPerson { .. } | State::Completed { .. }) {
        next.approvals.clear();
    }
    next.version += 1;
    next.changed_at = at;
    Ok((next, actions))
}

/// Returns what must be journalled of a refused command: a document from somebody who no longer holds the handoff, or a
/// decision by somebody who may not make it.
pub fn to_journal(command: &Command, refusal: &Refusal) -> Option<RefusedCommand> {
    if let Command::Decide(decide) = command {
        return decide.to_journal(refusal);
    }
    if !refusal.is_late() {
        return None;
    }
    let (fence, document, author) = match command {
        Command::Report(report) => (report.fence, Some(report.document.clone()), &report.author),
        Command::Fail(fail) => (fail.fence, fail.document.clone(), &fail.author),
        Command::Acknowledge(acknowledge) => {
            (acknowledge.fence, Some(acknowledge.document.clone()), &acknowledge.author)
        }
        Command::Claim(_)
        | Command::Heartbeat(_)
        | Command::Verify(_)
        | Command::Expire(_)
        | Command::Resume(_)
        | Command::Decide(_)
        | Command::Cancel(_)
        | Command::Requeue(_)
        | Command::Release(_)
        | Command::Route(_) => return None,
    };
    let (command, why, author) = (command.name().to_owned(), refusal.to_string(), author.clone());
    Some(RefusedCommand { command, fence, why, document, by: None, author })
}

/// Journals that a command was refused; nothing else changes.
pub fn refuse(handoff: &Handoff, refused: RefusedCommand, at: Timestamp) -> Transition {
    Transition { handoff: untouched(handoff, at), fact: Fact::Refused(refused), actions: Vec::new() }
}

fn untouched(handoff: &Handoff, at: Timestamp) -> Handoff {
    let mut next = handoff.clone();
    next.version += 1;
    next.changed_at = whole(at).max(handoff.changed_at);
    next
}

/// Why an event cannot have happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayFault {
    /// A handoff begins only once.
    #[error("it was accepted twice")]
    AcceptedTwice,
    /// Nothing happens to a handoff that has not begun.
    #[error("it was never accepted")]
    NeverAccepted,
    /// The lifecycle did not allow it then.
    #[error("`{command}` was impossible: {refusal}")]
    Impossible {
        /// The verb.
        command: &'static str,
        /// Why not.
        refusal: Refusal,
    },
}

/// Returns the handoff that one more event makes of it; the error says why the event cannot have happened.
pub fn replay(handoff: Option<Handoff>, fact: Fact, at: Timestamp) -> Result<Handoff, ReplayFault> {
    after(handoff.as_ref(), &fact, at)
}

/// Does the same with what somebody still needs.
pub(crate) fn after(handoff: Option<&Handoff>, fact: &Fact, at: Timestamp) -> Result<Handoff, ReplayFault> {
    match (handoff, fact) {
        (None, Fact::Accepted(accept)) => Ok(accept.handoff(at)),
        (Some(_), Fact::Accepted(_)) => Err(ReplayFault::AcceptedTwice),
        (None, _) => Err(ReplayFault::NeverAccepted),
        (Some(handoff), Fact::Refused(_)) => Ok(untouched(handoff, at)),
        (Some(handoff), Fact::Happened(command)) => {
            let impossible = |refusal| ReplayFault::Impossible { command: command.name(), refusal };
            happen(handoff, command, at).map(|(handoff, _)| handoff).map_err(impossible)
        }
    }
}

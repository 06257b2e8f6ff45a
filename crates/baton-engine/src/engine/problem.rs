//! Why a call had no effect, as data. The command line makes exit codes and hints of it, a server a status.

use baton_protocol::{Kind, printable};
use jiff::Timestamp;

use super::report::NoAnswer;
use super::send::TermsFault;
use crate::handoff::StateName;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Decide, Refusal};
use crate::people::NotOffered;
use crate::run::JournalFault;
use crate::store;
use crate::token::AccessRole;

/// Why a call had no effect.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// Unknown id.
    #[error("there is no {sought} `{given}`")]
    Unknown {
        /// What was looked for.
        sought: IdKind,
        /// What was given for its id.
        given: String,
        /// What was probably meant.
        close: Option<HandoffId>,
    },
    /// It was removed with its run.
    #[error("the run {run} was pruned at {at}")]
    Pruned {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
    },
    /// Several ids begin like this.
    #[error("several ids begin with `{given}`: {}", first_ids(ids))]
    Ambiguous {
        /// What was given.
        given: String,
        /// Some of them.
        ids: Vec<HandoffId>,
    },
    /// It was there a moment ago.
    #[error("the handoff `{0}` was removed just now")]
    Removed(HandoffId),
    /// It is not part of a workflow's run.
    #[error("{0} is a handoff that is not part of a workflow run")]
    NotOfARun(HandoffId),
    /// The journal of the run does not fit together.
    #[error("{run}: {why}")]
    BrokenRun {
        /// The run.
        run: RunId,
        /// What is wrong.
        why: JournalFault,
    },
    /// The lifecycle does not allow it.
    #[error("{id}: {refusal}{}", later_state(refusal, *state))]
    Refused {
        /// The handoff.
        id: HandoffId,
        /// Why.
        refusal: Refusal,
        /// The state of the handoff now.
        state: StateName,
    },
    /// Somebody has decided it before.
    #[error("{id}: already {}{}", decided_by(decided, *at), later_state(refusal, *state))]
    AlreadyDecided {
        /// The handoff.
        id: HandoffId,
        /// What was decided last.
        decided: Box<Decide>,
        /// When.
        at: Timestamp,
        /// Why another decision has no effect.
        refusal: Refusal,
        /// The state of the handoff now.
        state: StateName,
    },
    /// Nobody is asked anything in this run.
    #[error("{0}: no question is open in this run")]
    NothingAsked(HandoffId),
    /// It is not clear which question of a run is meant.
    #[error("{run}: {} questions are open in this run", questions.len())]
    SeveralAsked {
        /// The run.
        run: HandoffId,
        /// What waits.
        questions: Vec<HandoffId>,
    },
    /// Too little of a digest to name what was looked at.
    #[error(
        "{id}: `{}` does not say what was shown: give at least {letters_min} characters of its digest",
        printable(given)
    )]
    ShownTooShort {
        /// The handoff.
        id: HandoffId,
        /// What was given.
        given: String,
        /// How much names a digest.
        letters_min: usize,
    },
    /// The decision is not among those that are offered.
    #[error("{id}: {why}")]
    NotOffered {
        /// The handoff.
        id: HandoffId,
        /// Why not.
        why: NotOffered,
    },
    /// A decision other than an approval needs words.
    #[error("{id}: {what} is missing")]
    NothingSaid {
        /// The handoff.
        id: HandoffId,
        /// What is missing.
        what: &'static str,
    },
    /// The document is of another kind.
    #[error("this is {}, not {}", with_article(*found), with_article(*wanted))]
    WrongKind {
        /// The kind that it has.
        found: Kind,
        /// The kind that is wanted.
        wanted: Kind,
    },
    /// The document does not end an attempt.
    #[error("{0}")]
    NoAnswer(NoAnswer),
    /// What comes next is sent after a complete report only.
    #[error("what comes next is sent after a complete report, and this report is not complete")]
    NotComplete,
    /// The terms of a new handoff cannot be agreed to.
    #[error(transparent)]
    Terms(#[from] TermsFault),
    /// A process that works on a handoff cannot decide.
    #[error("an agent cannot decide: this process belongs to the work on {0}")]
    InsideWork(HandoffId),
    /// The token is not that of a person.
    #[error("deciding needs an approver's token; this is {}", owned_by(*.0))]
    NotAPerson(AccessRole),
    /// What a driver works on nobody else reports about.
    #[error("only the driver of run {run} reports about {id}")]
    DriversWork {
        /// The handoff.
        id: HandoffId,
        /// Its run.
        run: RunId,
    },
    /// Somebody else was faster, again and again.
    #[error("{0}: too many concurrent changes; try again")]
    Contended(HandoffId),
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A handoff.
    Handoff,
    /// A run of a workflow.
    Run,
}

impl std::fmt::Display for IdKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            IdKind::Handoff => "handoff",
            IdKind::Run => "run",
        })
    }
}

fn first_ids(ids: &[HandoffId]) -> String {
    let shown: Vec<&str> = ids.iter().take(3).map(HandoffId::as_str).collect();
    let more = if ids.len() > 3 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Names the state, unless the refusal does, or it waits for whom the refusal is about.
fn later_state(refusal: &Refusal, now: StateName) -> String {
    match refusal {
        Refusal::Over { state, .. } | Refusal::WrongState { state, .. } if *state == now => String::new(),
        _ if matches!(now, StateName::Claimed | StateName::AwaitingPerson) => String::new(),
        _ => format!("; it is {now}"),
    }
}

/// Describes what was decided, by whom, when and through which door.
fn decided_by(decide: &Decide, at: Timestamp) -> String {
    let signed = if decide.known.signature().is_some() { ", signed" } else { "" };
    let (word, door, at) = (decide.decision.participle(), decide.door.in_words(), at.strftime("%F %H:%M:%SZ"));
    format!("{word} by {} at {at} (through {door}{signed})", decide.who())
}

fn owned_by(role: AccessRole) -> &'static str {
    match role {
        AccessRole::Agent => "an agent's",
        AccessRole::Viewer => "a viewer's",
        AccessRole::Approver => "an approver's",
        AccessRole::Admin => "an administrator's",
    }
}

fn with_article(kind: Kind) -> String {
    let article = if kind == Kind::Acknowledgment { "an" } else { "a" };
    format!("{article} {}", kind.as_str())
}

//! Agents, as a port: somebody who is given a prompt and gives back a report.
//!
//! Each attempt is one turn of a [session](crate::session). What is seen of the agent while it works comes as updates.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use baton_protocol::workflow::Confinement;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::Fence;
use crate::evidence::Transcript;
use crate::failure::Failure;
use crate::handoff::{Note, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::protection::Protection;
use crate::report_contract::ReportContract;
use crate::session::{SessionKind, SessionTurn, Spent};

/// Reaches one agent. Dropping the future calls the attempt off: nothing that it has started may go on.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Gives the agent one turn. What can be told before it has ended is sent as updates; each is a hint, and nobody may
    /// listen.
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn;

    /// Returns how its program keeps sessions.
    fn sessions(&self) -> SessionKind {
        SessionKind::OneTurn
    }

    /// Returns what keeps its processes away from what is not theirs; `None` if it has none on this machine.
    fn protection(&self, confinement: &Confinement) -> Option<Protection> {
        let _ = confinement;
        None
    }
}

/// Where an attempt tells what happens while it goes on.
pub type Updates = mpsc::UnboundedSender<Update>;

/// What happens while an attempt goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// The agent said whether it understood: its acknowledgment, complete and readable.
    Acknowledged(String),
    /// The request is waiting, and no agent has taken it yet.
    Waiting {
        /// The place, for people.
        place: String,
    },
    /// Somebody has taken the request.
    PickedUp,
    /// The session has this name.
    Session(String),
    /// The agent does something.
    Activity(Activity),
    /// What this turn has spent so far.
    Spent(Spent),
    /// Something about it that people should know, and that changes nothing.
    Warning(String),
}

/// Something that an agent does while it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// It says something.
    Says(String),
    /// It uses a tool.
    Tool {
        /// The tool, such as `Bash`.
        name: String,
        /// What for, in a line: the command, the file, the skill.
        about: String,
        /// How far it is.
        state: ToolState,
    },
    /// It plans these steps.
    Plan(Vec<String>),
    /// It was not allowed to do something.
    Refused {
        /// What.
        what: String,
        /// What would allow it, where that is known.
        help: Option<String>,
    },
    /// It gives a sign of life and nothing else, such as a call of the model that is tried again.
    Alive(String),
}

/// How far a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolState {
    /// It works.
    Runs,
    /// It has done what was asked.
    Done,
    /// It has failed.
    Failed,
}

/// One attempt that an agent is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The run.
    pub run: RunId,
    /// The handoff.
    pub handoff: HandoffId,
    /// The path of the phase, such as `tools/get-issue/review`.
    pub phase: String,
    /// The name of the agent.
    pub agent: String,
    /// The fence of the claim.
    pub fence: Fence,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many attempts have ended before, with a report or a failure. It does not count attempts that a crash ended,
    /// so that what those have begun can be found again.
    pub ended: u32,
    /// Which turn of which session this is.
    pub session: SessionTurn,
    /// What the turns of the session before this one have spent: programs tell sums of the whole session.
    pub spent_before: Spent,
    /// What the agent is told.
    pub prompt: String,
    /// What is asked, as a document.
    pub request: WrittenDocument,
    /// What its report is judged by beyond that, where a driver is there to say so.
    pub contract: Option<ReportContract>,
    /// What it must know beyond that: what was refuted, answered, asked or resolved.
    pub notes: Vec<Note>,
    /// Where the agent works.
    pub workspace: PathBuf,
    /// Where it puts its output.
    pub output_directory: PathBuf,
    /// Where logs and the report of this attempt are kept. It exists.
    pub folder: PathBuf,
    /// Patterns of the files in the workspace that it may change; `None` for all.
    pub writes: Option<Vec<String>>,
    /// What earlier attempts have made where they may not: it may remove that.
    pub undo: Vec<String>,
    /// What its processes may see, change and use up beyond that.
    pub confinement: Confinement,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How long the request may wait until somebody takes it, where others come for it.
    pub pick_up_within: Option<Duration>,
    /// What makes the agent's own spans part of this attempt, where it is one of a run.
    pub traceparent: Option<String>,
}

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedTurn {
    /// How it ended.
    pub end: TurnEnd,
    /// What it spent, where its program tells. It counts however the turn ended.
    pub spent: Option<Spent>,
    /// The skills that its program shows to have been used, by name or by path; `None` if it shows nothing of the kind.
    pub skills: Option<Vec<String>>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnd {
    /// The agent said something; whether it is a report is not judged yet.
    Answered(Reply),
    /// There is nothing to read.
    Failed(Failure, AfterFailure),
}

/// What makes sense after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// What the retry policy says.
    Policy,
    /// What the retry policy says, but not before this time: a server with too much to do asks for a pause.
    Pause {
        /// Until when.
        until: Timestamp,
    },
    /// To wait: a limit of the program's account ends at this time. That does not use up an attempt.
    Wait {
        /// When.
        until: Timestamp,
    },
    /// Another session: this one cannot go on, because it is lost or too long.
    FreshSession,
}

/// What an agent said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// The text with the report.
    pub text: String,
    /// Where it was found, for people: `stdout`, the path of a file.
    pub source: String,
    /// The file that contains the text, with an absolute path; `None` if it is not on the disk.
    pub path: Option<PathBuf>,
    /// Where else a report was looked for and not found, for people.
    pub looked_in: Vec<String>,
    /// The identifier of the request that it answers, where it is not that of the handoff.
    pub answers: Option<String>,
    /// What it said about having understood, where it did.
    pub acknowledgment: Option<String>,
    /// The transcript of its session, where there is one.
    pub transcript: Option<Transcript>,
}

impl From<Result<Reply, Failure>> for EndedTurn {
    fn from(end: Result<Reply, Failure>) -> EndedTurn {
        let end = match end {
            Ok(reply) => TurnEnd::Answered(reply),
            Err(failure) => TurnEnd::Failed(failure, AfterFailure::Policy),
        };
        EndedTurn { end, spent: None, skills: None }
    }
}

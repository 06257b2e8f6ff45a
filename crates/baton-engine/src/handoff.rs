//! One handoff: its terms, where it is in its life, and what the next attempt must know.

mod ends;
mod terms;

use std::fmt;
use std::sync::Arc;

pub use baton_protocol::model::terms::Priority;
use baton_protocol::model::{Document, Request};
use baton_protocol::{Dialect, Hints, Judgement, Severity};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use terms::Terms;

use crate::Fence;
use crate::approval::Vote;
use crate::failure::Failure;
use crate::id::{HandoffId, RunId};
use crate::step::Role;

/// A document as it was written: nothing of it is lost, and everybody can read it in the dialect they like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenDocument {
    /// The dialect that it was written in, by its name.
    pub dialect: String,
    /// The document itself.
    pub text: String,
    /// The file that it is in, relative to the workspace, where it is known.
    pub path: Option<String>,
    /// Warnings of rules; it counts anyway.
    pub warnings: Box<[String]>,
}

/// How much the journal keeps of a text that is not a report.
const REFUSED_BYTES_MAX: usize = 64 * 1024;

/// What identifies a document: the SHA-256 of its text, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub String);

/// A handoff as it is now. It follows from its events; nothing else changes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    /// Its identifier.
    pub id: HandoffId,
    /// The run whose journal it is in.
    pub run: RunId,
    /// What was agreed; copies share it.
    pub terms: Arc<Terms>,
    /// Identifies the request.
    pub request: Digest,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When the last event happened.
    pub changed_at: Timestamp,
    /// Of no use after this time: what was agreed, until somebody brings it back after that.
    pub deadline: Option<Timestamp>,
    /// How many events there are about it; grows by one with each.
    pub version: u64,
    /// The token of the latest claim; only grows.
    pub fence: Fence,
    /// How many attempts were begun since it was accepted, requeued or sent back by a person.
    pub attempts: u32,
    /// Where it is.
    pub state: State,
    /// What the next attempt must know.
    pub notes: Vec<Note>,
    /// Identifies the last report or failure, so that the same one, sent again, is recognised.
    pub last_report: Option<Digest>,
    /// Identifies what was seen of the last report, file by file.
    pub evidence: Option<Digest>,
    /// Whether files were seen that must still be the same when a person has approved.
    pub has_files: bool,
    /// Whether a person has approved it, and its files are looked at once more before anything follows.
    pub approved: bool,
    /// What went wrong last.
    pub last_failure: Option<Failure>,
    /// Whether a result that it may be waiting for came back before it said so.
    pub returned_early: bool,
    /// Whether it was decided what follows from how it ended, or from what it is blocked by.
    pub routed: bool,
    /// Whether a person has asked about the last report and must see the next one.
    pub review_owed: bool,
    /// Who has approved it, or what they chose, where that takes several.
    pub approvals: Vec<Vote>,
}

/// Where a handoff is in its life. Each state owns what exists only there.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Waits to be claimed.
    Pending {
        /// Not claimed before this time.
        ready_at: Timestamp,
    },
    /// One claimant holds the lease and works.
    Claimed {
        /// Who, and how long.
        lease: Lease,
    },
    /// The report is there; evidence decides whether it counts.
    Verifying,
    /// Cannot go on until somebody else has done something.
    Blocked {
        /// Why.
        reason: String,
    },
    /// A person must decide or answer.
    AwaitingPerson {
        /// What the person is asked for.
        ask: Ask,
    },
    /// Done.
    Completed {
        /// When.
        at: Timestamp,
    },
    /// Given up: a dead letter.
    Failed {
        /// When.
        at: Timestamp,
    },
    /// Called off.
    Cancelled {
        /// When.
        at: Timestamp,
    },
}

/// The right to work on a handoff for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub claimant: String,
    /// When the attempt began.
    pub since: Timestamp,
    /// When it ends, unless a heartbeat comes before.
    pub until: Timestamp,
    /// By how much a heartbeat extends it.
    pub length_ms: u64,
    /// Whether the claimant has said that it understood the request.
    pub acknowledged: bool,
    /// Whether the driver of a run holds it.
    pub driven: bool,
    /// Whether the claimant ends an attempt that takes too long itself.
    pub times_itself: bool,
}

/// What a person is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// To approve or reject what was reported.
    Review,
    /// To answer questions.
    Clarification,
    /// To decide what the request itself asks of a person.
    Gate,
}

/// What the next attempt must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What kind of note.
    pub about: About,
    /// Who says it.
    pub from: String,
    /// What is said.
    pub text: String,
    /// What was asked, in the words of the receiver of this note.
    pub question: Option<String>,
}

impl Note {
    /// Makes a note that does not answer a question.
    pub fn new(about: About, from: impl Into<String>, text: impl Into<String>) -> Note {
        Note { about, from: from.into(), text: text.into(), question: None }
    }
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// Claims of the last report that evidence refuted.
    Refuted,
    /// What the blocked agent waited for.
    Resolution,
    /// Why somebody rejected the work.
    Feedback,
    /// What a phase or a check failed with, so that the work is done again.
    Failure,
    /// A person's answers.
    Answer,
    /// A person's question about the work.
    Question,
    /// The note of the person who requeued it.
    Requeued,
}

impl About {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            About::Refuted => "refuted",
            About::Resolution => "resolution",
            About::Feedback => "feedback",
            About::Failure => "failure",
            About::Answer => "answer",
            About::Question => "question",
            About::Requeued => "requeued",
        }
    }
}

/// The name of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateName {
    /// Waits to be claimed.
    Pending,
    /// One claimant works.
    Claimed,
    /// Evidence is looked at.
    Verifying,
    /// Waits for somebody else's work.
    Blocked,
    /// Waits for a person.
    AwaitingPerson,
    /// Done.
    Completed,
    /// Given up.
    Failed,
    /// Called off.
    Cancelled,
}

impl StateName {
    /// All states, in the order of a life.
    pub const ALL: [StateName; 8] = [
        StateName::Pending,
        StateName::Claimed,
        StateName::Verifying,
        StateName::Blocked,
        StateName::AwaitingPerson,
        StateName::Completed,
        StateName::Failed,
        StateName::Cancelled,
    ];

    /// Returns the word used everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            StateName::Pending => "pending",
            StateName::Claimed => "claimed",
            StateName::Verifying => "verifying",
            StateName::Blocked => "blocked",
            StateName::AwaitingPerson => "awaiting_person",
            StateName::Completed => "completed",
            StateName::Failed => "failed",
            StateName::Cancelled => "cancelled",
        }
    }

    /// Finds a state by its word.
    pub fn parse(word: &str) -> Option<StateName> {
        StateName::ALL.into_iter().find(|name| name.as_str() == word)
    }

    /// Returns whether nothing more happens by itself.
    pub fn is_finished(self) -> bool {
        match self {
            StateName::Completed | StateName::Failed | StateName::Cancelled => true,
            StateName::Pending
            | StateName::Claimed
            | StateName::Verifying
            | StateName::Blocked
            | StateName::AwaitingPerson => false,
        }
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl State {
    /// Returns the name of the state.
    pub fn name(&self) -> StateName {
        match self {
            State::Pending { .. } => StateName::Pending,
            State::Claimed { .. } => StateName::Claimed,
            State::Verifying => StateName::Verifying,
            State::Blocked { .. } => StateName::Blocked,
            State::AwaitingPerson { .. } => StateName::AwaitingPerson,
            State::Completed { .. } => StateName::Completed,
            State::Failed { .. } => StateName::Failed,
            State::Cancelled { .. } => StateName::Cancelled,
        }
    }

    /// Returns when the handoff was finished.
    pub fn finished_at(&self) -> Option<Timestamp> {
        match self {
            State::Completed { at } | State::Failed { at } | State::Cancelled { at } => Some(*at),
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Verifying
            | State::Blocked { .. }
            | State::AwaitingPerson { .. } => None,
        }
    }
}

/// How many notes a handoff carries; the journal has them all.
const NOTES_MAX: usize = 32;

/// How many warnings about a document are kept.
const WARNINGS_MAX: usize = 20;

/// The longest text of a note; the journal has all of it.
const NOTE_BYTES_MAX: usize = 64 * 1024;

impl Handoff {
    /// Returns whether it stands for a run of a workflow.
    pub fn is_run(&self) -> bool {
        self.terms.step.as_ref().is_some_and(|step| step.role == Role::Run)
    }

    /// Identifies all that a person is shown who decides about it: which attempt, what was asked (with what is to be looked
    /// at and what can be chosen), what was reported, and what was seen of it, with the hashes of files.
    pub fn shown(&self) -> Option<Digest> {
        let report = self.last_report.as_ref()?;
        let evidence = self.evidence.clone().or_else(|| self.terms.files_digest());
        let evidence = evidence.as_ref().map_or("-", |digest| &digest.0);
        // None of these has a line break: identifiers, a number, digests.
        let text = [self.id.as_str(), &self.fence.to_string(), &self.request.0, &report.0, evidence].join("\n");
        Some(Digest::of(text.as_bytes()))
    }

    /// Returns whether its first report counted: nobody and nothing sent it back before it was completed.
    pub fn was_accepted_first_time(&self) -> bool {
        let sends_back = |note: &Note| match note.about {
            About::Refuted | About::Feedback | About::Failure | About::Requeued => true,
            About::Resolution | About::Answer | About::Question => false,
        };
        self.state.name() == StateName::Completed && self.attempts <= 1 && !self.notes.iter().any(sends_back)
    }

    /// Leaves a note for the next attempt; the oldest notes make room.
    pub(crate) fn note(&mut self, about: About, from: &str, text: &str) {
        self.note_answer(about, from, text, None);
    }

    /// Leaves a note for the next attempt, with the question that it answers.
    pub(crate) fn note_answer(&mut self, about: About, from: &str, text: &str, question: Option<&str>) {
        self.notes.push(Note { question: question.map(short), ..Note::new(about, from, short(text)) });
        let superfluous = self.notes.len().saturating_sub(NOTES_MAX);
        self.notes.drain(..superfluous);
    }

    /// Returns the lease, while somebody works.
    pub fn lease(&self) -> Option<&Lease> {
        match &self.state {
            State::Claimed { lease } => Some(lease),
            State::Pending { .. }
            | State::Verifying
            | State::Blocked { .. }
            | State::AwaitingPerson { .. }
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled { .. } => None,
        }
    }
}

/// Cuts a text that is too long for a note.
fn short(text: &str) -> String {
    match text.len() > NOTE_BYTES_MAX {
        true => format!("{}…", &text[..text.floor_char_boundary(NOTE_BYTES_MAX)]),
        false => text.to_owned(),
    }
}

impl WrittenDocument {
    /// Takes a document as it was written.
    pub fn new(dialect: Dialect, text: impl Into<String>) -> WrittenDocument {
        WrittenDocument {
            dialect: dialect.as_str().to_owned(),
            text: text.into(),
            path: None,
            warnings: Box::default(),
        }
    }

    /// Takes down what rules warn of in it.
    #[must_use]
    pub fn judged(mut self, judgement: &Judgement) -> WrittenDocument {
        let warnings = judgement.diagnostics.iter().filter(|found| found.severity == Severity::Warning);
        self.warnings = warnings.take(WARNINGS_MAX).map(|found| format!("{}: {}", found.code, found.message)).collect();
        self
    }

    /// Leaves out the middle of a long text that is not a report and says where the whole of it is. A block should be at its end.
    #[must_use]
    pub fn shortened(mut self, whole: &str) -> WrittenDocument {
        let text = &self.text;
        if text.len() > REFUSED_BYTES_MAX {
            let head = text.floor_char_boundary(REFUSED_BYTES_MAX / 4);
            let tail = text.ceil_char_boundary(text.len() - REFUSED_BYTES_MAX / 4 * 3);
            let left_out = format!("[baton: {} bytes are left out here; all of it is in {whole}]", tail - head);
            self.text = format!("{}\n{left_out}\n{}", &text[..head], &text[tail..]);
        }
        self
    }

    /// Returns what identifies the document.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Reads the document as its writer meant it; `None` if it cannot be read any more.
    pub fn read(&self) -> Option<Document> {
        let hints = Hints { format: None, dialect: Dialect::parse(&self.dialect) };
        baton_protocol::read(self.text.as_bytes(), hints).document
    }

    /// Reads a request; `None` if it is something else.
    pub fn read_request(&self) -> Option<Request> {
        match self.read()? {
            Document::Request(request) => Some(*request),
            Document::Report(_) | Document::Acknowledgment(_) => None,
        }
    }
}

impl Digest {
    /// Computes what identifies these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(hexadecimal(&Sha256::digest(bytes)))
    }
}

/// Writes bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

/// Returns the next whole microsecond. Stores keep no more, and a time must be the same before and after it was stored.
pub(crate) fn whole(time: Timestamp) -> Timestamp {
    let down = Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time);
    let up = || down.checked_add(std::time::Duration::from_micros(1)).unwrap_or(Timestamp::MAX);
    if down < time { up() } else { down }
}

/// Returns a time so many milliseconds later, or the last one there is.
pub(crate) fn later(time: Timestamp, milliseconds: u64) -> Timestamp {
    let span = std::time::Duration::from_millis(milliseconds);
    time.checked_add(span).unwrap_or(Timestamp::MAX)
}

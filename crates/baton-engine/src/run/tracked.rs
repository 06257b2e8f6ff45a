//! One handoff of a run, with everything that its events said.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use baton_protocol::Dialect;
use baton_protocol::model::{Document, Report, Request};
use jiff::Timestamp;

use super::group::Items;
use super::parking::Parks;
use super::{RecordFault, Used};
use crate::Fence;
use crate::answer::{self, Successors, UnderstoodReport};
use crate::approval::Vote;
use crate::evidence::{ExaminedClaim, RefutedFiles, Transcript};
use crate::failure::{Code, Transience};
use crate::handoff::{Digest, Handoff, State, WrittenDocument};
use crate::journal::Fact;
use crate::lifecycle::{Again, Claim, Command, Decide, Decision, Ending, Fail, Route};
use crate::protection::Protection;
use crate::session::{REPAIRS_MAX, SessionTurn, Spending, Spent};
use crate::step::{Role, Step};

/// One handoff of a run.
#[derive(Debug, Clone)]
pub struct TrackedHandoff {
    /// The handoff as it is now.
    pub handoff: Handoff,
    /// The step that it stands for.
    pub step: Step,
    /// What was asked.
    pub request: Arc<WrittenDocument>,
    understood: Arc<OnceLock<Option<Box<Request>>>>,
    items: Arc<OnceLock<Result<Arc<Items>, RecordFault>>>,
    /// The last report that could be understood.
    pub told: Option<Arc<LastReport>>,
    /// The last acknowledgment, if the request was not understood.
    pub acknowledgment: Option<WrittenDocument>,
    /// What was handed in last, if it was refused because it is not valid.
    pub refused: Option<WrittenDocument>,
    /// Files that had changed when something was last handed in.
    pub changed: Vec<String>,
    /// What identifies how the workspace was before each attempt, by the fence of its claim.
    pub baselines: Vec<(Fence, Digest)>,
    /// The transcript of the attempt that reported last.
    pub transcript: Option<Transcript>,
    /// What the evidence showed about it.
    pub examined: Vec<ExaminedClaim>,
    /// What its reports should have named and did not.
    pub refuted: RefutedFiles,
    /// What was seen of the work that a person sent back last.
    pub sent_back: Vec<ExaminedClaim>,
    /// The last decision of a person.
    pub decided: Option<Decide>,
    /// What was last decided to follow.
    pub route: Option<Route>,
    /// How many attempts have ended with a report or a failure.
    pub ended: u32,
    /// How many attempts were begun, also after people sent it back.
    pub attempts: u32,
    /// When it came to be where it is. What was refused changes nothing.
    pub since: Timestamp,
    /// When the first attempt was begun.
    pub begun_at: Option<Timestamp>,
    /// How long somebody worked on it, or its claims were examined, up to its last event.
    worked: Duration,
    /// The session of its last attempt, where its program keeps sessions.
    pub session: Option<TrackedSession>,
    /// How often in a row it has waited for the end of a limit.
    pub parks: Parks,
    /// The skills that its program showed to have been used in the session; `None` if it shows nothing of the kind.
    pub skills: Option<Vec<String>>,
    /// What was spent before the last attempt, and in it.
    earlier: EarlierFigures,
    attempt: AttemptFigures,
    /// What kept the processes of the last attempt away from what is not theirs.
    pub protection: Option<Protection>,
}

/// The session of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackedSession {
    /// Its name, where it is known.
    pub id: Option<String>,
    /// The turn that was claimed last.
    pub turn: SessionTurn,
    /// How many reports were repaired in it.
    pub repairs: u32,
    /// What its turns have spent.
    pub spent: Spent,
    /// What the next attempt is.
    pub next: NextTurn,
}

/// How the next attempt begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextTurn {
    /// In a fresh session.
    #[default]
    Fresh,
    /// In the same one, which was interrupted.
    GoesOn,
    /// In the same one, to repair its report.
    Repairs,
}

/// What is known of the last attempt, while it goes on and after that.
#[derive(Debug, Clone, Copy, Default)]
struct AttemptFigures {
    /// The length of its prompt, which is all that is known of an agent whose program tells nothing.
    prompt_tokens: u64,
    /// What its report says.
    said: u64,
    /// What its program tells.
    spent: Option<Spent>,
    /// Whether it is over, so that nothing better than the length of its prompt will be known.
    is_over: bool,
}

impl AttemptFigures {
    fn tokens(&self) -> u64 {
        self.spent.map_or_else(|| self.prompt_tokens.saturating_add(self.said), |spent| spent.tokens())
    }
}

/// What the attempts before the last one spent.
#[derive(Debug, Clone, Copy, Default)]
struct EarlierFigures {
    tokens: u64,
    spending: Spending,
}

/// What is known of a document because somebody has just written or read it: nobody reads it again.
#[derive(Debug, Clone)]
pub(crate) enum Known {
    /// It must be read.
    Nothing,
    /// The request.
    Request(Box<Request>),
    /// The report.
    Report(Arc<LastReport>),
}

/// A report, as it was written and as it was understood.
#[derive(Debug, Clone)]
pub struct LastReport {
    /// As it was written.
    pub written: WrittenDocument,
    /// As it was understood.
    pub report: Report,
    /// The package, if it is one: a report has no place for all that a package says.
    pub package: Option<Box<Request>>,
    /// The agent that it asks for help, where it names one.
    pub asks: Option<String>,
}

impl LastReport {
    /// Reads what an agent handed in; `None` if it is not a report. `next` are the agents that come next anyway.
    pub fn read(written: &WrittenDocument, next: Successors<'_>) -> Option<LastReport> {
        let UnderstoodReport { report, package, asks } = answer::understand(written.read()?, next)?;
        Some(LastReport { written: written.clone(), report, package, asks })
    }

    /// Takes a document that was just read, if it is a report as such: only with a package it matters who comes next.
    pub(crate) fn of(written: &WrittenDocument, document: Document) -> Option<LastReport> {
        match document {
            Document::Report(report) => {
                Some(LastReport { written: written.clone(), report: *report, package: None, asks: None })
            }
            Document::Request(_) | Document::Acknowledgment(_) => None,
        }
    }

    /// Returns whether it tells decisions or open questions.
    pub(super) fn settles_something(&self) -> bool {
        self.package.is_some() || !self.report.decisions.is_empty() || !self.report.open_questions.is_empty()
    }

    /// Returns the file of the agent's own that its report stands in. An answer in a folder is a message, not a work.
    pub fn output_file(&self) -> Option<&str> {
        let is_message = self.written.dialect == Dialect::Mailbox.as_str();
        self.written.path.as_deref().filter(|_| !is_message)
    }
}

fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

fn was_interrupted(fail: &Fail) -> bool {
    let passes = [Code::timeout(), Code::processing_error()].contains(&fail.failure.code);
    passes && fail.document.is_none() && fail.failure.chance == Transience::Transient
}

impl TrackedHandoff {
    pub(super) fn new(handoff: Handoff, fact: &Fact) -> TrackedHandoff {
        let request = match fact {
            Fact::Accepted(accept) => accept.request.clone(),
            Fact::Happened(_) | Fact::Refused(_) => {
                WrittenDocument { dialect: String::new(), text: String::new(), path: None, warnings: Box::default() }
            }
        };
        let alone =
            || Step { role: Role::Work, phase: String::new(), visit: 1, within: None, about: None, after: None };
        TrackedHandoff {
            step: handoff.terms.step.clone().unwrap_or_else(alone),
            since: handoff.changed_at,
            handoff,
            request: Arc::new(request),
            understood: Arc::default(),
            items: Arc::default(),
            told: None,
            acknowledgment: None,
            refused: None,
            changed: Vec::new(),
            baselines: Vec::new(),
            transcript: None,
            examined: Vec::new(),
            refuted: RefutedFiles::default(),
            sent_back: Vec::new(),
            decided: None,
            route: None,
            ended: 0,
            attempts: 0,
            begun_at: None,
            worked: Duration::ZERO,
            session: None,
            parks: Parks::default(),
            skills: None,
            earlier: EarlierFigures::default(),
            attempt: AttemptFigures::default(),
            protection: None,
        }
    }

    pub(super) fn take(&mut self, handoff: Handoff, fact: &Fact, known: Known) {
        if let (Fact::Accepted(_), Known::Request(request)) = (fact, &known) {
            self.understood = Arc::new(OnceLock::from(Some(request.clone())));
        }
        self.parks.take(fact);
        match fact {
            Fact::Happened(Command::Claim(claim)) => {
                self.begin_turn(claim);
                self.begun_at = self.begun_at.or(Some(handoff.changed_at));
                self.protection.clone_from(&claim.protection);
                self.remember(handoff.fence, claim.baseline.as_ref());
            }
            Fact::Happened(Command::Heartbeat(heartbeat)) => {
                self.remember(heartbeat.fence, heartbeat.baseline.as_ref());
                self.attempt.spent = heartbeat.spent.or(self.attempt.spent);
                if let (Some(id), Some(session)) = (&heartbeat.session, &mut self.session) {
                    session.id = Some(id.clone());
                }
            }
            Fact::Happened(Command::Release(_)) => self.attempts = self.attempts.saturating_sub(1),
            Fact::Happened(Command::Acknowledge(acknowledge)) => {
                self.acknowledgment = (!acknowledge.understood).then(|| acknowledge.document.clone());
            }
            Fact::Happened(Command::Report(report)) => {
                self.ended += 1;
                self.acknowledgment = None;
                // That it counts as complete says that it was not read as a call for help.
                let next = if report.ending == Ending::Complete { Successors::Anybody } else { Successors::Nobody };
                self.told = match known {
                    Known::Report(told) => Some(told),
                    Known::Nothing | Known::Request(_) => LastReport::read(&report.document, next).map(Arc::new),
                };
                self.refused = None;
                self.changed.clone_from(&report.changed);
                self.examined.clone_from(&report.examined);
                self.transcript.clone_from(&report.transcript);
                self.attempt.spent = report.spent.or(self.attempt.spent);
                self.attempt.said = self.report().and_then(|report| report.tokens_used.as_ref()?.as_u64()).unwrap_or(0);
                self.used_skills(report.skills.as_deref());
                self.next_turn(NextTurn::Fresh);
            }
            // What an abandoned attempt has begun can be found again.
            Fact::Happened(Command::Fail(fail)) if fail.failure.code == Code::abandoned() => {}
            Fact::Happened(Command::Fail(fail)) => {
                self.ended += 1;
                self.attempt.spent = fail.spent.or(self.attempt.spent);
                self.used_skills(fail.skills.as_deref());
                self.next_turn(match fail.again {
                    Again::Repair => NextTurn::Repairs,
                    Again::At(_) => NextTurn::GoesOn,
                    // A program that was killed, or whose model did not answer, has left what it did in its session.
                    Again::Policy | Again::NotBefore(_) if was_interrupted(fail) => NextTurn::GoesOn,
                    Again::Policy | Again::NotBefore(_) | Again::AtOnce | Again::Fresh => NextTurn::Fresh,
                });
                self.changed.clone_from(&fail.changed);
                match (&fail.document, fail.failure.code == Code::validation_failed()) {
                    (Some(document), true) => self.refused = Some(document.clone()),
                    (Some(document), false) => {
                        self.told = LastReport::read(document, Successors::Nobody).map(Arc::new).or(self.told.take());
                        self.refused = None;
                    }
                    (None, _) => {}
                }
            }
            // If all is as it was approved, what was seen before still stands.
            Fact::Happened(Command::Verify(verify)) if self.handoff.approved && verify.examined.is_empty() => {}
            Fact::Happened(Command::Verify(verify)) => {
                self.examined.clone_from(&verify.examined);
                self.refuted.add(&verify.examined);
                if verify.repair {
                    self.next_turn(NextTurn::Repairs);
                }
            }
            // Whoever starts over because of what others said is told everything again.
            Fact::Happened(Command::Resume(_) | Command::Requeue(_)) => self.next_turn(NextTurn::Fresh),
            // While others must decide the same, it is not decided.
            Fact::Happened(Command::Decide(decide)) if !matches!(handoff.state, State::AwaitingPerson { .. }) => {
                self.decided = Some(decide.clone());
                if matches!(decide.decision, Decision::Reject { .. } | Decision::Ask { .. }) {
                    self.sent_back.clone_from(&self.examined);
                }
                self.next_turn(NextTurn::Fresh);
            }
            Fact::Happened(Command::Route(route)) => self.route = Some(route.clone()),
            Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => {}
        }
        if !matches!(fact, Fact::Refused(_)) {
            self.since = handoff.changed_at;
        }
        self.worked = self.worked_until(handoff.changed_at);
        self.attempt.is_over = handoff.lease().is_none();
        self.handoff = handoff;
    }

    fn worked_until(&self, now: Timestamp) -> Duration {
        let is_worked_on = match self.handoff.state {
            State::Claimed { .. } => true,
            // After an approval nobody works until a driver comes and looks at the files once more.
            State::Verifying => !self.handoff.approved,
            _ => false,
        };
        self.worked + if is_worked_on { between(self.handoff.changed_at, now) } else { Duration::ZERO }
    }

    /// Returns how long it took. Of agents and commands only their own work counts, not the time in which they waited for
    /// a person, for help or for their next attempt.
    pub fn took(&self, now: Timestamp) -> Duration {
        let end = self.handoff.state.finished_at().unwrap_or(now);
        match self.step.role {
            Role::Work | Role::Check | Role::Delegation => self.worked_until(end),
            // A group is claimed by nobody before it is done.
            Role::Group => between(self.handoff.accepted_at, end),
            Role::Run | Role::Gate | Role::Escalation | Role::Failure | Role::Limit => {
                between(self.begun_at.unwrap_or(self.handoff.accepted_at), end)
            }
        }
    }

    /// Takes what identifies how the workspace was before an attempt. What was said first counts.
    fn remember(&mut self, fence: Fence, baseline: Option<&Digest>) {
        if let Some(baseline) = baseline.filter(|_| self.baseline(fence).is_none()) {
            self.baselines.push((fence, baseline.clone()));
        }
    }

    /// Returns what identifies how the workspace was before an attempt.
    pub fn baseline(&self, fence: Fence) -> Option<&Digest> {
        self.baselines.iter().find(|(claim, _)| *claim == fence).map(|(_, baseline)| baseline)
    }

    /// Begins another attempt: in the same session, in a fresh one, or without any.
    fn begin_turn(&mut self, claim: &Claim) {
        self.earlier = EarlierFigures { tokens: self.tokens(), spending: self.spending() };
        let spent = self.attempt.spent.take().unwrap_or_default();
        self.attempt =
            AttemptFigures { prompt_tokens: claim.prompt_tokens.unwrap_or_default(), ..AttemptFigures::default() };
        let turn = claim.session.as_ref();
        // A repair is part of the attempt whose report is repaired.
        self.attempts += u32::from(!turn.is_some_and(|turn| turn.repairs));
        let earlier = self.session.take().filter(|_| turn.is_some_and(|turn| turn.goes_on));
        if earlier.is_none() {
            self.skills = None;
        }
        self.session = turn.map(|turn| {
            let mut session = earlier.unwrap_or_default();
            session.id.clone_from(&turn.id);
            session.turn.clone_from(turn);
            session.repairs += u32::from(turn.repairs);
            session.spent += spent;
            // Whoever dies from now on has left something to go on with.
            session.next = NextTurn::GoesOn;
            session
        });
    }

    /// Takes down how the next attempt begins.
    fn next_turn(&mut self, next: NextTurn) {
        if let Some(session) = &mut self.session {
            session.next = next;
        }
    }

    /// Adds skills that were seen in the session.
    fn used_skills(&mut self, seen: Option<&[String]>) {
        if let Some(seen) = seen {
            self.skills.get_or_insert_default().extend_from_slice(seen);
        }
    }

    /// Returns which turn of its session the last attempt is.
    pub fn turn(&self) -> Option<&SessionTurn> {
        self.session.as_ref().map(|session| &session.turn)
    }

    /// Returns the session that the next attempt goes on in, and whether it repairs a report.
    pub fn next_session(&self) -> Option<(&TrackedSession, NextTurn)> {
        let session = self.session.as_ref().filter(|session| session.id.is_some())?;
        (session.next != NextTurn::Fresh).then_some((session, session.next))
    }

    /// Returns whether a report of the attempt that has just ended can be repaired in its session.
    pub fn can_be_repaired(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.id.is_some() && session.repairs < REPAIRS_MAX)
    }

    /// Returns how many tokens count against limits. That never becomes less: while an agent works, the length of its prompt
    /// may turn out to be more than what was used, because the rest came from a cache.
    pub(super) fn counted_tokens(&self) -> u64 {
        let is_certain = self.attempt.is_over || self.attempt.spent.is_some();
        self.earlier.tokens.saturating_add(if is_certain { self.attempt.tokens() } else { 0 })
    }

    /// Returns how many tokens its attempts used, as far as is known.
    pub fn tokens(&self) -> u64 {
        self.earlier.tokens.saturating_add(self.attempt.tokens())
    }

    /// Returns what its last attempt has used beyond what the journal says, if it has spent so much by now.
    pub(crate) fn beyond_journal(&self, spent: Spent) -> Used {
        let known = self.attempt.spent.unwrap_or_default();
        Used {
            tokens: spent.tokens().saturating_sub(known.tokens()),
            cost_micros: spent.cost_micros.unwrap_or_default().saturating_sub(known.cost_micros.unwrap_or_default()),
        }
    }

    /// Returns what its attempts spent, as far as their programs tell.
    pub fn spending(&self) -> Spending {
        let mut spending = self.earlier.spending;
        spending += self.attempt.spent.unwrap_or_default();
        spending
    }

    /// Returns the last report, as it was understood.
    pub fn report(&self) -> Option<&Report> {
        self.told.as_ref().map(|told| &told.report)
    }

    /// Returns the request, as it was understood.
    pub fn asked(&self) -> Option<&Request> {
        let read = || match self.request.read()? {
            Document::Request(request) => Some(request),
            Document::Report(_) | Document::Acknowledgment(_) => None,
        };
        self.understood.get_or_init(read).as_deref()
    }

    /// Returns the items of a group over a list; the error says that the record of them is damaged.
    pub(crate) fn items(&self) -> Result<Arc<Items>, RecordFault> {
        self.items.get_or_init(|| Items::of(self).map(Arc::new)).clone()
    }

    /// Returns the document that a person is shown, by what identifies it.
    pub fn shown(&self) -> &WrittenDocument {
        let handed_in = self.told.iter().map(|told| &told.written).chain(&self.acknowledgment);
        let mut shown = handed_in.filter(|written| self.handoff.last_report.as_ref() == Some(&written.digest()));
        shown.next().unwrap_or(&self.request)
    }

    /// Returns who decided: the last, or all of whom it took.
    pub fn deciders(&self) -> Option<String> {
        let decide = self.decided.as_ref()?;
        let votes: Vec<String> = self.handoff.approvals.iter().filter(|vote| !vote.withdrawn).map(Vote::who).collect();
        match &votes[..] {
            [] | [_] => Some(decide.who()),
            votes => Some(votes.join(", ")),
        }
    }

    /// Returns what a person answered or chose.
    pub fn answer(&self) -> Option<&str> {
        match &self.decided.as_ref()?.decision {
            Decision::Answer { answers } => Some(answers.trim()),
            Decision::Approve | Decision::Reject { .. } | Decision::Ask { .. } => None,
        }
    }

    /// Returns whether it was completed and what came out is good.
    pub fn passed(&self) -> bool {
        matches!(self.handoff.state, State::Completed { .. }) && self.report().is_none_or(answer::passes)
    }
}

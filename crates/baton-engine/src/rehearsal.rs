//! Rehearses what would follow from a report, without a store and without anybody working: a run in memory is taken to
//! the phase, given the report, and asked where it goes.

use baton_protocol::model::Request;
use baton_protocol::wire::same_word;
use baton_protocol::workflow::Phase;
use jiff::Timestamp;

use crate::Fence;
use crate::answer::{self, Answer, Successors};
use crate::definition::{Definition, LocatedPhase};
use crate::door::Door;
use crate::draft::Draft;
use crate::driver::{self, BriefFault};
use crate::flow::{self, FlowFault};
use crate::handoff::{State, Terms, WrittenDocument};
use crate::id::{HandoffId, RunId, UnsafeId};
use crate::journal::{Fact, Head};
use crate::known::HowKnown;
use crate::lifecycle::{Accept, Command, Decide, Decision, Ending, Fail, HandIn, Refusal, Route, Verdict, Verify};
use crate::people::Question;
use crate::prompt::Prompt;
use crate::run::{JournalFault, LastReport, RecordFault, Run, TrackedHandoff};
use crate::step::{GROUP, ORCHESTRATOR, Role, Step};

/// Replaces the random word of a real prompt.
const DELIMITER: &str = "RANDOM-WORD";

/// What would follow from a report.
#[derive(Debug, Clone)]
pub struct RehearsedReport {
    /// How the report ends its attempt.
    pub outcome: RehearsedOutcome,
    /// What follows.
    pub next: RehearsedNext,
    /// What follows when a person has approved it, where a person is asked first.
    pub approved: Option<RehearsedNext>,
}

/// How a report ends its attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RehearsedOutcome {
    /// The work is done, if the evidence says so.
    Complete,
    /// The agent cannot go on, for this reason.
    Blocked(String),
    /// A person must look at it.
    NeedsReview,
    /// A person must answer.
    NeedsClarification,
    /// The attempt has failed, with this message.
    Failed(String),
}

/// Where it goes.
#[derive(Debug, Clone)]
pub struct RehearsedNext {
    /// Where, why, and what it was decided against; `None` while it is the same agent's turn, or a person's.
    pub route: Option<Route>,
    /// The steps that follow at once.
    pub steps: Vec<Following>,
    /// What a person is asked.
    pub questions: Vec<Question>,
    /// Why it cannot be rehearsed any further.
    pub unknown: Option<FlowFault>,
}

/// A step that follows.
#[derive(Debug, Clone)]
pub struct Following {
    /// What it stands for.
    pub step: Step,
    /// Who is to work.
    pub to: String,
    /// Their prompt, or why it cannot be made.
    pub prompt: Option<Result<Prompt, BriefFault>>,
}

/// Why it is unknown what would follow a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RehearsalFault {
    /// The document is something else.
    #[error("it is not a report")]
    NoReport,
    /// The report leaves open how the work ended.
    #[error("the report does not say how the work ended")]
    NoEnding,
    /// The workflow has no such phase.
    #[error("unknown phase {0}")]
    NoPhase(String),
    /// No agent reports in the phase.
    #[error("no agent works in the phase {0}")]
    NoAgent(String),
    /// There is nothing that a person could approve.
    #[error("there is nothing to approve")]
    NothingToApprove,
    /// The phase has a name that no handoff can have.
    #[error(transparent)]
    Id(#[from] UnsafeId),
    /// The run in memory cannot begin.
    #[error(transparent)]
    Run(#[from] JournalFault),
    /// The run in memory cannot go on.
    #[error(transparent)]
    Flow(#[from] FlowFault),
    /// The lifecycle does not allow the report.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Returns the paths of the phases in which an agent works, also inside others. Of a list it is its first item, whatever
/// that is called.
pub fn phases_of(definition: &Definition, agent: &str) -> Vec<String> {
    let mut found = Vec::new();
    search(definition, &definition.workflow.phases, "", agent, &mut found);
    found
}

fn search(definition: &Definition, phases: &[Phase], prefix: &str, agent: &str, found: &mut Vec<String>) {
    for phase in phases {
        let path = format!("{prefix}{}", phase.id());
        if phase.agent.as_deref().is_some_and(|name| same_word(name, agent)) {
            found.push(path.clone());
        }
        search(definition, &phase.parallel, &format!("{path}/"), agent, found);
        let item = phase.r#as.as_deref().unwrap_or("item");
        search(definition, &phase.phases, &format!("{path}/{item}/"), agent, found);
        if let Some(inner) = phase.workflow.as_ref().and_then(|name| definition.nested.get(name)) {
            search(inner, &inner.workflow.phases, &format!("{path}/"), agent, found);
        }
    }
}

/// Works out what would follow a report of the agent of a phase; the error says why that is unknown.
pub fn rehearse(
    definition: &Definition,
    phase: &str,
    document: WrittenDocument,
    at: Timestamp,
) -> Result<RehearsedReport, RehearsalFault> {
    let following = flow::following(definition, phase);
    let told = LastReport::read(&document, Successors::Agents(&following)).ok_or(RehearsalFault::NoReport)?;
    let answer = answer::of_report(&told.report).ok_or(RehearsalFault::NoEnding)?;
    let (mut draft, id) = take_to(definition, phase, at)?;
    let seen = draft.run.handoffs().len();
    let outcome = report(&mut draft, &id, answer, document)?;
    let asked = matches!(state(&draft, &id), Some(State::AwaitingPerson { .. }));
    let approved = match (asked, &outcome) {
        (true, RehearsedOutcome::Complete | RehearsedOutcome::NeedsReview) => {
            let mut later = draft.clone();
            approve(&mut later, &id)?;
            Some(follow(later, &id, seen))
        }
        _ => None,
    };
    Ok(RehearsedReport { outcome, next: follow(draft, &id, seen), approved })
}

/// Begins a run in memory and takes it to a phase, past everything before it.
fn take_to(definition: &Definition, phase: &str, at: Timestamp) -> Result<(Draft, HandoffId), RehearsalFault> {
    let located = definition.locate(phase).ok_or_else(|| RehearsalFault::NoPhase(phase.to_owned()))?;
    let agent = located.phase().agent.clone().ok_or_else(|| RehearsalFault::NoAgent(phase.to_owned()))?;
    let id = RunId::parse("rehearsal")?;
    let root = HandoffId::parse(id.as_str())?;
    let step = Step { role: Role::Run, phase: String::new(), visit: 1, within: None, about: None, after: None };
    let mut terms = Terms::between("user", ORCHESTRATOR);
    terms.step = Some(step.clone());
    let accept = Accept {
        id: root.clone(),
        run: id.clone(),
        terms,
        request: definition.request(&id, "user"),
        notes: Vec::new(),
    };
    let event = Head::START.next(&id, &root, 1, at, &Fact::Accepted(Box::new(accept)));
    let mut draft = Draft::new(&Run::begin(&event)?, at);
    flow::claim(&mut draft, &root)?;
    let within = groups(&mut draft, &located, &root)?;
    let handoff = HandoffId::parse(format!("{id}.{}.1", phase.replace('/', ".")))?;
    let mut terms = Terms::between(ORCHESTRATOR, agent);
    terms.verify = true;
    terms.step = Some(Step { role: Role::Work, phase: phase.to_owned(), within: Some(within), ..step });
    accept_empty(&mut draft, handoff.clone(), terms);
    flow::claim(&mut draft, &handoff)?;
    Ok((draft, handoff))
}

/// Stands for the groups around a phase; returns the innermost.
fn groups(draft: &mut Draft, located: &LocatedPhase<'_>, root: &HandoffId) -> Result<HandoffId, RehearsalFault> {
    let mut within = root.clone();
    let prefix = located.prefix.trim_end_matches('/');
    let ends = prefix.match_indices('/').map(|(end, _)| end).chain((!prefix.is_empty()).then_some(prefix.len()));
    let paths: Vec<&str> = ends.map(|end| &prefix[..end]).collect();
    for path in paths.into_iter().filter(|path| draft.run.definition.locate(path).is_some()).collect::<Vec<_>>() {
        let id = HandoffId::parse(format!("{root}.{}.1", path.replace('/', ".")))?;
        let mut terms = Terms::between(ORCHESTRATOR, GROUP);
        let phase = path.to_owned();
        terms.step = Some(Step { role: Role::Group, phase, visit: 1, within: Some(within), about: None, after: None });
        accept_empty(draft, id.clone(), terms);
        within = id;
    }
    Ok(within)
}

fn accept_empty(draft: &mut Draft, id: HandoffId, terms: Terms) {
    let run = draft.run.id.clone();
    let request = flow::write("native", Request { id: Some(id.to_string()), ..Request::default() });
    draft.accept(Accept { id, run, terms, request, notes: Vec::new() });
}

/// Hands the report in, as if everything that it claims were so.
fn report(
    draft: &mut Draft,
    id: &HandoffId,
    answer: Answer,
    document: WrittenDocument,
) -> Result<RehearsedOutcome, RehearsalFault> {
    let ending = match answer {
        Answer::Failed(failure) => {
            let message = failure.to_string();
            apply(draft, id, Command::Fail(Fail { document: Some(document), ..Fail::new(Fence(1), failure, 0.0) }))?;
            return Ok(RehearsedOutcome::Failed(message));
        }
        Answer::Ended(ending) => ending,
    };
    apply(draft, id, Command::Report(HandIn::new(Fence(1), ending.clone(), document)))?;
    if matches!(state(draft, id), Some(State::Verifying)) {
        let phase = draft.run.find(id).map(|tracked| tracked.step.phase.clone()).unwrap_or_default();
        let review = draft.run.definition.locate(&phase).is_some_and(|located| located.phase().review.is_some());
        let (verdict, examined) = (Verdict::Verified, Vec::new());
        apply(
            draft,
            id,
            Command::Verify(Verify {
                fence: Fence(1),
                verdict,
                examined,
                evidence: None,
                kept: Vec::new(),
                review,
                repair: false,
                dice: 0.0,
            }),
        )?;
    }
    Ok(match ending {
        Ending::Complete => RehearsedOutcome::Complete,
        Ending::Blocked { reason } => RehearsedOutcome::Blocked(reason),
        Ending::NeedsReview => RehearsedOutcome::NeedsReview,
        Ending::NeedsClarification => RehearsedOutcome::NeedsClarification,
    })
}

fn approve(draft: &mut Draft, id: &HandoffId) -> Result<(), RehearsalFault> {
    let shown = draft.run.find(id).and_then(|tracked| tracked.handoff.shown());
    let shown = shown.ok_or(RehearsalFault::NothingToApprove)?;
    let decide = Decide {
        by: "a person".to_owned(),
        known: HowKnown::Account,
        label: None,
        door: Door::Rehearsal,
        shown,
        decision: Decision::Approve,
        note: None,
        asked: None,
    };
    apply(draft, id, Command::Decide(decide))
}

/// Decides what follows, and collects it.
fn follow(mut draft: Draft, id: &HandoffId, seen: usize) -> RehearsedNext {
    let settled = match state(&draft, id) {
        Some(State::AwaitingPerson { .. } | State::Pending { .. }) => Ok(()),
        Some(_) => flow::settle_one(&mut draft, id),
        None => Err(RecordFault::Gone("it").into()),
    };
    let run = &draft.run;
    let again = run.find(id).filter(|tracked| matches!(tracked.handoff.state, State::Pending { .. }));
    let following = again.into_iter().chain(run.handoffs().skip(seen));
    let asked = run.find(id).into_iter().chain(run.handoffs().skip(seen));
    RehearsedNext {
        route: run.find(id).and_then(|tracked| tracked.route.clone()),
        steps: following.map(|tracked| following_of(run, tracked)).collect(),
        questions: asked.filter_map(|tracked| flow::question(run, tracked)).collect(),
        unknown: settled.err(),
    }
}

fn following_of(run: &Run, tracked: &TrackedHandoff) -> Following {
    let works = matches!(tracked.step.role, Role::Work | Role::Delegation);
    let prompt = works.then(|| driver::prompt_of(run, tracked, DELIMITER));
    Following { step: tracked.step.clone(), to: tracked.handoff.terms.to.clone(), prompt }
}

fn state<'d>(draft: &'d Draft, id: &HandoffId) -> Option<&'d State> {
    draft.run.find(id).map(|tracked| &tracked.handoff.state)
}

fn apply(draft: &mut Draft, id: &HandoffId, command: Command) -> Result<(), RehearsalFault> {
    Ok(draft.apply(id, command)?)
}

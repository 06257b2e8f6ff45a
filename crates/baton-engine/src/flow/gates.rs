//! Questions to people: at a limit, after a failure, and how each of them reads.

use baton_protocol::model::request::{Context, Gate};
use baton_protocol::model::terms::{GateType, HandoffKind};
use baton_protocol::model::{Report, Request};
use baton_protocol::wire::same_word;
use baton_protocol::workflow::{CheckFields, GateFields};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::enter::aside;
use super::guards::gates_in;
use super::questions::{offered, questions};
use super::requests::{party, write};
use super::trouble::{in_one_line, trouble};
use super::{FlowFault, gate_evidence};
use crate::answer::context;
use crate::approval::Approval;
use crate::draft::Draft;
use crate::evidence::{self, ExaminedClaim};
use crate::handoff::{About, Ask, Digest, Note, State, Terms, WrittenDocument, later};
use crate::handover;
use crate::id::HandoffId;
use crate::lifecycle::{Decide, Decision, Route};
use crate::people::{AgentQuestion, ExpectedReply, FailedCommand, Question};
use crate::protection::gaps;
use crate::run::{CONTINUE, RecordFault, Run, TrackedHandoff};
use crate::step::{HUMAN, ORCHESTRATOR, Role};

/// No single decision is what the gates of a phase demand together: each has approvers of its own.
struct NobodyMay;

/// What a person can choose at a limit.
const AT_LIMIT: [(&str, &str); 3] = [
    ("continue", "continue once; nothing is reset"),
    ("revise", "continue, and count again from 0"),
    ("stop", "stop the run"),
];

/// What a person can choose when the run has waited long enough.
const WHILE_WAITING: [(&str, &str); 3] = [
    ("continue", "keep waiting; nothing is reset"),
    ("revise", "keep waiting, and count again from 0"),
    ("stop", "stop the run"),
];

/// How many of the latest steps are shown to a person who must decide how it goes on.
const STORY_LINES: usize = 12;

/// How many characters of the reports before a gate are shown with its question.
const HANDED_OVER_CHARACTERS_MAX: usize = 2_000;

/// Asks a person because a limit is reached.
pub(super) fn at_limit(draft: &mut Draft, about: &HandoffId, limit: &str) -> Result<(), FlowFault> {
    let question = format!("A limit is reached: {limit}. Go on?");
    ask(draft, about, Role::Limit, &question, &AT_LIMIT)
}

/// Makes the question whether a run whose budget is used up should go on.
pub(super) fn about_spending(
    draft: &Draft,
    about: &HandoffId,
    limit: &str,
) -> Result<(Terms, WrittenDocument), FlowFault> {
    asking(draft, about, Role::Limit, &format!("A limit is reached: {limit}. Go on?"), &AT_LIMIT)
}

/// Makes the question whether the run should go on waiting for a handoff.
pub(super) fn about_waiting(
    draft: &Draft,
    about: &HandoffId,
    question: &str,
) -> Result<(Terms, WrittenDocument), FlowFault> {
    asking(draft, about, Role::Limit, question, &WHILE_WAITING)
}

/// Asks a person because something has failed.
pub(super) fn after_failure(
    draft: &mut Draft,
    about: &HandoffId,
    question: &str,
    choices: &[(&str, &str)],
) -> Result<(), FlowFault> {
    ask(draft, about, Role::Failure, question, choices)
}

fn ask(
    draft: &mut Draft,
    about: &HandoffId,
    role: Role,
    question: &str,
    choices: &[(&str, &str)],
) -> Result<(), FlowFault> {
    let (terms, request) = asking(draft, about, role, question, choices)?;
    aside(draft, about, role, terms, request)
}

fn asking(
    draft: &Draft,
    about: &HandoffId,
    role: Role,
    question: &str,
    choices: &[(&str, &str)],
) -> Result<(Terms, WrittenDocument), FlowFault> {
    let subject = draft.run.find(about).ok_or(RecordFault::Gone("what it is about"))?;
    // Whoever lets a run go on past a phase decides what its approvers were to decide.
    let demanded = if role == Role::Failure { demanded(&draft.run, subject) } else { Ok(None) };
    let is_offered = |word: &str| demanded.is_ok() || word != CONTINUE;
    let choices: Vec<(&str, &str)> = choices.iter().copied().filter(|(word, _)| is_offered(word)).collect();
    let options: Map<String, Value> =
        choices.iter().map(|(word, meaning)| ((*word).to_owned(), Value::from(*meaning))).collect();
    let gate = Gate {
        r#type: Some(GateType::Blocking),
        name: Some(if role == Role::Limit { "limit" } else { "failure" }.to_owned()),
        items: vec![question.to_owned()],
        options,
        ..Gate::default()
    };
    let request = Request {
        kind: Some(HandoffKind::Gate),
        timestamp: Some(draft.at.to_string()),
        from: party(ORCHESTRATOR),
        to: party(HUMAN),
        instructions: Some(question.to_owned()),
        context: Some(Context { summary: Some(story(&draft.run, subject)), ..Context::default() }),
        gate: Some(gate),
        ..Request::default()
    };
    let mut terms = Terms::between(ORCHESTRATOR, HUMAN);
    terms.choices = choices.iter().map(|(word, _)| (*word).to_owned()).collect();
    terms.approval = demanded.unwrap_or_default();
    Ok((terms, write("package", request)))
}

/// Returns what is demanded of those who let a run go on past a phase: all that its gates demand, and those of the phases inside
/// of it, whether or not the run has come to them. The error says that nobody fulfils it.
fn demanded(run: &Run, subject: &TrackedHandoff) -> Result<Option<Approval>, NobodyMay> {
    let located = run.definition.locate(&subject.step.phase);
    let gates = located.iter().flat_map(|located| gates_in(located.definition, located.phase()));
    let mut demands = gates.filter_map(|(definition, gate)| definition.approval(gate));
    let Some(first) = demands.next() else { return Ok(None) };
    demands.try_fold(first, Approval::and).map(Some).ok_or(NobodyMay)
}

/// Describes what has happened in the phase so far: every visit, and how it ended.
fn story(run: &Run, subject: &TrackedHandoff) -> String {
    let line = |tracked: &TrackedHandoff| {
        let ended = match (&tracked.handoff.state, &tracked.handoff.last_failure) {
            (State::Failed { .. }, Some(failure)) => {
                let told = trouble(run, tracked).as_ref().map_or_else(|| failure.in_one_line(), in_one_line);
                format!("failed: {}", first_line(&told))
            }
            (state, _) => state.name().to_string(),
        };
        let to = |route: &Route| if route.to == HUMAN { "a person".to_owned() } else { route.to.clone() };
        let route = tracked.route.as_ref().map(|route| format!("; then {}", to(route)));
        let (phase, visit) = (&tracked.step.phase, tracked.step.visit);
        format!("{phase} #{visit} ({}): {ended}{}", tracked.handoff.terms.to, route.unwrap_or_default())
    };
    // The latest say most about why it came to this.
    let is_told = |tracked: &&TrackedHandoff| !matches!(tracked.step.role, Role::Run | Role::Failure | Role::Limit);
    let latest = run.handoffs().rev().filter(is_told).take(STORY_LINES);
    let mut lines: Vec<String> = latest.map(line).collect();
    lines.reverse();
    format!("About handoff {}.\n{}", subject.handoff.id, lines.join("\n"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the gate that the workflow has put where a handoff waits for a person.
pub(crate) fn gate_of<'r>(run: &'r Run, tracked: &TrackedHandoff) -> Option<&'r GateFields> {
    let located = run.definition.locate(&tracked.step.phase)?;
    let phase = located.phase();
    match (tracked.step.role, &tracked.handoff.state) {
        (Role::Gate, _) => phase.gate.as_ref(),
        // An agent that asks for a review itself wants a person, not a rule.
        (Role::Work, State::AwaitingPerson { ask: Ask::Review })
            if tracked.report().is_some_and(is_done) && !has_asked(tracked) =>
        {
            phase.review.as_ref().map(|review| &review.gate)
        }
        _ => None,
    }
}

/// Returns when an advisory gate continues without an answer. Evidence that only a person may let pass stops it.
pub fn lapses_at(run: &Run, tracked: &TrackedHandoff) -> Option<Timestamp> {
    if !matches!(tracked.handoff.state, State::AwaitingPerson { .. }) {
        return None;
    }
    // Silence does not pick one of several choices.
    let free = tracked.handoff.terms.choices.is_empty() && !evidence::asks_person(&tracked.examined);
    let gate = gate_of(run, tracked).filter(|_| free)?;
    let after = gate.after.filter(|_| gate.r#type == Some(GateType::Advisory))?;
    Some(later(tracked.since, after.milliseconds))
}

/// Returns the checks that decide a gate in place of a person; nobody but a person can choose.
pub(crate) fn deciding_checks(gate: &GateFields) -> &[CheckFields] {
    let is_auto = gate.r#type == Some(GateType::Auto) && gate.choices.is_empty();
    if is_auto { &gate.checks } else { &[] }
}

/// Whoever has asked something wants to see the answer.
fn has_asked(tracked: &TrackedHandoff) -> bool {
    tracked.decided.as_ref().is_some_and(|decide| matches!(decide.decision, Decision::Ask { .. }))
}

fn is_done(report: &Report) -> bool {
    use baton_protocol::model::terms::{AgentDecision, Outcome};
    report.outcome == Some(Outcome::Complete)
        && !matches!(report.decision, Some(AgentDecision::Stop | AgentDecision::Clarify))
}

/// Returns what a person is asked where a handoff waits for one.
pub fn question(run: &Run, tracked: &TrackedHandoff) -> Option<Question> {
    let State::AwaitingPerson { ask } = tracked.handoff.state else { return None };
    let request = tracked.asked();
    let subject = tracked.step.about.as_ref().and_then(|about| run.find(about));
    let trouble = subject.filter(|_| tracked.step.role == Role::Failure).and_then(|subject| trouble(run, subject));
    let document = tracked.shown().clone();
    let blocked = subject.filter(|_| tracked.handoff.terms.returns_to.is_some()).and_then(TrackedHandoff::report);
    let questions = questions(document.read().as_ref(), blocked);
    let said = match ask {
        Ask::Gate if tracked.step.role == Role::Gate => Some(handed_over(run, tracked)),
        Ask::Gate => request.and_then(|request| request.context.as_ref()?.summary.clone()),
        Ask::Review | Ask::Clarification => tracked.report().and_then(context).map(str::to_owned),
    };
    Some(Question {
        handoff: tracked.handoff.id.clone(),
        run: run.id.clone(),
        phase: tracked.step.phase.clone(),
        // A gate is asked by whoever sent it to a person.
        agent: match ask {
            Ask::Gate => tracked.handoff.terms.from.clone(),
            Ask::Review | Ask::Clarification => tracked.handoff.terms.to.clone(),
        },
        ask,
        reply: ExpectedReply::of(&tracked.handoff)?,
        title: title(run, tracked, trouble.as_ref(), subject),
        text: said.unwrap_or_default(),
        items: items(run, tracked),
        choices: choices(tracked, &questions),
        questions,
        document: Some(document),
        handed_in: subject.filter(|subject| !is_failed_check(trouble.as_ref(), subject)).and_then(handed_in),
        trouble,
        examined: seen(run, subject.unwrap_or(tracked)),
        gaps: gaps(run),
        inputs: run.definition.inputs.clone(),
        decided_before: decided_before(run, tracked),
        approval: tracked.handoff.terms.approval.clone(),
        approvals: tracked.handoff.approvals.clone(),
        lapses_at: lapses_at(run, tracked),
        shown: tracked.handoff.shown().unwrap_or_else(|| Digest::of(b"")),
    })
}

/// Returns what the phases before a gate have reported.
fn handed_over(run: &Run, gate: &TrackedHandoff) -> String {
    let given = handover::given(run, gate);
    let told = given.iter().map(|handover| match &given[..] {
        [_] => handover.text.trim_end().to_owned(),
        _ => format!("{}:\n{}", handover.label, handover.text.trim_end()),
    });
    let told = told.collect::<Vec<_>>().join("\n");
    match told.char_indices().nth(HANDED_OVER_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &told[..end]),
        None => told,
    }
}

/// Returns what was said before: about earlier visits of a gate, about earlier versions of reviewed work, and to an agent
/// that asks again.
fn decided_before(run: &Run, tracked: &TrackedHandoff) -> Vec<String> {
    let said = |decide: &Decide| match &decide.decision {
        Decision::Approve => None,
        Decision::Reject { feedback } => Some(format!("{} rejected it: {feedback}", decide.who())),
        Decision::Answer { answers } => Some(format!("{} chose {answers}", decide.who())),
        Decision::Ask { question } => Some(format!("{} asked: {question}", decide.who())),
    };
    match (tracked.step.role, &tracked.handoff.state) {
        (Role::Gate, _) => {
            let earlier = handover::earlier_visits(run, &tracked.step);
            let last = earlier.iter().rev().map(|visit| &visit.sent_back).find(|examined| !examined.is_empty());
            let since = last.and_then(|rejected| evidence::unchanged_since(rejected, &tracked.examined));
            earlier.iter().filter_map(|visit| visit.decided.as_ref().and_then(said)).chain(since).collect()
        }
        (Role::Work, State::AwaitingPerson { ask: Ask::Review }) => {
            let notes = tracked.handoff.notes.iter();
            let told = |note: &Note| match note.about {
                About::Feedback => Some(format!("{} rejected it: {}", note.from, note.text)),
                About::Question => Some(format!("{} asked: {}", note.from, note.text)),
                About::Refuted | About::Failure | About::Resolution | About::Answer | About::Requeued => None,
            };
            let since = evidence::unchanged_since(&tracked.sent_back, &tracked.examined);
            notes.filter_map(told).chain(since).collect()
        }
        (_, State::AwaitingPerson { ask: Ask::Clarification }) => answered(tracked),
        (Role::Escalation, _) => {
            let blocked = tracked.step.about.as_ref().and_then(|about| run.find(about));
            blocked.map(answered).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns what an agent has asked before, and what it was answered.
fn answered(agent: &TrackedHandoff) -> Vec<String> {
    let told = |note: &Note| {
        let question = note.question.as_deref()?.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("{} answered \u{201c}{question}\u{201d}: {}", note.from, note.text))
    };
    agent.handoff.notes.iter().filter_map(told).collect()
}

/// Returns what was seen of what a question is about: at a gate, of the phases before it.
fn seen(run: &Run, tracked: &TrackedHandoff) -> Vec<ExaminedClaim> {
    let files = &tracked.handoff.terms.files;
    match tracked.step.role {
        Role::Gate if tracked.examined.is_empty() => {
            let mut seen = gate_evidence::without_files(run, &tracked.step);
            seen.extend(evidence::handed_over(files));
            seen
        }
        _ => {
            let is_review = matches!(tracked.handoff.state, State::AwaitingPerson { ask: Ask::Review });
            let has_files = tracked.examined.iter().any(|seen| seen.path.is_some());
            let warns = is_review && !has_files && gate_evidence::may_write(run, tracked);
            tracked.examined.iter().cloned().chain(warns.then(gate_evidence::no_file)).collect()
        }
    }
}

/// Returns whether a check failed: then the trouble says what it did, and names its phase.
fn is_failed_check(trouble: Option<&FailedCommand>, subject: &TrackedHandoff) -> bool {
    trouble.is_some() && subject.step.role == Role::Check
}

fn handed_in(subject: &TrackedHandoff) -> Option<WrittenDocument> {
    Some(subject.told.as_ref()?.written.clone())
}

/// Returns what is to be looked at. The request of a gate repeats what the workflow says about it.
fn items(run: &Run, tracked: &TrackedHandoff) -> Vec<String> {
    // What the orchestrator asks itself stands in the title, and why.
    if matches!(tracked.step.role, Role::Limit | Role::Failure) {
        return Vec::new();
    }
    let asked = tracked.asked().and_then(|request| request.gate.as_ref());
    let listed = gate_of(run, tracked).into_iter().flat_map(|gate| &gate.items);
    let mut items: Vec<String> = Vec::new();
    for item in listed.chain(asked.into_iter().flat_map(|gate| &gate.items)) {
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
    for item in evidence::left_to_person(&tracked.examined).map(ExaminedClaim::sentence) {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items
}

/// Returns what can be chosen: what the gate offers, or else what the agent offers as an answer.
fn choices(tracked: &TrackedHandoff, questions: &[AgentQuestion]) -> Vec<(String, String)> {
    let terms = &tracked.handoff.terms;
    let waits = ExpectedReply::of(&tracked.handoff).is_some_and(ExpectedReply::is_answer);
    if terms.choices.is_empty() {
        return if waits { offered(questions).to_vec() } else { Vec::new() };
    }
    let gate = tracked.asked().and_then(|request| request.gate.as_ref());
    let meaning = |word: &String| {
        let mut options = gate.into_iter().flat_map(|gate| &gate.options);
        let meant = options.find(|(name, _)| same_word(name, word)).and_then(|(_, meaning)| meaning.as_str());
        (word.clone(), meant.unwrap_or_default().to_owned())
    };
    terms.choices.iter().map(meaning).collect()
}

fn title(
    run: &Run,
    tracked: &TrackedHandoff,
    trouble: Option<&FailedCommand>,
    subject: Option<&TrackedHandoff>,
) -> String {
    let agent = &tracked.handoff.terms.to;
    let phase = &tracked.step.phase;
    match (&tracked.handoff.state, tracked.step.role) {
        (State::AwaitingPerson { ask: Ask::Review }, _) => format!("{phase}: approve what {agent} has done?"),
        (State::AwaitingPerson { ask: Ask::Clarification }, _) => format!("{phase}: {agent} asks"),
        (_, Role::Gate) => {
            let name = gate_of(run, tracked).and_then(|gate| gate.name.clone()).unwrap_or_else(|| phase.clone());
            match (name.ends_with('?'), tracked.handoff.terms.choices.is_empty()) {
                (true, _) => name,
                (false, true) => format!("{name}: approve?"),
                (false, false) => format!("{name}: choose one"),
            }
        }
        (_, Role::Escalation) => {
            let about = tracked.step.about.as_ref().and_then(|about| run.find(about));
            let reason = about.and_then(|about| match &about.handoff.state {
                State::Blocked { reason } => Some(format!(" ({reason})")),
                _ => None,
            });
            format!("{phase}: {} is blocked{}", tracked.handoff.terms.from, reason.unwrap_or_default())
        }
        (_, _) => {
            let failed = trouble.map(|trouble| match subject.map(|subject| subject.step.role) {
                // The trouble of a check or a group names the phase that failed.
                Some(Role::Check | Role::Group) => in_one_line(trouble),
                _ => format!("{phase}: {}", in_one_line(trouble)),
            });
            let asked = || tracked.asked()?.gate.as_ref()?.items.first().map(|text| first_line(text).to_owned());
            failed.or_else(asked).unwrap_or_else(|| format!("{phase}: a person must decide"))
        }
    }
}

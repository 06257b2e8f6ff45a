//! Blocked agents: somebody else does what they need, and its return lets them go on.

use baton_protocol::model::Request;
use baton_protocol::model::request::{Context, OpenQuestion, Party};
use baton_protocol::model::terms::{HandoffKind, Outcome, QuestionPriority};

use super::enter::{self, agent_named, agree, aside};
use super::limits::{self, Next};
use super::requests::{dialect_of, party, write};
use super::{FlowFault, gates};
use crate::answer::context;
use crate::definition::LocatedPhase;
use crate::draft::Draft;
use crate::handoff::{State, Terms};
use crate::handover;
use crate::id::HandoffId;
use crate::lifecycle::{Cancel, Command, Route};
use crate::retry::Policy;
use crate::route::{Target, route};
use crate::run::{RecordFault, Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::step::{HUMAN, ORCHESTRATOR, Role};

/// Finds somebody who helps a blocked agent.
pub(super) fn unblock(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let definition = draft.run.definition.clone();
    let blocked = draft.run.find(id).ok_or(RecordFault::Gone("it"))?;
    let located = definition.locate(&blocked.step.phase).ok_or(RecordFault::NoPhase)?;
    let State::Blocked { reason } = &blocked.handoff.state else { return Ok(()) };
    let (agent, reason) = (blocked.handoff.terms.to.clone(), reason.clone());
    let asks = blocked.told.as_ref().and_then(|told| told.asks.clone());
    let asked = asks.as_deref().and_then(|name| agent_named(&located, name));
    let routed = route(&located.definition.workflow, &agent, Outcome::Blocked, Some(&reason), None);
    let (target, why) = match (asked, asks, routed.target) {
        (Some((name, _)), _, _) => (Target::Agent(name.to_owned()), format!("{agent} delegates to {name}")),
        (None, Some(name), Target::Human) => {
            (Target::Human, format!("{agent} asks for {name}, who is not in the workflow"))
        }
        (_, _, target) => (target, routed.why),
    };
    if let Target::Phase(name) = &target
        && let Some(path) = way(blocked, &located, name)
    {
        return go_on_elsewhere(draft, id, &path, why);
    }
    let to = match &target {
        Target::Agent(name) if *name != agent => name.clone(),
        // A phase that cannot be reached from here helps nobody: a person decides instead.
        Target::Agent(_) | Target::Human | Target::Phase(_) => HUMAN.to_owned(),
    };
    match (asked_at_limit(&draft.run, blocked), limit(draft, &to, &blocked.step.phase)) {
        (Asked::Never | Asked::Waiting, Some(limit)) => return gates::at_limit(draft, id, &limit),
        (Asked::Never | Asked::Waiting, None) | (Asked::GoOn, _) => {}
    }
    let blocked = draft.run.find(id).ok_or(RecordFault::Gone("it"))?;
    let (terms, request, role) = match &target {
        Target::Agent(name) if *name != agent => {
            let (name, helper) = agent_named(&located, name).ok_or_else(|| FlowFault::NoAgent(name.to_owned()))?;
            let mut terms = Terms::between(&*agent, name);
            terms.verify = true;
            let timeout = helper.timeout.filter(|_| helper.directory.is_none());
            terms.timeout_ms = timeout.map(|timeout| timeout.milliseconds);
            terms.retry = Policy::of_workflow(helper.retry.as_ref());
            agree(&mut terms, helper, located.definition.name());
            (
                terms,
                write(dialect_of(helper), delegation(blocked, name, &reason, &draft.at.to_string())),
                Role::Delegation,
            )
        }
        Target::Agent(_) | Target::Human | Target::Phase(_) => {
            let request = escalation(blocked, &reason, &draft.at.to_string());
            (Terms::between(&*agent, HUMAN), write("package", request), Role::Escalation)
        }
    };
    let mut terms = terms;
    terms.returns_to = Some(id.clone());
    let route = Route { to, why, instead_of: None, skipped: Vec::new() };
    draft.apply(id, Command::Route(route))?;
    if role == Role::Escalation && planted(Bug::EscalationForgotten) {
        return Ok(());
    }
    aside(draft, id, role, terms, request)
}

/// Returns the path of a phase that a blocked one may lead to: one beside it. What runs at the same time as others
/// cannot lead into them, and who only helps leads nowhere.
fn way(blocked: &TrackedHandoff, located: &LocatedPhase<'_>, name: &str) -> Option<String> {
    let beside = located.siblings.iter().find(|phase| phase.id() == name)?;
    (blocked.step.role == Role::Work && !located.is_branch()).then(|| located.path_of(beside))
}

/// Goes on with another phase in place of a blocked one. A phase cannot give its result back to the blocked agent, so
/// that one is called off, and hands over to the phase what it said.
fn go_on_elsewhere(draft: &mut Draft, id: &HandoffId, path: &str, why: String) -> Result<(), FlowFault> {
    let blocked = draft.run.find(id).ok_or(RecordFault::Gone("it"))?;
    if !matches!(asked_at_limit(&draft.run, blocked), Asked::GoOn)
        && let Some(limit) = enter::limit(draft, path)
    {
        return gates::at_limit(draft, id, &limit);
    }
    let within = blocked.step.within.clone();
    let cancel = Cancel { by: ORCHESTRATOR.to_owned(), reason: Some(why.clone()) };
    draft.apply(id, Command::Cancel(cancel))?;
    let route = Route { to: path.to_owned(), why, instead_of: None, skipped: Vec::new() };
    draft.apply(id, Command::Route(route))?;
    enter::enter(draft, path, within, Some(id), Vec::new())
}

fn limit(draft: &Draft, to: &str, phase: &str) -> Option<String> {
    let agent = Some(to).filter(|to| *to != HUMAN);
    let next = Next { role: Role::Delegation, phase, agent };
    agent.and_then(|_| limits::reached(&draft.run, &next, draft.at))
}

/// What a person said about a limit since the agent was blocked.
enum Asked {
    Never,
    Waiting,
    GoOn,
}

fn asked_at_limit(run: &Run, blocked: &TrackedHandoff) -> Asked {
    let gate = run
        .about(&blocked.handoff.id)
        .rev()
        .find(|tracked| tracked.step.role == Role::Limit && tracked.handoff.accepted_at >= blocked.since);
    match gate {
        None => Asked::Never,
        Some(gate) if !gate.handoff.routed => Asked::Waiting,
        Some(_) => Asked::GoOn,
    }
}

/// Returns whether somebody must be found who helps; not while a person is asked about a limit.
pub(super) fn is_open(run: &Run, blocked: &TrackedHandoff) -> bool {
    !blocked.handoff.routed && !matches!(asked_at_limit(run, blocked), Asked::Waiting)
}

/// What an agent calls its reason, if that is a single word; whole sentences of an agent never become part of an
/// instruction.
fn plain(reason: &str) -> &str {
    let is_word = !reason.is_empty() && reason.len() <= 64;
    let letters = reason.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if is_word && letters { reason } else { "a reason of its own" }
}

/// What the helping agent is asked.
fn delegation(blocked: &TrackedHandoff, to: &str, reason: &str, at: &str) -> Request {
    let agent = &blocked.handoff.terms.to;
    let generic = || format!("What {agent} needs to go on, with the reasons");
    let mut expected = package(blocked).and_then(|package| package.expectations.clone()).unwrap_or_default();
    expected.deliverable = expected.deliverable.or_else(|| Some(generic()));
    Request {
        timestamp: Some(at.to_owned()),
        kind: Some(HandoffKind::Delegation),
        from: party(agent),
        to: Some(Party { agent: Some(to.to_owned()), reason: why(blocked), ..Party::default() }),
        // What the agent says is data: it stands in the context, where it is fenced.
        instructions: Some(format!(
            "{agent} is blocked in the phase {} ({}). Resolve what it asks for.",
            blocked.step.phase,
            plain(reason)
        )),
        context: Some(told(blocked)),
        expectations: Some(expected),
        ..Request::default()
    }
}

/// What a person is asked.
fn escalation(blocked: &TrackedHandoff, reason: &str, at: &str) -> Request {
    let agent = &blocked.handoff.terms.to;
    let mut context_of = told(blocked);
    let blocked_by = format!("{agent} is blocked in the phase {}: {}", blocked.step.phase, plain(reason));
    let said = context_of.summary.take().map(|said| format!("\n{said}"));
    context_of.summary = Some(format!("{blocked_by}.{}", said.unwrap_or_default()));
    if context_of.open_questions.is_empty() {
        let question = blocked.report().and_then(context).map(str::to_owned);
        let open = |question| OpenQuestion {
            question: Some(question),
            priority: Some(QuestionPriority::High),
            context: None,
            options: Vec::new(),
        };
        context_of.open_questions = question.into_iter().map(open).collect();
    }
    let mut expected = package(blocked).and_then(|package| package.expectations.clone()).unwrap_or_default();
    expected.deliverable = expected.deliverable.or_else(|| Some(format!("An answer with which {agent} can go on")));
    Request {
        timestamp: Some(at.to_owned()),
        kind: Some(HandoffKind::Escalation),
        from: party(agent),
        to: Some(Party { agent: Some(HUMAN.to_owned()), reason: why(blocked), ..Party::default() }),
        instructions: Some(blocked_by),
        context: Some(context_of),
        expectations: Some(expected),
        ..Request::default()
    }
}

fn package(blocked: &TrackedHandoff) -> Option<&Request> {
    blocked.told.as_ref()?.package.as_deref()
}

/// Why the agent asks this one.
fn why(blocked: &TrackedHandoff) -> Option<String> {
    package(blocked)?.to.as_ref()?.reason.clone()
}

/// What the blocked agent said, with its partial work.
fn told(blocked: &TrackedHandoff) -> Context {
    let Some(said) = &blocked.told else { return Context::default() };
    let report = &said.report;
    let question = |text: Option<String>, context: Option<String>| OpenQuestion {
        question: text,
        priority: Some(QuestionPriority::High),
        context,
        options: Vec::new(),
    };
    let blockers = report.blockers.iter().map(|blocker| {
        let kind = blocker.r#type.as_ref().map(|kind| format!("{kind}: ")).unwrap_or_default();
        let text = blocker.description.as_ref().map(|text| format!("{kind}{text}"));
        question(text, blocker.resolution.as_ref().map(|solved| format!("would be solved by: {solved}")))
    });
    let asked =
        report.questions.iter().map(|asked| question(asked.fields.question.clone(), asked.fields.impact.clone()));
    let given = package(blocked).and_then(|package| package.context.as_ref());
    let open: Vec<OpenQuestion> = match given.map(|given| &given.open_questions) {
        Some(open) if !open.is_empty() => open.clone(),
        _ => blockers.chain(asked).collect(),
    };
    let attempted: Vec<String> = report.attempted.iter().map(|tried| format!("- {tried}")).collect();
    let text = given.and_then(|given| given.summary.as_deref()).or_else(|| context(report));
    let summary = match attempted.is_empty() {
        true => text.map(str::to_owned),
        false => Some(format!("{}\nTried so far:\n{}", text.unwrap_or_default(), attempted.join("\n"))),
    };
    Context {
        summary,
        relevant_files: handover::paths(said),
        decisions: given.map(|given| given.decisions.clone()).unwrap_or_default(),
        artifacts: report.artifacts.clone(),
        open_questions: open,
        spec_path: blocked.asked().and_then(|request| request.context.as_ref()?.spec_path.clone()),
        ..Context::default()
    }
}

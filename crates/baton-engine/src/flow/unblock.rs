//! Blocked agents: somebody else does what they need, and its return lets them go on.

use baton_protocol::model::request::{Context, Expectations, OpenQuestion};
use baton_protocol::model::terms::{HandoffKind, Outcome, QuestionPriority};
use baton_protocol::model::{Report, Request};

use super::enter::{self, agent_named, aside, policy};
use super::gates;
use super::limits::{self, Next};
use super::requests::{dialect_of, party, write};
use super::turn::is_branch;
use super::values::context;
use crate::definition::Located;
use crate::draft::Draft;
use crate::handoff::{About, Note, State, Terms};
use crate::id::HandoffId;
use crate::lifecycle::{Cancel, Command, Route};
use crate::route::{Target, route};
use crate::run::{Run, Tracked};
use crate::step::{HUMAN, ORCHESTRATOR, Role};

/// Finds somebody who helps a blocked agent.
pub(super) fn unblock(draft: &mut Draft, id: &HandoffId) -> Result<(), String> {
    let definition = draft.run.definition.clone();
    let blocked = draft.run.find(id).ok_or("it is gone")?;
    let located = definition.locate(&blocked.step.phase).ok_or("its phase is not in the workflow")?;
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
        && let Some(path) = way(&draft.run, blocked, &located, name)
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
    let blocked = draft.run.find(id).ok_or("it is gone")?;
    let (terms, request, role) = match &target {
        Target::Agent(name) if *name != agent => {
            let (name, helper) = agent_named(&located, name).ok_or_else(|| format!("there is no agent {name}"))?;
            let mut terms = Terms::between(&*agent, name);
            terms.verify = true;
            terms.timeout_ms = helper.timeout.map(|timeout| timeout.milliseconds);
            terms.retry = policy(helper.retry.as_ref());
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
    draft.apply(id, Command::Route(route)).map_err(|refusal| refusal.to_string())?;
    aside(draft, id, role, terms, request)
}

/// Returns the path of a phase that a blocked one may lead to: one beside it. What runs at the same time as others
/// cannot lead into them, and who only helps leads nowhere.
fn way(run: &Run, blocked: &Tracked, located: &Located<'_>, name: &str) -> Option<String> {
    let beside = located.siblings.iter().find(|phase| phase.id() == name)?;
    (blocked.step.role == Role::Work && !is_branch(run, blocked)).then(|| located.path_of(beside))
}

/// Goes on with another phase in place of a blocked one. A phase cannot give its result back to the blocked agent, so
/// that one is called off; what it said goes before the phase.
fn go_on_elsewhere(draft: &mut Draft, id: &HandoffId, path: &str, why: String) -> Result<(), String> {
    let blocked = draft.run.find(id).ok_or("it is gone")?;
    if !matches!(asked_at_limit(&draft.run, blocked), Asked::GoOn)
        && let Some(limit) = enter::limit(draft, path)
    {
        return gates::at_limit(draft, id, &limit);
    }
    let (within, agent) = (blocked.step.within.clone(), blocked.handoff.terms.to.clone());
    let notes = vec![Note { about: About::Feedback, from: agent, text: said(blocked) }];
    let cancel = Cancel { by: ORCHESTRATOR.to_owned(), reason: Some(why.clone()) };
    draft.apply(id, Command::Cancel(cancel)).map_err(|refusal| refusal.to_string())?;
    let route = Route { to: path.to_owned(), why, instead_of: None, skipped: Vec::new() };
    draft.apply(id, Command::Route(route)).map_err(|refusal| refusal.to_string())?;
    enter::enter(draft, path, within, Some(id), notes)
}

/// What a blocked agent said, for whoever goes on in its place.
fn said(blocked: &Tracked) -> String {
    let Some(report) = blocked.report() else { return String::new() };
    let told = told(Some(report));
    let reason = report.blocked_reason.as_deref().unwrap_or("no reason given");
    let open = told.open_questions.iter().filter_map(|open| open.question.as_deref()).map(|open| format!("- {open}"));
    let head = format!("Blocked in the phase {}: {reason}", blocked.step.phase);
    std::iter::once(head).chain(told.summary).chain(open).collect::<Vec<_>>().join("\n")
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

fn asked_at_limit(run: &Run, blocked: &Tracked) -> Asked {
    let gate = run.handoffs().rev().find(|tracked| {
        tracked.step.role == Role::Limit
            && tracked.step.about.as_ref() == Some(&blocked.handoff.id)
            && tracked.handoff.accepted_at >= blocked.handoff.changed_at
    });
    match gate {
        None => Asked::Never,
        Some(gate) if !gate.handoff.routed => Asked::Waiting,
        Some(_) => Asked::GoOn,
    }
}

/// Says whether somebody must be found who helps; not while a person is asked about a limit.
pub(super) fn is_open(run: &Run, blocked: &Tracked) -> bool {
    !blocked.handoff.routed && !matches!(asked_at_limit(run, blocked), Asked::Waiting)
}

/// What an agent calls its reason, if that is a word; whole sentences of an agent are no part of an instruction.
fn plain(reason: &str) -> &str {
    let is_word = !reason.is_empty() && reason.len() <= 64;
    let letters = reason.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if is_word && letters { reason } else { "a reason of its own" }
}

/// What is asked of the one who helps.
fn delegation(blocked: &Tracked, to: &str, reason: &str, at: &str) -> Request {
    let report = blocked.report();
    let agent = &blocked.handoff.terms.to;
    Request {
        timestamp: Some(at.to_owned()),
        kind: Some(HandoffKind::Delegation),
        from: party(agent),
        to: party(to),
        // What the agent says is data: it stands in the context, where it is fenced.
        instructions: Some(format!(
            "{agent} is blocked in the phase {} ({}). Resolve what it asks for.",
            blocked.step.phase,
            plain(reason)
        )),
        context: Some(told(report)),
        expectations: Some(Expectations {
            deliverable: Some(format!("What {agent} needs to go on, with the reasons")),
            ..Expectations::default()
        }),
        ..Request::default()
    }
}

/// What a person is asked.
fn escalation(blocked: &Tracked, reason: &str, at: &str) -> Request {
    let report = blocked.report();
    let agent = &blocked.handoff.terms.to;
    let mut context_of = told(report);
    let blocked_by = format!("{agent} is blocked in the phase {}: {}", blocked.step.phase, plain(reason));
    let said = context_of.summary.take().map(|said| format!("\n{said}"));
    context_of.summary = Some(format!("{blocked_by}.{}", said.unwrap_or_default()));
    if context_of.open_questions.is_empty() {
        let question = report.and_then(context).map(str::to_owned);
        let open =
            |question| OpenQuestion { question: Some(question), priority: Some(QuestionPriority::High), context: None };
        context_of.open_questions = question.into_iter().map(open).collect();
    }
    Request {
        timestamp: Some(at.to_owned()),
        kind: Some(HandoffKind::Escalation),
        from: party(agent),
        to: party(HUMAN),
        instructions: Some(blocked_by),
        context: Some(context_of),
        expectations: Some(Expectations {
            deliverable: Some(format!("An answer with which {agent} can go on")),
            ..Expectations::default()
        }),
        ..Request::default()
    }
}

/// What the blocked agent said, with its partial work.
fn told(report: Option<&Report>) -> Context {
    let Some(report) = report else { return Context::default() };
    let question =
        |text: Option<String>| OpenQuestion { question: text, priority: Some(QuestionPriority::High), context: None };
    let blockers = report.blockers.iter().map(|blocker| question(blocker.description.clone()));
    let questions = report.questions.iter().map(|asked| question(asked.fields.question.clone()));
    let attempted: Vec<String> = report.attempted.iter().map(|tried| format!("- {tried}")).collect();
    let summary = match (context(report), attempted.is_empty()) {
        (text, true) => text.map(str::to_owned),
        (text, false) => Some(format!("{}\nTried so far:\n{}", text.unwrap_or_default(), attempted.join("\n"))),
    };
    Context {
        summary,
        relevant_files: report.files_modified.clone(),
        artifacts: report.artifacts.clone(),
        open_questions: blockers.chain(questions).collect(),
        ..Context::default()
    }
}

//! What follows from how a phase ended.

use baton_protocol::model::terms::Outcome;
use baton_protocol::model::{PhaseFindings, Report};
use baton_protocol::wire::{Label, same_word};
use baton_protocol::workflow::Phase;

use super::feedback::{feedback, note, told, what_failed};
use super::values::names;
use super::{FlowFault, PhasePart, complete, enter, gates, stop};
use crate::answer::{self, Opinion, context};
use crate::definition::LocatedPhase;
use crate::draft::Draft;
use crate::expression;
use crate::failure::Code;
use crate::handoff::{About, Note, State};
use crate::handover;
use crate::id::HandoffId;
use crate::lifecycle::{Command, Decide, Route, SkippedPhase};
use crate::people;
use crate::route::{RouteRow, Target, route};
use crate::run::{CONTINUE, REVISE, RecordFault, Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::step::{HUMAN, ORCHESTRATOR, Role};

/// What follows.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// A phase, with what its agent must know.
    Phase {
        /// Its path.
        path: String,
        /// What its agent must know.
        notes: Vec<Note>,
    },
    /// The phases beside it are done.
    End,
    /// The phases beside it have failed.
    Stop,
    /// A person decides what follows.
    Person {
        /// What the person is asked.
        question: String,
        /// What can be chosen, and what each choice means.
        choices: Vec<(&'static str, &'static str)>,
    },
    /// Whoever waits for it goes on; nothing else follows.
    Returned,
}

/// What follows, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedTurn {
    /// What follows.
    pub turn: Turn,
    /// Why, and what it was decided against.
    pub route: Route,
}

/// Deals with how a handoff ended.
pub(super) fn settle(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let tracked = draft.run.find(id).ok_or(RecordFault::Gone("it"))?;
    let (subject, waived) = match tracked.step.role {
        Role::Limit => (tracked.step.about.clone().unwrap_or_else(|| id.clone()), true),
        _ => (id.clone(), false),
    };
    if draft.run.around(&tracked.step).any(super::is_called_off_group) {
        let over = decided(Turn::Returned, "stop", "what it belongs to was called off");
        return record(draft, id, over.route);
    }
    let mut decided = after(&draft.run, id)?;
    stay_in_branch(&draft.run, &subject, &mut decided);
    enact(draft, id, &subject, decided, waived)
}

/// A phase that runs in parallel with others cannot lead into them, because nothing would wait for it there.
fn stay_in_branch(run: &Run, subject: &HandoffId, decided: &mut DecidedTurn) {
    let Some(subject) = run.find(subject) else { return };
    if let Turn::Phase { path, .. } = &decided.turn
        && *path != subject.step.phase
        && run.definition.locate(&subject.step.phase).is_some_and(|located| located.is_branch())
    {
        decided.route.why = format!("{}, but {path} runs at the same time", decided.route.why);
        decided.route.to = "stop".to_owned();
        decided.turn = Turn::Stop;
    }
}

/// Carries out what was decided; at a limit a person is asked first.
fn enact(
    draft: &mut Draft,
    id: &HandoffId,
    subject: &HandoffId,
    decided: DecidedTurn,
    waived: bool,
) -> Result<(), FlowFault> {
    let DecidedTurn { turn, mut route } = decided;
    if let (Turn::Phase { path, .. }, false) = (&turn, waived)
        && let Some(limit) = enter::limit(draft, path)
    {
        route.to = HUMAN.to_owned();
        route.why = limit.clone();
        record(draft, id, route)?;
        return gates::at_limit(draft, subject, &limit);
    }
    record(draft, id, route.clone())?;
    let within = draft.run.find(subject).and_then(|tracked| tracked.step.within.clone());
    let in_root = within.as_ref().is_none_or(|within| *within == draft.run.root().handoff.id);
    // Whoever says stop at a question of the orchestrator means the run.
    let by_person = matches!(draft.run.find(id).map(|tracked| tracked.step.role), Some(Role::Limit | Role::Failure));
    let sender = draft.run.speaker(subject);
    match turn {
        Turn::Phase { .. } if planted(Bug::PhaseNotEntered) => Ok(()),
        Turn::Phase { path, notes } => enter::enter(draft, &path, within, Some(&sender), notes),
        Turn::End if in_root => complete(draft, &route.why),
        Turn::Stop if in_root || by_person => stop(draft, &route.why),
        Turn::Person { question, choices } => gates::after_failure(draft, subject, &question, &choices),
        // The group that it belongs to looks at its members itself.
        Turn::End | Turn::Stop | Turn::Returned => Ok(()),
    }
}

fn record(draft: &mut Draft, id: &HandoffId, route: Route) -> Result<(), FlowFault> {
    Ok(draft.apply(id, Command::Route(route))?)
}

/// Decides what follows from how a handoff ended.
pub fn after(run: &Run, id: &HandoffId) -> Result<DecidedTurn, FlowFault> {
    let tracked = run.find(id).ok_or(RecordFault::Gone("it"))?;
    match tracked.step.role {
        Role::Run => Err(FlowFault::AfterTheRun),
        Role::Delegation | Role::Escalation => {
            let to = tracked.step.about.as_ref().map(ToString::to_string).unwrap_or_default();
            Ok(decided(Turn::Returned, &to, "its result goes back to the handoff that waits for it"))
        }
        Role::Work | Role::Check | Role::Group | Role::Gate => after_phase(run, tracked),
        Role::Failure => after_failure(run, tracked),
        Role::Limit => after_limit(run, tracked),
    }
}

fn after_phase(run: &Run, tracked: &TrackedHandoff) -> Result<DecidedTurn, FlowFault> {
    let located = run.definition.locate(&tracked.step.phase).ok_or(RecordFault::NoPhase)?;
    let phase = located.phase();
    match (&tracked.handoff.state, tracked.report()) {
        (State::Completed { .. }, _) if tracked.step.role == Role::Gate => after_gate(run, tracked, &located),
        (State::Completed { .. }, Some(report)) if opinion_in(phase, report) != Opinion::Good => {
            not_good(run, tracked, &located, report)
        }
        // Nothing goes on without a report of what was done that can be read.
        (State::Completed { .. }, None) => {
            Ok(ask(run, tracked, &located, &format!("{} ended without a report that can be read", phase.id())))
        }
        (State::Completed { .. }, Some(report)) => match by_row(run, tracked, &located, report) {
            Some(decided) => Ok(decided),
            None => onward(run, &located, Some(report)),
        },
        (State::Failed { .. }, Some(report)) if is_stopped(tracked) => Ok(stopped(run, tracked, &located, report)),
        (_, _) => {
            let failure = tracked.handoff.last_failure.as_ref();
            let state = || tracked.handoff.state.name().to_string();
            let why = format!("{} has failed: {}", phase.id(), failure.map_or_else(state, crate::Failure::in_one_line));
            let told = failure.map_or_else(state, ToString::to_string);
            Ok(failed(run, tracked, &located, &why, feedback(run, tracked, &told)))
        }
    }
}

/// Follows a row of the workflow about complete reports, where there is one.
fn by_row(run: &Run, tracked: &TrackedHandoff, located: &LocatedPhase<'_>, report: &Report) -> Option<DecidedTurn> {
    let workflow = &located.definition.workflow;
    let agent = located.phase().agent.as_deref()?;
    let outcome = report.outcome.unwrap_or(Outcome::Complete);
    let routed = route(workflow, agent, outcome, report.blocked_reason.as_deref(), report.verdict.as_deref());
    match (routed.row, routed.target) {
        (RouteRow::Workflow(_), Target::Phase(name)) if located.siblings.iter().any(|beside| beside.id() == name) => {
            let notes = vec![note(About::Feedback, tracked, &told(report))];
            Some(go(located, &name, &routed.why, notes))
        }
        // Work that is done cannot be delegated, and a phase elsewhere cannot be reached from here.
        (RouteRow::Workflow(_), Target::Human | Target::Agent(_) | Target::Phase(_)) => {
            Some(ask(run, tracked, located, &routed.why))
        }
        (RouteRow::Default(_) | RouteRow::Fallback, _) => None,
    }
}

/// The result is not good enough: the work goes back to an agent that can change it.
fn not_good(
    run: &Run,
    tracked: &TrackedHandoff,
    located: &LocatedPhase<'_>,
    report: &Report,
) -> Result<DecidedTurn, FlowFault> {
    if let Some(decided) = by_row(run, tracked, located, report) {
        return Ok(decided);
    }
    if opinion_in(located.phase(), report) == Opinion::Unclear {
        let agent = &tracked.handoff.terms.to;
        let why = match &report.verdict {
            Some(verdict) => format!("{agent} says {verdict}, which neither approves nor rejects it"),
            None => format!("{agent} gives no verdict"),
        };
        return Ok(ask(run, tracked, located, &why));
    }
    let why = match (&report.verdict, tracked.step.role) {
        (_, Role::Check) => format!("the check {} failed", located.phase().id()),
        (Some(verdict), _) => format!("{} says {verdict}", tracked.handoff.terms.to),
        (None, _) => format!("{} did not pass", located.phase().id()),
    };
    Ok(failed(run, tracked, located, &why, feedback(run, tracked, &told(report))))
}

/// Returns the opinion that a report of a phase has of the work. A review must say yes; a review that can send work
/// back and has issues has not said yes.
fn opinion_in(phase: &Phase, report: &Report) -> Opinion {
    let silent = report.verdict.is_none()
        && !matches!(report.findings, Some(PhaseFindings::Validate(_) | PhaseFindings::Parallel(_)));
    match answer::opinion(report) {
        Opinion::Good if silent && !report.issues.is_empty() && (is_review(phase) || phase.on_failure.is_some()) => {
            Opinion::Bad
        }
        Opinion::Good if silent && is_review(phase) => Opinion::Unclear,
        opinion => opinion,
    }
}

/// Returns whether a phase judges somebody else's work and must say how.
pub(crate) fn is_review(phase: &Phase) -> bool {
    phase.kind.as_deref().is_some_and(|kind| same_word(kind, "review"))
}

/// Returns whether a phase finds out whether work is good, by its kind or by what it reports.
fn validates(phase: &Phase, report: &Report) -> bool {
    let kind = phase.kind.as_deref().unwrap_or(phase.id());
    is_review(phase) || same_word(kind, "validate") || matches!(report.findings, Some(PhaseFindings::Validate(_)))
}

/// Returns whether the agent itself has said that it must not go on.
pub(super) fn is_stopped(tracked: &TrackedHandoff) -> bool {
    tracked.handoff.last_failure.as_ref().is_some_and(|failure| failure.code == Code::stopped())
}

/// An agent says that it must not go on. What validates goes back to whoever wrote it; inside a group it has failed; and
/// otherwise a person decides.
fn stopped(run: &Run, tracked: &TrackedHandoff, located: &LocatedPhase<'_>, report: &Report) -> DecidedTurn {
    let why = format!("{} says STOP", tracked.handoff.terms.to);
    // A workflow inside another one is a line of phases like any other; what runs beside others is judged with them.
    let validates = validates(located.phase(), report);
    if validates && (located.phase().on_failure.is_some() || worker_before(run, located).is_some()) {
        return failed(run, tracked, located, &why, feedback(run, tracked, &told(report)));
    }
    if located.is_in_lane() {
        return decided(Turn::Stop, "stop", &why);
    }
    let choices = vec![
        ("stop", "stop the run"),
        ("continue", "continue anyway"),
        ("retry", "send it back to the agent, with a note"),
    ];
    let said = context(report).map(|said| format!("{why}: {said}"));
    decided(Turn::Person { question: said.unwrap_or_else(|| why.clone()), choices }, HUMAN, &why)
}

/// A person decides what follows.
fn ask(run: &Run, tracked: &TrackedHandoff, located: &LocatedPhase<'_>, why: &str) -> DecidedTurn {
    let can_go_back = tracked.step.role != Role::Work && !was_never_judged(run, tracked);
    let again = match can_go_back && worker_before(run, located).is_some() {
        true => ("back", "send it back to the agent before"),
        false => ("retry", "try the phase again"),
    };
    let choices = vec![again, ("continue", "continue as it is"), ("stop", "stop the run")];
    decided(Turn::Person { question: why.to_owned(), choices }, HUMAN, why)
}

/// A phase has failed: as it says, or back to the agent before it, or a person decides.
fn failed(run: &Run, tracked: &TrackedHandoff, located: &LocatedPhase<'_>, why: &str, notes: Vec<Note>) -> DecidedTurn {
    let phase = located.phase();
    let person = || ask(run, tracked, located, why);
    let has_failed = !matches!(tracked.handoff.state, State::Completed { .. }) && !is_stopped(tracked);
    match phase.on_failure.as_deref() {
        Some(word) if same_word(word, "stop") => decided(Turn::Stop, "stop", why),
        Some(word) if same_word(word, "gate") => person(),
        // Nobody can change a review that was never given, but whoever gives it.
        Some(_) if is_review(phase) && has_failed => person(),
        _ if was_never_judged(run, tracked) => person(),
        Some(name) => go(located, name, why, notes),
        None if located.is_branch() => decided(Turn::Stop, "stop", why),
        None if tracked.step.role == Role::Work && has_failed => person(),
        None => match worker_before(run, located) {
            Some(writer) => go(located, writer.id(), why, notes),
            None if tracked.step.role == Role::Gate => decided(Turn::Stop, "stop", why),
            None => person(),
        },
    }
}

/// Returns whether a group did not pass only because agents in it failed and so never said anything about the work.
fn was_never_judged(run: &Run, group: &TrackedHandoff) -> bool {
    let is_missing = |member: &TrackedHandoff| never_said(member) || was_never_judged(run, member);
    let mut failed = handover::members(run, group).into_iter().filter(|member| !member.passed()).peekable();
    group.step.role == Role::Group && failed.peek().is_some() && failed.all(is_missing)
}

/// Returns whether an agent has failed without saying anything about the work.
pub(super) fn never_said(tracked: &TrackedHandoff) -> bool {
    tracked.step.role == Role::Work && matches!(tracked.handoff.state, State::Failed { .. }) && !is_stopped(tracked)
}

/// Finds the phase that work goes back to from another one.
fn worker_before<'d>(run: &Run, located: &LocatedPhase<'d>) -> Option<&'d Phase> {
    // What runs at the same time is not before it.
    if located.is_branch() {
        return None;
    }
    let latest = |phase: &Phase| run.latest(&format!("{}{}", located.prefix, phase.id()));
    let has_made = |phase: &Phase| {
        latest(phase).is_some_and(|tracked| tracked.report().is_none_or(|report| report.verdict.is_none()))
    };
    let before = &located.siblings[..located.index];
    let writer = who_can_change_it(before, has_made);
    writer.or_else(|| who_can_change_it(before, |phase| latest(phase).is_some())).map(|index| &before[index])
}

/// Finds the nearest phase that work goes back to: one that writes, or else one whose agent does not only review, or else
/// one in which any agent works.
pub fn who_can_change_it(before: &[Phase], is_candidate: impl Fn(&Phase) -> bool) -> Option<usize> {
    let writes = |phase: &Phase| phase.kind.as_deref().is_some_and(|kind| same_word(kind, "write"));
    let nearest = |fits: &dyn Fn(&Phase) -> bool| {
        before.iter().rposition(|phase| phase.agent.is_some() && is_candidate(phase) && fits(phase))
    };
    nearest(&writes).or_else(|| nearest(&|phase| !is_review(phase))).or_else(|| nearest(&|_| true))
}

fn after_gate(run: &Run, tracked: &TrackedHandoff, located: &LocatedPhase<'_>) -> Result<DecidedTurn, FlowFault> {
    let choices = located.phase().gate.as_ref().map(|gate| &gate.choices);
    let chosen = tracked.answer().and_then(|answer| {
        let word = people::named(answer, choices?.keys().map(String::as_str))?;
        Some((word, choices?.get(word)?.as_str().unwrap_or("next")))
    });
    match chosen {
        Some((word, "end")) => Ok(decided(Turn::End, "end", &format!("the person chose {word}"))),
        Some((word, "stop")) => Ok(decided(Turn::Stop, "stop", &format!("the person chose {word}"))),
        Some((_, "next")) | None => onward(run, located, None),
        Some((word, name)) => {
            let said = tracked.handoff.notes.last().cloned();
            Ok(go(located, name, &format!("the person chose {word}"), said.into_iter().collect()))
        }
    }
}

/// What a person decided after something had failed.
fn after_failure(run: &Run, gate: &TrackedHandoff) -> Result<DecidedTurn, FlowFault> {
    let about = gate.step.about.as_ref().and_then(|about| run.find(about)).ok_or(RecordFault::Gone("what failed"))?;
    let located = run.definition.locate(&about.step.phase).ok_or(RecordFault::NoPhase)?;
    let by = &gate.decided.as_ref().map_or_else(|| "a person".to_owned(), Decide::who);
    let answer = gate.answer().unwrap_or("stop");
    let said = gate.decided.as_ref().and_then(|decide| decide.note.clone());
    let mut notes = what_failed(run, about);
    notes.extend(said.map(|text| Note::new(About::Feedback, by, text)));
    let why = format!("{by} chose {answer}");
    Ok(match answer {
        word if same_word(word, "retry") => go(&located, located.phase().id(), &why, notes),
        word if same_word(word, "back") => match worker_before(run, &located) {
            Some(writer) => go(&located, writer.id(), &why, notes),
            None => go(&located, located.phase().id(), &why, notes),
        },
        word if same_word(word, "continue") => {
            let mut decided = onward(run, &located, about.report())?;
            if let Turn::Phase { notes: own, .. } = &mut decided.turn {
                own.extend(notes.into_iter().filter(|note| note.from == *by));
            }
            decided
        }
        _ => decided(Turn::Stop, "stop", &why),
    })
}

/// What a person decided at a limit: it goes on as it would have, or not at all.
fn after_limit(run: &Run, gate: &TrackedHandoff) -> Result<DecidedTurn, FlowFault> {
    let by = &gate.decided.as_ref().map_or_else(|| "a person".to_owned(), Decide::who);
    let answer = gate.answer().unwrap_or("stop");
    let why = format!("{by} chose {answer} at the limit");
    if !same_word(answer, CONTINUE) && !same_word(answer, REVISE) {
        return Ok(decided(Turn::Stop, "stop", &why));
    }
    let about = gate.step.about.as_ref().ok_or(RecordFault::Gone("what reached the limit"))?;
    // A group goes on by itself, and so does whoever is blocked.
    if run.find(about).is_some_and(|about| !about.handoff.state.name().is_finished()) {
        return Ok(decided(Turn::Returned, CONTINUE, &why));
    }
    let mut decided = after(run, about)?;
    decided.route.why = format!("{why}; {}", decided.route.why);
    let said = gate.decided.as_ref().and_then(|decide| decide.note.clone());
    if let (Turn::Phase { notes, .. }, Some(text)) = (&mut decided.turn, said) {
        notes.push(Note::new(About::Feedback, by, text));
    }
    Ok(decided)
}

/// On to the next phase that is not left out.
pub(super) fn onward(run: &Run, located: &LocatedPhase<'_>, report: Option<&Report>) -> Result<DecidedTurn, FlowFault> {
    let phase = located.phase();
    let mut next = match phase.next.as_deref() {
        Some(word) if same_word(word, "end") => None,
        Some(name) => located.siblings.iter().position(|phase| phase.id() == name),
        None if located.is_branch() => None,
        None => Some(located.index + 1),
    };
    let mut skipped = Vec::new();
    while let Some(index) = next.filter(|index| *index < located.siblings.len()) {
        let candidate = &located.siblings[index];
        if enter::is_wanted(run, located, index)? {
            break;
        }
        let (phase, when) = (candidate.id().to_owned(), candidate.when.clone().unwrap_or_default());
        skipped.push(SkippedPhase { phase, when });
        next = Some(index + 1);
    }
    let next = next.and_then(|index| located.siblings.get(index));
    let mut decided = match next {
        Some(next) => {
            let why = format!("{} follows {}", next.id(), phase.id());
            go(located, next.id(), &why, Vec::new())
        }
        None => decided(Turn::End, "end", &format!("{} was the last phase", phase.id())),
    };
    decided.route.skipped = skipped;
    decided.route.instead_of = advice(report, next);
    Ok(decided)
}

/// What the agent advised, where it is not followed.
fn advice(report: Option<&Report>, next: Option<&Phase>) -> Option<String> {
    let report = report?;
    let is_end = |advised: &str| ["complete", "end", "none"].iter().any(|word| same_word(word, advised));
    let agent = report.next_agent().filter(|advised| {
        let is_agent = |next: &Phase| next.agent.as_deref().is_some_and(|agent| same_word(agent, advised));
        !next.map_or(is_end(advised), is_agent) && !same_word(advised, ORCHESTRATOR)
    });
    let phase = report.next.as_ref().and_then(|next| next.phase.as_ref()).and_then(Label::name);
    let phase = phase.filter(|advised| !next.map_or(is_end(advised), |next| same_word(next.id(), advised)));
    let phase = phase.map(|phase| format!("the phase {phase}"));
    let advised: Vec<String> = phase.into_iter().chain(agent.map(str::to_owned)).collect();
    (!advised.is_empty()).then(|| advised.join(" and "))
}

fn go(located: &LocatedPhase<'_>, name: &str, why: &str, notes: Vec<Note>) -> DecidedTurn {
    let path = format!("{}{name}", located.prefix);
    decided(Turn::Phase { path: path.clone(), notes }, &path, why)
}

fn decided(turn: Turn, to: &str, why: &str) -> DecidedTurn {
    let route = Route { to: to.to_owned(), why: why.to_owned(), instead_of: None, skipped: Vec::new() };
    DecidedTurn { turn, route }
}

/// Returns whether an expression holds for a phase; without one it does.
pub(super) fn holds(run: &Run, path: &str, expression: Option<&str>) -> Result<bool, FlowFault> {
    let Some(expression) = expression else { return Ok(true) };
    let value = expression::evaluate(expression, &names(run, path, [expression]));
    Ok(match value.map_err(|fault| PhasePart::When(expression.to_owned()).wrong(path, fault))? {
        serde_json::Value::Null => false,
        serde_json::Value::Bool(holds) => holds,
        serde_json::Value::Number(number) => number.as_f64() != Some(0.0),
        serde_json::Value::String(text) => !text.is_empty(),
        serde_json::Value::Array(items) => !items.is_empty(),
        serde_json::Value::Object(members) => !members.is_empty(),
    })
}

//! Groups: phases that hold others. Their members begin, and what came out of them is put together.

use std::collections::HashSet;
use std::sync::Arc;

use baton_protocol::model::Report;
use baton_protocol::model::findings::{Aggregation, Parallel, ParallelResult, PhaseFindings};
use baton_protocol::model::terms::Outcome;
use baton_protocol::workflow::{PassWhen, Phase};
use serde_json::{Map, Value, json};

use super::requests::{ARTIFACTS_MAX, Asking, read_back, written_report};
use super::values::names;
use super::{FlowFault, PhasePart, enter, gates};
use crate::Fence;
use crate::answer::context;
use crate::definition::LocatedPhase;
use crate::draft::Draft;
use crate::expression;
use crate::handoff::WrittenDocument;
use crate::id::HandoffId;
use crate::lifecycle::{Claim, Command, Ending, HandIn};
use crate::run::{Known, Lane, LastReport, Progress, RecordFault, Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::step::{ORCHESTRATOR, Role};

/// How many items are worked on at the same time unless the workflow says otherwise: a list from an agent must not decide
/// how many processes start.
const AT_ONCE: usize = 8;

/// Returns what a nested workflow was given.
pub(super) fn given(group: &TrackedHandoff) -> Map<String, Value> {
    let data = group.asked().and_then(|request| request.input.as_ref()?.data.clone()).unwrap_or(Value::Null);
    data.get("inputs").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Writes the request of a group: its items or its inputs are fixed when it begins.
pub(super) fn request(asking: &Asking<'_>) -> Result<WrittenDocument, FlowFault> {
    let phase = asking.located.phase();
    let data = if let Some(list) = &phase.foreach {
        let value = expression::evaluate(list, &names(asking.run, asking.path, [list.as_str()]));
        let value = value.map_err(|fault| PhasePart::Foreach(list.clone()).wrong(asking.path, fault))?;
        let Value::Array(items) = value else {
            return Err(FlowFault::NoList { phase: asking.path.to_owned(), expression: list.clone() });
        };
        json!({ "items": keyed(items) })
    } else if let Some(file) = &phase.workflow {
        let inner = asking.located.definition.nested.get(file).ok_or_else(|| FlowFault::NoWorkflow(file.clone()))?;
        let inputs = crate::definition::Definition::inputs(&inner.workflow, asking.inputs()?)?;
        json!({ "inputs": inputs })
    } else {
        Value::Null
    };
    Ok(asking.group(data))
}

/// Gives every item a key that can be in an identifier.
fn keyed(items: Vec<Value>) -> Vec<Value> {
    let mut keys: HashSet<String> = HashSet::new();
    let keyed = items.into_iter().enumerate().map(|(index, value)| {
        let named = ["id", "name", "key", "tool"].iter().find_map(|name| value.get(name)?.as_str());
        let text = value.as_str().or(named).unwrap_or_default();
        let safe =
            |character: char| if character.is_alphanumeric() || "-_".contains(character) { character } else { '-' };
        let mut key: String = text.chars().take(40).map(safe).collect();
        if key.is_empty() {
            key = "item".to_owned();
        }
        // Another item may be called like that, so the number grows until nobody is.
        let name = key.clone();
        let mut number = index;
        while keys.contains(&key) || (number == index && name == "item") {
            number += 1;
            key = format!("{name}-{number}");
        }
        keys.insert(key.clone());
        json!({ "key": key, "value": value })
    });
    keyed.collect()
}

/// Returns how many lanes of a group may go on at the same time.
fn at_once(phase: &Phase) -> usize {
    match phase.at_once.map(usize::try_from) {
        _ if phase.foreach.is_none() => usize::MAX,
        None => AT_ONCE,
        Some(Ok(0) | Err(_)) => usize::MAX,
        Some(Ok(count)) => count,
    }
}

/// Finds the next lane that is not left out, from one on; returns it with the path of the phase that it begins with.
fn next_wanted(run: &Run, group: &TrackedHandoff, from: usize) -> Result<Option<(usize, String)>, FlowFault> {
    let path = &group.step.phase;
    let lanes = run.group(&group.handoff.id)?;
    let located = run.definition.locate(path).ok_or(RecordFault::NoPhase)?;
    let phase = located.phase();
    let inner = phase.workflow.as_ref().map(|file| {
        let inner = located.definition.nested.get(file).ok_or_else(|| FlowFault::NoWorkflow(file.clone()))?;
        Ok::<_, FlowFault>(inner.workflow.phases.as_slice())
    });
    let first = inner.transpose()?.unwrap_or(&phase.phases).first().map(Phase::id).unwrap_or_default();
    for lane in from.max(lanes.next)..lanes.len() {
        let name = lanes.name(lane);
        let first = match phase {
            Phase { workflow: Some(_), .. } => format!("{path}/{first}"),
            Phase { foreach: Some(_), .. } => format!("{path}/{name}/{first}"),
            _ => format!("{path}/{name}"),
        };
        if let Some(first) = first_wanted(run, &first)? {
            return Ok(Some((lane, first)));
        }
    }
    Ok(None)
}

/// Returns whether a person is asked about a limit that the group has reached.
fn is_at_limit(run: &Run, group: &HandoffId) -> bool {
    let latest = run.about(group).rev().find(|tracked| tracked.step.role == Role::Limit);
    latest.is_some_and(|gate| !gate.handoff.routed)
}

/// Returns whether members can begin, or all of them are done.
pub(super) fn can_advance(run: &Run, group: &TrackedHandoff) -> bool {
    // What is wrong with it is said when it goes on.
    let Ok(lanes) = run.group(&group.handoff.id) else { return true };
    let at_once = run.definition.locate(&group.step.phase).map_or(usize::MAX, |located| at_once(located.phase()));
    if is_at_limit(run, &group.handoff.id) || lanes.going >= at_once {
        return false;
    }
    // If nothing goes on, a member begins or all of them are done.
    lanes.going == 0 || next_wanted(run, group, 0).map_or(true, |next| next.is_some())
}

/// Begins the members that can begin, or puts together what came out.
pub(super) fn advance(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let mut from = 0;
    loop {
        let group = draft.run.find(id).ok_or(RecordFault::Gone("the group"))?;
        let located = draft.run.definition.locate(&group.step.phase).ok_or(RecordFault::NoPhase)?;
        let lanes = draft.run.group(id)?;
        if lanes.going >= at_once(located.phase()) {
            return Ok(());
        }
        let Some((lane, first)) = next_wanted(&draft.run, group, from)? else {
            return if lanes.going == 0 || planted(Bug::GroupEndsWithOpenLane) { finish(draft, id) } else { Ok(()) };
        };
        if let Some(limit) = enter::limit(draft, &first).filter(|_| !lanes.is_waived) {
            return gates::at_limit(draft, id, &limit);
        }
        enter::enter(draft, &first, Some(id.clone()), Some(id), Vec::new())?;
        from = lane + 1;
    }
}

/// The longest text about one member where all of them are put together.
const SUMMARY_CHARACTERS_MAX: usize = 500;

fn brief(text: &str) -> String {
    match text.char_indices().nth(SUMMARY_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first phase of a lane that is not left out, if there is one.
fn first_wanted(run: &Run, first: &str) -> Result<Option<String>, FlowFault> {
    let located = run.definition.locate(first).ok_or_else(|| FlowFault::NoPhase(first.to_owned()))?;
    let end = if located.is_branch() { located.index + 1 } else { located.siblings.len() };
    for index in located.index..end {
        if enter::is_wanted(run, &located, index)? {
            return Ok(Some(located.path_of(&located.siblings[index])));
        }
    }
    Ok(None)
}

/// Claims a handoff that nobody works on, because Baton itself knows what comes out.
pub(crate) fn claim(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let claim = Claim { driver: true, ..Claim::by(ORCHESTRATOR, 60_000) };
    Ok(draft.apply(id, Command::Claim(claim))?)
}

fn finish(draft: &mut Draft, id: &HandoffId) -> Result<(), FlowFault> {
    let group = draft.run.find(id).ok_or(RecordFault::Gone("the group"))?;
    let located = draft.run.definition.locate(&group.step.phase).ok_or(RecordFault::NoPhase)?;
    let document = written_report(aggregate(&draft.run, group, &located)?);
    let read = read_back(&document).map_err(|fault| FlowFault::Aggregate { phase: group.step.phase.clone(), fault })?;
    let known = LastReport::of(&document, read).map_or(Known::Nothing, |told| Known::Report(Arc::new(told)));
    claim(draft, id)?;
    let fence = draft.run.find(id).map_or(Fence(1), |group| group.handoff.fence);
    let reporting = HandIn::new(fence, Ending::Complete, document);
    Ok(draft.apply_known(id, Command::Report(reporting), known)?)
}

/// Puts together what came out of the members.
fn aggregate(run: &Run, group: &TrackedHandoff, located: &LocatedPhase<'_>) -> Result<Report, FlowFault> {
    let rule = located.phase().pass_when.unwrap_or_default();
    let known = run.group(&group.handoff.id)?;
    let lanes: Vec<(usize, Lane)> = known.begun().collect();
    let (passed, total) = (known.passed, lanes.len());
    // Where there is nothing to do, nothing has failed; but a number of members that must pass is a number of members.
    let is_counted = matches!(rule, PassWhen::AtLeast(_));
    let overall = (lanes.is_empty() && !is_counted) || rule.is_met(passed, total);
    let result = |(lane, at): &(usize, Lane)| {
        let last = run.last_of(*at);
        let failure = last.handoff.last_failure.as_ref().map(ToString::to_string);
        ParallelResult {
            task_id: Some(last.handoff.id.to_string()),
            r#type: Some(known.name(*lane).to_owned()),
            passed: Some(at.progress == Progress::Passed),
            // All of it stands in the report of the member; here it only has to be recognised.
            summary: last.report().and_then(context).map(str::to_owned).or(failure).map(|text| brief(&text)),
            ..ParallelResult::default()
        }
    };
    let results: Vec<ParallelResult> = lanes.iter().map(result).collect();
    let artifacts = lanes.iter().filter_map(|(_, lane)| run.last_of(*lane).report());
    let artifacts = artifacts.flat_map(|report| report.artifacts.clone()).take(ARTIFACTS_MAX).collect();
    let aggregation = Aggregation {
        total: Some(total as u64),
        passed: Some(passed as u64),
        failed: Some((total - passed) as u64),
        rule: Some(rule.to_string()),
        overall_passed: Some(overall),
    };
    let names = |wanted: bool| {
        let of = lanes.iter().filter(|(_, lane)| (lane.progress == Progress::Passed) == wanted);
        of.map(|(lane, _)| known.name(*lane)).collect::<Vec<_>>().join(", ")
    };
    let summary = if passed == total {
        format!("{}: all {total} passed ({})", group.step.phase, names(true))
    } else {
        format!("{}: {passed} of {total} passed; failed: {}", group.step.phase, names(false))
    };
    Ok(Report {
        id: Some(group.handoff.id.to_string()),
        outcome: Some(Outcome::Complete),
        summary: Some(summary),
        artifacts,
        findings: Some(PhaseFindings::Parallel(Parallel { results, aggregation: Some(aggregation) })),
        ..Report::default()
    })
}

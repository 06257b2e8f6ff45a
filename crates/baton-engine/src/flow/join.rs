//! Groups: phases that hold others. Their members begin, and what came out of them is put together.

use std::collections::HashSet;

use baton_protocol::model::Report;
use baton_protocol::model::findings::{Aggregation, Findings, Parallel, ParallelResult};
use baton_protocol::model::terms::Outcome;
use baton_protocol::workflow::Phase;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::requests::{Asking, fits, written_report};
use super::values::{context, names};
use super::{enter, gates};
use crate::definition::Located;
use crate::draft::Draft;
use crate::expression;
use crate::handoff::Written;
use crate::id::HandoffId;
use crate::lifecycle::{Claim, Command, Ending, Report as Reporting};
use crate::run::{Run, Tracked};
use crate::step::{HUMAN, ORCHESTRATOR, Role};

/// The items of a foreach, by their key.
pub(super) struct Items(Vec<(String, Value)>);

impl Items {
    /// Returns the items that a group was made with; the error says that the record of them is damaged.
    pub(super) fn of(group: &Tracked) -> Result<Items, String> {
        let damaged = || format!("the list of {} cannot be read: the record is damaged", group.step.phase);
        let data = group.asked().and_then(|request| request.input.as_ref()?.data.as_ref()).ok_or_else(damaged)?;
        let items = data.get("items").and_then(Value::as_array).ok_or_else(damaged)?;
        let item = |item: &Value| Some((item.get("key")?.as_str()?.to_owned(), item.get("value")?.clone()));
        items.iter().map(item).collect::<Option<_>>().map(Items).ok_or_else(damaged)
    }

    pub(super) fn value(&self, key: &str) -> Option<Value> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}

/// Returns what a nested workflow was given.
pub(super) fn given(group: &Tracked) -> Map<String, Value> {
    let data = group.asked().and_then(|request| request.input.as_ref()?.data.clone()).unwrap_or(Value::Null);
    data.get("inputs").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Writes the request of a group: its items or its inputs are fixed when it begins.
pub(super) fn request(asking: &Asking<'_>) -> Result<Written, String> {
    let phase = asking.located.phase();
    let data = if let Some(list) = &phase.foreach {
        let value = expression::evaluate(list, &names(asking.run, asking.path));
        let value = value.map_err(|error| format!("phase {}: `foreach: {list}`: {error}", asking.path))?;
        let Value::Array(items) = value else {
            return Err(format!("phase {}: `foreach: {list}` is no list", asking.path));
        };
        json!({ "items": keyed(items) })
    } else if let Some(file) = &phase.workflow {
        let inner = asking.located.definition.nested.get(file).ok_or_else(|| format!("there is no workflow {file}"))?;
        let inputs = crate::definition::Definition::inputs(&inner.workflow, asking.inputs()?)?;
        json!({ "inputs": inputs })
    } else {
        Value::Null
    };
    Ok(asking.group(data))
}

/// Gives every item a key that can stand in an identifier.
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

/// One line of phases inside a group.
struct Lane {
    /// Its name: the branch or the item.
    name: String,
    /// The path of the phase that it begins with.
    first: String,
    /// Where it is.
    progress: Progress,
    /// When it was begun.
    begun_at: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// None of its phases is wanted.
    LeftOut,
    Going,
    Passed,
    Failed,
}

fn lanes(run: &Run, group: &Tracked) -> Result<(Vec<Lane>, usize), String> {
    let located = run.definition.locate(&group.step.phase).ok_or("its phase is not in the workflow")?;
    let phase = located.phase();
    let path = &group.step.phase;
    let plan: Vec<(String, String, String)> = if let Some(file) = &phase.workflow {
        let inner = located.definition.nested.get(file).ok_or_else(|| format!("there is no workflow {file}"))?;
        let first = inner.workflow.phases.first().map(Phase::id).unwrap_or_default();
        vec![(phase.id().to_owned(), format!("{path}/"), format!("{path}/{first}"))]
    } else if phase.foreach.is_some() {
        let first = phase.phases.first().map(Phase::id).unwrap_or_default();
        let lane = |(key, _): (String, Value)| (key.clone(), format!("{path}/{key}/"), format!("{path}/{key}/{first}"));
        Items::of(group)?.0.into_iter().map(lane).collect()
    } else {
        let lane = |branch: &Phase| {
            let first = format!("{path}/{}", branch.id());
            (branch.id().to_owned(), format!("{first}/"), first)
        };
        phase.parallel.iter().map(lane).collect()
    };
    let members: Vec<&Tracked> = run
        .handoffs()
        .filter(|tracked| tracked.step.role.is_phase() && tracked.step.within.as_ref() == Some(&group.handoff.id))
        .collect();
    let lanes = plan.into_iter().map(|(name, prefix, first)| {
        let own = |member: &&&Tracked| member.step.phase.starts_with(&prefix) || member.step.phase == first;
        let begun_at = members.iter().find(own).map(|member| member.handoff.accepted_at);
        Ok::<Lane, String>(match members.iter().rev().find(own) {
            Some(last) => Lane { progress: progress(run, last), name, first, begun_at },
            None => match first_wanted(run, &first)? {
                Some(first) => Lane { name, first, progress: Progress::Waiting, begun_at },
                None => Lane { name, first, progress: Progress::LeftOut, begun_at },
            },
        })
    });
    let at_once = phase.at_once.map_or(usize::MAX, |count| usize::try_from(count.max(1)).unwrap_or(usize::MAX));
    Ok((lanes.collect::<Result<_, _>>()?, at_once))
}

/// Where a lane is, by its last visit and what was decided about it.
fn progress(run: &Run, last: &Tracked) -> Progress {
    if !last.handoff.routed || !last.handoff.state.name().is_finished() {
        return Progress::Going;
    }
    // A person may have been asked about it, and again about what was decided there; the last decision counts.
    let mut last = last;
    let about = |id: &HandoffId| {
        run.handoffs().rev().find(|tracked| {
            tracked.step.about.as_ref() == Some(id) && matches!(tracked.step.role, Role::Failure | Role::Limit)
        })
    };
    let asks = |tracked: &Tracked| tracked.route.as_ref().is_some_and(|route| route.to == HUMAN);
    while let Some(gate) = Some(last).filter(|last| asks(last)).and_then(|last| about(&last.handoff.id)) {
        last = gate;
    }
    if !last.handoff.routed {
        return Progress::Going;
    }
    let route = last.route.as_ref();
    match route.map(|route| route.to.as_str()) {
        Some("end") => Progress::Passed,
        Some("stop") => Progress::Failed,
        _ => Progress::Going,
    }
}

/// Returns the latest question to a person about a limit that the group has reached.
fn limit_gate<'r>(run: &'r Run, group: &HandoffId) -> Option<&'r Tracked> {
    let about = |tracked: &&Tracked| tracked.step.role == Role::Limit && tracked.step.about.as_ref() == Some(group);
    run.handoffs().rev().find(about)
}

/// Says whether members can begin, or all of them are done.
pub(super) fn can_advance(run: &Run, group: &Tracked) -> bool {
    // What is wrong with it is said when it goes on.
    let Ok((lanes, at_once)) = lanes(run, group) else { return true };
    if limit_gate(run, &group.handoff.id).is_some_and(|gate| !gate.handoff.routed) {
        return false;
    }
    let going = lanes.iter().filter(|lane| lane.progress == Progress::Going).count();
    let waiting = lanes.iter().any(|lane| lane.progress == Progress::Waiting);
    (waiting && going < at_once) || (!waiting && going == 0)
}

/// Begins the members that can begin, or puts together what came out.
pub(super) fn advance(draft: &mut Draft, id: &HandoffId) -> Result<(), String> {
    let group = draft.run.find(id).ok_or("the group is gone")?;
    let (mut lanes, at_once) = lanes(&draft.run, group)?;
    lanes.retain(|lane| lane.progress != Progress::LeftOut);
    let going = lanes.iter().filter(|lane| lane.progress == Progress::Going).count();
    let waiting: Vec<&Lane> = lanes.iter().filter(|lane| lane.progress == Progress::Waiting).collect();
    if waiting.is_empty() && going == 0 {
        return finish(draft, id, &lanes);
    }
    // What a person said at a limit is about the members that began next, and not about those after them.
    let unspent = |gate: &&Tracked| lanes.iter().all(|lane| lane.begun_at < Some(gate.handoff.changed_at));
    let asked = limit_gate(&draft.run, id).filter(unspent).is_some();
    for lane in waiting.into_iter().take(at_once.saturating_sub(going)) {
        if let Some(limit) = enter::limit(draft, &lane.first).filter(|_| !asked) {
            return gates::at_limit(draft, id, &limit);
        }
        enter::enter(draft, &lane.first, Some(id.clone()), Some(id), Vec::new())?;
    }
    Ok(())
}

/// The longest that is told of a member where all of them are put together.
const SUMMARY_CHARACTERS_MAX: usize = 500;

/// So many artifacts of members are named where all of them are put together.
const ARTIFACTS_MAX: usize = 1_000;

fn brief(text: &str) -> String {
    match text.char_indices().nth(SUMMARY_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first phase of a lane that is not left out, if there is one.
fn first_wanted(run: &Run, first: &str) -> Result<Option<String>, String> {
    let located = run.definition.locate(first).ok_or_else(|| format!("there is no phase {first}"))?;
    let group = located.prefix.trim_end_matches('/');
    let is_branch = run.definition.locate(group).is_some_and(|group| !group.phase().parallel.is_empty());
    let end = if is_branch { located.index + 1 } else { located.siblings.len() };
    for index in located.index..end {
        if enter::is_wanted(run, &located, index)? {
            return Ok(Some(located.path_of(&located.siblings[index])));
        }
    }
    Ok(None)
}

fn finish(draft: &mut Draft, id: &HandoffId, lanes: &[Lane]) -> Result<(), String> {
    let group = draft.run.find(id).ok_or("the group is gone")?;
    let located = draft.run.definition.locate(&group.step.phase).ok_or("its phase is not in the workflow")?;
    let report = aggregate(&draft.run, group, &located, lanes);
    let document = written_report(report);
    fits(&document)
        .map_err(|why| format!("phase {}: what came out of it cannot be put together: {why}", group.step.phase))?;
    let claim = Claim {
        claimant: ORCHESTRATOR.to_owned(),
        lease_ms: 60_000,
        prompt_tokens: None,
        driver: true,
        moved: Vec::new(),
    };
    draft.apply(id, Command::Claim(claim)).map_err(|refusal| refusal.to_string())?;
    let fence = draft.run.find(id).map_or(1, |group| group.handoff.fence);
    let reporting = Reporting { fence, ending: Ending::Complete, document, tokens_used: None, changed: Vec::new() };
    draft.apply(id, Command::Report(reporting)).map_err(|refusal| refusal.to_string())
}

/// Puts together what came out of the members.
fn aggregate(run: &Run, group: &Tracked, located: &Located<'_>, lanes: &[Lane]) -> Report {
    let rule = located.phase().pass_when.unwrap_or_default();
    let passed = lanes.iter().filter(|lane| lane.progress == Progress::Passed).count();
    // Where there is nothing to do, nothing has failed.
    let overall = lanes.is_empty() || rule.is_met(passed, lanes.len());
    let last_of = |lane: &Lane| {
        let prefix = lane.first.rsplit_once('/').map_or("", |(prefix, _)| prefix);
        let path = &group.step.phase;
        let own = |tracked: &&Tracked| match prefix == path.as_str() && located.phase().workflow.is_none() {
            true => tracked.step.phase == lane.first,
            false => tracked.step.phase.starts_with(&format!("{prefix}/")),
        };
        let member = |tracked: &&Tracked| tracked.step.within.as_ref() == Some(&group.handoff.id);
        run.handoffs().rev().filter(|tracked| tracked.step.role.is_phase()).filter(member).find(own)
    };
    let result = |lane: &Lane| {
        let last = last_of(lane);
        let report = last.and_then(Tracked::report);
        let failure = last.and_then(|last| last.handoff.last_failure.as_ref()).map(ToString::to_string);
        ParallelResult {
            task_id: last.map(|last| last.handoff.id.to_string()),
            r#type: Some(lane.name.clone()),
            passed: Some(lane.progress == Progress::Passed),
            // All of it stands in the report of the member; here it only has to be recognised.
            summary: report.and_then(context).map(str::to_owned).or(failure).map(|text| brief(&text)),
            ..ParallelResult::default()
        }
    };
    let results: Vec<ParallelResult> = lanes.iter().map(result).collect();
    let artifacts = lanes.iter().filter_map(last_of).filter_map(Tracked::report);
    let artifacts = artifacts.flat_map(|report| report.artifacts.clone()).take(ARTIFACTS_MAX).collect();
    let aggregation = Aggregation {
        total: Some(lanes.len() as u64),
        passed: Some(passed as u64),
        failed: Some((lanes.len() - passed) as u64),
        rule: Some(rule.to_string()),
        overall_passed: Some(overall),
    };
    let names = |wanted: bool| {
        let of = lanes.iter().filter(|lane| (lane.progress == Progress::Passed) == wanted);
        of.map(|lane| lane.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let total = lanes.len();
    let summary = match passed == total {
        true => format!("{}: all {total} passed ({})", group.step.phase, names(true)),
        false => format!("{}: {passed} of {total} passed; failed: {}", group.step.phase, names(false)),
    };
    Report {
        id: Some(group.handoff.id.to_string()),
        outcome: Some(Outcome::Complete),
        summary: Some(summary),
        artifacts,
        findings: Some(Findings::Parallel(Parallel { results, aggregation: Some(aggregation) })),
        ..Report::default()
    }
}

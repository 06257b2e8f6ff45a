//! A name in an expression that means nothing there.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::model::Report;
use crate::wire::{closest, distinct};
use crate::workflow::expression::Reference;
use crate::workflow::{WorkflowCase, Within};

rule! {
    /// ## What it checks
    /// Whether the expressions and templates of a workflow file use only names that are defined at that place:
    ///
    /// - `inputs.NAME`: an input that the workflow declares
    /// - `phases.ID`: a phase that can come before this one; with `-` in its name, `phases['ID']`
    /// - `phases.ID.MEMBER`: what is known of every phase (`passed`, `status`, `summary`, …), or a field of its report. A
    ///   name that is one slip away from one of these is an error; if your agents report such a field, write
    ///   `phases.ID['MEMBER']`
    /// - `run`: the run itself
    /// - the item of a `foreach` around it: `item`, or the name in `as`
    ///
    /// `output_directory` knows only `inputs` and `run`. A phase sees the phases of its own list and of those around it.
    ///
    /// ## Why it matters
    /// An unknown name would be empty: a phase with `when: phases.reveiw.passed` would always be skipped, silently.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: code-review, agent: reviewer}
    ///   - {id: fix, agent: developer, when: "phases.code-review.verdict == 'CHANGES_REQUESTED'"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: code-review, agent: reviewer}
    ///   - {id: fix, agent: developer, when: "phases['code-review'].verdict == 'CHANGES_REQUESTED'"}
    /// ```
    "unknown-reference": Workflow, Error => workflow check
}

const IN_BRACKETS: &str = "a name with `-` needs brackets: ";

/// Functions that the template engine brings along.
const FUNCTIONS: [&str; 5] = ["range", "dict", "namespace", "debug", "loop"];

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for ((pointer, step), worked) in case.worked() {
        // Where output goes is worked out for every phase, so every list may have its item there.
        let items = step.map_or_else(|| all_items(case), |step| items(case, step));
        let references = worked.references().unwrap_or_default();
        let faults: Vec<(String, String)> =
            references.iter().filter_map(|reference| fault(case, reference, step, &items)).collect();
        // `phases.code-review` is read as a subtraction, so the rest of the name is not another mistake.
        let cut = faults.iter().find(|(_, help)| help.starts_with(IN_BRACKETS));
        let unknown = step.and_then(|step| hyphenated(case, &references, worked.text(), step));
        match cut.or(unknown.as_ref()) {
            Some((message, help)) => findings.add(&pointer, message, help),
            None => faults.iter().for_each(|(message, help)| findings.add(&pointer, message, help)),
        }
    }
}

/// Returns the names of the items that can be seen from a step. Its own list is worked out before there is an item.
fn items<'c>(case: &'c WorkflowCase<'_>, step: usize) -> Vec<&'c str> {
    let outer = case.flow.around(step).skip(1).map(|outer| case.flow.steps[outer].phase);
    outer.filter(|phase| phase.foreach.is_some()).map(|phase| phase.r#as.as_deref().unwrap_or("item")).collect()
}

fn all_items<'c>(case: &'c WorkflowCase<'_>) -> Vec<&'c str> {
    let lists = case.flow.steps.iter().map(|step| step.phase).filter(|phase| phase.foreach.is_some());
    lists.map(|phase| phase.r#as.as_deref().unwrap_or("item")).collect()
}

const RUN: [&str; 3] = ["id", "workflow", "started_at"];

fn fault(case: &WorkflowCase<'_>, reference: &Reference, step: Option<usize>, items: &[&str]) -> Option<(String, String)> {
    let (root, second) = (reference.first()?.as_str(), reference.get(1).map(String::as_str));
    match (root, second, step) {
        ("run", Some(name), _) if !RUN.contains(&name) => Some((
            format!("a run has no `{}`", excerpt(name)),
            format!("use one of: {}", RUN.map(|name| format!("run.{name}")).join(", ")),
        )),
        ("run", ..) => None,
        (name, ..) if items.contains(&name) || FUNCTIONS.contains(&name) => None,
        ("inputs", None, _) | ("phases", None, Some(_)) => None,
        ("inputs", Some(name), _) => unknown_input(case, name),
        ("phases", Some(id), Some(step)) => {
            unknown_phase(case, id, step).or_else(|| unknown_member(id, reference.get(2)?))
        }
        (name, ..) => Some(unknown_name(name, step.is_some(), items)),
    }
}

/// Returns whether a name has a value at a place, and is not what the template engine brings along.
pub(super) fn has_value(case: &WorkflowCase<'_>, reference: &Reference, step: Option<usize>) -> bool {
    let items = step.map_or_else(|| all_items(case), |step| items(case, step));
    let root = reference[0].as_str();
    let is_variable = ["inputs", "phases", "run"].contains(&root) && reference.len() > 1;
    (is_variable || items.contains(&root)) && fault(case, reference, step, &items).is_none()
}

fn unknown_name(name: &str, with_phases: bool, items: &[&str]) -> (String, String) {
    let mut known: Vec<&str> = items.to_vec();
    known.extend(with_phases.then_some("phases"));
    known.extend(["inputs", "run"]);
    let help = match closest(name, &known) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("known here: {}; text needs its own quotes: \"'{}'\"", known.join(", "), excerpt(name)),
    };
    (format!("unknown name `{}`", excerpt(name)), help)
}

fn unknown_input(case: &WorkflowCase<'_>, name: &str) -> Option<(String, String)> {
    let known: Vec<&str> = case.workflow.inputs.names().collect();
    if known.contains(&name) || (known.is_empty() && case.is_unread("/inputs")) {
        return None;
    }
    let help = match closest(name, &known) {
        Some(close) => format!("did you mean `inputs.{close}`?"),
        None => format!("declare it: `inputs: {{{}: {{required: true}}}}`", excerpt(name)),
    };
    Some((format!("this workflow has no input `{}`", excerpt(name)), help))
}

fn unknown_phase(case: &WorkflowCase<'_>, id: &str, step: usize) -> Option<(String, String)> {
    let flow = &case.flow;
    let comes_before = |outer: usize, other: usize| flow.reach(other)[outer];
    let seen = flow.around(step).find_map(|outer| Some((outer, flow.neighbour(outer, id)?)));
    match seen {
        Some((outer, other)) if comes_before(outer, other) => None,
        Some((outer, _)) if flow.steps[outer].within == Within::Parallel => Some((
            format!("the phase `{id}` runs at the same time"),
            "use what came out before, or put the phases one after the other".to_owned(),
        )),
        Some(_) => Some((
            format!("the phase `{id}` never comes before this one"),
            "use the result of an earlier phase".to_owned(),
        )),
        None => Some((format!("unknown phase `{}`", excerpt(id)), help_for(case, id, step))),
    }
}

/// Finds a phase with `-` in its name that is not there, neither in whole nor as what is before the `-`.
fn hyphenated(case: &WorkflowCase<'_>, references: &[Reference], text: &str, step: usize) -> Option<(String, String)> {
    let named = references.iter().filter(|reference| reference[0] == "phases").filter_map(|reference| reference.get(1));
    let is_name = |letter: &char| letter.is_alphanumeric() || "-_".contains(*letter);
    let mut unknown = named.filter(|id| unknown_phase(case, id, step).is_some());
    unknown.find_map(|id| {
        let (_, rest) = text.split_once(&format!("phases.{id}-"))?;
        let whole = format!("{id}-{}", rest.chars().take_while(is_name).collect::<String>());
        unknown_phase(case, &whole, step)
    })
}

/// What expressions see of every phase, beside the fields of its report.
const OF_EVERY_PHASE: [&str; 7] = ["passed", "status", "failed", "visits", "answer", "context", "expectations"];

/// Finds a member that is misspelt. A report may have fields of its own, so a name that is like no other may well be there.
fn unknown_member(id: &str, name: &str) -> Option<(String, String)> {
    let known = [&OF_EVERY_PHASE[..], Report::MEMBERS].concat();
    if known.contains(&name) {
        return None;
    }
    let slips = if name.len() < 8 { 1 } else { 2 };
    let is_near = |member: &&&str| name.len() > 4 && strsim::damerau_levenshtein(name, member) <= slips;
    let meant = known.iter().find(is_near)?;
    let phase = if id.contains('-') { format!("phases['{id}']") } else { format!("phases.{id}") };
    let help = format!("did you mean `{phase}.{meant}`? A field of your own is `{phase}['{name}']`");
    Some((format!("a phase has no `{}`", excerpt(name)), help))
}

fn help_for(case: &WorkflowCase<'_>, id: &str, step: usize) -> String {
    let flow = &case.flow;
    let visible = flow.around(step).flat_map(|outer| flow.neighbours(outer));
    let others = visible.filter(|other| **other != step).map(|other| flow.steps[*other].phase.id());
    let known = distinct(&others.collect::<Vec<_>>());
    // `phases.code-review` is read as a subtraction.
    let cut = known.iter().find(|name| name.strip_prefix(id).is_some_and(|rest| rest.starts_with('-')));
    match (cut, closest(id, &known)) {
        (Some(name), _) => format!("{IN_BRACKETS}phases['{name}']"),
        (None, Some(close)) if close.contains('-') => format!("did you mean `phases['{close}']`?"),
        (None, Some(close)) => format!("did you mean `phases.{close}`?"),
        (None, None) if known.is_empty() => "this is the only phase: add the one that is meant before it".to_owned(),
        (None, None) => format!("known here: {}", known.join(", ")),
    }
}

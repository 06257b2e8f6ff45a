//! A phase that does nothing, or several things at once.

use super::RuleFindings;
use super::review_without_verdict::REVIEW;
use crate::model::terms::TaskPhase;
use crate::wire::{join, same_word, suggest};
use crate::workflow::{WorkflowCase, Phase, PhaseKind, FlowStep, Within};

rule! {
    /// ## What it checks
    /// Whether every phase of a workflow file does exactly one thing: `agent`, `check`, `parallel`, `foreach` (with
    /// `phases`), `workflow` or `gate`. Every other field must mean something to that kind:
    ///
    /// - `task`, `deliverable`, `constraints`, `success_criteria`, `kind`, `verify`, `mandatory_skills`, `retry`, `review`: an
    ///   agent
    /// - `inputs`: an agent or a workflow
    /// - `timeout`, `writes`: an agent or a check
    /// - `pass_when`: parallel or foreach
    /// - `as`, `phases`, `at_once`: foreach
    /// - `next`: not beside phases that run at the same time, which are followed by nothing
    ///
    /// ## Why it matters
    /// A field that does not apply to its phase has no effect: `pass_when` on a single agent looks like a vote, but is
    /// not.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: review, agent: reviewer, pass_when: any_pass}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: review, parallel: [{id: one, agent: first}, {id: two, agent: second}], pass_when: any_pass}
    /// ```
    "phase-kind": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    if case.workflow.phases.is_empty() && !case.incomplete && !case.is_unread("/phases") {
        let help = "write it like this: `[{id: build, agent: developer}]`";
        findings.add("/phases", "a workflow without phases does nothing", help);
    }
    for step in &case.flow.steps {
        let kinds = step.phase.kinds();
        match kinds[..] {
            [] if case.is_unread(&step.pointer) => {}
            [] if case.is_empty(&join(&step.pointer, "parallel")) => findings.add(
                &join(&step.pointer, "parallel"),
                "the list of parallel phases is empty",
                "write it like this: `[{id: quality, agent: reviewer}, {id: safety, agent: security}]`",
            ),
            [] => findings.add(
                &step.pointer,
                "the phase does nothing",
                "add one of `agent`, `check`, `parallel`, `foreach`, `workflow` and `gate`",
            ),
            [kind] => judge_fields(step, kind, findings),
            [kind, PhaseKind::Foreach] if step.phase.phases.is_empty() => findings.add_name(
                &join(&step.pointer, kind.as_str()),
                format!("`foreach` runs `phases`, but `{}` is beside it", kind.as_str()),
                format!("move it into the list: `phases: [{{id: one, {}: …}}]`", kind.as_str()),
            ),
            _ => {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
                let message = format!("the phase has several kinds: {}", names.join(", "));
                findings.add(&step.pointer, message, "make a phase of each, with an `id` of its own");
            }
        }
        judge_particulars(case, step, findings);
    }
}

fn judge_fields(step: &FlowStep<'_>, kind: PhaseKind, findings: &mut RuleFindings<'_>) {
    for (field, kinds) in given(step.phase).into_iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        findings.add_name(
            &join(&step.pointer, field),
            format!("`{field}` has no effect in a phase with `{}`", kind.as_str()),
            format!("it belongs to a phase with {}", known.join(" or ")),
        );
    }
}

/// Returns the fields that a phase has and the kinds that know them.
fn given(phase: &Phase) -> Vec<(&'static str, &'static [PhaseKind])> {
    use PhaseKind::{Agent, Check, Foreach, Parallel, Workflow};
    const WORK: &[PhaseKind] = &[Agent];
    const STARTED: &[PhaseKind] = &[Agent, Check];
    const EACH: &[PhaseKind] = &[Foreach];
    let fields: [(&str, bool, &[PhaseKind]); 16] = [
        ("task", phase.task.is_some(), WORK),
        ("deliverable", phase.deliverable.is_some(), WORK),
        ("constraints", !phase.constraints.is_empty(), WORK),
        ("success_criteria", !phase.success_criteria.is_empty(), WORK),
        ("kind", phase.kind.is_some(), WORK),
        ("verify", !phase.verify.is_empty(), WORK),
        ("mandatory_skills", !phase.mandatory_skills.is_empty(), WORK),
        ("inputs", !phase.inputs.is_empty(), &[Agent, Workflow]),
        ("timeout", phase.timeout.is_some(), STARTED),
        ("retry", phase.retry.is_some(), WORK),
        ("writes", phase.writes.is_some(), STARTED),
        ("pass_when", phase.pass_when.is_some(), &[Parallel, Foreach]),
        ("as", phase.r#as.is_some(), EACH),
        ("phases", !phase.phases.is_empty(), EACH),
        ("at_once", phase.at_once.is_some(), EACH),
        ("review", phase.review.is_some(), WORK),
    ];
    fields.into_iter().filter(|(_, given, _)| *given).map(|(field, _, kinds)| (field, kinds)).collect()
}

fn judge_particulars(case: &WorkflowCase<'_>, step: &FlowStep<'_>, findings: &mut RuleFindings<'_>) {
    let (phase, at) = (step.phase, |field: &str| join(&step.pointer, field));
    if phase.sole_kind() == Some(PhaseKind::Foreach) && phase.phases.is_empty() && !case.is_unread(&at("phases")) {
        findings.add(&step.pointer, "there are no phases to run for each item", "add `phases`: what runs for each item");
    }
    if phase.check.as_ref().is_some_and(|command| command.is_empty()) {
        findings.add(&at("check"), "the command is empty", "write text for the shell, or a program and its arguments");
    }
    if step.within == Within::Parallel && phase.next.is_some() {
        findings.add_name(
            &at("next"),
            "`next` has no effect among phases that run at the same time",
            "put `next` on the phase with `parallel`",
        );
    }
    let known: Vec<&str> = TaskPhase::WORDS.iter().copied().chain([REVIEW]).collect();
    if let Some(kind) = phase.kind.as_deref().filter(|kind| !known.iter().any(|word| same_word(word, kind))) {
        findings.add(&at("kind"), format!("unknown kind of work `{kind}`"), suggest(kind, &known));
    }
    if let Some(name) = phase.r#as.as_deref().filter(|name| !is_variable(name)) {
        findings.add(
            &at("as"),
            format!("`{name}` cannot be the name of the item"),
            "use letters, digits and `_`, and not `inputs`, `phases` or `run`",
        );
    }
}

/// Returns whether an expression can use a name without mistaking it for something else.
fn is_variable(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
        && !["inputs", "phases", "run", "true", "false", "none", "not", "and", "or", "in", "is", "if"].contains(&name)
}

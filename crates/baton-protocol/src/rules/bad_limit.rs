//! Limits that make no sense.

use super::RuleFindings;
use crate::wire::join;
use crate::workflow::{WorkflowCase, PassWhen, RetryFields, FlowStep};

rule! {
    /// ## What it checks
    /// Whether the limits of a workflow file can be kept:
    ///
    /// - a `timeout` is not zero, and not longer than `limits.wall_clock`
    /// - `visits` is not zero, and `at_least` neither zero nor more than the phases that run at the same time
    /// - `retry` has a `multiplier` of at least 1 and at most 1000 retries
    /// - `limits.summary_tokens` is not more than `limits.prompt_tokens`
    ///
    /// ## Why it matters
    /// With `timeout: 0s` every attempt fails, and with `at_least: 3` of two phases the vote can never be won.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: vote, parallel: [{id: one, agent: a}, {id: two, agent: b}], pass_when: {at_least: 3}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: vote, parallel: [{id: one, agent: a}, {id: two, agent: b}], pass_when: {at_least: 2}}
    /// ```
    "bad-limit": Workflow, Error => workflow check
}

/// The most retries that the engine accepts.
const RETRIES_MAX: u64 = 1_000;

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let limits = case.workflow.limits.clone().unwrap_or_default();
    if limits.cost.as_ref().is_some_and(|cost| cost.as_f64().is_none_or(|cost| !(0.0..=1e6).contains(&cost))) {
        findings.add("/limits/cost", "this is not an amount of US dollars", "write a number from 0 (no limit) to 1000000, such as 2.5");
    }
    let mut times = Vec::new();
    for (name, agent) in case.workflow.agents.iter() {
        let pointer = join("/agents", name);
        times.extend(agent.timeout.map(|time| (join(&pointer, "timeout"), time)));
        judge_retry(agent.retry.as_ref(), &pointer, findings);
    }
    for step in &case.flow.steps {
        times.extend(times_of(step));
        judge_retry(step.phase.retry.as_ref(), &step.pointer, findings);
        judge_numbers(step, findings);
    }
    let wall_clock = limits.wall_clock.filter(|limit| limit.milliseconds > 0);
    for (pointer, time) in times {
        if time.milliseconds == 0 {
            findings.add(&pointer, "the time must be longer than 0", "give it some time, such as `30m`");
        } else if let Some(limit) = wall_clock.filter(|limit| limit.milliseconds < time.milliseconds) {
            let message = format!("this is longer than the whole run may take ({limit})");
            findings.add(&pointer, message, "shorten it, or raise `limits.wall_clock`");
        }
    }
    if let (Some(summary), Some(prompt)) = (limits.summary_tokens, limits.prompt_tokens)
        && summary > prompt
        && prompt > 0
    {
        findings.add(
            "/limits/summary_tokens",
            "a summary may be longer than the prompt that it must fit into",
            "lower it, or raise `limits.prompt_tokens`",
        );
    }
}

fn times_of(step: &FlowStep<'_>) -> Vec<(String, crate::workflow::Duration)> {
    let mut times = Vec::new();
    times.extend(step.phase.timeout.map(|time| (join(&step.pointer, "timeout"), time)));
    for (index, check) in step.phase.verify.iter().enumerate() {
        times.extend(check.timeout.map(|time| (format!("{}/verify/{index}/timeout", step.pointer), time)));
    }
    for (member, gate) in step.phase.gates() {
        times.extend(gate.after.map(|time| (format!("{}/{member}/after", step.pointer), time)));
        for (index, check) in gate.checks.iter().enumerate() {
            times.extend(check.timeout.map(|time| (format!("{}/{member}/checks/{index}/timeout", step.pointer), time)));
        }
    }
    times
}

fn judge_retry(retry: Option<&RetryFields>, pointer: &str, findings: &mut RuleFindings<'_>) {
    let Some(retry) = retry else { return };
    let pointer = join(pointer, "retry");
    if retry.max_retries.is_some_and(|retries| retries > RETRIES_MAX) {
        let message = format!("too many retries: at most {RETRIES_MAX}");
        findings.add(&join(&pointer, "max_retries"), message, "use a small number, such as 3");
    }
    if retry.multiplier.as_ref().and_then(|number| number.as_f64()).is_some_and(|number| number < 1.0) {
        findings.add(
            &join(&pointer, "multiplier"),
            "with a multiplier below 1 the waits become shorter and shorter",
            "use 1 for equal waits, or 2 to double them",
        );
    }
}

fn judge_numbers(step: &FlowStep<'_>, findings: &mut RuleFindings<'_>) {
    if step.phase.visits == Some(0) {
        findings.add(&join(&step.pointer, "visits"), "nothing would ever run", "use 1 or more, or leave it out");
    }
    let Some(PassWhen::AtLeast(least)) = step.phase.pass_when else { return };
    let pointer = join(&step.pointer, "pass_when");
    let total = step.phase.parallel.len() as u64;
    if least == 0 {
        findings.add(&pointer, "this passes even if everything fails", "use `at_least: 1` or more");
    } else if total > 0 && least > total {
        findings.add(&pointer, format!("{least} of {total} can never pass"), format!("use at most {total}"));
    }
}

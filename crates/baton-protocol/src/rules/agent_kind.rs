//! An agent that cannot be reached, or in several ways at once.

use super::RuleFindings;
use crate::dialect::Dialect;
use crate::wire::{join, suggest};
use crate::workflow::{AgentFields, WorkflowCase};

rule! {
    /// ## What it checks
    /// Whether every agent of a workflow file can be reached in exactly one way: `command`, `profile`, `directory` or
    /// `queue: true`. A command must not be empty. Some fields need one of these: `arguments` needs `profile`;
    /// `prompt`, `report`, `silence`, `env` and `set_env` need `command` or `profile`. The `dialect` must be one that
    /// Baton knows, and schemas need the folder `schemas`, unless the agent is a directory, which has its own.
    ///
    /// ## Why it matters
    /// An agent that cannot be reached gets no work, and the run stops there. With two ways it would be unclear which
    /// one counts.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {command: [./developer.sh], queue: true}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {command: [./developer.sh]}
    /// ```
    "agent-kind": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for (name, agent) in case.workflow.agents.iter() {
        let pointer = join("/agents", name);
        let ways = ways(agent);
        match ways[..] {
            [] if case.is_unread(&pointer) => {}
            [] => findings.add_name(
                &pointer,
                format!("the agent `{name}` has no program, folder or queue"),
                "add one of `command`, `profile`, `directory` and `queue: true`",
            ),
            [_] => {}
            _ => findings.add_name(
                &pointer,
                format!("the agent `{name}` has several kinds: {}", ways.join(", ")),
                "keep one of them",
            ),
        }
        judge_fields(agent, &pointer, &ways, findings);
        judge_words(agent, &pointer, findings);
    }
}

/// Returns the fields that say how an agent is reached.
fn ways(agent: &AgentFields) -> Vec<&'static str> {
    let ways = [
        ("command", agent.command.is_some()),
        ("profile", agent.profile.is_some()),
        ("directory", agent.directory.is_some()),
        ("queue", agent.queue == Some(true)),
    ];
    ways.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

fn judge_fields(agent: &AgentFields, pointer: &str, ways: &[&str], findings: &mut RuleFindings<'_>) {
    let [way] = ways else { return };
    let is_process = matches!(*way, "command" | "profile");
    let misplaced = [
        ("arguments", !agent.arguments.is_empty() && *way != "profile", "they belong to a `profile`"),
        ("prompt", agent.prompt.is_some() && !is_process, "Baton starts no process for this agent"),
        ("report", agent.report.is_some() && !is_process, "Baton starts no process for this agent"),
        ("silence", agent.silence.is_some() && !is_process, "Baton starts no process for this agent"),
        ("env", !agent.env.is_empty() && !is_process, "Baton starts no process for this agent"),
        ("set_env", !agent.set_env.is_empty() && !is_process, "Baton starts no process for this agent"),
    ];
    for (field, is_misplaced, why) in misplaced {
        if is_misplaced {
            findings.add_name(&join(pointer, field), format!("`{field}` has no effect beside `{way}`"), why);
        }
    }
    let schemas = [("input_schema", &agent.input_schema), ("output_schema", &agent.output_schema)];
    for (field, _) in schemas.into_iter().filter(|(_, schema)| schema.is_some()) {
        if agent.schemas.is_none() && *way != "directory" {
            findings.add_name(
                &join(pointer, field),
                format!("`{field}` is searched for in `schemas`, which is missing"),
                "add `schemas`: the folder with the JSON Schemas",
            );
        }
    }
}

fn judge_words(agent: &AgentFields, pointer: &str, findings: &mut RuleFindings<'_>) {
    if agent.command.as_ref().is_some_and(|command| command.is_empty()) {
        findings.add(&join(pointer, "command"), "the command is empty", "name a program and its arguments");
    }
    if let Some(dialect) = agent.dialect.as_deref().filter(|name| Dialect::parse(name).is_none()) {
        let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
        findings.add(&join(pointer, "dialect"), format!("unknown dialect `{dialect}`"), suggest(dialect, &known));
    }
    for (name, value) in &agent.set_env {
        if value.is_array() || value.is_object() {
            let pointer = join(&join(pointer, "set_env"), name);
            findings.add(&pointer, "a variable of the environment is text", "write text, a number, true or false");
        }
    }
}

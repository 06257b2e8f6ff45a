//! A key that is there, but that the agent does not get.

use super::RuleFindings;
use crate::wire::join;
use crate::workflow::WorkflowCase;

rule! {
    /// ## What it checks
    /// Whether a key of an agent's program, such as `ANTHROPIC_API_KEY` for `profile: claude`, is set in the environment of
    /// this machine but named nowhere in `env`. It says nothing if the agent gets another key. It is a warning: the program
    /// may be logged in.
    ///
    /// ## Why it matters
    /// Agents inherit harmless variables only. A program without its key says "not logged in" to somebody who sees the key
    /// in the same terminal.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {profile: claude}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {profile: claude, env: [ANTHROPIC_API_KEY]}
    /// ```
    "withheld-key": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let Some(files) = case.files else { return };
    for (name, _) in case.workflow.agents.iter() {
        let Some(agent) = case.workflow.agent_with_env(name) else { continue };
        for key in agent.withheld_keys(|key| files.has_variable(key)) {
            findings.add(
                &join(&join("/agents", name), "profile"),
                format!("`{key}` is set here, but not passed on to `{name}`"),
                format!("name it: `env: [{key}]`; leave it if the program is logged in"),
            );
        }
    }
}

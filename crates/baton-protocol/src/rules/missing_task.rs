//! A coding agent that is told nothing of what to do.

use super::RuleFindings;
use crate::wire::join;
use crate::workflow::{AgentFields, Phase, WorkflowCase};

rule! {
    /// ## What it checks
    /// Whether a phase of a workflow file tells a coding agent (`profile`) what to do: by `task`, `title`, `deliverable`,
    /// `constraints`, `success_criteria`, `inputs` or mandatory skills, or by the `role` or the `template` of the agent. The script
    /// of a `command` may know its work without that.
    ///
    /// ## Why it matters
    /// A coding agent knows nothing but its prompt. "Work on the phase build" is answered with a guess, or with a question to a
    /// person.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {profile: claude}
    /// phases:
    ///   - {id: build, agent: developer}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {profile: claude}
    /// phases:
    ///   - {id: build, agent: developer, task: "Implement {{ inputs.feature }} as DESIGN.md says"}
    /// ```
    "missing-task": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for step in &case.flow.steps {
        let Some(agent) = step.phase.agent.as_deref().and_then(|name| case.workflow.agent(name)) else { continue };
        // A task that could not be read is there.
        if agent.profile.is_some() && !knows_its_work(agent) && !says_something(step.phase) && !case.is_unread(&step.pointer) {
            findings.add(
                &join(&step.pointer, "id"),
                format!("the phase `{}` does not say what the agent should do", step.phase.id()),
                "add `task: What to do`, or describe the `role` of the agent",
            );
        }
    }
}

fn knows_its_work(agent: &AgentFields) -> bool {
    agent.role.is_some() || agent.template.is_some() || !agent.mandatory_skills.is_empty()
}

fn says_something(phase: &Phase) -> bool {
    let lists = [&phase.constraints, &phase.success_criteria];
    [&phase.task, &phase.title, &phase.deliverable].iter().any(|text| text.is_some())
        || lists.iter().any(|list| !list.is_empty())
        || !phase.inputs.is_empty()
        || !phase.mandatory_skills.is_empty()
}

//! The sample of a workflow: the agents of a project, one after the other.

use baton_protocol::{Settings, Severity, workflow};
use serde_json::Value;

use super::agent_file::AgentFile;

/// Returns a workflow with these agents, one after the other.
pub(super) fn workflow(name: &str, agents: &[AgentFile], profile: &str) -> String {
    let mut text = format!(
        "# The agents of .claude/agents, one after the other, for `baton run workflow.yaml --input feature=…`.\n\
         # A sample: put them into your order, give each its task, and say what it may write and what must pass.\n\
         name: {}\ninputs:\n  feature: {{description: What is to be made}}\n\nagents:\n",
        word(name)
    );
    for agent in agents {
        text.push_str(&format!("  {}:\n    profile: {profile}\n    dialect: metadata-block\n", word(&agent.name)));
        if !agent.description.is_empty() {
            text.push_str(&format!("    role: {}\n", quoted(&agent.description)));
        }
        if !agent.skills.is_empty() {
            text.push_str(&format!("    mandatory_skills: {}\n", list(&agent.skills)));
        }
    }
    text.push_str("\nphases:\n");
    for agent in agents {
        let task = format!("Do the part of {} for: {{{{ inputs.feature }}}}", agent.name);
        text.push_str(&format!("  - id: {0}\n    agent: {0}\n    task: {1}\n", word(&agent.name), quoted(&task)));
    }
    text
}

/// Returns why a workflow with these agents would be refused.
pub(super) fn fault(name: &str, agents: &[AgentFile]) -> Option<String> {
    let text = workflow(name, agents, "claude");
    let judgement = workflow::judge(text.as_bytes(), &workflow::read(text.as_bytes()), None, &Settings::default());
    let found = judgement.diagnostics.into_iter().find(|found| found.severity == Severity::Error)?;
    Some(found.message)
}

/// Writes a text as TOML and YAML read it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Writes a name, in quotation marks only where it needs them.
pub(super) fn word(name: &str) -> String {
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = begins && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    // YAML takes some words for something else.
    let is_other = ["true", "false", "null", "yes", "no", "on", "off"].contains(&name.to_lowercase().as_str());
    if is_plain && !is_other { name.to_owned() } else { quoted(name) }
}

/// Writes several texts.
pub(super) fn list(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

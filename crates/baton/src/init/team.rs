//! The team that a project has already: the agents and skills of Claude Code, as `[hooks]` and as a sample of a workflow.

use std::fs;
use std::path::{Path, PathBuf};

use baton_protocol::printable;

use super::agent_file::{AgentFile, named};
use super::sample::{self, list, word};
use super::settings::CodingAgent;

/// What stands around what is added to the configuration.
const BEGIN: &str = "# >>> baton init (`baton init --undo` removes this part)";
const END: &str = "# <<< baton init";

/// The agents and skills of a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Team {
    name: String,
    agents: Vec<AgentFile>,
    skills: Vec<String>,
    /// Which agents cannot be part of it, and why.
    pub left_out: Vec<String>,
}

impl Team {
    /// Looks at a project.
    pub(super) fn of(project: &Path) -> Team {
        let skills = files(&project.join(".claude/skills"), |path| path.join("SKILL.md"));
        let skills: Vec<String> = skills.iter().filter_map(|path| named(path, path.parent()?)).collect();
        let agents = files(&project.join(".claude/agents"), Path::to_owned);
        let markdown = agents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        let mut agents: Vec<AgentFile> = markdown.filter_map(|path| AgentFile::read(path, &skills)).collect();
        agents.sort_by_key(|agent| (agent.place(), agent.name.clone()));
        let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let anybody = AgentFile { name: "anybody".to_owned(), ..AgentFile::default() };
        let is_usable = sample::fault(&name, &[anybody]).is_none();
        let mut team = Team { name: if is_usable { name } else { "team".to_owned() }, skills, ..Team::default() };
        agents.into_iter().for_each(|agent| team.add(agent));
        team
    }

    /// Adds an agent, unless no workflow with it would be accepted.
    fn add(&mut self, agent: AgentFile) {
        self.agents.push(agent);
        let fault = |team: &Team| sample::fault(&team.name, &team.agents);
        if fault(self).is_some() {
            // What it says about itself may be what cannot be used.
            self.agents.last_mut().into_iter().for_each(|last| last.description.clear());
        }
        if let Some(why) = fault(self)
            && let Some(agent) = self.agents.pop()
        {
            self.left_out.push(format!("the agent `{}` is left out: {why}", printable(&agent.name)));
        }
    }

    /// Returns `[hooks]` for the configuration.
    pub(super) fn configuration(&self) -> String {
        let mut text = format!("{BEGIN}\n# What agents are held to when they end; see `baton hook --help`.\n");
        if !self.skills.is_empty() {
            text.push_str(&format!("# Skills of this project: {}\n", printable(&self.skills.join(", "))));
        }
        text.push_str("# Also possible: writes = [\"src/**\"], verify = [\"make test\"], and [hooks.main] for the session itself.\n");
        if self.agents.is_empty() {
            text.push_str("#\n# [hooks.agents.developer]\n# dialect = \"metadata-block\"\n");
        }
        for agent in &self.agents {
            text.push_str(&format!("\n[hooks.agents.{}]\ndialect = \"metadata-block\"\n", word(&agent.name)));
            if !agent.skills.is_empty() {
                text.push_str(&format!("mandatory_skills = {}\n", list(&agent.skills)));
            }
        }
        format!("{text}{END}\n")
    }

    /// Returns a workflow with these agents, one after the other; `None` if there are none.
    pub(super) fn workflow(&self, agents: &[CodingAgent]) -> Option<String> {
        let profile = agents.first().map_or("claude", |agent| agent.profile());
        (!self.agents.is_empty()).then(|| sample::workflow(&self.name, &self.agents, profile))
    }
}

/// Returns whether a configuration has the part that is added.
pub(super) fn has_block(text: &str) -> bool {
    without_block(text).is_some()
}

/// Returns a configuration without the part that was added, however often it is there; `None` if it is not.
pub(super) fn without_blocks(text: &str) -> Option<String> {
    let mut rest = without_block(text)?;
    while let Some(less) = without_block(&rest) {
        rest = less;
    }
    Some(rest)
}

fn without_block(text: &str) -> Option<String> {
    let begin = text.find(BEGIN)?;
    let end = text[begin..].find(END).map(|end| begin + end + END.len())?;
    let before = &text[..begin];
    // The empty line before it was added, too.
    let before = before.strip_suffix('\n').filter(|rest| rest.is_empty() || rest.ends_with('\n')).unwrap_or(before);
    Some(format!("{before}{}", text[end..].strip_prefix('\n').unwrap_or(&text[end..])))
}

/// Returns the files of a folder, sorted.
fn files(folder: &Path, file: impl Fn(&Path) -> PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| file(&entry.path())).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_without_the_part_is_what_it_was() {
        let part = Team::default().configuration();
        for text in ["[rules]\n", "[rules]\n\n\n[check]\n"] {
            assert_eq!(without_blocks(&format!("{text}\n{part}")).as_deref(), Some(text));
        }
        assert_eq!(without_blocks(&format!("{part}\n{part}\n{part}")).as_deref(), Some(""));
        assert_eq!(without_blocks("[rules]\n"), None);
    }
}

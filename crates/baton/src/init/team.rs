//! The team that a project has already: the agents and skills of Claude Code, as `[hooks]` and as a sample of a workflow.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

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
}

/// The definition of an agent.
#[derive(Debug, Default, PartialEq, Eq)]
struct AgentFile {
    name: String,
    description: String,
    /// The skills that its definition speaks of.
    skills: Vec<String>,
}

impl Team {
    /// Looks at a project.
    pub(super) fn of(project: &Path) -> Team {
        let skills = files(&project.join(".claude/skills"), |path| path.join("SKILL.md"));
        let skills: Vec<String> = skills.iter().filter_map(|path| named(path, path.parent()?)).collect();
        let agents = files(&project.join(".claude/agents"), Path::to_owned);
        let markdown = agents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        let mut agents: Vec<AgentFile> = markdown.filter_map(|path| AgentFile::read(path, &skills)).collect();
        agents.sort_by_key(|agent| (place_of(&agent.name), agent.name.clone()));
        let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Team { name: if name.is_empty() { "team".to_owned() } else { name }, agents, skills }
    }

    /// Returns `[hooks]` for the configuration.
    pub(super) fn configuration(&self) -> String {
        let mut text = format!("{BEGIN}\n# What agents are held to when they end; `baton hook --help` tells more.\n");
        if !self.skills.is_empty() {
            text.push_str(&format!("# Skills of this project: {}\n", self.skills.join(", ")));
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
        if self.agents.is_empty() {
            return None;
        }
        let profile = agents.first().map_or("claude", |agent| agent.profile());
        let mut text = format!(
            "# The agents of .claude/agents, one after the other, for `baton run workflow.yaml --input feature=…`.\n\
             # A sample: put them into your order, give each its task, and say what it may write and what must pass.\n\
             name: {}\ninputs:\n  feature: {{description: What is to be made}}\n\nagents:\n",
            word(&self.name)
        );
        for agent in &self.agents {
            text.push_str(&format!("  {}:\n    profile: {profile}\n    dialect: metadata-block\n", word(&agent.name)));
            if !agent.description.is_empty() {
                text.push_str(&format!("    role: {}\n", quoted(&agent.description)));
            }
            if !agent.skills.is_empty() {
                text.push_str(&format!("    mandatory_skills: {}\n", list(&agent.skills)));
            }
        }
        text.push_str("\nphases:\n");
        for agent in &self.agents {
            let task = format!("Do the part of {} for: {{{{ inputs.feature }}}}", agent.name);
            text.push_str(&format!("  - id: {0}\n    agent: {0}\n    task: {1}\n", word(&agent.name), quoted(&task)));
        }
        Some(text)
    }
}

/// Writes a text as TOML and YAML read it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Writes a name, in quotation marks only where it needs them.
fn word(name: &str) -> String {
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = begins && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    // YAML takes some words for something else.
    let is_other = ["true", "false", "null", "yes", "no", "on", "off"].contains(&name.to_lowercase().as_str());
    if is_plain && !is_other { name.to_owned() } else { quoted(name) }
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

/// Returns a configuration without the part that was added; `None` if that is not in it.
pub(super) fn without_block(text: &str) -> Option<String> {
    let begin = text.find(BEGIN)?;
    let end = text[begin..].find(END).map(|end| begin + end + END.len())?;
    let before = &text[..begin];
    // The empty line before it was added, too.
    let before = before.strip_suffix('\n').filter(|rest| rest.is_empty() || rest.ends_with('\n')).unwrap_or(before);
    Some(format!("{before}{}", text[end..].strip_prefix('\n').unwrap_or(&text[end..])))
}

impl AgentFile {
    fn read(path: &Path, skills: &[String]) -> Option<AgentFile> {
        let text = fs::read_to_string(path).ok()?;
        let own = Path::new(path.file_stem()?);
        let is_meant = |skill: &&String| text.contains(skill.as_str());
        Some(AgentFile {
            name: named(path, own)?,
            description: member(&text, "description").unwrap_or_default(),
            skills: skills.iter().filter(is_meant).cloned().collect(),
        })
    }
}

/// Returns the name in the head of a file, or else that of its folder or of itself.
fn named(path: &Path, otherwise: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    member(&text, "name").or_else(|| Some(otherwise.file_name()?.to_string_lossy().into_owned()))
}

/// Returns a member of the head of a Markdown file, in one line.
fn member(text: &str, name: &str) -> Option<String> {
    let head = text.trim_start_matches('\u{feff}').strip_prefix("---")?;
    let head = &head[..head.find("\n---")?];
    let mut lines = head
        .lines()
        .skip_while(|line| line.strip_prefix(name).and_then(|rest| rest.trim_start().strip_prefix(':')).is_none());
    let first = lines.next()?.split_once(':')?.1.trim().to_owned();
    let folded = matches!(first.as_str(), ">" | "|" | ">-" | "|-" | "");
    let more = lines.take_while(|line| line.starts_with([' ', '\t'])).map(|line| line.trim().to_owned());
    let value = if folded { more.collect::<Vec<_>>().join(" ") } else { first };
    let plain = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote).map(str::to_owned);
    let value = plain('"').or_else(|| plain('\'')).unwrap_or_else(|| value.clone());
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Returns what an agent of this name usually does before others, from its name.
fn place_of(name: &str) -> usize {
    let places: [&[&str]; 5] = [
        &["research", "analyst", "product"],
        &["architect", "lead", "design", "plan"],
        &["develop", "implement", "engineer", "coder", "writer", "builder"],
        &["test", "qa"],
        &["review", "security", "audit", "critic"],
    ];
    let name = name.to_lowercase();
    // A test lead tests, and a security architect reviews.
    places.iter().rposition(|words| words.iter().any(|word| name.contains(word))).unwrap_or(2)
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
    fn heads_of_agents_are_read_in_every_common_form() {
        let head =
            |description: &str| format!("---\nname: architect\ndescription: {description}\nmodel: opus\n---\nBody.");
        for written in
            ["Designs: all of it", "\"Designs: all of it\"", "'Designs: all of it'", ">\n  Designs:\n  all of it"]
        {
            assert_eq!(member(&head(written), "description").as_deref(), Some("Designs: all of it"), "{written}");
        }
        assert_eq!(member("no head", "name"), None);
    }

    #[test]
    fn configuration_without_the_part_is_what_it_was() {
        let part = Team::default().configuration();
        for text in ["[rules]\n", "[rules]\n\n\n[check]\n"] {
            assert_eq!(without_block(&format!("{text}\n{part}")).as_deref(), Some(text));
        }
        assert_eq!(without_block(&part).as_deref(), Some(""));
        assert_eq!(without_block("[rules]\n"), None);
    }
}

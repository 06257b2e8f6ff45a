//! The definition of an agent of Claude Code: a Markdown file with a head.

use std::fs;
use std::path::Path;

/// The definition of an agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AgentFile {
    /// How it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The skills that its instructions speak of. Those that are loaded with its definition are not called.
    pub skills: Vec<String>,
}

impl AgentFile {
    /// Reads a file; `skills` are those of the project.
    pub(super) fn read(path: &Path, skills: &[String]) -> Option<AgentFile> {
        let text = fs::read_to_string(path).ok()?;
        let own = Path::new(path.file_stem()?);
        let (head, body) = parts(&text).unwrap_or(("", &text));
        let loaded = member(head, "skills").unwrap_or_default();
        let is_meant = |skill: &&String| mentions(body, skill) && !mentions(&loaded, skill);
        Some(AgentFile {
            name: named(path, own)?,
            description: member(head, "description").unwrap_or_default(),
            skills: skills.iter().filter(is_meant).cloned().collect(),
        })
    }

    /// Returns where in a team it usually works, from its name.
    pub(super) fn place(&self) -> usize {
        let places: [&[&str]; 5] = [
            &["research", "analyst", "product"],
            &["architect", "lead", "design", "plan"],
            &["develop", "implement", "engineer", "coder", "writer", "builder"],
            &["test", "qa"],
            &["review", "security", "audit", "critic"],
        ];
        let name = self.name.to_lowercase();
        // A test lead tests, and a security architect reviews.
        places.iter().rposition(|words| words.iter().any(|word| name.contains(word))).unwrap_or(2)
    }
}

/// Returns the name in the head of a file, or else that of its folder or of itself.
pub(super) fn named(path: &Path, otherwise: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let given = parts(&text).and_then(|(head, _)| member(head, "name"));
    given.or_else(|| Some(otherwise.file_name()?.to_string_lossy().into_owned()))
}

/// Splits a Markdown file into its head and the rest; `None` if it has no head.
fn parts(text: &str) -> Option<(&str, &str)> {
    text.trim_start_matches('\u{feff}').strip_prefix("---")?.split_once("\n---")
}

/// Returns whether a text has a name that is not part of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let continues =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || "-_".contains(letter));
    let is_whole =
        |at: usize| !continues(text[..at].chars().next_back()) && !continues(text[at + name.len()..].chars().next());
    !name.is_empty() && text.match_indices(name).any(|(at, _)| is_whole(at))
}

/// Returns a member of a head, in one line.
fn member(head: &str, name: &str) -> Option<String> {
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
            let text = head(written);
            let (head, body) = parts(&text).expect("a head");
            assert_eq!(member(head, "description").as_deref(), Some("Designs: all of it"), "{written}");
            assert_eq!(body.trim(), "Body.");
        }
        assert_eq!(parts("no head"), None);
    }

    #[test]
    fn skills_are_named_by_whole_words() {
        assert!(mentions("Use `test`, then review.", "test") && mentions("review", "review"));
        assert!(!mentions("Run the tests of the latest test-suite and pre-test.", "test"));
    }
}

//! Words of the built-in prompt that depend on the dialect, the coding agent or the place.

use baton_protocol::Dialect;
use baton_protocol::wire::same_word;
use baton_protocol::workflow::{COMMON_REASONS, Profile, SCHEMA_DISCOVERY_FAILED};

use super::Briefing;

/// Returns whether a report is the end of a Markdown text.
pub(super) fn is_block(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::MetadataBlock | Dialect::PhaseBlock)
}

/// Returns how a coding agent invokes a skill.
pub(super) fn skills_by(profile: Profile) -> &'static str {
    match profile {
        Profile::Claude => "with the Skill tool",
        Profile::Codex => "by reading the whole SKILL.md of each",
        Profile::Gemini => "with the `activate_skill` tool",
        Profile::Opencode => "with the `skill` tool",
    }
}

/// Returns the members in which a report lists what was changed; empty if its dialect has none.
pub(super) fn changes_in(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::PhaseBlock | Dialect::Native => "`files_modified`",
        Dialect::Task => "`findings`",
        Dialect::Package => "`context.artifacts`",
        Dialect::MetadataBlock | Dialect::Mailbox => "",
    }
}

/// Returns what to do when the work cannot go on.
pub(super) fn stuck(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MetadataBlock | Dialect::PhaseBlock | Dialect::Native => "report `blocked` or `needs_clarification`",
        Dialect::Task => "report `blocked` or decide `CLARIFY`",
        Dialect::Package => "hand it to who can help, or to `human`",
        Dialect::Mailbox => "fail with DEPENDENCY_MISSING",
    }
}

/// Names a file of the attempt: by its path, or, if the path is not known yet, by the variable that will hold it.
pub(super) fn file(briefing: &Briefing<'_>, name: &str, variable: &str) -> String {
    match briefing.attempt_folder {
        "" => format!("the file named by the environment variable {variable}"),
        folder => format!("`{folder}/{name}`"),
    }
}

/// Lists the reasons for being blocked.
pub(super) fn reasons(dialect: Dialect, own: &[String]) -> String {
    let of_phases = (dialect == Dialect::PhaseBlock).then_some(SCHEMA_DISCOVERY_FAILED);
    let mut words: Vec<&str> = COMMON_REASONS.iter().copied().chain(of_phases).collect();
    for own in own {
        if !words.iter().any(|word| same_word(word, own)) {
            words.push(own);
        }
    }
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Writes a word of a command as a person would type it.
pub(super) fn typed(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:=@%+,~".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

//! Skills that are read as files: which paths of a command or a call lead to one.

/// Returns whether a path may be that of a skill: `…/NAME/SKILL.md`, or a file of a library of skills.
pub(super) fn is_skill(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with("/skill.md") || (path.contains("skill") && path.ends_with(".md"))
}

/// Returns the skills that a command of the shell reads. What it writes to is not among them.
pub(super) fn in_command(command: &str) -> Vec<String> {
    let is_border = |letter: char| letter.is_whitespace() || "'\"`\\;|&()<>=".contains(letter);
    let mut found = Vec::new();
    let mut behind = 0;
    for word in command.split(is_border) {
        let start = behind;
        behind += word.len() + command[start + word.len()..].chars().next().map_or(0, char::len_utf8);
        let is_written = command[..start].trim_end_matches([' ', '\'', '"', '\\']).ends_with('>');
        if is_skill(word) && !is_written {
            found.push(word.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skill_is_found_whatever_reads_it() {
        for command in [
            "/bin/bash -lc 'cat .codex/skills/designing/SKILL.md'",
            "sed -n '1,80p' .codex/skills/designing/SKILL.md | head",
            "bash -lc \"cd /a && head -n 20 \\\".codex/skills/designing/SKILL.md\\\"\"",
        ] {
            let found = in_command(command);
            assert_eq!(found.len(), 1, "{command}: {found:?}");
            assert!(found[0].ends_with(".codex/skills/designing/SKILL.md"), "{found:?}");
        }
    }

    #[test]
    fn skill_that_is_written_is_not_read() {
        assert_eq!(in_command("cat > .codex/skills/designing/SKILL.md <<'END'"), [""; 0]);
        assert_eq!(in_command("echo x >>'a/skills/b/SKILL.md'"), [""; 0]);
        assert_eq!(in_command("cat README.md"), [""; 0]);
    }
}

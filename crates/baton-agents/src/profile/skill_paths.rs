//! Skills that are read as files: which paths of a command or a call lead to one.

/// Returns whether a path may be that of a skill: `…/NAME/SKILL.md`, or a file of a library of skills.
pub(super) fn is_skill(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with("/skill.md") || (path.contains("skill") && path.ends_with(".md"))
}

/// Programs that print what a file has.
const READERS: [&str; 14] =
    ["awk", "bat", "batcat", "cat", "head", "less", "more", "nl", "node", "perl", "python", "python3", "sed", "tail"];

/// Programs that run a command of the shell, which stands in one of their words.
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];

/// Words of the shell that stand before a command.
const BEFORE: [&str; 8] = ["!", "command", "do", "else", "exec", "if", "then", "{"];

/// Returns the skills that a command of the shell reads: those that a program which prints files is given. What it writes to,
/// and what it only names, is not among them.
pub fn in_command(command: &str) -> Vec<String> {
    let commands = simple_commands(command);
    let prints = commands.iter().any(|words| reader(words).is_some());
    let mut found = Vec::new();
    for words in &commands {
        let program = words.first().map(String::as_str).unwrap_or_default();
        if SHELLS.contains(&name_of(program)) {
            let inner = words.iter().skip(1).filter(|word| word.contains(' '));
            found.extend(inner.flat_map(|inner| in_command(inner)));
        } else if let Some(arguments) = reader(words) {
            // A script may name a file in the middle of a word.
            let parts = arguments.iter().flat_map(|word| word.split(['\'', '"', '(', ')', ' ', ',']));
            found.extend(parts.filter(|part| is_skill(part)).map(str::to_owned));
        } else if program == "for" && prints {
            found.extend(words.iter().filter(|word| is_skill(word)).cloned());
        }
    }
    found
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns the arguments of a program that prints files.
fn reader(words: &[String]) -> Option<&[String]> {
    let (program, arguments) = words.split_first()?;
    let edits = name_of(program) == "sed" && arguments.iter().any(|word| word.starts_with("-i"));
    (READERS.contains(&name_of(program)) && !edits).then_some(arguments)
}

/// Splits a command of the shell into simple ones and these into words, without what stands before the program and without
/// the files that are written.
fn simple_commands(command: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote, mut is_written, mut begun) = (String::new(), None, false, false);
    let mut letters = command.chars().peekable();
    loop {
        let letter = letters.next();
        match (quote, letter) {
            (Some(open), Some(letter)) if letter == open => quote = None,
            (Some('"') | None, Some('\\')) => word.extend(letters.next()),
            (Some(_), Some(letter)) => word.push(letter),
            (None, Some(letter @ ('\'' | '"'))) => (quote, begun) = (Some(letter), true),
            (None, Some(letter)) if !(letter.is_whitespace() || ";|&()`<>".contains(letter)) => word.push(letter),
            (_, border) => {
                let ended = std::mem::take(&mut word);
                if !ended.is_empty() || begun {
                    let is_before = BEFORE.contains(&&*ended) || ended.contains('=');
                    let current: Option<&mut Vec<String>> = commands.last_mut().filter(|_| !is_written);
                    if let Some(words) = current.filter(|words| !is_before || !words.is_empty()) {
                        words.push(ended);
                    }
                    (is_written, begun) = (false, false);
                }
                match border {
                    None => return commands,
                    Some('>') => is_written = true,
                    // `2>&1` and `>|` go on with the same command.
                    Some('&' | '|') if is_written => {}
                    Some('\n' | ';' | '|' | '&' | '(' | ')' | '`') => commands.push(Vec::new()),
                    Some(_) => {}
                }
            }
        }
    }
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
            "sed -n '1p;80p' '.codex/skills/designing/SKILL.md' 2>&1 | tee /tmp/x",
            "LANG=C cat < .codex/skills/designing/SKILL.md",
            "for f in .codex/skills/designing/SKILL.md; do cat \"$f\"; done",
            "python3 -c \"print(open('.codex/skills/designing/SKILL.md').read())\"",
        ] {
            let found = in_command(command);
            assert_eq!(found.len(), 1, "{command}: {found:?}");
            assert!(found[0].ends_with(".codex/skills/designing/SKILL.md"), "{found:?}");
        }
    }

    #[test]
    fn skill_that_is_only_named_is_not_read() {
        for command in [
            "ls .claude/skills/designing/SKILL.md",
            "grep -l xyz .agents/skills/*/SKILL.md; echo .agents/skills/designing/SKILL.md",
            "/bin/bash -lc 'echo cat .codex/skills/designing/SKILL.md'",
            "test -f a/skills/b/SKILL.md && cat README.md",
            "sed -i s/a/b/ a/skills/b/SKILL.md",
            "for f in a/skills/b/SKILL.md; do echo $f; done",
            "cat <<END\nsee a/skills/b/SKILL.md\nEND",
        ] {
            assert_eq!(in_command(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn skill_that_is_written_is_not_read() {
        assert_eq!(in_command("cat > .codex/skills/designing/SKILL.md <<'END'"), [""; 0]);
        assert_eq!(in_command("echo x >>'a/skills/b/SKILL.md'"), [""; 0]);
        assert_eq!(in_command("cat README.md"), [""; 0]);
    }
}

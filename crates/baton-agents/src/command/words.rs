//! The words of an agent's command.

use std::path::{Path, PathBuf};

use baton_protocol::workflow::{CommandLine, PromptBy};

use crate::beside;

/// Returns the program and its arguments.
pub(super) fn of(command: &CommandLine, folder: &Path, prompt: PromptBy) -> (PathBuf, Vec<String>) {
    match command {
        CommandLine::Shell(text) => {
            let mut arguments = vec!["-c".to_owned(), beside::in_shell(text, folder)];
            if prompt == PromptBy::Argument {
                // The first word after the text is the name of the script; the prompt becomes "$1".
                arguments.push("sh".to_owned());
            }
            (PathBuf::from("sh"), arguments)
        }
        CommandLine::Program(words) => {
            let (program, arguments) =
                words.split_first().map(|(first, rest)| (first.as_str(), rest)).unwrap_or_default();
            (beside::program(program, folder), arguments.to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: CommandLine, prompt: PromptBy) -> Vec<String> {
        let (program, arguments) = of(&command, Path::new("/work flows"), prompt);
        std::iter::once(program.display().to_string()).chain(arguments).collect()
    }

    fn program(words: &[&str]) -> CommandLine {
        CommandLine::Program(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn one_dot_and_two_lead_from_the_workflow_and_any_other_path_from_the_workspace() {
        assert_eq!(words(program(&["./a.sh", "./b"]), PromptBy::Stdin), ["/work flows/a.sh", "./b"]);
        assert_eq!(words(program(&["agents/a.sh"]), PromptBy::Stdin), ["agents/a.sh"]);
        assert_eq!(words(program(&["/bin/sh"]), PromptBy::Stdin), ["/bin/sh"]);
        assert_eq!(words(program(&["python3", "x"]), PromptBy::Stdin), ["python3", "x"]);
    }

    #[test]
    fn shell_finds_the_script_and_the_prompt() {
        let text = |text: &str| CommandLine::Shell(text.to_owned());
        assert_eq!(words(text("./a.sh -x | tee y"), PromptBy::Stdin), ["sh", "-c", "'/work flows'/a.sh -x | tee y"]);
        assert_eq!(words(text("echo \"$1\""), PromptBy::Argument), ["sh", "-c", "echo \"$1\"", "sh"]);
    }
}

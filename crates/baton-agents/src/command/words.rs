//! The words of a command: what begins with `./` lies beside the workflow file, wherever the command works.

use std::path::{Path, PathBuf};

use baton_protocol::workflow::{CommandLine, PromptBy};

/// Returns the program and its arguments.
pub(super) fn of(command: &CommandLine, folder: &Path, prompt: PromptBy) -> (PathBuf, Vec<String>) {
    match command {
        CommandLine::Shell(text) => {
            let mut arguments = vec!["-c".to_owned(), beside_in_shell(text, folder)];
            if prompt == PromptBy::Argument {
                // The first word after the text is the name of the script; the prompt becomes "$1".
                arguments.push("sh".to_owned());
            }
            (PathBuf::from("sh"), arguments)
        }
        CommandLine::Program(words) => {
            let (program, arguments) =
                words.split_first().map(|(first, rest)| (first.as_str(), rest)).unwrap_or_default();
            (beside(program, folder), arguments.to_vec())
        }
    }
}

fn beside(program: &str, folder: &Path) -> PathBuf {
    // A plain name is looked for in PATH; joining an absolute path gives that path.
    if program.contains('/') { folder.join(program) } else { PathBuf::from(program) }
}

/// Does the same for a text that begins with the path of a program.
fn beside_in_shell(text: &str, folder: &Path) -> String {
    let text = text.trim_start();
    if !text.starts_with("./") && !text.starts_with("../") {
        return text.to_owned();
    }
    format!("{}/{text}", baton_host::quoted(&folder.display().to_string()))
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
    fn relative_path_is_beside_the_workflow() {
        assert_eq!(words(program(&["./a.sh", "./b"]), PromptBy::Stdin), ["/work flows/./a.sh", "./b"]);
        assert_eq!(words(program(&["agents/a.sh"]), PromptBy::Stdin), ["/work flows/agents/a.sh"]);
        assert_eq!(words(program(&["/bin/sh"]), PromptBy::Stdin), ["/bin/sh"]);
        assert_eq!(words(program(&["python3", "x"]), PromptBy::Stdin), ["python3", "x"]);
    }

    #[test]
    fn shell_finds_the_script_and_the_prompt() {
        let text = |text: &str| CommandLine::Shell(text.to_owned());
        assert_eq!(words(text("./a.sh -x | tee y"), PromptBy::Stdin), ["sh", "-c", "'/work flows'/./a.sh -x | tee y"]);
        assert_eq!(words(text("echo \"$1\""), PromptBy::Argument), ["sh", "-c", "echo \"$1\"", "sh"]);
    }
}

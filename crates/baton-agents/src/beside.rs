//! Programs beside the workflow file: what begins with `./` or `../` starts there, wherever a command works.

use std::path::{Path, PathBuf};

/// Returns the path of a program that is named with `./` or `../`; every other name stays as it is.
pub(crate) fn program(name: &str, folder: &Path) -> PathBuf {
    if is_beside(name) { folder.join(name.strip_prefix("./").unwrap_or(name)) } else { PathBuf::from(name) }
}

/// Does the same for a text of the shell that begins with the path of a program.
pub(crate) fn in_shell(text: &str, folder: &Path) -> String {
    let text = text.trim_start();
    if !is_beside(text) {
        return text.to_owned();
    }
    format!("{}/{}", baton_host::quoted(&folder.display().to_string()), text.strip_prefix("./").unwrap_or(text))
}

/// Does the same for the words of a command, which may be those of a shell.
pub(crate) fn words(words: &[String], folder: &Path) -> Vec<String> {
    let mut words = words.to_vec();
    match words.as_mut_slice() {
        [shell, option, text] if shell == "sh" && option == "-c" => *text = in_shell(text, folder),
        [name, ..] => *name = program(name, folder).to_string_lossy().into_owned(),
        [] => {}
    }
    words
}

fn is_beside(text: &str) -> bool {
    text.starts_with("./") || text.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dot_and_two_lead_from_the_workflow_for_programs_and_for_the_shell() {
        let found = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
            words(&given, Path::new("/work flows")).join(" ")
        };
        assert_eq!(found(&["./a.sh", "./b"]), "/work flows/a.sh ./b");
        assert_eq!(found(&["../a.sh"]), "/work flows/../a.sh");
        assert_eq!(found(&["sh", "-c", " ./a.sh -x | tee y"]), "sh -c '/work flows'/a.sh -x | tee y");
        assert_eq!(found(&["sh", "-c", "../a.sh"]), "sh -c '/work flows'/../a.sh");
        assert_eq!(found(&["target/debug/a", "x"]), "target/debug/a x");
        assert_eq!(found(&["sh", "-c", "make ./a"]), "sh -c make ./a");
    }
}

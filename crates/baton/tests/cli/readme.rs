//! The tours in the README and in docs: every command that they show is run, and prints what they say.

use std::fs;
use std::path::{Path, PathBuf};

use baton_testbed::account;

use crate::sandbox::{BATON, Sandbox};

/// A fenced block of the README, with its language and the text before it.
struct Shown<'t> {
    before: &'t str,
    language: &'t str,
    content: &'t str,
}

fn blocks(text: &str) -> Vec<Shown<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once("\n```") {
        let fence = "`".repeat(3 + opened.bytes().take_while(|byte| *byte == b'`').count());
        let (language, inside) = opened.trim_start_matches('`').split_once('\n').expect("a block has lines");
        let (content, after) = inside.split_once(&format!("{fence}\n")).expect("a block closes");
        blocks.push(Shown { before, language, content });
        rest = after;
    }
    blocks
}

/// Splits a block into commands and what each prints.
fn commands(content: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in content.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
            (None, None) => panic!("a block begins with a command: {content}"),
        }
    }
    commands
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("the file can be copied")),
        }
    }
}

#[cfg(unix)]
#[test]
fn every_command_of_the_tour_prints_what_the_readme_says() {
    take_the_tour("README.md");
}

#[cfg(unix)]
#[test]
fn the_first_command_of_the_readme_runs_a_workflow_to_its_end() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("the document");
    let first = blocks(&readme).into_iter().find(|block| block.language == "sh").expect("a command").content;
    let arguments = first.trim().strip_prefix("cargo run --release -- ").expect("it runs the program");
    let sandbox = Sandbox::new();
    copy(&repository().join("examples"), &sandbox.path("examples"));
    let run = sandbox.baton(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("is completed: 14 handoffs"), "{run}");
}

#[test]
fn the_graph_in_the_readme_is_what_the_program_draws() {
    let path = repository().join("docs/images/integration.svg");
    let kept = fs::read_to_string(&path).expect("the picture exists");
    let example = repository().join("examples/integration");
    let drawn = Sandbox::new().baton(&["graph", &example.to_string_lossy(), "--format", "svg"]);
    assert_eq!(kept, drawn.stdout, "draw it again: baton graph examples/integration --output {}", path.display());
}

#[cfg(unix)]
#[test]
fn every_command_of_the_tour_prints_what_the_guide_of_the_queue_says() {
    take_the_tour("docs/queue.md");
}

#[cfg(unix)]
#[test]
fn every_command_of_the_tour_prints_what_the_guide_of_checking_says() {
    take_the_tour("docs/checking.md");
}

#[cfg(unix)]
#[test]
fn every_command_of_the_tour_prints_what_the_guide_of_the_folders_says() {
    take_the_tour("docs/folders.md");
}

#[cfg(unix)]
#[test]
fn every_command_of_the_tour_prints_what_the_guide_of_gates_says() {
    take_the_tour("docs/gates.md");
}

#[cfg(unix)]
fn take_the_tour(document: &str) {
    let root = repository();
    let readme = fs::read_to_string(root.join(document)).expect("the document");
    let sandbox = Sandbox::new();
    copy(&root.join("examples"), &sandbox.path("examples"));
    let folder = Path::new(BATON).parent().expect("the program lies in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let mut shown = 0;
    for block in blocks(&readme) {
        if let Some(name) = block.before.rsplit("Save this\nas `").next().filter(|rest| rest.len() < block.before.len())
        {
            sandbox.write(name.split('`').next().expect("a name"), block.content);
        } else if let Some((_, name)) = block.before.rsplit_once("Save this as `") {
            sandbox.write(name.split('`').next().expect("a name"), block.content);
        }
        for (command, printed) in commands(if block.language == "console" { block.content } else { "" }) {
            let output = sandbox
                .command("sh")
                .args(["-c", &format!("{{ {command}\n}} 2>&1")])
                .env("PATH", &path)
                .output()
                .expect("a shell");
            // Whoever runs the tests is called kim in all guides.
            let told = String::from_utf8_lossy(&output.stdout).replace(&format!("by {} (", account()), "by kim (");
            assert_eq!(told, printed, "$ {command}");
            shown += 1;
        }
    }
    assert!(shown > 8, "the tour has {shown} commands");
}

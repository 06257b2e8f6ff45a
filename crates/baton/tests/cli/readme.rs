//! The tours in the README and in docs: every command that they show is run, and prints what they say. `…` stands for what
//! they leave out. In a block with the language `console terminal` somebody sits at a terminal and types after a prompt.

use std::fs;
use std::path::{Path, PathBuf};

use baton_testbed::account;

#[cfg(unix)]
use crate::run_terminal::Person;
use crate::sandbox::{BATON, Sandbox};

/// How the program ends what it prints when it waits for somebody to type.
const PROMPTS: &[&str] = &["Your answer:", "Your decision:", "d for the document]", ">"];

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
    let mut blocks = blocks(&readme).into_iter().filter(|block| block.language == "sh");
    let first = blocks.next().expect("a command").content;
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
#[test]
fn every_command_of_the_tour_prints_what_the_first_workflow_says() {
    take_the_tour("docs/first-workflow.md");
}

/// What a person sees at a terminal stands in a block of the kind `text`.
#[cfg(unix)]
#[test]
fn first_run_of_the_first_workflow_asks_in_place_what_the_page_shows() {
    let page = fs::read_to_string(repository().join("docs/first-workflow.md")).expect("the document");
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.baton(&["init"]).code, Some(0));
    let mut person = Person::starts_at(&sandbox, 100, &["run", "--id", "first", "--color", "never"]);
    let mut screen = person.sees("Your decision:");
    person.types("a");
    screen += &person.sees("A note for the record and the next agent");
    person.types("");
    screen += &person.reads_on();
    assert_eq!(person.leaves(), Some(0), "{screen}");
    let shown = blocks(&page).into_iter().find(|block| block.language == "text").expect("a terminal").content;
    let shown = shown.replace("by kim (", &format!("by {} (", account()));
    for line in shown.lines().filter(|line| !line.starts_with(['$', '>']) && !line.starts_with("Your decision")) {
        let line = line.split('…').next().unwrap_or_default().trim_end();
        assert!(screen.contains(line), "{line}\n\n{screen}");
    }
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
            if !fits(&lines(&printed), &lines(&told)) {
                assert_eq!(told, printed, "$ {command}");
            }
            shown += 1;
        }
        for (command, screen) in commands(if block.language == "console terminal" { block.content } else { "" }) {
            sit_at_a_terminal(&sandbox, &command, &screen);
            shown += 1;
        }
    }
    assert!(shown > 8, "the tour has {shown} commands");
}

/// Types what stands behind the prompts, and sees everything else in its order.
#[cfg(unix)]
fn sit_at_a_terminal(sandbox: &Sandbox, command: &str, screen: &str) {
    let arguments = command.strip_prefix("baton ").expect("it is the program").split(' ');
    let mut started = sandbox.command(BATON);
    started.args(arguments).env("NO_COLOR", "1");
    let mut person = Person::at(started, 80);
    for line in screen.lines() {
        if let Some((prompt, typed)) = typed(line) {
            person.sees(prompt);
            person.types(typed);
        } else {
            // What is left out may begin on the next line of the screen.
            let pieces = line.split('…').map(str::trim_end).filter(|piece| !piece.is_empty());
            pieces.for_each(|piece| drop(person.sees(piece)));
        }
    }
    person.leaves();
}

/// Splits a line that somebody has typed on into the prompt and what was typed.
#[cfg(unix)]
fn typed(line: &str) -> Option<(&'static str, &str)> {
    PROMPTS.iter().find_map(|prompt| {
        let (before, after) = line.split_once(prompt)?;
        (*prompt != ">" || before.is_empty()).then_some((*prompt, after.trim()))
    })
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Returns whether this was printed, where a line `…` stands for any lines.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|left_out| fits(rest, &printed[left_out..])),
        [line, rest @ ..] => match printed {
            [first, others @ ..] => line_fits(line, first) && fits(rest, others),
            [] => false,
        },
    }
}

/// Returns whether this is the line, where `…` stands for any text.
fn line_fits(shown: &str, printed: &str) -> bool {
    let Some((start, mut pieces)) = shown.split_once('…') else {
        return shown == printed;
    };
    let Some(mut rest) = printed.strip_prefix(start) else {
        return false;
    };
    while let Some((piece, more)) = pieces.split_once('…') {
        let Some((_, after)) = rest.split_once(piece) else {
            return false;
        };
        (rest, pieces) = (after, more);
    }
    rest.ends_with(pieces)
}

#[test]
fn what_is_left_out_is_marked_and_nothing_else_may_differ() {
    let printed = ["one", "two is 2", "three"];
    assert!(fits(&["one", "…"], &printed));
    assert!(fits(&["…", "three"], &printed));
    assert!(fits(&["one", "two …", "three", "…"], &printed));
    assert!(!fits(&["one", "three"], &printed));
    assert!(!fits(&["one", "…", "two"], &printed));
    assert!(line_fits("a … c … e", "a b c d e"));
    assert!(!line_fits("a … c … f", "a b c d e"));
    assert!(!line_fits("a …", "b"));
}

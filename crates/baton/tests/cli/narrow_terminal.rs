//! Lists on a narrow terminal: every line fits, and what does not is cut. In a pipe nothing is cut.

use unicode_width::UnicodeWidthStr as _;

use crate::run_letter::with_letter;
use crate::run_terminal::Person;
use crate::sandbox::Sandbox;

const RUN: &str = "letter-to-the-city-council-2026";

fn waiting() -> Sandbox {
    let sandbox = with_letter();
    let run = sandbox.baton(&["run", "flow", "--workspace", "desk", "--id", RUN, "--no-input"]);
    assert_eq!(run.code, Some(3), "{run}");
    sandbox
}

/// Returns the lines as they stand on a terminal, without colour.
fn lines(sandbox: &Sandbox, columns: u16, arguments: &[&str]) -> Vec<String> {
    let mut person = Person::starts_at(sandbox, columns, &[arguments, &["--color", "never"]].concat());
    let text = person.reads_on();
    assert_eq!(person.leaves(), Some(0), "{text}");
    text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

#[test]
fn lists_fit_into_a_narrow_terminal() {
    let sandbox = waiting();
    let (work, gate) = (format!("{RUN}.write.1"), format!("{RUN}.release.1"));
    let shows = [["show", RUN], ["show", &work], ["show", &gate]];
    for command in [&["runs"][..], &["inbox"], &["log", RUN], &["list"], &shows[0], &shows[1], &shows[2]] {
        for columns in [60, 80, 120] {
            let lines = lines(&sandbox, columns, command);
            assert!(lines.len() > 1, "{command:?}: {lines:?}");
            // Commands, paths and digests are copied, and never cut.
            let copied = ["baton ", "/desk", ".baton/runs/", "digest "];
            let is_copied = |line: &str| copied.iter().any(|part| line.contains(part));
            for line in lines.iter().filter(|line| !is_copied(line)) {
                assert!(line.width() <= usize::from(columns), "{command:?} at {columns}: {line}\n{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn narrow_list_of_runs_still_says_who_is_waited_for() {
    let sandbox = waiting();
    let wide = lines(&sandbox, 100, &["runs"]);
    assert!(wide[1].contains("  waits for a person: release.1  "), "{wide:?}");
    let narrow = lines(&sandbox, 60, &["runs"]);
    assert!(narrow[1].starts_with(&format!("{RUN}  waits for a person: rel")), "{narrow:?}");
}

#[test]
fn history_of_a_handoff_is_wrapped_and_not_cut() {
    let sandbox = waiting();
    let id = format!("{RUN}.write.1");
    let piped = sandbox.baton(&["show", &id]).stdout;
    let refuted = piped.lines().find_map(|line| line.split_once("refuted: ")).expect("it was refuted once").1;
    for columns in [60, 80, 120] {
        let lines = lines(&sandbox, columns, &["show", &id]);
        let whole = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        assert!(whole.contains(refuted), "{columns}: {refuted}\n{}", lines.join("\n"));
    }
}

#[test]
fn what_goes_on_in_a_run_is_wrapped_at_its_words() {
    let sandbox = Sandbox::new();
    let phase = "everything-that-belongs-to-the-release";
    sandbox
        .folder("desk")
        .write("flow.yaml", format!("name: year\nphases: [{{id: {phase}, gate: {{items: [All of it]}}}}]\n"));
    let run = sandbox.baton(&["run", "flow.yaml", "--workspace", "desk", "--id", "year-1", "--no-input"]);
    assert_eq!(run.code, Some(3), "{run}");
    for columns in [60, 80, 120] {
        let lines = lines(&sandbox, columns, &["show", "year-1"]);
        let begin = lines.iter().position(|line| line == "running").expect("something is running");
        let running: Vec<&String> = lines[begin + 1..].iter().take_while(|line| !line.is_empty()).collect();
        assert!(running.iter().all(|line| line.width() <= usize::from(columns)), "{columns}: {running:?}");
        let words: Vec<&str> = running.iter().flat_map(|line| line.split_whitespace()).collect();
        assert!(words.join(" ").starts_with(&format!("{phase} a person must decide (")), "{running:?}");
    }
}

#[test]
fn events_of_a_handoff_count_what_was_verified() {
    let sandbox = waiting();
    let shown = sandbox.baton(&["show", &format!("{RUN}.write.1")]).stdout;
    let verified = shown.lines().rfind(|line| line.contains("  verified  ")).unwrap_or_else(|| panic!("{shown}"));
    let (_, counts) = verified.split_once("  verified  ").expect("it is there");
    assert!(counts.trim().starts_with(|first: char| first.is_ascii_digit()), "{verified}");
}

#[test]
fn what_is_piped_is_never_cut() {
    let sandbox = waiting();
    let runs = sandbox.baton(&["runs"]).stdout;
    assert!(runs.contains("waits for a person: release.1  release  "), "{runs}");
    let log = sandbox.baton(&["log", RUN]).stdout;
    assert!(!log.contains('…'), "{log}");
}

#[test]
fn run_that_somebody_drives_says_who_is_waited_for() {
    let sandbox = with_letter();
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", RUN]);
    person.sees("Your decision:");
    let runs = sandbox.baton(&["runs"]).stdout;
    assert!(runs.contains("waits for a person: release.1; driven by "), "{runs}");
    let json = sandbox.baton(&["runs", "--json"]).json();
    assert_eq!(json["runs"][0]["state"], "driven", "{json}");
    assert_eq!(json["runs"][0]["waiting"][0]["id"], format!("{RUN}.release.1"), "{json}");
    person.types("later");
    assert_eq!(person.leaves(), Some(3));
}

#[test]
fn question_fits_into_a_narrow_terminal() {
    let sandbox = with_letter();
    let arguments = ["run", "flow", "--workspace", "desk", "--id", RUN, "--color", "never"];
    let mut person = Person::starts_at(&sandbox, 60, &arguments);
    let screen = person.sees("Your decision:");
    let (_, question) = screen.rsplit_once("\nrelease (").unwrap_or_else(|| panic!("{screen}"));
    // A path has no spaces to break at.
    let lines = question.lines().skip(1).map(|line| line.trim_end_matches('\r'));
    for line in lines.filter(|line| !line.contains(".baton/runs/")) {
        assert!(line.width() <= 60, "{line}\n\n{question}");
    }
    person.types("l");
    person.leaves();
}

#[test]
fn log_is_wrapped_and_says_why_the_run_went_back() {
    let sandbox = waiting();
    let piped = sandbox.baton(&["log", RUN]).stdout;
    let why = piped.lines().find_map(|line| line.split_once("routed       ")).expect("it went back once").1;
    for columns in [60, 80] {
        let lines = lines(&sandbox, columns, &["log", RUN]);
        let whole = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        assert!(whole.contains(why), "{columns}: {why}\n{}", lines.join("\n"));
    }
}

#[test]
fn queues_simulations_and_check_ups_fit_into_a_narrow_terminal() {
    let sandbox = waiting();
    for command in [&["queue"][..], &["run", "flow", "--simulate"], &["doctor"]] {
        for columns in [60, 80] {
            let lines = lines(&sandbox, columns, command);
            // Only a check-up breaks paths: nobody pastes it.
            let fits = |line: &&String| !line.contains('/') || command[0] == "doctor";
            for line in lines.iter().filter(fits) {
                assert!(line.width() <= usize::from(columns), "{command:?} at {columns}: {line}\n{}", lines.join("\n"));
            }
        }
    }
}

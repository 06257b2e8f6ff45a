//! What `-h` shows, and the names that people try first.

use crate::documents::REPORT;
use crate::sandbox::Sandbox;

#[test]
fn only_what_belongs_to_the_store_stands_under_its_heading() {
    let sandbox = Sandbox::new();
    for command in ["answer", "approve", "reject", "ask", "worker", "run", "send", "inbox", "graph"] {
        let help = sandbox.baton(&[command, "-h"]).stdout;
        let (_, rest) = help.split_once("\nStore:\n").unwrap_or_else(|| panic!("{command} has a store:\n{help}"));
        let section = rest.split_once("\n\n").map_or(rest, |(section, _)| section);
        let is_option =
            |line: &&str| line.trim_start().starts_with(['-', '<', '[']) && !line.starts_with("           ");
        let options: Vec<&str> =
            section.lines().filter(is_option).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(options, ["--store", "--config", "--token-file"], "{command}:\n{help}");
    }
}

#[test]
fn usual_names_of_other_tools_do_what_is_meant() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    let checked = sandbox.baton(&["check", "report.json"]).stdout;
    for name in ["validate", "lint"] {
        assert_eq!(sandbox.baton(&[name, "report.json"]).stdout, checked, "{name}");
    }
    let (runs, status) = (sandbox.baton(&["runs"]), sandbox.baton(&["status"]));
    assert_eq!((runs.stdout, runs.stderr, runs.code), (status.stdout, status.stderr, status.code));
}

#[test]
fn what_fails_only_because_of_strictness_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("warned.json", REPORT.replacen('{', "{\"mood\": \"good\",", 1));
    let strict = sandbox.baton(&["check", "--strict", "warned.json"]);
    assert!(strict.stdout.contains("1 warning (errors with --strict)"), "{strict}");
    assert!(!sandbox.baton(&["check", "warned.json"]).stdout.contains("--strict"));
}

#[test]
fn mistyped_command_gets_the_closest_and_colour_stands_last() {
    let run = Sandbox::new().baton(&["rn"]);
    assert!(run.stderr.contains("a similar subcommand exists: 'run'\n"), "{run}");
    let help = Sandbox::new().baton(&["run", "--help"]).stdout;
    let (options, color) = (help.find("--json").expect("an option"), help.find("--color").expect("an option"));
    assert!(options < color && !help.contains("Possible values:\n          - auto"), "{help}");
}

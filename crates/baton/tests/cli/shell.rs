//! The program in a shell: help, completions, colour, pipes.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::documents::{BROKEN_BLOCK, REPORT};
use crate::sandbox::{BATON, Sandbox};

#[test]
fn help_exits_with_success_and_has_an_example() {
    let sandbox = Sandbox::new();
    for command in [
        "check",
        "explain",
        "convert",
        "schema",
        "workflow",
        "graph",
        "run",
        "resume",
        "runs",
        "log",
        "route",
        "completions",
    ] {
        let run = sandbox.baton(&[command, "--help"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
        let example = format!("  baton {command} ");
        assert!(run.stdout.contains("Example") && run.stdout.contains(&example), "{run}");
        let all = sandbox.baton(&["--help"]).stdout;
        assert!(all.contains(&format!("\n  {command} ")), "{all}");
    }
    assert_eq!(sandbox.baton(&["help", "check"]).code, Some(0));
    assert!(sandbox.baton(&["--help"]).stdout.contains("Exit codes: 0 done"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let run = Sandbox::new().baton(&["--version"]);
    assert_eq!(run.stdout, format!("baton {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_manual_of_the_command_line_has_every_command() {
    let run = Sandbox::new().baton(&["help-markdown"]);
    let titles: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with('#')).collect();
    assert_snapshot!(titles.join("\n"), @"
    # Command line
    ## baton
    ## baton init
    ## baton run
    ## baton resume
    ## baton retry
    ## baton runs
    ## baton log
    ## baton check
    ## baton explain
    ## baton convert
    ## baton schema
    ## baton workflow
    ## baton workflow check
    ## baton graph
    ## baton route
    ## baton send
    ## baton claim
    ## baton ack
    ## baton heartbeat
    ## baton report
    ## baton fail
    ## baton wait
    ## baton cancel
    ## baton requeue
    ## baton list
    ## baton show
    ## baton queue
    ## baton queue list
    ## baton queue pause
    ## baton queue resume
    ## baton queue limit
    ## baton inbox
    ## baton approve
    ## baton reject
    ## baton answer
    ## baton ask
    ## baton worker
    ## baton serve
    ## baton token
    ## baton token create
    ## baton token list
    ## baton token revoke
    ## baton audit
    ## baton audit verify
    ## baton audit export
    ## baton audit anchor
    ## baton prune
    ## baton store
    ## baton store list
    ## baton store move
    ## baton store remove
    ## baton doctor
    ## baton dir
    ## baton dir init
    ## baton dir create
    ## baton dir claim
    ## baton dir complete
    ## baton dir fail
    ## baton dir wait
    ## baton dir sweep
    ## baton dir status
    ## baton hook
    ## baton completions
    ## baton man-pages
    ");
}

#[test]
fn every_shell_gets_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = sandbox.baton(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["check", "explain", "convert", "schema", "skip-unknown"] {
            assert!(run.stdout.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK);
    let colored = |arguments: &[&str]| {
        let run = sandbox.baton(arguments);
        (run.stdout.contains('\u{1b}'), run.stderr.contains('\u{1b}'))
    };
    assert_eq!(colored(&["check", "review.md", "none.json"]), (false, false));
    assert_eq!(colored(&["check", "--color", "never", "review.md", "none.json"]), (false, false));
    assert_eq!(colored(&["check", "--color", "always", "review.md", "none.json"]), (true, true));
    assert_eq!(colored(&["--color", "always", "check", "review.md"]), (true, false));
    assert_eq!(colored(&["check", "--color", "always", "--json", "review.md"]), (false, false));
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK);
    let colored = sandbox.baton(&["check", "--color", "always", "review.md"]).stdout;
    let mut plain = String::new();
    for (index, part) in colored.split("\u{1b}[").enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').expect("a colour").1 });
    }
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&plain), lines(&sandbox.baton(&["check", "review.md"]).stdout));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(BATON)
        .args(["explain", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        sandbox.command(BATON).args(["check", "report.json"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write to stdout: "));
}

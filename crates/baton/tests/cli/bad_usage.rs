//! Wrong usage: one clear error on standard error, nothing on standard output, exit 2.

use insta::assert_snapshot;

use crate::documents::{ACKNOWLEDGMENT, BLOCK, REPORT};
use crate::sandbox::{Run, Sandbox};

/// Runs something that is wrong usage.
fn refused(arguments: &[&str]) -> Run {
    let run = Sandbox::new().baton(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run}");
    run
}

#[test]
fn unknown_commands_and_options() {
    assert_snapshot!(refused(&["chekc"]), @"
    --- stderr
    error: unrecognized subcommand 'chekc'

      tip: a similar subcommand exists: 'check'

    Usage: baton [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["check", "--strikt", "a.json"]), @"
    --- stderr
    error: unexpected argument '--strikt' found

      tip: a similar argument exists: '--strict'

    Usage: baton check --strict [FILE]...

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["check"]), @"
    --- stderr
    error: the following required arguments were not provided:
      <FILE>...

    Usage: baton check <FILE>...

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["check", "--format", "xml", "a.json"]), @"
    --- stderr
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: human, json, sarif, github]

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["check", "--dialect", "taks", "a.json"]), @"
    --- stderr
    error: invalid value 'taks' for '--dialect <DIALECT>': did you mean `task`? known: metadata-block, phase-block, package, task, mailbox, native

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["check", "--json", "--format", "sarif", "a.json"]), @"
    --- stderr
    error: the argument '--json' cannot be used with '--format <FORMAT>'

    Usage: baton check --json <FILE>...

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["convert", "a.json"]), @"
    --- stderr
    error: the following required arguments were not provided:
      --to <DIALECT>

    Usage: baton convert --to <DIALECT> <FILE>

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(refused(&["completions", "tcsh"]), @"
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    --- exit 2
    ");
}

#[test]
fn no_command_prints_the_help_and_is_wrong() {
    let run = Sandbox::new().baton(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert!(run.stderr.contains("Usage: baton"), "{run}");
}

#[test]
fn unknown_names_have_a_suggestion() {
    assert_snapshot!(refused(&["explain", "vague-sumary"]), @"
    --- stderr
    error: unknown rule `vague-sumary`
    hint: did you mean `vague-summary`?
    --- exit 2
    ");
    assert_snapshot!(refused(&["explain", "nonsense"]), @"
    --- stderr
    error: unknown rule `nonsense`
    hint: `baton explain` lists them all
    --- exit 2
    ");
    assert_snapshot!(refused(&["schema", "task.reprot"]), @"
    --- stderr
    error: unknown schema `task.reprot`
    hint: did you mean `task.report`?
    --- exit 2
    ");
    assert_snapshot!(refused(&["schema", "nonsense"]), @"
    --- stderr
    error: unknown schema `nonsense`
    hint: `baton schema` lists them all
    --- exit 2
    ");
}

#[test]
fn files_that_do_not_exist() {
    let run = Sandbox::new().baton(&["check", "none.json"]);
    assert_snapshot!(run, @"
    --- stderr
    error: none.json: there is no such file or folder
    --- exit 2
    ");
    assert_snapshot!(refused(&["convert", "--to", "native", "none.json"]), @"
    --- stderr
    error: none.json: there is no such file or folder
    --- exit 2
    ");
    assert_snapshot!(refused(&["check", "--config", "none.toml", "a.json"]), @"
    --- stderr
    error: cannot read none.toml: No such file or directory (os error 2)
    --- exit 2
    ");
}

#[test]
fn what_cannot_be_read_is_not_converted_and_not_changed() {
    let sandbox = Sandbox::new();
    let cut = &REPORT[..REPORT.len() / 2];
    sandbox.write("cut.json", cut).write("cut.md", BLOCK.trim_end().trim_end_matches('`'));
    assert_snapshot!(sandbox.baton(&["convert", "--to", "native", "cut.json"]), @"
    --- stderr
    error: cut.json:12:37: the JSON ends in the middle: it was cut off
    hint: ask the agent for its whole output; a half handoff is not read
    --- exit 1
    ");
    assert_snapshot!(sandbox.baton(&["convert", "--to", "package", "--json", "cut.md"]), @"
    --- stderr
    error: cut.md:5:1: the text ends inside a code block that never closes: the output was cut off
    hint: ask the agent for its whole output; a half handoff is not read
    --- exit 1
    ");
    assert_eq!(sandbox.read("cut.json"), cut);
    assert_eq!(std::fs::read_dir(sandbox.path(".")).unwrap().count(), 2);
}

#[test]
fn what_the_other_dialect_has_not_is_not_converted() {
    let sandbox = Sandbox::new();
    sandbox.write("acknowledgment.yaml", ACKNOWLEDGMENT);
    assert_snapshot!(sandbox.baton(&["convert", "--to", "task", "acknowledgment.yaml"]), @"
    --- stderr
    error: acknowledgment.yaml: the dialect task has no acknowledgment or equivalent
    --- exit 1
    ");
}

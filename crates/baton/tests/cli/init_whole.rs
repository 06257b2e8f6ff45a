//! `baton init` does everything or nothing, and what it writes is accepted by the rest of the program.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::init::{SETTINGS, everything, init, project};
use crate::sandbox::{BATON, Run, Sandbox, run};

/// Runs a program as an owner whom permissions bind, which those of root would not.
const POWERLESS: [&str; 3] = ["--bounding-set=-all", "--inh-caps=-all", "--"];

/// Sets a project up without special powers.
fn powerless(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(if rustix::process::geteuid().is_root() { "setpriv" } else { BATON });
    if rustix::process::geteuid().is_root() {
        command.args(POWERLESS).arg(BATON);
    }
    command.args(["init"]).args(arguments);
    run(command, b"")
}

fn set_mode(sandbox: &Sandbox, path: &str, mode: u32) {
    fs::set_permissions(sandbox.path(path), fs::Permissions::from_mode(mode)).expect("ours");
}

/// Asserts that nothing was done, nothing was said to be done, and the cause was named.
fn assert_refused(run: &Run, told: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert!(run.stderr.contains(told) && run.stderr.contains("nothing was changed"), "{run}");
}

#[test]
fn file_in_the_place_of_a_folder_changes_nothing() {
    for place in [".baton", ".codex", ".opencode"] {
        let sandbox = project();
        sandbox.write(place, "a file");
        let before = everything(&sandbox);
        let run = sandbox.baton(&["init", "--claude-code", "--codex", "--opencode"]);
        assert_refused(&run, &format!("{place} is not a folder"));
        assert_eq!(everything(&sandbox), before);
    }
}

#[test]
fn folder_or_pipe_in_the_place_of_a_file_changes_nothing() {
    for place in [SETTINGS, "baton.toml", "workflow.yaml", ".codex/hooks.json"] {
        let sandbox = project();
        sandbox.folder(place);
        let before = everything(&sandbox);
        assert_refused(&sandbox.baton(&["init", "--claude-code", "--codex"]), &format!("{place} is not a file"));
        assert_eq!(everything(&sandbox), before);
        fs::remove_dir(sandbox.path(place)).expect("removed");
        let made = sandbox.program_with_input("mkfifo", &[place], b"").expect("mkfifo is everywhere");
        assert_eq!(made.code, Some(0), "{made}");
        assert_refused(&sandbox.baton(&["init", "--claude-code", "--codex"]), &format!("{place} is not a file"));
    }
}

#[test]
fn project_that_cannot_be_written_to_is_not_half_set_up() {
    let sandbox = project();
    sandbox.write(SETTINGS, "{}\n").write("baton.toml", "[rules]\n");
    let before = everything(&sandbox);
    // The folder of the first file can be written to, that of the second cannot.
    set_mode(&sandbox, "", 0o555);
    assert_refused(&powerless(&sandbox, &["--claude-code"]), "cannot write");
    let run = powerless(&sandbox, &["--claude-code", "--dry-run"]);
    assert_refused(&run, "cannot write");
    set_mode(&sandbox, "", 0o755);
    set_mode(&sandbox, SETTINGS, 0o444);
    assert_refused(&powerless(&sandbox, &["--claude-code"]), "settings.json: Permission denied");
    set_mode(&sandbox, SETTINGS, 0o644);
    assert_eq!(everything(&sandbox), before);
    // Undoing is all or nothing, too.
    init(&sandbox, &["--claude-code"]);
    let set_up = everything(&sandbox);
    set_mode(&sandbox, ".claude", 0o555);
    assert_refused(&powerless(&sandbox, &["--undo"]), "cannot write");
    set_mode(&sandbox, ".claude", 0o755);
    assert_eq!(everything(&sandbox), set_up);
}

#[test]
fn what_was_written_is_taken_back_when_the_disk_is_full() {
    let sandbox = project();
    sandbox.write(SETTINGS, "{}\n");
    let before = everything(&sandbox);
    // Nothing larger than this can be written: the record and the configuration fit, the hooks of Claude Code do not.
    let mut command = sandbox.command("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" init --claude-code", BATON]);
    let run = run(command, b"");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert!(
        run.stderr.contains("settings.json: File too large") && run.stderr.contains("all changes were undone"),
        "{run}"
    );
    assert_eq!(everything(&sandbox), before);
    assert!(!sandbox.path(".baton").exists());
}

#[test]
fn link_that_leads_nowhere_is_refused_and_stays() {
    for place in ["baton.toml", "workflow.yaml", SETTINGS, ".codex"] {
        let sandbox = project();
        symlink("nowhere", sandbox.path(place)).expect("a link");
        let run = sandbox.baton(&["init", "--claude-code", "--codex"]);
        assert_refused(&run, &format!("{place} is a link to nowhere, which does not exist"));
        assert_eq!(fs::read_link(sandbox.path(place)).expect("still a link"), std::path::Path::new("nowhere"));
        assert!(!sandbox.path(".baton").exists());
    }
}

#[test]
fn link_that_leads_out_of_the_project_is_refused_and_nothing_is_written_behind_it() {
    let cases = [
        ("agents", "", &["init"][..]),
        ("baton.toml", "baton.toml", &["init", "--claude-code"][..]),
        (".gitignore", ".gitignore", &["init"][..]),
        (".claude", "", &["init", "--claude-code"][..]),
        (".baton", "", &["init"][..]),
    ];
    for (place, target, arguments) in cases {
        let sandbox = Sandbox::new();
        sandbox.folder("project").folder("elsewhere");
        if !target.is_empty() {
            sandbox.write(&format!("elsewhere/{target}"), "");
        }
        symlink(format!("../elsewhere/{target}"), sandbox.path(&format!("project/{place}"))).expect("a link");
        let before = everything(&sandbox);
        let run = sandbox.baton(&[arguments, &["project"][..]].concat());
        assert_refused(&run, "leads out of the project, to ");
        assert_eq!(everything(&sandbox), before, "{place}");
    }
}

#[test]
fn file_behind_a_link_is_changed_and_the_link_stays() {
    let sandbox = project();
    sandbox.write("shared/settings.json", "{\"model\": \"opus\"}\n");
    symlink("../shared/settings.json", sandbox.path(SETTINGS)).expect("a link");
    let before = everything(&sandbox);
    init(&sandbox, &["--claude-code"]);
    assert!(sandbox.read("shared/settings.json").contains("baton hook claude-code"));
    assert!(sandbox.path(SETTINGS).is_symlink());
    init(&sandbox, &["--undo"]);
    assert_eq!(everything(&sandbox), before);
    assert!(sandbox.path(SETTINGS).is_symlink());
}

#[test]
fn agents_whose_names_a_workflow_refuses_are_left_out_with_a_note() {
    let sandbox = project();
    for (file, name) in [("h", "human"), ("o", "orchestrator"), ("s", "stop"), ("two", "architect"), ("p", "../up")] {
        sandbox.write(&format!(".claude/agents/{file}.md"), format!("---\nname: {name}\n---\nWork.\n"));
    }
    sandbox.write(".claude/agents/t.md", "---\nname: tester\ndescription: Tests {{ nothing.known }} of it\n---\n");
    let run = init(&sandbox, &["--claude-code"]);
    for name in ["human", "orchestrator", "stop", "architect", "../up"] {
        assert!(run.stderr.contains(&format!("note: the agent `{name}` is left out: ")), "{name}: {run}");
        let count = sandbox.read("baton.toml").matches(&format!("[hooks.agents.{name}]")).count();
        assert_eq!(count, usize::from(name == "architect"), "{name}");
    }
    assert!(sandbox.read("baton.toml").contains("[hooks.agents.tester]"));
    let checked = sandbox.baton(&["workflow", "check", "workflow.yaml"]);
    assert_eq!(checked.code, Some(0), "{checked}");
}

#[test]
fn workflow_is_accepted_whatever_the_folder_is_called() {
    for name in ["my project: 1 #2", "-", "日本", "true", "{{ x }}"] {
        let sandbox = Sandbox::new();
        sandbox.write(&format!("{name}/.claude/agents/developer.md"), "Work.\n");
        let run = sandbox.baton_in(name, &["init", "--claude-code"]);
        assert_eq!(run.code, Some(0), "{run}");
        let checked = sandbox.baton_in(name, &["workflow", "check", "workflow.yaml"]);
        assert_eq!(checked.code, Some(0), "{name}: {checked}");
    }
}

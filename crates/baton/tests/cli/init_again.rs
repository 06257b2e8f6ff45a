//! `baton init` a second time, and `--undo` in every situation: whatever was found first, and whatever was lost since.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::init::{SETTINGS, everything, init, project, settings};
use crate::sandbox::Sandbox;

const PROGRAMS: [&str; 4] = ["--claude-code", "--codex", "--gemini", "--opencode"];

/// Returns every order of these programs.
fn orders(programs: &[&'static str]) -> Vec<Vec<&'static str>> {
    if programs.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: &&'static str| -> Vec<Vec<&'static str>> {
        let rest: Vec<&str> = programs.iter().copied().filter(|program| program != first).collect();
        orders(&rest).into_iter().map(|order| [vec![*first], order].concat()).collect()
    };
    programs.iter().flat_map(with_first).collect()
}

/// Returns all folders, by path.
fn folders(sandbox: &Sandbox) -> Vec<String> {
    let found = sandbox.program_with_input("find", &[".", "-type", "d"], b"").expect("find is everywhere");
    let mut folders: Vec<String> = found.stdout.lines().map(str::to_owned).collect();
    folders.sort_unstable();
    folders
}

#[test]
fn set_up_of_a_project_without_agents_again_changes_nothing() {
    let sandbox = Sandbox::new();
    init(&sandbox, &["--claude-code"]);
    let before = everything(&sandbox);
    for _ in 0..2 {
        let run = init(&sandbox, &["--claude-code"]);
        assert!(run.stdout.lines().all(|line| line.starts_with("unchanged ")), "{run}");
        assert_eq!(everything(&sandbox), before);
    }
    init(&sandbox, &["--claude-code", "--undo"]);
    assert_eq!((everything(&sandbox), folders(&sandbox)), (Vec::new(), vec![".".to_owned()]));
}

#[test]
fn programs_are_set_up_and_taken_out_in_any_order() {
    for with_agents in [true, false] {
        for order in orders(&PROGRAMS) {
            let sandbox = if with_agents { project() } else { Sandbox::new() };
            let before = (everything(&sandbox), folders(&sandbox));
            for program in &order {
                init(&sandbox, &[program]);
            }
            assert_eq!(sandbox.read("baton.toml").matches(">>> baton init").count(), 1, "{order:?}");
            let after = everything(&sandbox);
            init(&sandbox, &order);
            assert_eq!(everything(&sandbox), after, "{order:?}");
            for program in &order {
                init(&sandbox, &[program, "--undo"]);
            }
            assert_eq!((everything(&sandbox), folders(&sandbox)), before, "{order:?}");
        }
    }
}

#[test]
fn undo_without_a_program_takes_out_all_of_them() {
    let sandbox = project();
    let before = everything(&sandbox);
    init(&sandbox, &["--claude-code"]);
    init(&sandbox, &["--opencode", "--gemini"]);
    init(&sandbox, &["--undo"]);
    assert_eq!(everything(&sandbox), before);
    let run = init(&sandbox, &["--undo"]);
    assert!(run.stdout.is_empty() && run.stderr.contains("nothing to remove"), "{run}");
}

#[test]
fn nothing_stays_when_the_record_of_a_set_up_is_lost() {
    for with_agents in [true, false] {
        let sandbox = if with_agents { project() } else { Sandbox::new() };
        let before = (everything(&sandbox), folders(&sandbox));
        init(&sandbox, &["--claude-code", "--codex"]);
        fs::remove_dir_all(sandbox.path(".baton")).expect("removed");
        // Whoever sets up more afterwards does not know what was there at first either.
        init(&sandbox, &["--gemini"]);
        init(&sandbox, &["--undo"]);
        assert_eq!((everything(&sandbox), folders(&sandbox)), before);
        init(&sandbox, &PROGRAMS);
        fs::remove_dir_all(sandbox.path(".baton")).expect("removed");
        init(&sandbox, &["--undo"]);
        assert_eq!((everything(&sandbox), folders(&sandbox)), before);
    }
}

#[test]
fn parts_that_an_older_version_added_several_times_are_all_taken_out() {
    let sandbox = Sandbox::new();
    init(&sandbox, &["--claude-code"]);
    let part = sandbox.read("baton.toml");
    sandbox.write("baton.toml", format!("[rules]\nvague-context = \"error\"\n\n{part}\n{part}\n{part}"));
    init(&sandbox, &["--claude-code"]);
    init(&sandbox, &["--undo"]);
    assert_eq!(sandbox.read("baton.toml"), "[rules]\nvague-context = \"error\"\n");
}

#[test]
fn configuration_without_a_last_line_end_is_what_it_was_after_undo() {
    for text in ["[rules]", "[rules]\n", "# mine\n\n\n", ""] {
        let sandbox = Sandbox::new();
        sandbox.write("baton.toml", text);
        init(&sandbox, &["--codex"]);
        init(&sandbox, &["--codex", "--undo"]);
        assert_eq!(sandbox.read("baton.toml"), text);
    }
}

#[test]
fn hooks_in_any_form_of_toml_are_somebodys_own() {
    for own in ["hooks.main.dialect = \"native\"\n", "hooks = { main = {} }\n", "  [ hooks . main ]\n"] {
        let sandbox = project();
        sandbox.write("baton.toml", own);
        init(&sandbox, &["--claude-code"]);
        assert_eq!(sandbox.read("baton.toml"), own);
    }
}

#[test]
fn what_was_written_in_between_stays_and_what_was_added_goes() {
    let sandbox = project();
    sandbox.write(SETTINGS, "{\"model\": \"opus\"}\n");
    init(&sandbox, &["--claude-code"]);
    let mut own = settings(&sandbox, SETTINGS);
    own["model"] = json!("sonnet");
    sandbox.write(SETTINGS, own.to_string());
    sandbox.write("baton.toml", format!("{}\n[rules]\n", sandbox.read("baton.toml")));
    init(&sandbox, &["--undo"]);
    assert_eq!(settings(&sandbox, SETTINGS), json!({ "model": "sonnet" }));
    assert_eq!(sandbox.read("baton.toml").trim(), "[rules]");
}

#[test]
fn folders_and_permissions_that_were_there_stay() {
    let sandbox = Sandbox::new();
    sandbox.folder(".codex").write(SETTINGS, "{\"env\": {\"TOKEN\": \"secret\"}}\n");
    let mode = |path: &str| fs::metadata(sandbox.path(path)).expect("there").permissions().mode() & 0o777;
    fs::set_permissions(sandbox.path(SETTINGS), fs::Permissions::from_mode(0o600)).expect("ours");
    init(&sandbox, &["--claude-code", "--codex"]);
    assert_eq!((mode(SETTINGS), mode(".baton/init.json")), (0o600, 0o600));
    init(&sandbox, &["--undo"]);
    assert_eq!(
        (mode(SETTINGS), folders(&sandbox)),
        (0o600, [".", "./.claude", "./.codex"].map(str::to_owned).to_vec())
    );
}

#[test]
fn plugin_of_an_older_version_is_replaced_and_one_of_somebody_else_is_not() {
    let sandbox = Sandbox::new();
    let plugin = ".opencode/plugin/baton.js";
    sandbox.write(plugin, "// Made by `baton init --opencode`; an older one.\n");
    init(&sandbox, &["--opencode"]);
    assert!(sandbox.read(plugin).contains("export const Baton"));
    init(&sandbox, &["--undo"]);
    sandbox.write(plugin, "export const Mine = 1\n");
    let run = sandbox.baton(&["init", "--opencode"]);
    assert!(run.code == Some(2) && run.stderr.contains("was not made by `baton init`"), "{run}");
    assert_eq!(everything(&sandbox).len(), 1);
}

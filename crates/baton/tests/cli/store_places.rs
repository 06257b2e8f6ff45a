//! Where a project keeps its store: out of its agents' reach, found from its folders and workspaces, whatever they are
//! called.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use baton_testbed::state_home;

use crate::documents::REQUEST;
use crate::queue_life::{done, with_one_sent};
use crate::run_letter::{run_letter, with_letter};
use crate::sandbox::{BATON, Run, Sandbox, run};

pub(crate) const SEND: [&str; 4] = ["send", "--to", "finder", "request.json"];

/// Makes a repository in a folder.
pub(crate) fn repository(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let mut git = Command::new("git");
    git.args(["init", "--quiet"]).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.status().expect("git is there").success());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn lists(run: &Run) -> bool {
    run.code == Some(0) && run.stdout.contains("csv-07.research")
}

#[test]
fn store_lies_in_a_folder_of_the_project_that_only_the_user_can_look_into() {
    let sandbox = with_one_sent(&[]);
    let store = sandbox.store();
    let folder = store.parent().expect("a folder");
    assert!(store.is_file() && !sandbox.path(".baton").exists());
    for private in [folder, sandbox.state().root(), &state_home(&sandbox.path(""))] {
        assert_eq!(mode(private), 0o700, "{}", private.display());
    }
    let name = folder.file_name().expect("a name").to_str().expect("UTF-8");
    let project = sandbox.path("").components().as_path().to_owned();
    assert!(name.starts_with(project.file_name().expect("a name").to_str().expect("UTF-8")), "{name}");
    let says = fs::read_to_string(folder.join("project.json")).expect("it says whose it is");
    assert!(says.contains(project.to_str().expect("UTF-8")), "{says}");
}

#[test]
fn state_folder_is_below_home_unless_the_environment_says_otherwise() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let send = |state: Option<&str>, home: Option<&Path>| {
        let mut command = sandbox.command(BATON);
        command.args(SEND).env_remove("XDG_STATE_HOME").env_remove("HOME");
        state.map(|state| command.env("XDG_STATE_HOME", state));
        home.map(|home| command.env("HOME", home));
        run(command, b"")
    };
    let home = sandbox.path("home");
    assert_eq!(send(None, Some(&home)).code, Some(0));
    assert!(home.join(".local/state/baton").is_dir());
    fs::remove_dir_all(&home).expect("removed");
    let relative = send(Some("not/absolute"), Some(&home));
    assert_eq!(relative.code, Some(0), "a relative path is ignored, as the specification wants: {relative}");
    assert!(home.join(".local/state/baton").is_dir() && !sandbox.path("not").exists());
    let nowhere = send(None, None);
    insta::assert_snapshot!(nowhere, @"
    --- stderr
    error: cannot find your state folder: neither XDG_STATE_HOME nor HOME is an absolute path
    hint: set XDG_STATE_HOME to a folder that only you can write to
    --- exit 2
    ");
    let mut named = sandbox.command(BATON);
    named.args(SEND).args(["--store", "here.db"]).env_remove("XDG_STATE_HOME").env_remove("HOME");
    assert_eq!(run(named, b"").code, Some(0), "whoever names a store needs no state folder");
}

#[test]
fn state_folder_that_cannot_be_written_is_one_clear_error() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("file", "");
    let mut send = sandbox.command(BATON);
    send.args(SEND).env("XDG_STATE_HOME", sandbox.path("file"));
    let refused = run(send, b"");
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.starts_with("error: cannot write to your state folder: "), "{refused}");
    assert!(
        refused.stderr.contains("hint: let your user write there") && refused.stderr.lines().count() == 2,
        "{refused}"
    );
}

#[test]
fn whoever_only_looks_makes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("baton.toml", "");
    for looking in
        [&["runs"][..], &["list"], &["inbox"], &["doctor"], &["store", "list"], &["show", "x"], &["store", "move"]]
    {
        sandbox.baton(looking);
    }
    assert!(!state_home(&sandbox.path("")).exists());
    assert_eq!(fs::read_dir(sandbox.path("")).expect("a folder").count(), 1);
}

#[test]
fn project_is_where_its_configuration_or_its_repository_is() {
    for mark in ["git", "toml"] {
        let sandbox = Sandbox::new();
        sandbox.write("project/deep/down/request.json", REQUEST);
        match mark {
            "git" => repository(&sandbox.path("project")),
            _ => _ = sandbox.write("project/baton.toml", ""),
        }
        assert_eq!(sandbox.baton_in("project/deep/down", &SEND).code, Some(0));
        assert!(sandbox.store_of("project").is_file(), "{mark}");
        assert!(lists(&sandbox.baton_in("project", &["list"])), "{mark}");
        let outside = sandbox.baton(&["list"]);
        assert_eq!(outside.code, Some(2), "{mark}: {outside}");
    }
}

#[test]
fn two_worktrees_of_one_repository_are_two_projects_even_if_one_is_inside_the_other() {
    let sandbox = Sandbox::new();
    repository(&sandbox.path("main"));
    sandbox.write("main/request.json", REQUEST);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(arguments);
        assert!(git.current_dir(sandbox.path("main")).status().expect("git is there").success());
    };
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "first"]);
    git(&["worktree", "add", "--quiet", "trees/side"]);
    assert_eq!(sandbox.baton_in("main", &SEND).code, Some(0));
    let inside = sandbox.baton_in("main/trees/side", &["list"]);
    assert_eq!(inside.code, Some(2), "{inside}");
    assert_eq!(sandbox.baton_in("main/trees/side", &SEND).code, Some(0), "the same id, in another store");
    assert!(sandbox.store_of("main").is_file() && sandbox.store_of("main/trees/side").is_file());
}

#[test]
fn projects_may_have_any_name() {
    let long = format!("{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}", "n".repeat(250));
    for name in [
        &b"with space & $(date) 'quotes'"[..],
        b"line\nbreak",
        b"\xff\xfe no text",
        "Bücher-本".as_bytes(),
        long.as_bytes(),
    ] {
        let sandbox = Sandbox::new();
        let project = sandbox.path("").join(OsStr::from_bytes(name));
        fs::create_dir_all(&project).expect("a folder");
        fs::write(project.join("request.json"), REQUEST).expect("a file");
        let baton = |arguments: &[&str]| {
            let mut command = sandbox.command(BATON);
            command.args(arguments).current_dir(&project);
            run(command, b"")
        };
        let sent = baton(&SEND);
        assert_eq!(sent.code, Some(0), "{project:?}: {sent}");
        assert!(lists(&baton(&["list"])) && baton(&["doctor"]).code == Some(0), "{project:?}");
        let listed = baton(&["store", "list"]);
        assert_eq!((listed.code, listed.stdout.lines().count()), (Some(0), 2), "{listed}");
        assert_eq!(fs::read_dir(&project).expect("a folder").count(), 1, "nothing is left in the project");
        assert_eq!(fs::read_dir(sandbox.state().root()).expect("a folder").count(), 1);
    }
}

#[test]
fn git_clean_deletes_no_history() {
    let sandbox = with_letter();
    repository(&sandbox.path(""));
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml"]).code, Some(0));
    let mut git = Command::new("git");
    git.args(["clean", "-ffdxq"]).current_dir(sandbox.path(""));
    assert!(git.status().expect("git is there").success());
    assert!(!sandbox.path("desk").exists());
    assert!(done(&sandbox, &["runs"]).stdout.contains("letter-1"));
    assert_eq!(sandbox.baton(&["audit", "verify", "letter-1"]).code, Some(0));
}

#[test]
fn runs_are_found_from_their_workspace() {
    let sandbox = with_letter();
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml"]).code, Some(0));
    sandbox.folder("desk/deep");
    for folder in ["desk", "desk/deep"] {
        let runs = sandbox.baton_in(folder, &["runs"]);
        assert!(runs.code == Some(0) && runs.stdout.contains("letter-1"), "{runs}");
    }
    repository(&sandbox.path("desk"));
    assert!(sandbox.baton_in("desk", &["runs"]).stdout.contains("letter-1"), "also if it is a repository");
    let doctor = sandbox.baton_in("desk", &["doctor"]).stdout;
    assert!(
        doctor.contains("is a workspace, its runs are in ")
            && doctor.contains(sandbox.store().to_str().expect("UTF-8")),
        "{doctor}"
    );
}

#[test]
fn runs_in_a_store_that_was_named_are_found_from_their_workspace() {
    let sandbox = with_letter();
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml", "--store", "here.db"]).code, Some(0));
    let runs = sandbox.baton_in("desk", &["runs"]);
    assert!(runs.code == Some(0) && runs.stdout.contains("letter-1"), "{runs}");
    fs::remove_file(sandbox.path("here.db")).expect("removed");
    let gone = sandbox.baton_in("desk", &["runs"]);
    assert!(gone.code == Some(2) && gone.stderr.contains("there is no store yet"), "{gone}");
}

#[test]
fn workspace_is_not_for_git_and_a_file_of_the_user_stays() {
    let sandbox = with_letter();
    repository(&sandbox.path("desk"));
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml"]).code, Some(0));
    assert_eq!(sandbox.read("desk/.baton/.gitignore"), "*\n");
    let git = Command::new("git").args(["status", "--porcelain"]).current_dir(sandbox.path("desk")).output();
    let status = String::from_utf8(git.expect("git is there").stdout).expect("UTF-8");
    assert!(!status.contains(".baton"), "{status}");
    let sandbox = with_letter();
    sandbox.write("desk/.baton/.gitignore", "!record\n");
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml"]).code, Some(0));
    assert_eq!(sandbox.read("desk/.baton/.gitignore"), "!record\n");
}

#[test]
fn doctor_prints_the_place() {
    let sandbox = with_one_sent(&[]);
    let doctor = done(&sandbox, &["doctor"]).stdout;
    for told in [sandbox.path("").components().as_path(), &sandbox.store(), sandbox.state().root()] {
        assert!(doctor.contains(told.to_str().expect("UTF-8")), "{}: {doctor}", told.display());
    }
    fs::set_permissions(sandbox.state().root(), fs::Permissions::from_mode(0o755)).expect("ours");
    let doctor = done(&sandbox, &["doctor"]).stdout;
    assert!(
        doctor.contains("can be read by other users") && doctor.contains("hint: keep it to yourself: chmod 700"),
        "{doctor}"
    );
    let empty = Sandbox::new();
    let doctor = empty.baton(&["doctor"]);
    assert!(doctor.code == Some(2) && doctor.stdout.contains(empty.store().to_str().expect("UTF-8")), "{doctor}");
}

#[test]
fn state_folder_inside_of_the_project_is_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let baton = |arguments: &[&str]| {
        let mut command = sandbox.command(BATON);
        command.args(arguments).env("XDG_STATE_HOME", sandbox.path("state"));
        run(command, b"")
    };
    assert_eq!(baton(&SEND).code, Some(0));
    let doctor = baton(&["doctor"]).stdout;
    assert!(doctor.contains("where agents can reach it"), "{doctor}");
}

#[test]
fn agent_of_a_run_makes_no_store() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    let refused = sandbox.baton_with_variable("BATON_RUN", "r", &SEND);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("an agent of a run cannot create one"), "{refused}");
    assert!(!sandbox.state().root().exists());
    done(&sandbox, &SEND);
    assert!(lists(&sandbox.baton_with_variable("BATON_RUN", "r", &["list"])), "the store of its project it finds");
}

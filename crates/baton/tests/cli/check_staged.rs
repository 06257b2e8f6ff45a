//! `baton check --staged`: what the next commit has is judged, whatever lies in the working tree.

use insta::assert_snapshot;

use crate::sandbox::{Run, Sandbox};

const GOOD: &str =
    r#"{"baton":1,"document":"report","outcome":"complete","summary":"Wrote the export in src/export.rs"}"#;
const BROKEN: &str =
    r#"{"baton":1,"document":"report","outcome":"done","summary":"Wrote the export in src/export.rs"}"#;

fn git(sandbox: &Sandbox, arguments: &[&str]) {
    let settings = ["-c", "user.name=kim", "-c", "user.email=kim@localhost", "-c", "commit.gpgsign=false"];
    let run = sandbox.program_with_input("git", &[&settings, arguments].concat(), b"").expect("git is installed");
    assert_eq!(run.code, Some(0), "{run}");
}

fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    git(&sandbox, &["init", "-q", "."]);
    sandbox
}

fn staged(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    sandbox.baton(&[&["check", "--staged"], arguments].concat())
}

#[test]
fn broken_handoff_in_the_index_is_refused_although_it_was_mended_in_the_working_tree() {
    let sandbox = repository();
    sandbox.write("handoffs/export.json", BROKEN);
    git(&sandbox, &["add", "."]);
    sandbox.write("handoffs/export.json", GOOD);
    assert_eq!(sandbox.baton(&["check", "handoffs"]).code, Some(0));
    let run = staged(&sandbox, &["handoffs"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains("--> handoffs/export.json:1:"), "{run}");
    git(&sandbox, &["add", "."]);
    assert_eq!(staged(&sandbox, &[]).code, Some(0));
}

#[test]
fn good_handoff_in_the_index_passes_although_it_was_broken_in_the_working_tree() {
    let sandbox = repository();
    sandbox.write("handoffs/export.json", GOOD);
    git(&sandbox, &["add", "."]);
    sandbox.write("handoffs/export.json", BROKEN);
    assert_eq!(sandbox.baton(&["check", "handoffs"]).code, Some(1));
    assert_snapshot!(staged(&sandbox, &[]), @"
    handoffs/export.json: native report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings
    --- exit 0
    ");
}

#[test]
fn only_what_the_commit_adds_or_changes_is_judged() {
    let sandbox = repository();
    sandbox.write("old.json", BROKEN).write("gone.json", BROKEN).write("old name.json", GOOD).write("src/main.rs", "");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-q", "-m", "first"]);
    git(&sandbox, &["rm", "-q", "gone.json"]);
    git(&sandbox, &["mv", "old name.json", "new name.json"]);
    sandbox.write("node_modules/x/package.json", "{}").write("notes.txt", "no handoff").write("not added.json", BROKEN);
    git(&sandbox, &["add", "-f", "node_modules", "notes.txt"]);
    assert_snapshot!(staged(&sandbox, &[]), @"
    new name.json: native report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings
    --- exit 0
    ");
    let named = staged(&sandbox, &["notes.txt"]);
    assert_eq!(named.code, Some(1), "a file that is named is a handoff: {named}");
}

#[test]
fn paths_are_those_of_the_folder_somebody_is_in() {
    let sandbox = repository();
    sandbox.write("team a/inner/böse.json", BROKEN).write("elsewhere.json", GOOD);
    git(&sandbox, &["add", "."]);
    let inside = sandbox.baton_in("team a/inner", &["check", "--staged", "--json"]).json();
    let paths = |told: &serde_json::Value| -> Vec<String> {
        told["files"]
            .as_array()
            .expect("files")
            .iter()
            .map(|file| file["path"].as_str().expect("a path").to_owned())
            .collect()
    };
    assert_eq!(paths(&inside), ["../../elsewhere.json", "böse.json"]);
    let limited = sandbox.baton_in("team a", &["check", "--staged", "--json", "inner"]).json();
    assert_eq!(paths(&limited), ["inner/böse.json"]);
    let glob = sandbox.baton(&["check", "--staged", "--json", "*.json"]).json();
    assert_eq!(paths(&glob), ["elsewhere.json"], "a star does not go into folders");
}

#[test]
fn commit_without_handoffs_is_fine() {
    let sandbox = repository();
    sandbox.write("README.md", "# No handoff\n");
    git(&sandbox, &["add", "."]);
    let other = staged(&sandbox, &[]);
    assert_eq!(other.code, Some(0), "{other}");
    assert_eq!(staged(&sandbox, &["README.md"]).code, Some(1), "it was called a handoff");
    let skipped = staged(&sandbox, &["README.md", "--skip-unknown"]);
    assert_eq!(skipped.code, Some(0), "{skipped}");
    let misspelt = staged(&sandbox, &["handofs"]);
    assert_eq!(misspelt.code, Some(2), "{misspelt}");
    assert!(misspelt.stderr.contains("handofs: no file in git's index matches"), "{misspelt}");
    sandbox.write("handoffs/.keep", "");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "begin"]);
    let nothing = staged(&sandbox, &["handoffs"]);
    assert_snapshot!(nothing, @"
    ok: 0 of 0 files valid, 0 errors, 0 warnings
    --- exit 0
    ");
}

#[test]
fn outside_of_a_repository_it_says_so() {
    let sandbox = Sandbox::new();
    assert_snapshot!(staged(&sandbox, &[]), @"
    --- stderr
    error: --staged needs a git repository: not a git repository (or any of the parent directories): .git
    --- exit 2
    ");
    assert_eq!(repository().baton(&["check", "--staged", "-"]).code, Some(2));
}

#[test]
fn hook_of_the_guide_refuses_a_commit() {
    let sandbox = repository();
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checking.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let hook = guide.split("```sh\n").find(|block| block.contains(".git/hooks/pre-commit")).expect("a hook");
    let hook =
        hook.split("```").next().expect("its text").replace("baton check", &format!("{} check", crate::sandbox::BATON));
    sandbox.write(".git/hooks/pre-commit", hook).write("handoffs/export.json", BROKEN);
    let executable = sandbox.program_with_input("chmod", &["+x", ".git/hooks/pre-commit"], b"").expect("chmod");
    assert_eq!(executable.code, Some(0), "{executable}");
    git(&sandbox, &["add", "."]);
    sandbox.write("handoffs/export.json", GOOD);
    let commit = ["-c", "user.name=kim", "-c", "user.email=kim@localhost", "commit", "-q", "-m", "first"];
    let refused = sandbox.program_with_input("git", &commit, b"").expect("git");
    assert_eq!(refused.code, Some(1), "{refused}");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-q", "-m", "first"]);
}

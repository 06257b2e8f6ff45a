//! Agents that let their own tests do what they may not do themselves: `verify` runs what they have written, and it may write
//! where they could not.

use baton_engine::State;
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};

use crate::cheats::{NAMES_OUT, evidence, script, shell_agent};
use crate::site::{Site, find};

/// The list of an agent that names its test and nothing else.
const NAMES_TEST: &str = ", \"files_modified\": [\"out/a.txt\", \"out/test.sh\"]";

/// An agent that may write `out/**` with a test of its own, beside somebody who works until that test has run.
fn beside(phases: &str, head: &str, test: &str) -> Site {
    let flow = format!(
        "name: tests\n{head}agents: {{spec: {{command: [./spec.sh]}}, dev: {{command: [./dev.sh]}}, other: {{command: [./other.sh]}}}}\n\
         phases:\n{phases}  - id: both\n    parallel:\n      \
         - {{id: build, agent: dev, writes: ['out/**'], verify: [{{name: tests, run: sh out/test.sh}}]}}\n      \
         - {{id: look, agent: other}}\n"
    );
    let site = Site::with_git().workflow(&flow);
    let ran = site.pipe("ran");
    shell_agent(&site, "dev", &format!("cat > out/test.sh <<'TEST'\n{test}\necho done > {ran}\nTEST"), NAMES_TEST);
    script(&site, "other", &format!("read done < {ran}"), "");
    script(&site, "spec", "echo 'must encrypt' > SPEC.md", ", \"artifacts\": [\"SPEC.md\"]");
    site
}

fn asks(examined: &[ExaminedClaim]) -> Vec<String> {
    examined.iter().filter(|one| one.asks_person).map(ExaminedClaim::sentence).collect()
}

#[test]
fn what_its_own_test_changes_beside_somebody_else_goes_to_a_person() {
    for head in ["", "sandbox: off\n"] {
        let site = beside("", head, "echo evil > old.txt\necho evil > EVIL");
        let ended = site.run(&[]);
        let (examined, shown) = evidence(&site, "both.build.1");
        assert_eq!(ended.code, Some(3), "{shown}\n{}", ended.stderr);
        let asks = asks(&examined);
        for told in ["`old.txt` was changed", "`EVIL` was created", "while the checks ran", "another agent"] {
            assert!(asks.iter().any(|line| line.contains(told)), "{told}: {asks:?}");
        }
        assert!(!shown.contains("nothing else has changed") && !shown.contains("nothing outside"), "{shown}");
    }
}

#[test]
fn what_its_own_test_does_to_a_file_that_was_handed_over_is_not_held_against_somebody_else() {
    let site = beside("  - {id: design, agent: spec, writes: [SPEC.md]}\n", "", "echo evil > SPEC.md");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for (handoff, told) in
        [("both.build.1", "`SPEC.md` was changed while the checks ran"), ("both.look.1", "`SPEC.md` was changed")]
    {
        let (examined, shown) = evidence(&site, handoff);
        assert!(asks(&examined).iter().any(|line| line.contains(told)), "{shown}");
        assert!(examined.iter().all(|one| one.verdict != ClaimFinding::Refuted), "{shown}");
        assert!(matches!(find(&site.told(), handoff).handoff.state, State::AwaitingPerson { .. }), "{shown}");
    }
}

/// One agent that may write `out/**` and has a test of its own, in a workspace with files that git ignores.
fn alone(head: &str, test: &str) -> Site {
    let flow = format!(
        "name: tests\n{head}agents: {{dev: {{command: [./dev.sh], retry: {{max_retries: 0}}}}}}\nphases:\n  \
         - {{id: build, agent: dev, writes: ['out/**'], verify: [{{name: tests, run: sh out/test.sh}}]}}\n  \
         - {{id: lint, check: node_modules/.bin/lint}}\n"
    );
    let site = with_ignored_files().workflow(&flow);
    shell_agent(&site, "dev", &format!("cat > out/test.sh <<'TEST'\n{test}\nTEST"), NAMES_TEST);
    site
}

fn with_ignored_files() -> Site {
    let site = Site::with_git();
    site.scratch.write("workspace/.gitignore", "node_modules/\ntarget/\n.env\n").write("workspace/.env", "SAFE=1\n");
    site.scratch.write("workspace/node_modules/.bin/lint", "#!/bin/sh\nexit 0\n").folder("workspace/target");
    let lint = site.scratch.path("workspace/node_modules/.bin/lint");
    std::fs::set_permissions(lint, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("our own file");
    site
}

#[test]
fn what_its_own_test_changes_of_what_git_ignores_goes_to_a_person() {
    for (test, told) in [
        ("echo 'exit 0' > node_modules/.bin/lint", "`node_modules/.bin/lint` was changed"),
        ("echo SAFE=0 > .env", "`.env` was changed"),
        ("rm .env", "`.env` was deleted"),
        ("mkdir node_modules/evil; echo evil > node_modules/evil/index.js", "`node_modules/evil/index.js` was created"),
        ("mv node_modules/.bin/lint node_modules/.bin/other", "`node_modules/.bin` was changed"),
    ] {
        let site = alone("", test);
        let ended = site.run(&[]);
        let (examined, shown) = evidence(&site, "build.1");
        assert_eq!(ended.code, Some(3), "{test}: {shown}\n{}", ended.stderr);
        let asks = asks(&examined);
        assert!(asks.iter().any(|line| line.contains(told) && line.contains("git ignores it")), "{test}: {asks:?}");
        assert!(!shown.contains("nothing outside"), "{shown}");
        assert!(site.told().latest("lint").is_none(), "nothing has followed");
    }
}

#[test]
fn caches_that_a_test_writes_are_told_and_ask_nobody() {
    let site = alone("", "mkdir -p target/debug; echo made > target/debug/app");
    let ended = site.run(&[]);
    let (_, shown) = evidence(&site, "build.1");
    assert_eq!(ended.code, Some(0), "{shown}\n{}", ended.stderr);
    assert!(shown.contains("? something in `target` was changed while the checks ran, which git ignores"), "{shown}");
    assert!(!shown.contains("nothing outside"), "{shown}");
}

#[test]
fn nothing_outside_was_changed_where_nothing_was() {
    for head in ["", "sandbox: off\n"] {
        let site = alone(head, "true");
        let ended = site.run(&[]);
        let (_, shown) = evidence(&site, "build.1");
        assert_eq!(ended.code, Some(0), "{shown}\n{}", ended.stderr);
        assert!(shown.contains("✓ nothing outside `out/**` was changed"), "{shown}");
    }
}

/// An agent without a cage that does something in its first attempt and leaves it as it is in the second.
fn uncaged(work: &str) -> (Vec<ExaminedClaim>, String) {
    let flow = "name: tests\nsandbox: off\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 1, delay: 0s}}}\n\
                phases: [{id: build, agent: dev, writes: ['out/**']}]\n";
    let site = with_ignored_files().workflow(flow);
    shell_agent(&site, "dev", &format!("test \"$BATON_ATTEMPT\" = 2 || {{ {work}; }}"), NAMES_OUT);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{work}: {}", ended.stderr);
    (evidence(&site, "build.1").0, site.baton(&["log", "t", "--json"]).stdout)
}

#[test]
fn what_an_agent_without_a_cage_changes_of_what_git_ignores_goes_to_a_person() {
    for (work, told) in [
        ("echo SAFE=0 > .env", "`.env` was changed, but only `out/**` may be written; git ignores it"),
        ("rm .env", "`.env` was deleted, but only `out/**` may be written; git ignores it"),
        // An attempt that fails is no way around.
        ("echo SAFE=0 > .env; exit 1", "`.env` was changed, since the first attempt"),
    ] {
        let (examined, _) = uncaged(work);
        assert!(asks(&examined).iter().any(|line| line.contains(told)), "{work}: {examined:?}");
    }
}

#[test]
fn what_baton_keeps_where_git_ignores_it_is_nobodys_change() {
    let flow = "name: tests\nsandbox: off\nviews: [state, archive, manifest]\nagents: {dev: {command: [./dev.sh]}}\nphases:\n  \
                - {id: first, agent: dev, writes: ['out/**'], verify: [{name: tests, run: 'true'}]}\n  \
                - {id: build, agent: dev, writes: ['out/**'], verify: [{name: tests, run: 'true'}]}\n";
    let site = Site::with_git().workflow(flow);
    site.scratch.write("workspace/.gitignore", "/state/\n/.project/\n");
    shell_agent(&site, "dev", "", "");
    let ended = site.run(&[]);
    let (_, shown) = evidence(&site, "build.1");
    assert_eq!(ended.code, Some(0), "{shown}\n{}", ended.stderr);
    assert!(shown.contains("✓ nothing outside `out/**` was changed"), "{shown}");
}

#[test]
fn rights_and_branches_that_an_agent_without_a_cage_changes_are_refuted() {
    for (work, told) in [
        ("chmod 4666 old.txt", "`old.txt` was changed"),
        ("git update-ref refs/heads/release HEAD", "`.git/refs/heads/release` was created"),
        ("git checkout -q --detach", "`.git/HEAD` was changed"),
    ] {
        let (examined, log) = uncaged(work);
        // It is refuted until it is undone.
        let left = |one: &ExaminedClaim| one.is_wrong() && one.sentence().contains(told);
        assert!(examined.iter().any(left), "{work}: {examined:?}");
        assert!(log.contains(&format!("{told}, but only `out/**` may be written")), "{work}: {log}");
    }
}

#[test]
fn its_own_test_commits_nothing_and_moves_no_branch() {
    let test = "git add out; git -c user.name=Ana -c user.email=ana@localhost commit -qm 'reviewed by Ana'\n\
                git update-ref refs/heads/release HEAD; true";
    let branches = |site: &Site| {
        let mut git = site.program("git");
        let told = git.args(["-C", "workspace", "log", "--oneline", "--all", "--decorate"]).output().expect("git runs");
        String::from_utf8(told.stdout).expect("text")
    };
    let site = alone("", test);
    let before = branches(&site);
    let ended = site.run(&[]);
    assert_eq!((ended.code, branches(&site)), (Some(0), before), "{}", ended.stderr);
    let site = alone("sandbox: off\n", test);
    assert_eq!(site.run(&[]).code, Some(3));
    let (examined, shown) = evidence(&site, "build.1");
    let refuted = examined.iter().filter(|one| one.verdict == ClaimFinding::Refuted);
    let refuted: Vec<String> = refuted.map(ExaminedClaim::sentence).collect();
    let told = "`.git/refs/heads/release` was created while the checks ran";
    assert!(refuted.iter().any(|line| line.contains(told)), "{shown}");
    assert!(!shown.contains("nothing outside"), "{shown}");
}

#[test]
fn repository_that_an_agent_makes_hides_nothing() {
    let flow = |head: &str| {
        format!(
            "name: tests\n{head}agents: {{dev: {{command: [./dev.sh], retry: {{max_retries: 0}}}}}}\n\
             phases: [{{id: build, agent: dev, writes: ['*.md']}}]\n"
        )
    };
    let work = "mkdir -p .git/objects .git/refs; echo 'ref: x' > .git/HEAD; echo evil > .git/objects/payload.sh";
    for head in ["", "sandbox: off\n"] {
        let site = Site::new().workflow(&flow(head));
        script(&site, "dev", work, "");
        let ended = site.run(&[]);
        let (_, shown) = evidence(&site, "build.1");
        assert_eq!(ended.code, Some(3), "{shown}\n{}", ended.stderr);
        assert!(shown.contains("`.git` was created, but only `*.md` may be written"), "{shown}");
    }
}

//! Agents that tamper with what they are measured with. They may write `out/**`, do so, and change something else as well:
//! whatever they try, it is named in the record, and the phase is not done. Nothing keeps them from trying: they run without a
//! cage.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_testbed::Process;

use crate::site::{Ended, RUN, Site, end, find};

const ONLY_OUT: &str = ", writes: ['out/**']";

/// One agent in one phase, which tries once.
fn flow(phase: &str) -> String {
    format!(
        "name: cheats\nsandbox: off\nagents: {{dev: {{command: [./dev.sh], retry: {{max_retries: 0}}}}}}\n\
         phases: [{{id: build, agent: dev{phase}}}]\n"
    )
}

/// A repository with an agent that writes `out/a.txt`, does something else, and reports these members.
fn site(phase: &str, work: &str, members: &str) -> Site {
    let site = Site::with_git().workflow(&flow(phase));
    shell_agent(&site, "dev", work, members);
    site
}

pub(crate) fn shell_agent(site: &Site, name: &str, work: &str, members: &str) {
    script(site, name, &format!("mkdir -p out\necho work > out/a.txt\n{work}"), members);
}

/// Writes an agent in shell that does this work in the workspace and reports these members.
pub(crate) fn script(site: &Site, name: &str, work: &str, members: &str) {
    let report = format!(
        "{{\"baton\": 1, \"document\": \"report\", \"id\": \"$BATON_HANDOFF_ID\", \"outcome\": \"complete\", \
         \"summary\": \"Wrote the module and its eleven tests.\"{members}}}"
    );
    let script = format!(
        "#!/bin/sh\nset -e\ncd \"$BATON_WORKSPACE\"\n{work}\ncat > \"$BATON_REPORT_FILE\" <<END\n{report}\nEND\n"
    );
    let path = format!("flow/{name}.sh");
    site.scratch.write(&path, script);
    std::fs::set_permissions(site.scratch.path(&path), std::fs::Permissions::from_mode(0o755)).expect("our own file");
}

/// The list of an agent that names what it was asked for and nothing else.
pub(crate) const NAMES_OUT: &str = ", \"files_modified\": [\"out/a.txt\"]";

/// Returns what was seen of the phase, and what people are shown of it.
pub(crate) fn evidence(site: &Site, handoff: &str) -> (Vec<ExaminedClaim>, String) {
    let shown = site.baton(&["show", &format!("{RUN}.{handoff}")]).stdout;
    (find(&site.told(), handoff).examined.clone(), shown)
}

/// Runs the workflow: the phase is not done, and what was tried is named.
#[track_caller]
fn assert_caught(site: &Site, named: &[&str]) {
    assert_ended_caught(site, &site.run(&[]), named);
}

#[track_caller]
fn assert_ended_caught(site: &Site, ended: &Ended, named: &[&str]) {
    let (examined, shown) = evidence(site, "build.1");
    assert_eq!(ended.code, Some(3), "a person is asked\n{shown}\n{}", ended.stderr);
    let told = site.told();
    let state = &find(&told, "build.1").handoff.state;
    assert!(matches!(state, State::Failed { .. } | State::AwaitingPerson { .. }), "{state:?}\n{shown}");
    let is_bad = |one: &&ExaminedClaim| one.verdict == ClaimFinding::Refuted || one.asks_person;
    let bad: Vec<String> = examined.iter().filter(is_bad).map(ExaminedClaim::sentence).collect();
    for name in named {
        assert!(bad.iter().any(|line| line.contains(name)), "`{name}` is not among {bad:?}");
        assert!(shown.contains(name), "`{name}` is not shown: {shown}");
    }
}

#[test]
fn change_that_is_not_hidden_is_refuted() {
    assert_caught(&site(ONLY_OUT, "echo evil > old.txt", NAMES_OUT), &["`old.txt` was changed", "only `out/**`"]);
}

#[test]
fn baseline_that_is_deleted_is_still_known() {
    let work = "echo evil > old.txt\nfind . \"$XDG_STATE_HOME\" -name 'baseline*' -delete";
    assert_caught(&site(ONLY_OUT, work, NAMES_OUT), &["`old.txt` was changed"]);
}

#[test]
fn baseline_that_is_rewritten_is_still_known() {
    let work = "echo evil > old.txt\nnew=$(sha256sum old.txt | cut -c 1-64)\n\
                for file in $(find . \"$XDG_STATE_HOME\" -name 'baseline*'); do sed -i -E \"s/[0-9a-f]{64}/$new/g\" \"$file\"; done";
    assert_caught(&site(ONLY_OUT, work, NAMES_OUT), &["`old.txt` was changed"]);
}

#[test]
fn ignoring_what_was_made_does_not_hide_it() {
    let work = "mkdir -p .github/workflows\necho evil > .github/workflows/ci.yml\necho .github/ >> .git/info/exclude";
    let named = ["`.github/workflows/ci.yml` was created", "`.git/info/exclude` was changed"];
    assert_caught(&site(ONLY_OUT, work, NAMES_OUT), &named);
    let work = "mkdir -p .github/workflows\necho evil > .github/workflows/ci.yml\necho .github/ >> .gitignore";
    let named = ["`.github/workflows/ci.yml` was created", "`.gitignore` was created"];
    assert_caught(&site(ONLY_OUT, work, NAMES_OUT), &named);
}

#[test]
fn folders_with_the_names_of_git_and_baton_hide_nothing() {
    let work = "mkdir -p src/.baton src/.git/objects src/.git/refs\necho evil > src/.baton/evil\n\
                echo 'ref: x' > src/.git/HEAD\necho evil > src/.git/objects/evil";
    let named = ["`src/.baton/evil` was created", "`src/.git/objects/evil` was created"];
    let site = site(ONLY_OUT, work, NAMES_OUT);
    site.scratch.write("workspace/.gitignore", "/.baton/\n");
    assert_caught(&site, &named);
}

#[test]
fn what_decides_what_git_does_is_watched() {
    let work = "mkdir -p .git/modules/sub/hooks\necho evil > .git/modules/sub/hooks/post-checkout\n\
                echo evil > .git/hooks/pre-commit\ngit config core.fsmonitor ./evil.sh\ngit add out\n\
                git -c user.name=t -c user.email=t@localhost commit -q --no-verify -m work";
    let named = [
        "`.git/hooks/pre-commit` was created",
        "`.git/config` was changed",
        "`.git/modules/sub/hooks/post-checkout` was created",
    ];
    assert_caught(&site(ONLY_OUT, work, NAMES_OUT), &named);
}

#[test]
fn large_file_of_the_same_size_and_time_has_changed() {
    let work =
        "touch -r big.bin ../stamp\nprintf evil | dd of=big.bin conv=notrunc status=none\ntouch -r ../stamp big.bin";
    let site = site(ONLY_OUT, work, NAMES_OUT);
    site.scratch.write("workspace/big.bin", vec![0; 2 << 20]);
    assert_caught(&site, &["`big.bin` was changed"]);
}

#[test]
fn names_that_are_not_utf_8_are_names() {
    let twin = |byte: u8| String::from_utf8(vec![b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
    let (first, second) = (twin(0xfe).expect("digits"), twin(0xff).expect("digits"));
    let site = site(ONLY_OUT, &format!("echo same > \"$(printf 'name{second}')\""), NAMES_OUT);
    let before = Command::new("sh")
        .args(["-c", &format!("echo same > \"$(printf 'name{first}')\"")])
        .current_dir(site.scratch.path("workspace"))
        .status();
    assert!(before.expect("sh runs").success());
    assert_caught(&site, &["`name\\xff` was created"]);
}

#[test]
fn folder_that_nobody_may_look_into_is_named() {
    let site = site(ONLY_OUT, "mkdir secret\necho evil > secret/evil\nchmod 000 secret", NAMES_OUT);
    let arguments = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"];
    let mut command = site.command(&arguments);
    if rustix::process::geteuid().is_root() {
        // Root may look into everything, so it is played by somebody else.
        let root = site.scratch.root().to_string_lossy().into_owned();
        assert!(Command::new("chown").args(["-R", "65534:65534", &root]).status().expect("chown runs").success());
        let program = command.get_program().to_owned();
        let mut other = site.program("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(arguments);
        other.stderr(std::process::Stdio::piped());
        command = other;
    }
    let mut process = Process::spawn(&mut command);
    process.close_input();
    assert_ended_caught(&site, &end(&mut process), &["`secret` was created"]);
}

#[test]
fn too_many_files_to_compare_go_to_a_person() {
    let work = "cd out && seq 50001 | xargs touch && cd ..\necho evil > old.txt";
    let site = site(ONLY_OUT, work, "");
    assert_caught(&site, &["whether anything outside `out/**` was changed cannot be checked"]);
    assert!(matches!(find(&site.told(), "build.1").handoff.state, State::AwaitingPerson { .. }));
    let question = site.baton(&["show", "t.build.1"]).stdout;
    assert!(
        question.contains("look at   1. whether anything outside `out/**` was changed cannot be checked"),
        "{question}"
    );
    let inbox = site.baton(&["inbox"]);
    assert!(inbox.stdout.contains("build.1"), "{inbox:?}");
}

#[test]
fn neither_checks_nor_silence_stand_in_for_the_person() {
    for review in ["{type: auto, checks: [{name: fine, run: 'true'}]}", "{type: advisory, after: 1s}"] {
        let phase = format!(", writes: ['out/**'], review: {review}");
        let site = site(&phase, "cd out && seq 50001 | xargs touch && cd ..", "");
        assert_caught(&site, &["whether anything outside `out/**` was changed cannot be checked"]);
    }
}

#[test]
fn what_its_own_test_changes_is_named() {
    let phase = ", writes: ['out/**'], verify: [{name: tests, run: 'sh out/test.sh'}]";
    let work = "echo 'echo evil > old.txt; echo evil > EVIL' > out/test.sh";
    let named = ["`old.txt` was changed while the checks ran", "`EVIL` was created while the checks ran"];
    assert_caught(&site(phase, work, ", \"files_modified\": [\"out/a.txt\", \"out/test.sh\"]"), &named);
}

#[test]
fn check_that_writes_where_it_may_not_fails_and_what_it_wrote_is_named() {
    for (writes, is_done) in [("['old.txt']", true), ("['out/**']", false), ("[]", false)] {
        let flow = format!(
            "name: cheats\nsandbox: off\nphases: [{{id: build, check: 'echo new > old.txt', writes: {writes}}}]\n"
        );
        let site = Site::with_git().workflow(&flow);
        let ended = site.run(&[]);
        assert_eq!(ended.code == Some(0), is_done, "{writes}: {}", ended.stderr);
        let (shown, log) = (site.baton(&["show", "t.build.1"]).stdout, site.baton(&["log", "t", "--json"]).stdout);
        for told in [shown, log] {
            assert!(told.contains("`old.txt` was changed while the check `build` ran"), "{writes}: {told}");
            assert_eq!(told.contains("`old.txt` was changed, but "), !is_done, "{writes}: {told}");
        }
    }
}

#[test]
fn somebody_beside_it_is_no_proof_that_it_wrote_nothing_else() {
    let flow = "name: cheats\nsandbox: off\nagents: {dev: {command: [./dev.sh]}, other: {command: [./other.sh]}}\n\
                phases:\n  - id: both\n    parallel:\n      - {id: build, agent: dev, writes: ['out/**']}\n      \
                - {id: look, agent: other}\n";
    let site = Site::with_git().workflow(flow);
    // The other one goes on until the evil is done, so both work at the same time.
    let evil = site.pipe("evil");
    shell_agent(&site, "dev", &format!("echo evil > old.txt\necho done > {evil}"), NAMES_OUT);
    script(&site, "other", &format!("read done < {evil}"), "");
    let ended = site.run(&[]);
    let (examined, shown) = evidence(&site, "both.build.1");
    assert_eq!(ended.code, Some(3), "{shown}\n{}", ended.stderr);
    assert!(matches!(find(&site.told(), "both.build.1").handoff.state, State::AwaitingPerson { .. }), "{shown}");
    let asks: Vec<String> = examined.iter().filter(|one| one.asks_person).map(ExaminedClaim::sentence).collect();
    assert!(
        asks.iter().any(|line| line.contains("`old.txt` was changed") && line.contains("another agent")),
        "{examined:?}"
    );
    assert!(!shown.contains("nothing else has changed") && !shown.contains("nothing outside"), "{shown}");
}

#[test]
fn writers_beside_each_other_that_say_where_they_write_need_no_person() {
    let flow = "name: writers\nsandbox: off\nagents: {dev: {command: [./dev.sh]}, other: {command: [./other.sh]}}\n\
                phases:\n  - id: both\n    parallel:\n      - {id: build, agent: dev, writes: ['out/**']}\n      \
                - {id: docs, agent: other, writes: ['docs/**']}\n";
    let site = Site::with_git().workflow(flow);
    let (one, two) = (site.pipe("one"), site.pipe("two"));
    shell_agent(&site, "dev", &format!("echo a > {one}\nread b < {two}"), NAMES_OUT);
    let docs = format!("mkdir -p docs\necho plan > docs/plan.md\nread a < {one}\necho b > {two}");
    script(&site, "other", &docs, ", \"files_modified\": [\"docs/plan.md\"]");
    let ended = site.run(&[]);
    let (_, shown) = evidence(&site, "both.build.1");
    assert_eq!(ended.code, Some(0), "{shown}\n{}", ended.stderr);
    assert!(shown.contains("`docs/plan.md` was created"), "{shown}");
    assert!(!shown.contains("nothing else has changed") && !shown.contains("nothing outside"), "{shown}");
}

#[test]
fn change_is_named_although_the_report_has_no_list() {
    let site = site("", "echo new > old.txt", "");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "nothing was claimed and nothing forbidden\n{}", ended.stderr);
    let (_, shown) = evidence(&site, "build.1");
    for change in ["`old.txt` was changed", "`out/a.txt` was created"] {
        assert!(shown.contains(&format!("{change}, which the report does not name (sha256 ")), "{shown}");
    }
}

#[test]
fn feature_directory_of_a_report_declares_nothing() {
    let work = "mkdir -p src\necho evil > src/main.rs";
    let site = site("", work, ", \"files_modified\": [\"out/a.txt\"], \"feature_directory\": \"src\"");
    assert_caught(&site, &["`src/main.rs` was created, but the report does not name it"]);
}

#[test]
fn old_file_is_there_but_was_not_made() {
    let site = site("", "true", ", \"artifacts\": [\"old.txt\", \"out/a.txt\"]");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (_, shown) = evidence(&site, "build.1");
    assert!(shown.contains("`old.txt` exists, 10 bytes, unchanged since before the work began"), "{shown}");
    assert!(shown.contains("`out/a.txt` exists, 5 bytes (sha256"), "{shown}");
    assert!(!shown.contains("made") && !shown.contains("artifact-missing"), "{shown}");
}

#[test]
fn old_file_is_refuted_where_the_phase_is_to_write_that_very_file() {
    let named = ", \"artifacts\": [\"./old.txt\", \"out/a.txt\"]";
    let site = site(", writes: [old.txt, 'out/**']", "true", named);
    assert_caught(&site, &["claims to have made `./old.txt`, but it is unchanged since before the work began"]);
}

#[test]
fn old_file_that_is_written_again_as_it_was_is_not_refuted() {
    let named = ", \"artifacts\": [\"old.txt\", \"out/a.txt\"]";
    let work = "cp old.txt copy.tmp\ncat copy.tmp > old.txt\nrm copy.tmp";
    let site = site(", writes: [old.txt, 'out/**']", work, named);
    let ended = site.run(&[]);
    let (_, shown) = evidence(&site, "build.1");
    assert_eq!(ended.code, Some(0), "{shown}\n{}", ended.stderr);
    assert!(shown.contains("✓ `old.txt` exists, 10 bytes, unchanged since before the work began (sha256"), "{shown}");
    // Whoever says that it changed says something else.
    let site = crate::cheats::site(
        ", writes: [old.txt, 'out/**']",
        work,
        ", \"files_modified\": [\"old.txt\", \"out/a.txt\"]",
    );
    assert_caught(&site, &["claims to have changed `old.txt`, but `old.txt` is unchanged"]);
}

#[test]
fn claim_names_what_the_work_is_measured_from() {
    let site = site(ONLY_OUT, "true", NAMES_OUT);
    assert_eq!(site.run(&[]).code, Some(0));
    let told = site.told();
    let digest = find(&told, "build.1").baseline(Fence(1)).expect("a digest in the claim");
    assert_eq!(digest.0.len(), 64);
    let audit = site.baton(&["audit", "verify", RUN]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
}

#[test]
fn skill_that_was_never_used_is_refuted_although_commands_must_pass() {
    for verify in ["", ", verify: [{name: tests, run: 'true'}]"] {
        let flow = format!(
            "name: cheats\nsandbox: off\nagents: {{dev: {{profile: claude, retry: {{max_retries: 0}}}}}}\n\
             phases: [{{id: build, agent: dev{verify}}}]\n"
        );
        let site = Site::with_git().workflow(&flow);
        let message = r#"{"type":"user","message":{"content":"hello"}}"#;
        site.scratch.write("home/.claude/projects/any/s-1.jsonl", message);
        let report = r#"{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\", \"summary\": \"Designed the module.\", \"skills_invoked\": [\"designing\"]}"#;
        let said = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"{report}","session_id":"s-1"}}"#
        );
        site.scratch.write("bin/claude", format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{said}\nEND\n"));
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(site.scratch.path("bin/claude"), permissions).expect("our own file");
        let path = format!("{}:{}", site.scratch.path("bin").display(), std::env::var("PATH").expect("a path"));
        let mut command = site.command(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"]);
        command.env("PATH", path).env("HOME", site.scratch.path("home"));
        let mut process = Process::spawn(&mut command);
        process.close_input();
        let ended = end(&mut process);
        assert_ended_caught(&site, &ended, &["skill `designing`, but the transcript shows no such call"]);
    }
}

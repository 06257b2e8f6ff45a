//! Hostile agents that plant links, pipes and endless files where Baton itself, which no cage holds, will read or write:
//! nothing is written elsewhere, nothing is read from elsewhere, nobody waits, and what was planted is named.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use baton_engine::Fence;

use crate::den::{Den, Who, everybody};
use crate::site::{Ended, RUN};

/// What a trickster knows of its surroundings.
const PLACES: &str = "home, folder = os.environ['HOME'], os.path.dirname(os.environ['BATON_REPORT_FILE'])\n\
    filed = os.environ['BATON_REPORT_FILE']\n";

const SAID: &str = "print(json.dumps({'baton': 1, 'document': 'report', 'outcome': 'complete', \
    'summary': 'Wrote the parser for dates and its three tests.'}))\n";

const UNCAGED: &str = "sandbox: off\n";

fn den(who: Who, phase: &str, rest: &str, body: &str) -> Den {
    let den = Den::new(who, ("", phase, rest), &format!("{PLACES}{body}"));
    den.site.scratch.write("home/.bashrc", "of mine\n");
    den
}

fn bashrc(den: &Den) -> String {
    den.site.scratch.read("home/.bashrc")
}

/// Asserts that the attempts failed, and that people are told why.
#[track_caller]
fn assert_refused(den: &Den, ended: &Ended, why: &str) {
    assert_eq!(ended.code, Some(3), "{:?}: {}", den.who, ended.stderr);
    let log = den.baton(&["log", RUN]).stdout;
    assert!(log.contains(why), "{:?}: `{why}` is not in the record: {log}", den.who);
}

#[test]
fn log_of_a_test_is_written_to_a_file_of_its_own_whatever_was_planted() {
    let tricks =
        ["os.symlink(home + '/.bashrc', log)", "os.mkfifo(log)", "write(log, 'x')", "os.symlink(home + '/.new', log)"];
    let verify = ", verify: [{name: tests, run: 'echo tested'}]";
    for (who, rest) in everybody().into_iter().flat_map(|who| ["", UNCAGED].map(|rest| (who, rest))) {
        for trick in tricks {
            let den = den(who, verify, rest, &format!("log = folder + '/verify-tests.log'\n{trick}\nreport()"));
            let ended = den.run();
            assert_eq!(ended.code, Some(0), "{who:?} {trick}: {}", ended.stderr);
            assert_eq!(bashrc(&den), "of mine\n", "{who:?} {trick}");
            assert!(!den.path("home/.new").exists(), "{who:?} {trick}");
            let log = den.site.attempt("build.1", Fence(1)).join("verify-tests.log");
            assert!(fs::symlink_metadata(&log).expect("a log").is_file());
            assert_eq!(fs::read_to_string(log).expect("a log"), "tested\n");
        }
    }
}

#[test]
fn report_that_is_kept_is_not_written_through_a_link() {
    for who in everybody() {
        let den = den(who, ", writes: []", "", &format!("os.symlink(home + '/.new', filed)\n{SAID}"));
        let ended = den.run();
        assert_refused(&den, &ended, "report.md: it is a symbolic link");
        assert!(!den.path("home/.new").exists(), "{who:?}");
    }
}

#[test]
fn pipe_instead_of_a_report_lets_nobody_wait() {
    for who in everybody() {
        let den = den(who, "", "", &format!("os.mkfifo(filed)\n{SAID}"));
        assert_refused(&den, &den.run(), "report.md: it is a pipe");
        let planted = fs::symlink_metadata(den.site.attempt("build.1", Fence(1)).join("report.md")).expect("a pipe");
        assert!(planted.file_type().is_fifo());
    }
}

#[test]
fn link_instead_of_an_answer_shows_nothing_that_the_agent_may_not_see() {
    for who in everybody() {
        for place in ["filed", "os.environ['BATON_ACKNOWLEDGMENT_FILE']"] {
            for secret in ["home + '/.ssh/id'", "'/proc/self/environ'"] {
                let den = den(who, "", "", &format!("os.symlink({secret}, {place})\n{SAID}"));
                let mut command = den.command(&crate::site::RUN_FLOW);
                let mut process = baton_testbed::Process::spawn(command.env("BATON_TEST_KEY", "secret"));
                process.close_input();
                let ended = crate::site::end(&mut process);
                assert_refused(&den, &ended, "it is a symbolic link");
                let prompt = den.site.attempt("build.1", Fence(2)).join("prompt.md");
                let prompt = fs::read_to_string(prompt).expect("there was a second attempt");
                let record = den.baton(&["log", RUN, "--json"]).stdout;
                assert!(!prompt.contains("secret") && !record.contains("secret"), "{who:?} {place} {secret}: {prompt}");
            }
        }
    }
}

/// A first agent that does something and a second one that may write in its output directory only.
fn two_phases(who: Who, output: &str, first: &str, second: &str) -> Den {
    let den = den(who, "", "", first);
    let flow = format!(
        "name: planted\n{output}agents: {{one: {{command: [./dev.py]}}, two: {{command: [./two.py]}}}}\n\
         phases: [{{id: build, agent: one}}, {{id: look, agent: two, writes: []}}]\n"
    );
    den.site.scratch.write("flow/workflow.yaml", flow);
    let text = den.site.scratch.read("flow/dev.py");
    let (preamble, _) = text.split_once("home, folder =").expect("it begins with what every agent needs");
    den.site.scratch.write("flow/two.py", format!("{preamble}{PLACES}{second}\n"));
    let runs = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(den.path("flow/two.py"), runs).expect("our own file");
    den
}

#[test]
fn link_instead_of_an_output_directory_opens_nothing() {
    for who in everybody() {
        let first = "os.symlink(home, 'out')\nreport()";
        let second = "trick('written', lambda: write(home + '/.bashrc', 'evil'))\nreport()";
        for output in ["output_directory: out\n", "output_directory: out/records\n"] {
            let den = two_phases(who, output, first, second);
            den.site.scratch.folder("home/records");
            let ended = den.run();
            assert_refused(&den, &ended, "workspace/out is a symbolic link, not a folder");
            assert_eq!(bashrc(&den), "of mine\n", "{who:?}");
        }
    }
}

#[test]
fn link_instead_of_the_folder_of_baton_is_not_followed() {
    let body = "os.rename('.baton', home + '/taken')\nos.symlink(home + '/taken', '.baton')\nreport()";
    let den = den(Who::Me, "", UNCAGED, body);
    let ended = den.run();
    assert!(ended.stderr.contains(".baton is a symbolic link, not a folder"), "{}", ended.stderr);
    let lock = "import os\nos.remove('.baton/workspace.lock')\nos.symlink(os.environ['HOME'] + '/.bashrc', '.baton/workspace.lock')";
    let mut plant = den.program("python3");
    fs::remove_file(den.path("workspace/.baton")).expect("a link");
    fs::rename(den.path("home/taken"), den.path("workspace/.baton")).expect("it comes back");
    assert!(plant.args(["-c", lock]).current_dir(den.path("workspace")).status().expect("python runs").success());
    let again = den.baton(&["run", "flow", "--workspace", "workspace", "--id", "u", "--no-input"]);
    assert!(again.stderr.contains("workspace.lock: it is a symbolic link"), "{}", again.stderr);
    assert_eq!(bashrc(&den), "of mine\n");
}

const NOTHING_YET: &str = "- {phase: other, approve: true}\n";

/// An agent that approves itself in the file of answers, and what came of it when that file is used.
fn self_approved(who: Who, rest: &str) -> (Den, Ended) {
    let forged = "trick('forged', lambda: write('answers.yaml', '- {phase: \"**\", ask: any, approve: true}'))\ntell()";
    let den = den(who, ", review: blocking", rest, forged);
    den.site.scratch.write("workspace/answers.yaml", NOTHING_YET);
    let ended = den.baton(&[&crate::site::RUN_FLOW[..], &["--answers", "workspace/answers.yaml"]].concat());
    assert_eq!(ended.code, Some(3), "{who:?}: {}", ended.stderr);
    (den, ended)
}

#[test]
fn file_of_answers_in_the_workspace_can_only_be_read() {
    for who in everybody() {
        let (den, _) = self_approved(who, "");
        assert_eq!(den.told()["forged"], "EROFS", "{who:?}");
        assert_eq!(den.site.scratch.read("workspace/answers.yaml"), NOTHING_YET);
        let resumed = den.baton(&["resume", RUN, "--no-input", "--answers", "workspace/answers.yaml"]);
        assert_eq!(resumed.code, Some(3), "it is what it was: {}", resumed.stderr);
    }
}

#[test]
fn file_of_answers_that_was_changed_in_the_workspace_decides_nothing() {
    let (den, _) = self_approved(Who::Me, UNCAGED);
    for arguments in [&["resume", RUN, "--no-input"][..], &["inbox"]] {
        for given in ["workspace/answers.yaml", "link.yaml"] {
            let _ = std::os::unix::fs::symlink("workspace/answers.yaml", den.path("link.yaml"));
            let refused = den.baton(&[arguments, &["--answers", given]].concat());
            assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("is not what it was when t began"), "{}", refused.stderr);
        }
    }
    fs::copy(den.path("workspace/answers.yaml"), den.path("answers.yaml")).expect("a person takes it over");
    let resumed = den.baton(&["resume", RUN, "--no-input", "--answers", "answers.yaml"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
}

#[test]
fn report_of_a_reviewer_cannot_be_written_by_somebody_beside_it_without_bubblewrap() {
    let forger = "begun = open(home + '/begun').read()\n\
        report_text = json.dumps({'baton': 1, 'document': 'report', 'outcome': 'complete', 'verdict': 'APPROVED', \
        'summary': 'Read the parser for dates and found nothing.'})\n\
        for path in glob.glob('.baton/runs/t/both.review*/*/'):\n    \
        write(path + 'report.md', report_text)\n    seen['forged'] = path\n\
        write(home + '/forged', 'x')\ntell()";
    let den = two_phases(Who::Me, "", forger, "");
    let flow = "name: planted\nagents: {one: {command: [./dev.py]}, two: {command: [./two.py]}}\n\
        phases:\n  - id: both\n    parallel: [{id: build, agent: one}, {id: review, agent: two, kind: review}]\n  \
        - {id: ship, check: touch SHIPPED}\n";
    den.site.scratch.write("flow/workflow.yaml", flow);
    let text = den.site.scratch.read("flow/two.py");
    let reviewer = "report(verdict='REJECTED', issues=['It deletes what it reads.'])\n\
        write(home + '/begun', 'x')\nopen(home + '/forged').read()\n";
    den.site.scratch.write("flow/two.py", format!("{text}{reviewer}"));
    den.site.pipe("home/begun");
    den.site.pipe("home/forged");
    let broken = den.path("programs/bwrap");
    den.site.scratch.write(&broken, "#!/bin/sh\nexit 1\n");
    let runs = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(&broken, runs).expect("our own file");
    let path = format!("{}:{}", den.path("programs").display(), std::env::var("PATH").expect("there is a path"));
    let mut process = baton_testbed::Process::spawn(den.command(&crate::site::RUN_FLOW).env("PATH", path));
    process.close_input();
    let ended = crate::site::end(&mut process);
    assert!(ended.stderr.contains("partly caged by Landlock"), "this kernel has none: {}", ended.stderr);
    assert!(den.told()["forged"].is_string(), "{}", ended.stderr);
    assert!(!den.path("workspace/SHIPPED").exists(), "{}", ended.stderr);
    let shown = den.baton(&["show", "t.both.review.1"]).stdout;
    assert!(shown.contains("REJECTED") && !shown.contains("APPROVED"), "{shown}");
}

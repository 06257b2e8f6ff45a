//! Places and names where work could pass unseen: files of a gate's own checks, the output directory, what a check has written
//! where it may not, ignored folders, and names that are no text.

use crate::site::{Ended, LONG, RUN, Site, end, find, listen};

const AGENTS: &str = "agents: {design: {command: [./design.py]}, ops: {command: [./ops.py]}}";
const GATE: &str = "  - {id: ok, gate: {items: [what was built]}}\n";

/// An agent, whatever stands between it and the gate, and somebody who follows.
fn gated(between: &str) -> Site {
    let flow = format!(
        "name: unseen\n{AGENTS}\nphases:\n  - {{id: design, agent: design}}\n{between}{GATE}  - {{id: ship, agent: ops}}\n"
    );
    Site::new()
        .workflow(&flow)
        .agent("design", "write('design.sql', 'DESIGN')\nreport(artifacts=['design.sql'])")
        .agent("ops", "report()")
}

fn approve(site: &Site, name: &str) -> Ended {
    let shown = find(&site.told(), name).handoff.shown().expect("something is shown").0;
    site.baton(&["approve", &format!("t.{name}"), "--yes", "--shown", &shown])
}

fn shown(site: &Site, name: &str) -> String {
    site.baton(&["show", &format!("t.{name}")]).stdout
}

/// Asserts that nothing follows an approval if a file has changed since it was shown.
#[track_caller]
fn binds(site: &Site, gate: &str, file: &str, change: &str) {
    let mut sh = site.program("sh");
    let status = sh.args(["-c", change]).current_dir(site.scratch.path("workspace")).status().expect("sh runs");
    assert!(status.success());
    assert_eq!(approve(site, gate).code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains(&format!("`{file}` has changed since it was shown")), "{}", again.stderr);
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
}

#[test]
fn file_that_the_checks_of_an_auto_gate_make_is_shown_and_bound_at_the_next_gate() {
    let auto = "  - {id: auto, gate: {type: auto, checks: [{name: build, run: \"echo MADE > made.sql\"}]}}\n";
    let site = gated(auto);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let gate = shown(&site, "ok.1");
    assert!(gate.contains("✓ `made.sql` was created while the check `build` ran (sha256 "), "{gate}");
    assert_eq!(gate.matches("`design.sql` exists").count(), 1, "{gate}");
    binds(&site, "ok.1", "made.sql", "echo EVIL > made.sql");
}

#[test]
fn file_that_the_checks_of_an_auto_review_make_is_shown_and_bound_at_the_next_gate() {
    let flow = format!(
        "name: unseen\n{AGENTS}\nphases:\n  - id: design\n    agent: design\n    \
         review: {{type: auto, checks: [{{name: build, run: \"echo MADE > made.sql\"}}]}}\n{GATE}  - {{id: ship, agent: ops}}\n"
    );
    let site = gated("").workflow(&flow);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let gate = shown(&site, "ok.1");
    assert!(gate.contains("✓ `made.sql` was created while the check `build` ran (sha256 "), "{gate}");
    binds(&site, "ok.1", "made.sql", "echo EVIL > made.sql");
}

#[test]
fn person_who_decides_after_failed_checks_of_an_auto_gate_sees_what_they_have_made() {
    let failing = "echo MADE > made.sql; exit 1";
    let auto = format!("  - {{id: auto, gate: {{type: auto, checks: [{{name: build, run: \"{failing}\"}}]}}}}\n");
    let site = gated(&auto);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    assert!(asked.stderr.contains("the check `build` failed"), "{}", asked.stderr);
    let gate = shown(&site, "auto.1");
    assert!(gate.contains("`made.sql` was created while the check `build` ran (sha256 "), "{gate}");
    binds(&site, "auto.1", "made.sql", "echo EVIL > made.sql");
}

#[test]
fn checks_of_a_review_that_write_where_they_may_not_do_not_pass_the_second_time() {
    let flow = format!(
        "name: unseen\nsandbox: off\n{AGENTS}\nphases:\n  - id: design\n    agent: design\n    writes: [design.sql]\n    \
         review: {{type: auto, checks: [{{name: build, run: 'echo x > stray'}}]}}\n  - {{id: ship, agent: ops}}\n"
    );
    let site = gated("").workflow(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    for _ in 0..2 {
        let again = site.resume(&[]);
        assert_eq!(again.code, Some(3), "{}", again.stderr);
        assert!(shown(&site, "design.1").contains("✗ `stray` was created while the check `build` ran"));
    }
    // Nor does it when the work was sent back and is done again.
    let digest = find(&site.told(), "design.1").handoff.shown().expect("something is shown").0;
    let rejected = ["reject", "t.design.1", "--note", "not yet", "--yes", "--shown", &digest];
    assert_eq!(site.baton(&rejected).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3));
    assert!(shown(&site, "design.1").contains("? `stray` was created, since the first attempt"));
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
}

#[test]
fn check_that_wrote_where_it_may_not_fails_until_that_is_undone() {
    let flow = "name: unseen\nsandbox: off\nagents: {dev: {command: [./dev.py]}}\nphases:\n  \
         - {id: build, check: 'test -e stray || echo x > stray', writes: [out], on_failure: fix, next: end}\n  \
         - {id: fix, agent: dev, next: build}\nlimits: {visits_per_phase: 3}\n";
    let idle = Site::with_git().workflow(flow).agent("dev", "report()");
    let asked = idle.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let second = idle.baton(&["show", "t.build.2"]).stdout;
    assert!(second.contains("`stray`") && second.contains("only `out` may be written"), "{second}");
    let flow = flow.replace("test -e stray ||", "test -e fixed ||");
    let fixed = Site::with_git()
        .workflow(&flow)
        .agent("dev", "os.remove('stray')\nwrite('fixed', 'x')\nreport(files_modified=['fixed', 'stray'])");
    let ended = fixed.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn file_in_the_output_directory_is_shown_and_bound_whoever_made_it() {
    let out = "$BATON_OUTPUT_DIRECTORY";
    let check = format!("  - {{id: build, check: 'mkdir -p {out}; echo MADE > {out}/made.sql'}}\n");
    let site = gated(&check);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let gate = shown(&site, "ok.1");
    let file = ".baton/output/t/made.sql";
    assert!(gate.contains(&format!("✓ `{file}` was created while the check `build` ran (sha256 ")), "{gate}");
    binds(&site, "ok.1", file, &format!("echo EVIL > {file}"));
    let by_agent = "d = os.environ['BATON_OUTPUT_DIRECTORY']\nos.makedirs(d, exist_ok=True)\n\
        write(d + '/notes.md', 'NOTES')\nreport()";
    for set in ["", "output_directory: out\n"] {
        let site = gated("").agent("design", by_agent);
        let flow = std::fs::read_to_string(site.scratch.path("flow/workflow.yaml")).expect("written");
        let site = site.workflow(&format!("{set}{flow}"));
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let file = if set.is_empty() { ".baton/output/t/notes.md" } else { "out/notes.md" };
        let gate = shown(&site, "ok.1");
        assert!(gate.contains(&format!("✓ `{file}` was created, in the output directory (sha256 ")), "{gate}");
        binds(&site, "ok.1", file, &format!("echo EVIL > {file}"));
    }
}

#[test]
fn file_in_the_output_directory_that_was_handed_over_is_not_changed_in_silence() {
    let make = "d = os.environ['BATON_OUTPUT_DIRECTORY']\nos.makedirs(d, exist_ok=True)\n\
        write(d + '/plan.md', 'PLAN')\nreport(artifacts=['.baton/output/t/plan.md'])";
    let flow = format!(
        "name: unseen\n{AGENTS}\nphases:\n  - {{id: design, agent: design}}\n  \
         - {{id: ship, agent: ops, writes: []}}\nlimits: {{same_failure: 1}}\n"
    );
    let site = gated("")
        .workflow(&flow)
        .agent("design", make)
        .agent("ops", "write(os.environ['BATON_OUTPUT_DIRECTORY'] + '/plan.md', 'EVIL')\nreport()");
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let told = "`.baton/output/t/plan.md` was changed, but it was handed over";
    assert!(asked.stderr.contains(told), "{}", asked.stderr);
}

#[test]
fn output_of_another_run_is_not_a_place_to_write_to() {
    let flow = "name: unseen\nsandbox: off\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n\
        phases: [{id: build, agent: dev, writes: [src]}]\n";
    let body =
        "os.makedirs('.baton/output/other', exist_ok=True)\nwrite('.baton/output/other/plan.md', 'EVIL')\nreport()";
    let site = Site::with_git().workflow(flow).agent("dev", body);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    assert!(asked.stderr.contains("`.baton/output/other/plan.md` was created"), "{}", asked.stderr);
}

#[test]
fn ignored_folder_that_a_check_may_write_is_shown_and_bound() {
    for writes in ["dist", "dist/", "./dist/**"] {
        let check =
            format!("  - {{id: build, check: 'mkdir -p dist/a; echo MADE > dist/a/app', writes: ['{writes}']}}\n");
        let site = gated(&check);
        site.scratch.write("workspace/.gitignore", "dist/\n");
        assert!(site.program("git").args(["init", "-q", "workspace"]).status().expect("git runs").success());
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let gate = shown(&site, "ok.1");
        assert!(gate.contains("✓ `dist` exists, which the check `build` may write (sha256 "), "{gate}");
        binds(&site, "ok.1", "dist", "echo EVIL > dist/a/app");
    }
}

#[test]
fn names_that_are_no_text_and_links_to_nothing_are_bound() {
    for (make, file, change) in [
        ("printf MADE > \"$(printf 'odd\\\\377name')\"", "odd\\xffname", "printf EVIL > \"$(printf 'odd\\377name')\""),
        ("printf MADE > 'back\\\\slash'", "back\\\\slash", "printf EVIL > 'back\\slash'"),
        ("ln -s nowhere dangling", "dangling", "ln -sfn elsewhere dangling"),
        ("ln -s nowhere dangling", "dangling", "printf EVIL > nowhere"),
    ] {
        let check = format!("  - {{id: build, check: \"{}\"}}\n", make.replace('"', "\\\""));
        let site = gated(&check);
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let gate = shown(&site, "ok.1");
        assert!(gate.contains(&format!("`{file}` was created while the check `build` ran")), "{gate}");
        binds(&site, "ok.1", file, change);
    }
}

#[test]
fn files_that_are_mostly_holes_are_bound_without_being_read() {
    let body = "os.mkdir('d')\nfor name in ['a', 'b', 'd/c']:\n    with open(name, 'w') as file: file.truncate(1 << 30)\n\
        report(artifacts=['a', 'b', 'd'])";
    let site = gated("").agent("design", body);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let gate = shown(&site, "ok.1");
    assert!(gate.contains("`a` exists, 1073741824 bytes (1073741824 bytes, last changed "), "{gate}");
    assert!(gate.contains("(1 entries, by size and time "), "{gate}");
    binds(&site, "ok.1", "b", "printf EVIL | dd of=b conv=notrunc status=none");
}

/// Kills the driver in the middle of the checks of an auto review, resumes it, and returns the site with what the end said.
fn interrupted(first: &str) -> (Site, Ended) {
    let site = gated("");
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let flow = format!(
        "name: unseen\n{AGENTS}\nphases:\n  - id: design\n    agent: design\n    writes: [design.sql]\n    \
         review: {{type: auto, checks: [{{name: first, run: {first:?}}},\n      \
         {{name: slow, run: \"echo begun > {}; cat {}\", timeout: 20s}}]}}\n  - {{id: ship, agent: ops}}\n",
        begun, go_on
    );
    let site = site.workflow(&flow);
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"]);
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the second check begins");
    driver.kill();
    end(&mut driver);
    let resumed = site.resume(&[]);
    (site, resumed)
}

#[test]
fn file_that_interrupted_checks_of_a_review_have_changed_is_left_to_a_person() {
    let (site, resumed) = interrupted("echo EVIL >> design.sql");
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
    let asked = shown(&site, "design.1");
    assert!(asked.contains("the checks were interrupted"), "{asked}");
}

#[test]
fn agent_is_not_blamed_for_what_its_interrupted_tests_have_written() {
    let site = gated("");
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let test = format!("echo x > built.out; echo begun > {begun}; cat {go_on}");
    let flow = format!(
        "name: unseen\n{AGENTS}\nphases:\n  - {{id: design, agent: design, verify: [{{name: slow, run: {test:?}, timeout: 20s}}]}}\n"
    );
    let body = "write('design.sql', 'DESIGN')\nreport(files_modified=['design.sql'])";
    let site = site.workflow(&flow).agent("design", body);
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"]);
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the test begins");
    driver.kill();
    end(&mut driver);
    let mut resumed = site.start(&["resume", RUN, "--no-input"]);
    resumed.close_input();
    listen(&begun).find("begun", LONG).expect("the test begins again");
    std::fs::write(&go_on, "").expect("it goes on");
    let resumed = end(&mut resumed);
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert_eq!(site.told().latest("design").expect("it is there").handoff.attempts, 1, "{}", resumed.stderr);
    let asked = shown(&site, "design.1");
    assert!(
        asked.contains("`built.out` was created") && asked.contains("its checks, which were interrupted"),
        "{asked}"
    );
}

#[test]
fn agent_is_not_blamed_for_what_interrupted_checks_of_its_review_have_written() {
    let (site, resumed) = interrupted("echo x > other.out");
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert_eq!(site.told().latest("design").expect("it is there").handoff.attempts, 1, "{}", resumed.stderr);
    let asked = shown(&site, "design.1");
    assert!(asked.contains("the checks were interrupted") && asked.contains("other.out"), "{asked}");
}

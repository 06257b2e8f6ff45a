//! What an approval at a gate binds: the files of all phases that the run stands on there, as they are when the question is
//! put.

use baton_engine::State;
use baton_engine::evidence::ClaimFinding;

use crate::site::{Ended, Site, find};

const AGENTS: &str =
    "agents: {design: {command: [./design.py]}, code: {command: [./code.py]}, ops: {command: [./ops.py]}}";

/// Two phases, and whatever stands between them and the gate.
fn gated(between: &str, gate: &str) -> String {
    format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: design, agent: design}}\n  - {{id: code, agent: code}}\n{between}{gate}  \
         - {{id: ship, agent: ops}}\n"
    )
}

const GATE: &str = "  - {id: ok, gate: {items: [the migration]}}\n";

fn site(flow: &str) -> Site {
    Site::new()
        .workflow(flow)
        .agent("design", "write('design.sql', 'DESIGN')\nreport(artifacts=['design.sql'])")
        .agent("code", "write('code.sql', 'CODE')\nreport(artifacts=['code.sql'])")
        .agent("ops", "report()")
}

fn approve(site: &Site, name: &str) -> Ended {
    let shown = find(&site.told(), name).handoff.shown().expect("something is shown").0;
    site.baton(&["approve", &format!("t.{name}"), "--yes", "--shown", &shown])
}

/// Asserts that a gate covers the files of both phases: each that changes is shown again, and nothing follows.
fn covers_both(site: &Site, gate: &str) {
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    for (file, content) in [("design.sql", "DESIGN"), ("code.sql", "CODE")] {
        let shown = site.baton(&["show", &format!("t.{gate}")]).stdout;
        assert!(shown.contains(&format!("✓ `{file}` exists, {} bytes", content.len())), "{shown}");
        let kept = site.baton(&["show", &format!("t.{gate}"), "--file", file]);
        assert_eq!((kept.code, kept.stdout.as_str()), (Some(0), content), "{}", kept.stderr);
    }
    for file in ["design.sql", "code.sql"] {
        site.scratch.write(format!("workspace/{file}"), "EVIL");
        assert_eq!(approve(site, gate).code, Some(0));
        let again = site.resume(&[]);
        assert_eq!(again.code, Some(3), "{}", again.stderr);
        assert!(again.stderr.contains(&format!("`{file}` has changed since it was shown")), "{}", again.stderr);
    }
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
    assert_eq!(approve(site, gate).code, Some(0));
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(site.baton(&["audit", "verify", "t"]).code, Some(0));
}

#[test]
fn gate_covers_the_files_of_all_phases_before_it() {
    covers_both(&site(&gated("", GATE)), "ok.1");
}

#[test]
fn gate_covers_the_files_before_a_check_and_before_a_group_of_checks() {
    let checks = "  - {id: p, parallel: [{id: lint, check: \"true\"}, {id: test, check: \"true\"}]}\n  \
         - {id: last, check: \"true\"}\n";
    covers_both(&site(&gated(checks, GATE)), "ok.1");
}

#[test]
fn first_gate_inside_a_nested_workflow_covers_the_files_before_that_workflow() {
    let site = site(&gated("", "  - {id: inner, workflow: ./inner.yaml}\n"));
    site.scratch.write("flow/inner.yaml", "name: inner\nphases:\n  - {id: ok, gate: {items: [the migration]}}\n");
    covers_both(&site, "inner.ok.1");
}

#[test]
fn gate_after_a_nested_workflow_covers_the_files_of_the_workflow() {
    let outer = format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: inner, workflow: ./inner.yaml}}\n  \
         - {{id: t, check: \"true\"}}\n{GATE}  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&outer);
    let inner =
        format!("name: inner\n{AGENTS}\nphases:\n  - {{id: design, agent: design}}\n  - {{id: code, agent: code}}\n");
    site.scratch.write("flow/inner.yaml", inner);
    covers_both(&site, "ok.1");
}

#[test]
fn file_that_a_later_phase_reports_again_counts_as_in_the_later_report() {
    let site = site(&gated("", GATE)).agent(
        "code",
        "write('design.sql', 'BETTER')\nwrite('code.sql', 'CODE')\n\
         report(artifacts=['code.sql'], files_modified=['design.sql', 'code.sql'])",
    );
    assert_eq!(site.run(&[]).code, Some(3));
    let gate = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(gate.contains("✓ `design.sql` was changed, as reported") && !gate.contains("? "), "{gate}");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
}

#[test]
fn change_before_the_question_is_told_with_both_hashes_and_approved_once() {
    for between in ["  - {id: fmt, check: \"echo more >> code.sql\"}\n", "  - {id: fmt, check: \"rm design.sql\"}\n"] {
        let site = site(&gated(between, GATE));
        assert_eq!(site.run(&[]).code, Some(3));
        let gate = site.baton(&["show", "t.ok.1"]).stdout;
        let (file, phase, hash) = match between.contains("code.sql") {
            true => ("code.sql", "code", "reported with the sha256 "),
            false => ("design.sql", "design", "it is gone"),
        };
        let told = format!("? `{file}` is not as {phase} reported it");
        assert!(gate.contains(&told) && gate.contains(hash), "{gate}");
        assert!(!gate.contains(&format!("✓ `{file}`")), "{gate}");
        assert_eq!(approve(&site, "ok.1").code, Some(0));
        let ended = site.resume(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(matches!(site.told().root().handoff.state, State::Completed { .. }));
    }
}

#[test]
fn check_of_the_same_phase_that_changes_a_file_does_not_make_people_approve_twice() {
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - id: code\n    agent: code\n    review: blocking\n    \
         verify: [{{name: fmt, run: \"echo more >> code.sql\"}}]\n  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.code.1"]).stdout;
    assert!(shown.contains("? `code.sql` was changed while the checks ran"), "{shown}");
    assert_eq!(approve(&site, "code.1").code, Some(0));
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn gate_in_one_lane_does_not_cover_the_files_of_the_lanes_beside_it() {
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: design, agent: design}}\n  - id: p\n    parallel:\n      \
         - {{id: code, agent: code}}\n      - {{id: ok, gate: {{items: [the design]}}}}\n  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let gate = site.baton(&["show", "t.p.ok.1"]).stdout;
    assert!(gate.contains("`design.sql` exists") && !gate.contains("code.sql"), "{gate}");
}

#[test]
fn gate_says_which_checks_have_passed_and_keeps_what_was_seen_when_it_asks_again() {
    let flow =
        gated("  - {id: tests, check: \"true\"}\n", GATE).replace("agent: code}", "agent: code, writes: [code.sql]}");
    let site = site(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let seen = ["✓ the check `tests` passed, exit code 0", "✓ nothing outside `code.sql` was changed"];
    for _ in 0..2 {
        let gate = site.baton(&["show", "t.ok.1"]).stdout;
        assert!(seen.iter().all(|line| gate.contains(line)), "{gate}");
        site.scratch.write("workspace/design.sql", "EVIL");
        assert_eq!(approve(&site, "ok.1").code, Some(0));
        site.resume(&[]);
    }
}

#[test]
fn file_that_was_shown_again_and_approved_is_not_said_to_have_changed_once_more() {
    let site = site(&gated("", GATE));
    assert_eq!(site.run(&[]).code, Some(3));
    for file in ["design.sql", "code.sql"] {
        site.scratch.write(format!("workspace/{file}"), "EVIL");
        assert_eq!(approve(&site, "ok.1").code, Some(0));
        assert_eq!(site.resume(&[]).code, Some(3));
    }
    let run = site.told();
    let open: Vec<&str> = find(&run, "ok.1")
        .examined
        .iter()
        .filter(|examined| examined.verdict == ClaimFinding::Unverifiable)
        .filter_map(|examined| examined.path.as_deref())
        .collect();
    assert_eq!(open, ["code.sql"], "only what has changed since the last approval");
}

#[test]
fn gate_with_too_many_files_says_how_many_are_not_bound_and_checks_alone_do_not_open_it() {
    let flow = gated("", "  - {id: ok, gate: {type: auto, checks: [{name: fine, run: \"true\"}]}}\n");
    let body = "os.mkdir('m')\nnames = [f'm/{n}' for n in range(1005)]\nfor name in names: write(name, name)\n\
        report(artifacts=names)";
    let site = site(&flow).agent("code", body);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let gate = site.baton(&["show", "t.ok.1"]).stdout;
    // Five of them, and the one of the phase before.
    assert!(gate.contains("? 6 more reported files are not bound to this decision"), "{gate}");
    let few = self::site(&flow);
    assert_eq!(few.run(&[]).code, Some(0), "otherwise they do");
}

/// A review of a run that keeps views, and an agent that names its folder.
fn viewed(views: &str, body: &str) -> Site {
    let flow = format!(
        "name: gates\nagents: {{dev: {{command: [./dev.py]}}, ops: {{command: [./ops.py]}}}}\nviews: {views}\n\
         phases: [{{id: build, agent: dev, review: blocking}}, {{id: ship, agent: ops}}]\n"
    );
    Site::new().workflow(&flow).agent("dev", body).agent("ops", "report()")
}

const PLANT: &str = "s = '.project/07-audit/sessions/t/'\nos.makedirs(s + 'handoffs', exist_ok=True)\n\
    write(s + 'run.sh', 'good')\nwrite(s + 'handoffs/deploy.yaml', 'good')\n";

#[test]
fn what_an_agent_puts_into_the_archive_of_its_run_is_bound_and_what_baton_writes_there_is_not() {
    for named in [".project", ".project/07-audit/sessions/t", "."] {
        for planted in ["run.sh", "handoffs/deploy.yaml"] {
            let site = viewed("[archive]", &format!("{PLANT}report(artifacts=['{named}'])"));
            let asked = site.run(&[]);
            assert_eq!(asked.code, Some(3), "{}", asked.stderr);
            site.scratch.write(format!("workspace/.project/07-audit/sessions/t/{planted}"), "EVIL");
            assert_eq!(approve(&site, "build.1").code, Some(0));
            let again = site.resume(&[]);
            assert_eq!(again.code, Some(3), "{named} {planted}: {}", again.stderr);
            assert!(again.stderr.contains(&format!("`{named}` has changed since it was shown")), "{}", again.stderr);
            // Meanwhile Baton has written the journal of the run beside it.
            assert!(site.scratch.path("workspace/.project/07-audit/sessions/t/journal/t.build.1.yaml").exists());
            assert_eq!(approve(&site, "build.1").code, Some(0));
            let ended = site.resume(&[]);
            assert_eq!(ended.code, Some(0), "{named} {planted}: {}", ended.stderr);
        }
    }
}

#[test]
fn what_an_agent_puts_into_the_archive_of_its_run_is_a_change_like_any_other() {
    let site = viewed("[archive]", &format!("{PLANT}report()"));
    let flow = std::fs::read_to_string(site.scratch.path("flow/workflow.yaml")).expect("written");
    // In a cage the agent could not even write it.
    let flow = flow.replace("review: blocking", "writes: [src/**], retry: {max_retries: 0}");
    let site = site.workflow(&format!("{flow}sandbox: off\n"));
    let refused = site.run(&[]);
    assert_ne!(refused.code, Some(0), "{}", refused.stderr);
    let shown = site.baton(&["show", "t.build.1"]).stdout;
    assert!(shown.contains("run.sh"), "{shown}");
}

#[test]
fn link_to_a_view_in_an_approved_folder_is_told_as_open_and_asked_about_once() {
    for (link, target) in [
        ("state", "../state/current.json"),
        ("mine", "../.baton/runs"),
        ("archive", "../.project/07-audit/sessions/t/handoffs/t.yaml"),
    ] {
        let body = format!(
            "os.makedirs('out')\nwrite('out/x', 'x')\nos.symlink('{target}', 'out/{link}')\nreport(artifacts=['out'])"
        );
        let site = viewed("[state, archive]", &body);
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let shown = site.baton(&["show", "t.build.1"]).stdout;
        let told = format!("`{link}` in it leads to what Baton or git keeps current");
        assert!(shown.contains(&told), "{shown}");
        assert_eq!(approve(&site, "build.1").code, Some(0));
        let ended = site.resume(&[]);
        assert_eq!(ended.code, Some(0), "{link}: {}", ended.stderr);
    }
}

/// Asserts that a gate shows a file as it is, and that nothing follows an approval of it if it changes after that.
fn binds(site: &Site, gate: &str, file: &str, told: &str) {
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let shown = site.baton(&["show", &format!("t.{gate}")]).stdout;
    assert!(shown.contains(&format!("✓ {told} (sha256 ")), "{shown}");
    let content = site.scratch.read(format!("workspace/{file}"));
    let kept = site.baton(&["show", &format!("t.{gate}"), "--file", file]);
    assert_eq!((kept.code, kept.stdout.trim()), (Some(0), content.trim()), "{}", kept.stderr);
    site.scratch.write(format!("workspace/{file}"), "EVIL");
    assert_eq!(approve(site, gate).code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains(&format!("`{file}` has changed since it was shown")), "{}", again.stderr);
    assert!(site.told().latest("ship").is_none(), "nothing has followed");
}

#[test]
fn file_that_a_check_makes_or_changes_is_shown_and_bound() {
    for (check, file, told) in [
        ("check: \"echo MADE > made.sql\"", "made.sql", "`made.sql` was created while the check `build` ran"),
        (
            "check: \"echo MADE > made.sql\", writes: [made.sql]",
            "made.sql",
            "`made.sql` was created while the check `build` ran",
        ),
        ("check: \"echo more >> old.txt\"", "old.txt", "`old.txt` was changed while the check `build` ran"),
        // Git ignores it, but the workflow says that the check makes it.
        (
            "check: \"echo MADE > app.bin\", writes: [app.bin]",
            "app.bin",
            "`app.bin` exists, which the check `build` may write",
        ),
    ] {
        let site = site(&gated(&format!("  - {{id: build, {check}}}\n"), GATE));
        site.scratch.write("workspace/old.txt", "old\n").write("workspace/.gitignore", "*.bin\n");
        assert!(site.program("git").args(["init", "-q", "workspace"]).status().expect("git runs").success());
        binds(&site, "ok.1", file, told);
    }
}

#[test]
fn unchanged_file_that_writes_names_is_shown_and_bound() {
    // The agent of the phase leaves it alone, or writes it as it was; or it is a check that does.
    let told = "`old.txt` exists, 4 bytes, unchanged since before the work began";
    let by_check = "`old.txt` exists, which the check `build` may write";
    for (phase, work, told) in [
        ("{id: code, agent: code, writes: [./old.txt]}", "report()", told),
        ("{id: code, agent: code, writes: ['docs/**', old.txt]}", "write('old.txt', 'old\\n')\nreport()", told),
        ("{id: build, check: \"echo old > old.txt\", writes: [old.txt]}", "report()", by_check),
    ] {
        let flow = format!("name: gates\n{AGENTS}\nphases:\n  - {phase}\n{GATE}  - {{id: ship, agent: ops}}\n");
        let site = site(&flow).agent("code", work);
        site.scratch.write("workspace/old.txt", "old\n");
        binds(&site, "ok.1", "old.txt", told);
    }
}

#[test]
fn unchanged_file_is_shown_and_bound_at_a_review() {
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: code, agent: code, review: blocking, writes: [old.txt]}}\n  \
         - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow).agent("code", "report()");
    site.scratch.write("workspace/old.txt", "old\n");
    binds(&site, "code.1", "old.txt", "`old.txt` exists, 4 bytes, unchanged since before the work began");
}

#[test]
fn phase_that_leaves_a_file_alone_does_not_hide_who_made_it() {
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: design, agent: design, writes: [design.sql]}}\n  \
         - {{id: code, agent: code, writes: [design.sql]}}\n{GATE}  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow).agent("code", "report()");
    binds(&site, "ok.1", "design.sql", "`design.sql` exists, 6 bytes · phase design");
    assert!(!site.baton(&["show", "t.ok.1"]).stdout.contains("unchanged since"));
}

#[test]
fn file_of_an_earlier_attempt_is_bound() {
    let work =
        "if os.path.exists('sql/m.sql'): report()\nelse:\n  write('sql/m.sql', 'M')\n  report(artifacts=['gone.sql'])";
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - {{id: code, agent: code, writes: ['sql/**']}}\n{GATE}  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow).agent("code", work);
    site.scratch.write("workspace/sql/old.sql", "old\n");
    binds(&site, "ok.1", "sql/m.sql", "`sql/m.sql` was created, where it may write");
}

#[test]
fn approval_that_covers_no_file_says_so_where_files_are_to_be_written() {
    let warning = "? no file is covered by this approval";
    for (phase, asked, warns) in [
        ("agent: code, writes: ['sql/**']", "ok.1", true),
        ("agent: code, writes: [new.sql]", "ok.1", true),
        ("agent: code, writes: [docs]", "ok.1", true),
        ("agent: code, writes: ['sql/**'], review: blocking", "code.1", true),
        ("agent: code", "ok.1", false),
        ("agent: code, writes: []", "ok.1", false),
        ("agent: code, review: blocking", "code.1", false),
    ] {
        let flow = format!("name: gates\n{AGENTS}\nphases:\n  - {{id: code, {phase}}}\n{GATE}");
        let site = site(&flow).agent("code", "report()");
        site.scratch.write("workspace/docs/plan.md", "plan\n");
        assert_eq!(site.run(&[]).code, Some(3), "{phase}");
        let shown = site.baton(&["show", &format!("t.{asked}")]).stdout;
        assert_eq!(shown.contains(warning), warns, "{phase}\n{shown}");
    }
}

#[test]
fn file_that_a_check_removes_is_told_and_its_return_is_noticed() {
    let site = site(&gated("  - {id: clean, check: \"rm old.txt\"}\n", GATE));
    site.scratch.write("workspace/old.txt", "old\n");
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains("✓ `old.txt` was deleted while the check `clean` ran"), "{shown}");
    site.scratch.write("workspace/old.txt", "EVIL");
    assert_eq!(approve(&site, "ok.1").code, Some(0));
    let again = site.resume(&[]);
    assert!(again.stderr.contains("`old.txt` has changed since it was shown"), "{}", again.stderr);
}

#[test]
fn file_that_the_checks_of_a_phase_make_is_shown_and_bound() {
    for (writes, why) in [("", "which no report names"), (", writes: ['*.sql']", "where it may be written")] {
        let flow = format!(
            "name: gates\n{AGENTS}\nphases:\n  - {{id: code, agent: code, review: blocking{writes}, \
             verify: [{{name: build, run: \"echo MADE > made.sql\"}}]}}\n  - {{id: ship, agent: ops}}\n"
        );
        let site = site(&flow);
        let sign = if writes.is_empty() { "?" } else { "✓" };
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let shown = site.baton(&["show", "t.code.1"]).stdout;
        let told = format!("{sign} `made.sql` was created while the checks ran, {why} (sha256 ");
        assert!(shown.contains(&told), "{shown}");
        site.scratch.write("workspace/made.sql", "EVIL");
        assert_eq!(approve(&site, "code.1").code, Some(0));
        let again = site.resume(&[]);
        assert!(again.stderr.contains("`made.sql` has changed since it was shown"), "{}", again.stderr);
    }
}

#[test]
fn every_file_that_no_report_names_is_bound() {
    let body = "for n in range(30): write(f'm{n:02}.sql', str(n))\nreport()";
    let site = site(&gated("", GATE)).agent("code", body);
    binds(&site, "ok.1", "m29.sql", "`design.sql` exists, 6 bytes · phase design");
}

#[test]
fn evidence_of_several_phases_names_the_phase_of_each_line() {
    let flow = format!(
        "name: gates\n{AGENTS}\nphases:\n  - id: p\n    parallel:\n      - {{id: one, agent: code, writes: [code.sql]}}\n      \
         - {{id: two, agent: design, writes: [design.sql]}}\n{GATE}  - {{id: ship, agent: ops}}\n"
    );
    let site = site(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let gate = site.baton(&["show", "t.ok.1"]).stdout;
    for line in
        ["✓ `code.sql` exists, 4 bytes · phase p/one (sha256 ", "✓ `design.sql` exists, 6 bytes · phase p/two (sha256 "]
    {
        assert!(gate.contains(line), "{line}: {gate}");
    }
    let (_, evidence) = gate.split_once("evidence").expect("evidence is shown");
    let (evidence, _) = evidence.split_once("options").expect("choices are shown");
    assert!(evidence.lines().count() > 3 && evidence.lines().all(|line| line.contains(" · phase p/")), "{gate}");
}

#[test]
fn gate_says_what_is_unchanged_since_it_was_rejected() {
    // The second visit only changes what it is told to change.
    let code = "write('code.sql', 'CODE' + os.environ['BATON_HANDOFF_ID'])\nwrite('kept.sql', 'KEPT')\n\
        report(artifacts=['code.sql', 'kept.sql'])";
    for (body, told) in [
        (code, "unchanged since then: `kept.sql`"),
        ("write('code.sql', 'CODE')\nreport(artifacts=['code.sql'])", "since then, none of the files has changed"),
    ] {
        let flow = format!(
            "name: gates\n{AGENTS}\nphases:\n  - {{id: code, agent: code}}\n  \
             - {{id: ok, gate: {{items: [the migration]}}, on_failure: code}}\n  - {{id: ship, agent: ops}}\n"
        );
        let site = site(&flow).agent("code", body);
        assert_eq!(site.run(&[]).code, Some(3));
        assert!(!site.baton(&["show", "t.ok.1"]).stdout.contains("since then"));
        let shown = find(&site.told(), "ok.1").handoff.shown().expect("something is shown").0;
        let rejected = ["reject", "t.ok.1", "--note", "name the table", "--yes", "--shown", &shown];
        assert_eq!(site.baton(&rejected).code, Some(0));
        assert_eq!(site.resume(&[]).code, Some(3));
        let gate = site.baton(&["show", "t.ok.2"]).stdout;
        assert!(gate.contains("rejected it: name the table") && gate.contains(told), "{gate}");
    }
}

#[test]
fn review_says_what_is_unchanged_since_it_was_rejected() {
    let flow = format!("name: gates\n{AGENTS}\nphases:\n  - {{id: code, agent: code, review: blocking}}\n");
    let site = site(&flow);
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = find(&site.told(), "code.1").handoff.shown().expect("something is shown").0;
    let rejected = ["reject", "t.code.1", "--note", "name the table", "--yes", "--shown", &shown];
    assert_eq!(site.baton(&rejected).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3));
    let review = site.baton(&["show", "t.code.1"]).stdout;
    assert!(review.contains("since then, none of the files has changed"), "{review}");
}

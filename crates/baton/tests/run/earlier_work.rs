//! What earlier attempts and visits have left behind is part of the work: it is judged, shown and bound, although the last one did
//! not touch it.

use baton_engine::Fence;

use crate::site::{Site, find};

/// Does this in the first attempt only.
fn first(work: &str) -> String {
    format!("if os.environ['BATON_ATTEMPT'] == '1':\n    {work}\n")
}

fn one_agent(phase: &str, body: &str) -> Site {
    let flow = format!(
        "name: work\nagents: {{dev: {{command: [./dev.py], retry: {{max_retries: 2, delay: 0s}}}}}}\n\
         phases: [{{id: build, agent: dev{phase}}}]\n"
    );
    Site::with_git().workflow(&flow).agent("dev", body)
}

/// Asserts that a question shows a file, and that a change behind the back of whoever approves is noticed.
#[track_caller]
fn shows_and_binds(site: &Site, question: &str, file: &str) {
    let shown = site.baton(&["show", &format!("t.{question}")]).stdout;
    let told = shown.lines().find(|line| line.contains(&format!("`{file}`")) && line.contains("sha256"));
    assert!(told.is_some(), "{shown}");
    let digest = find(&site.told(), question).handoff.shown().expect("something is shown").0;
    site.scratch.write(format!("workspace/{file}"), "EVIL");
    assert_eq!(site.baton(&["approve", &format!("t.{question}"), "--yes", "--shown", &digest]).code, Some(0));
    let again = site.resume(&[]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains(&format!("`{file}` has changed since it was shown")), "{}", again.stderr);
}

fn reject(site: &Site, question: &str) {
    let digest = find(&site.told(), question).handoff.shown().expect("something is shown").0;
    let rejected = ["reject", &format!("t.{question}"), "--note", "not yet", "--yes", "--shown", &digest];
    assert_eq!(site.baton(&rejected).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3));
}

#[test]
fn file_that_was_not_named_is_still_not_named_in_the_next_attempt() {
    for writes in ["", ", writes: [a, b]"] {
        let body = first("write('a', 'A'); write('b', 'B')") + "report(files_modified=['a'])";
        let site = one_agent(writes, &body);
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let refused = asked.stderr.matches("refuted: modified-not-declared: `b` was created").count();
        assert!(refused >= 2, "{}", asked.stderr);
    }
}

#[test]
fn each_of_many_files_that_were_not_named_is_still_not_named_in_the_next_attempt() {
    let many = first("[write(f'f{n:02}', 'x') for n in range(30)]");
    // The second report names those that were listed one by one in the first refutation.
    let body = format!(
        "{many}listed = [f'f{{n:02}}' for n in range(20)] if os.environ['BATON_ATTEMPT'] != '1' else []\n\
         write('a', os.environ['BATON_ATTEMPT'])\nreport(files_modified=['a'] + listed)"
    );
    let site = one_agent("", &body);
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    let shown = site.baton(&["show", "t.build.1"]).stdout;
    for number in 20..30 {
        let is_one = |line: &&str| line.contains(&format!("`f{number}` was created")) && line.contains("sha256");
        let told: Vec<&str> = shown.lines().filter(is_one).collect();
        assert_eq!(told.len(), 1, "{shown}");
        assert!(told[0].contains("✗") && told[0].contains("but the report does not name it"), "{shown}");
    }
}

#[test]
fn agent_that_names_only_what_its_last_attempt_has_changed_passes_and_the_rest_is_shown() {
    // The first report cannot be read, so nobody knows what it named.
    let body = first("write('a', 'A'); write(os.environ['BATON_REPORT_FILE'], '{'); sys.exit()")
        + "write('b', 'B')\nreport(files_modified=['b'])";
    let site = one_agent("", &body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let shown = site.baton(&["show", "t.build.1"]).stdout;
    assert!(shown.contains("? `a` was created, which the report does not name (sha256 "), "{shown}");
    assert!(!shown.contains("every changed file is named"), "{shown}");
}

#[test]
fn file_that_was_handed_over_and_then_changed_is_not_forgotten_in_the_next_attempt() {
    for end in ["", "; sys.exit(1)"] {
        let flow = "name: work\nagents:\n  doc: {command: [./doc.py]}\n  \
            dev: {command: [./dev.py], retry: {max_retries: 2, delay: 0s}}\n\
            phases:\n  - {id: doc, agent: doc}\n  - {id: build, agent: dev}\n";
        let site = Site::with_git()
            .workflow(flow)
            .agent("doc", "write('doc.md', 'DOC')\nreport(artifacts=['doc.md'])")
            .agent("dev", &(first(&format!("write('doc.md', 'EVIL'){end}")) + "report()"));
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let shown = site.baton(&["show", "t.build.1"]).stdout;
        // It is refuted until it is undone; of what an attempt did that failed nobody knows.
        let told = if end.is_empty() {
            "✗ `doc.md` was changed, but it was handed over"
        } else {
            "although it was handed over"
        };
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn what_whoever_helped_has_written_is_not_taken_for_work_of_the_agent() {
    let flow = "name: work\nagents:\n  dev: {command: [./dev.py]}\n  sage: {command: [./sage.py]}\n\
        routes: [{agent: dev, reason: security_concern, to: sage}]\nphases: [{id: build, agent: dev}]\n";
    let blocked = "write('a', 'A')\n    report('blocked', blocked_reason='security_concern', attempts=['read it'])\n    sys.exit()";
    let site = Site::with_git()
        .workflow(flow)
        .agent("dev", &(first(blocked) + "report(files_modified=['a'])"))
        .agent("sage", "write('advice.md', 'ADVICE')\nreport(files_modified=['advice.md'])");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stderr, site.baton(&["show", "t.build.1"]).stdout);
}

#[test]
fn review_of_a_second_attempt_that_did_nothing_shows_what_the_first_has_written() {
    for writes in ["", ", writes: [made]"] {
        let body = first("write('made', 'MADE')") + "report()";
        let site = one_agent(&format!("{writes}, review: blocking"), &body);
        assert_eq!(site.run(&[]).code, Some(3));
        reject(&site, "build.1");
        shows_and_binds(&site, "build.1", "made");
    }
}

#[test]
fn file_of_an_attempt_that_failed_is_bound_at_the_gate() {
    let flow = "name: work\nagents: {dev: {command: [./dev.py], retry: {max_retries: 2, delay: 0s}}}\n\
        phases:\n  - {id: build, agent: dev}\n  - {id: ok, gate: {items: [it]}}\n";
    let body = first("write('made', 'MADE'); sys.exit(1)") + "report()";
    let site = Site::with_git().workflow(flow).agent("dev", &body);
    assert_eq!(site.run(&[]).code, Some(3));
    shows_and_binds(&site, "ok.1", "made");
}

#[test]
fn file_that_a_visit_was_refuted_for_is_still_not_named_in_the_next_visit() {
    let flow = "name: work\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\n\
        phases:\n  - {id: spec, agent: dev}\n  - {id: plan, agent: dev}\n  - {id: design, agent: dev, on_failure: plan}\n";
    for file in ["spec.md", "stray.sh"] {
        let body = format!(
            "me = os.environ['BATON_HANDOFF_ID']\nif '.spec.' in me:\n    write('spec.md', 'SPEC')\n    \
             report(artifacts=['spec.md'])\nelif '.plan.' in me:\n    report()\nelse:\n    \
             if me.endswith('.1'): write({file:?}, 'EVIL')\n    write('a.md', me)\n    report(files_modified=['a.md'])"
        );
        let site = Site::with_git().workflow(flow).agent("dev", &body);
        let asked = site.run(&[]);
        assert_eq!(asked.code, Some(3), "{}", asked.stderr);
        let refused = asked.stderr.matches(&format!("`{file}` was ")).count();
        assert!(refused >= 2, "{}", asked.stderr);
        assert_ne!(site.told().latest("design").expect("it was tried").handoff.id.as_str(), "t.design.1");
    }
}

#[test]
fn report_that_tests_have_written_over_is_handed_on_as_it_was_judged() {
    // In a cage the folder of the attempt is closed to the tests; elsewhere a copy from the journal is handed on.
    for sandbox in ["", "sandbox: off\n"] {
        let flow = format!(
            "name: work\n{sandbox}agents: {{dev: {{command: [./dev.py], retry: {{max_retries: 0}}}}}}\nphases:\n  \
             - {{id: design, agent: dev, verify: [{{name: t, run: \"find .baton/runs -name 'report.*' -exec sh -c 'echo EVIL > $0' {{}} ';' || true\"}}]}}\n  \
             - {{id: after, agent: dev}}\n"
        );
        let body = "if '.after.' in os.environ['BATON_HANDOFF_ID']:\n    \
            named = re.search(r'whole report: ([^ ;\\s]+)', prompt).group(1)\n    \
            if 'EVIL' in open(named).read(): sys.exit('nobody has judged this')\nreport()";
        let site = Site::with_git().workflow(&flow).agent("dev", &format!("import re\n{body}"));
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}

#[test]
fn file_that_only_an_earlier_visit_of_a_check_has_made_is_bound_at_the_gate() {
    let flow = "name: work\nagents: {dev: {command: [./dev.py]}}\n\
        phases:\n  - {id: plan, agent: dev}\n  - {id: build, check: 'test -e app || echo app > app'}\n  \
        - {id: ok, gate: {items: [it]}, on_failure: plan}\n";
    let site = Site::with_git().workflow(flow).agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    reject(&site, "ok.1");
    shows_and_binds(&site, "ok.2", "app");
}

#[test]
fn more_files_than_a_decision_covers_are_never_let_pass_by_checks_alone() {
    let flow = "name: work\nagents: {dev: {command: [./dev.py]}}\n\
        phases:\n  - {id: plan, agent: dev}\n  \
        - {id: build, check: 'for n in $(seq 1001); do echo $n > f$n; done'}\n  \
        - {id: ok, gate: {type: auto, checks: [{name: t, run: 'true'}]}}\n";
    let site = Site::with_git().workflow(flow).agent("dev", "report()");
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    assert!(asked.stderr.contains("1 more file, which no decision is bound to"), "{}", asked.stderr);
}

#[test]
fn file_that_was_made_where_it_may_not_be_can_be_removed_in_the_next_attempt() {
    for head in ["", "sandbox: off\n"] {
        let flow = format!(
            "name: work\n{head}agents: {{dev: {{command: [./dev.py], retry: {{max_retries: 1, delay: 0s}}}}}}\n\
             phases: [{{id: build, agent: dev, writes: [hello.md]}}]\n"
        );
        let body = "write('hello.md', 'Hello')\nif os.environ['BATON_ATTEMPT'] == '1':\n    \
             os.makedirs('stray/deep'); write('STRAY.md', 'x'); write('stray/deep/x.md', 'x')\nelse:\n    \
             import shutil; os.remove('STRAY.md'); shutil.rmtree('stray')\nreport(files_modified=['hello.md'])";
        let site = Site::with_git().workflow(&flow).agent("dev", body);
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(0), "{head}: {}", ended.stderr);
        let log = site.baton(&["log", "t", "--json"]).stdout;
        assert!(log.contains("`STRAY.md` was created, but only `hello.md` may be written"), "{head}: {log}");
        let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
        assert!(prompt.contains("Undo what was made or changed there"), "{prompt}");
    }
}

//! What one agent hands over is what the next one gets: through the program, with real processes and files.

use baton_engine::Fence;

use crate::site::{Site, find};

/// Python that hands in a package with a word of its own in every member.
const PACKAGE: &str = r##"
def package(to, **more):
    handoff = {"id": "HO-007", "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1)),
        "from": {"agent": os.environ["BATON_AGENT"], "step": 1}, "to": {"agent": to, "reason": "w-reason for it"},
        "context": {"summary": "w-summary: 3 pages were designed. Each has a test.",
            "decisions": [{"id": "ADR-1", "decision": "w-decision", "rationale": "w-rationale"}],
            "open_questions": [{"question": "w-question?", "priority": "high", "context": "w-context"}]},
        "expectations": {"deliverable": "w-deliverable: 3 pages", "constraints": ["at most 3 files, w-constraint"],
            "success_criteria": ["3 tests pass, w-criterion"]}}
    handoff.update(more)
    write(os.environ["BATON_REPORT_FILE"], json.dumps({"handoff": handoff}))
"##;

const WORDS: [&str; 9] = [
    "w-reason",
    "w-summary",
    "w-decision",
    "w-rationale",
    "w-question?",
    "w-context",
    "w-deliverable",
    "w-constraint",
    "w-criterion",
];

fn assert_has(prompt: &str, words: &[&str]) {
    let missing: Vec<&&str> = words.iter().filter(|word| !prompt.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?} did not arrive:\n{prompt}");
}

#[test]
fn package_arrives_whole_at_the_next_agent_and_at_every_member_of_a_group() {
    let flow = "name: handovers\n\
                agents:\n\
                \x20 planner: {command: [./planner.py], dialect: package}\n\
                \x20 builder: {command: [./builder.py]}\n\
                phases:\n\
                \x20 - {id: plan, agent: planner}\n\
                \x20 - {id: both, parallel: [{id: one, agent: builder}, {id: two, agent: builder}]}\n";
    let site = Site::new().workflow(flow).agent("planner", &format!("{PACKAGE}package('builder')"));
    let site = site.agent("builder", "report()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for step in ["both.one.1", "both.two.1"] {
        let prompt = site.read(site.attempt(step, Fence(1)).join("prompt.md"));
        assert_has(&prompt, &WORDS);
        let named = prompt.lines().find_map(|line| line.strip_prefix("whole report: ")).expect("a file is named");
        let file = named.split(" (with ").next().expect("a path");
        let whole = site.read(site.scratch.path(format!("workspace/{file}")));
        assert!(whole.contains("HO-007"), "the file has all of it: {whole}");
    }
}

#[test]
fn whoever_starts_again_remembers_its_report_and_what_it_changed() {
    let body = "if 'You have worked on this before' in prompt:\n    report()\nelse:\n    write('w-file.txt', 'x')\n    \
                report('needs_clarification', summary='w-summary of half the work.', questions=['w-question?'])";
    let flow = "name: memory\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::with_git().workflow(flow).agent("dev", body);
    assert_eq!(site.run(&[]).code, Some(3));
    let run = site.told();
    let shown = &find(&run, "build.1").handoff.shown().expect("a report").0;
    let answered = site.baton(&["answer", "t.build.1", "w-answer", "--yes", "--shown", shown]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    assert_eq!(site.resume(&[]).code, Some(0));
    let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
    assert_has(&prompt, &["w-summary", "w-question?", "w-answer", "w-file.txt (created)"]);
}

#[test]
fn file_of_an_earlier_report_that_a_prompt_names_is_there() {
    let body = "outcome = 'complete' if 'You have worked on this before' in prompt else 'needs_clarification'\n\
                print(json.dumps({'baton': 1, 'document': 'report', 'outcome': outcome, \
                'summary': 'Sorted the first half of the 41 invoices.', 'questions': ['Which half is next?'], \
                'metrics': {'w-lines': 3}}))";
    let flow =
        "name: memory\nagents: {dev: {command: [./dev.py], report: stdout}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", body);
    assert_eq!(site.run(&[]).code, Some(3));
    let run = site.told();
    let shown = &find(&run, "build.1").handoff.shown().expect("a report").0;
    assert_eq!(site.baton(&["answer", "t.build.1", "this one", "--yes", "--shown", shown]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
    let named = prompt.lines().find_map(|line| line.strip_prefix("whole report: ")).expect("a file is named");
    let file = named.split(" (with ").next().expect("a path");
    assert_has(&site.read(site.scratch.path(format!("workspace/{file}"))), &["w-lines"]);
}

#[test]
fn helper_gets_the_task_and_the_failing_output_of_the_blocked_agent() {
    let blocked = "if 'worked on by' in prompt:\n    report()\nelse:\n    report('blocked', blocked_reason='test_failures', \
                   attempted=['w-tried'], blockers=[{'type': 'w-type', 'description': 'w-blocker', 'resolution': 'w-way'}], \
                   verification={'tests_passed': False, 'command_output': 'w-output: 1 failed'})";
    let flow = "name: help\nagents: {dev: {command: [./dev.py]}, tester: {command: [./tester.py]}}\n\
                phases: [{id: build, agent: dev, task: w-task of the developer}]\n\
                routes: [{agent: dev, reason: 'test*', to: tester}]\n";
    let site =
        Site::new().workflow(flow).agent("dev", blocked).agent("tester", "report(summary='w-fixed the 1 test.')");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let prompt = site.read(site.attempt("build.tester.1", Fence(1)).join("prompt.md"));
    assert_has(&prompt, &["w-task", "w-tried", "w-type", "w-blocker", "w-way", "w-output"]);
    let again = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
    assert_has(&again, &["w-fixed", "w-blocker"]);
}

#[test]
fn note_of_an_approval_reaches_the_next_agent() {
    let flow = "name: note\nagents: {a: {command: [./a.py]}, b: {command: [./b.py]}}\n\
                phases: [{id: plan, agent: a, review: blocking}, {id: build, agent: b}]\n";
    let site = Site::new().workflow(flow).agent("a", "report()").agent("b", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    let run = site.told();
    let shown = &find(&run, "plan.1").handoff.shown().expect("a report").0;
    let approve = ["approve", "t.plan.1", "--note", "w-note", "--yes", "--shown", shown];
    assert_eq!(site.baton(&approve).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    assert_has(&site.read(site.attempt("build.1", Fence(1)).join("prompt.md")), &["w-note"]);
}

#[test]
fn inputs_that_could_not_be_read_again_begin_no_run() {
    let flow = "name: large\ninputs: {x: {}, y: {}}\nagents: {a: {command: [./a.py]}}\nphases: [{id: one, agent: a}]\n";
    let site = Site::new().workflow(flow).agent("a", "report()");
    let list = format!("[{}]", vec!["1"; 60_000].join(","));
    let ended = site.run(&["--input", &format!("x={list}"), "--input", &format!("y={list}")]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("the run cannot start"), "{}", ended.stderr);
    assert!(site.journal().is_empty(), "nothing was accepted");
}

#[test]
fn rejected_review_does_not_ship_however_much_the_others_write() {
    let verbose = "report(verdict='APPROVED', next={'context': 'x' * 4300000})";
    let flow = "name: verbose\nagents: {strict: {command: [./strict.py]}, wordy: {command: [./wordy.py]}}\n\
                phases:\n\
                \x20 - id: look\n\
                \x20   parallel: [{id: safety, agent: strict}, {id: x, agent: wordy}, {id: y, agent: wordy}]\n\
                \x20   on_failure: stop\n\
                \x20 - {id: ship, check: 'touch SHIPPED'}\n";
    let site = Site::new().workflow(flow).agent("strict", "report(verdict='REJECTED')").agent("wordy", verbose);
    assert_eq!(site.run(&[]).code, Some(1));
    assert!(!site.scratch.contains("workspace/SHIPPED"));
}

#[test]
fn whoever_is_sent_back_may_name_all_files_of_its_work() {
    let dev = "if 'w-more' in prompt:\n    write('b.txt', 'y')\nelse:\n    write('a.txt', 'x')\n\
               report(files_modified=sorted(name for name in ['a.txt', 'b.txt'] if os.path.exists(name)))";
    let reviewer = "if os.path.exists('b.txt'):\n    report(verdict='APPROVED')\n\
                    else:\n    report(verdict='CHANGES_REQUESTED', issues=['w-more is missing'])";
    let flow = "name: again\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}, rev: {command: [./rev.py]}}\n\
                phases: [{id: build, agent: dev}, {id: look, kind: review, agent: rev}]\n";
    let site = Site::with_git().workflow(flow).agent("dev", dev).agent("rev", reviewer);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn notes_after_a_group_say_what_each_member_wants_changed() {
    let flow = "name: handovers\n\
                agents:\n\
                \x20 dev: {command: [./dev.py]}\n\
                \x20 safe: {command: [./safe.py]}\n\
                \x20 fast: {command: [./fast.py]}\n\
                phases:\n\
                \x20 - {id: build, agent: dev}\n\
                \x20 - {id: reviews, parallel: [{id: safety, agent: safe}, {id: speed, agent: fast}]}\n";
    let rejects = |words: &str| {
        format!(
            "if os.environ['BATON_HANDOFF_ID'].endswith('.1'):\n    report(verdict='CHANGES_REQUESTED', summary='{words}')\n\
             else:\n    report(verdict='APPROVED', summary='Nothing is left to change in src/a.rs.')"
        )
    };
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let site = site.agent("safe", &rejects("Line 3 trusts the name of the file."));
    let site = site.agent("fast", &rejects("Line 9 reads the file twice."));
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let notes = site.read(site.attempt("build.2", Fence(1)).join("notes.json"));
    for words in ["\"safe\"", "Line 3 trusts the name of the file.", "\"fast\"", "Line 9 reads the file twice."] {
        assert!(notes.contains(words), "{words} is missing: {notes}");
    }
    let prompt = site.read(site.attempt("build.2", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("`fast` asked for changes. What it says stands below"), "{prompt}");
    assert!(!prompt.contains("feedback, from fast"), "what is handed over is not repeated as a note: {prompt}");
}

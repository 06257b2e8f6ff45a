//! People: they are asked, answer from other processes, and nothing goes on without them.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::door::Door;
use baton_engine::lifecycle::Decision;
use baton_engine::run::Run;
use baton_testbed::account;

use crate::site::{Ended, LONG, RUN, Site, end, find, listen};

const FLOW: &str = "name: gates\nagents: {dev: {command: [./dev.py]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the parser]}}, {id: ship, agent: dev}]\n";

const WAIT: [&str; 6] = ["run", "flow", "--workspace", "workspace", "--id", RUN];

fn site() -> Site {
    Site::new().workflow(FLOW).agent("dev", "report()")
}

/// Decides from another process about what is shown now.
fn decide(site: &Site, verb: &str, name: &str, more: &[&str]) -> Ended {
    let shown = find(&site.told(), name).handoff.shown().expect("something is shown").0;
    let id = format!("{RUN}.{name}");
    site.baton(&[&[verb, &id], more, &["--yes", "--shown", &shown]].concat())
}

fn is_completed(run: &Run) -> bool {
    matches!(run.root().handoff.state, State::Completed { .. })
}

#[test]
fn nobody_to_ask_ends_with_3_and_another_process_approves() {
    let site = site();
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("t.ok.1"), "it says what waits: {}", ended.stderr);
    assert!(site.baton(&["inbox"]).stdout.contains("t.ok.1"));
    // Nothing changes by itself, however often it is resumed.
    assert_eq!(site.resume(&[]).code, Some(3));
    let approved = decide(&site, "approve", "ok.1", &[]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(!is_completed(&site.told()), "the run was not resumed yet");
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(is_completed(&site.told()));
    let run = site.told();
    assert_eq!(find(&run, "ok.1").decided.as_ref().map(|decide| decide.by.clone()), Some(account()));
    assert_eq!(site.resume(&[]).code, Some(0), "what is done is done");
}

#[test]
fn gate_without_a_task_says_what_is_decided() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}}\nphases:\n  - {id: build, agent: dev}\n  \
        - {id: ok, gate: {items: [the parser]}}\n  - {id: where, gate: {items: [the docs], choices: {here: end, there: stop}}}\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.ok.1"]).stdout;
    assert!(shown.contains("wanted    A decision at `ok`: may gates continue?\n"), "{shown}");
    assert_eq!(decide(&site, "approve", "ok.1", &[]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.where.1"]).stdout;
    assert!(shown.contains("wanted    A decision at `where`: how should gates continue?\n"), "{shown}");
}

#[test]
fn rejected_gate_sends_the_work_back_with_the_feedback() {
    let site = site();
    assert_eq!(site.run(&[]).code, Some(3));
    let rejected = decide(&site, "reject", "ok.1", &["--note", "Leap years are wrong."]);
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
    assert_eq!(site.resume(&[]).code, Some(3), "the gate is asked again");
    let prompt = site.read(site.attempt("build.2", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("Leap years are wrong."), "{prompt}");
    assert!(matches!(find(&site.told(), "ok.2").handoff.state, State::AwaitingPerson { .. }));
}

#[test]
fn approval_from_elsewhere_reaches_a_run_that_goes_on() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}, slow: {command: [./slow.py]}}\nphases:\n  \
        - {id: both, parallel: [{id: ok, gate: {items: [the parser]}}, {id: slow, agent: slow}]}\n  - {id: ship, agent: dev}\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let (here, go) = (site.pipe("here"), site.pipe("go"));
    let body = format!("print('here', file=open({here:?}, 'w'), flush=True)\nopen({go:?}).read()\nreport()");
    let site = site.agent("slow", &body);
    let mut process = site.start(&WAIT);
    process.close_input();
    assert_eq!(listen(&here).next(LONG), Ok("here".to_owned()), "the agent begins");
    let approved = decide(&site, "approve", "both.ok.1", &[]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    std::fs::write(&go, "go").expect("the agent waits");
    let ended = end(&mut process);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn answers_play_the_person_and_are_recorded_as_such() {
    let site = site();
    site.scratch.write("answers.yaml", "- {phase: ok, reject: Leap years are wrong.}\n- {phase: ok, approve: true}\n");
    let ended = site.run(&["--answers", "answers.yaml"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let first = find(&run, "ok.1").decided.clone().expect("decided");
    assert!(matches!(first.decision, Decision::Reject { .. }));
    assert_eq!(first.door, Door::AnswersFile);
    assert!(matches!(find(&run, "ok.2").decided.clone().expect("decided").decision, Decision::Approve));
}

#[test]
fn answers_that_were_used_are_not_used_again_after_a_resume() {
    let site = site();
    site.scratch.write("answers.yaml", "- {phase: ok, reject: Leap years are wrong.}\n");
    assert_eq!(site.run(&["--answers", "answers.yaml"]).code, Some(3));
    let ended = site.resume(&["--answers", "answers.yaml"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let run = site.told();
    assert_eq!(run.visits("ok"), 2, "the answer was used once");
}

#[test]
fn person_is_asked_at_a_limit() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}, rev: {command: [./rev.py]}}\n\
        phases: [{id: build, agent: dev}, {id: review, agent: rev}]\nlimits: {visits_per_phase: 2}\n";
    let site = Site::new()
        .workflow(flow)
        .agent("dev", "report()")
        .agent("rev", "report(verdict='CHANGES_REQUESTED' if not os.path.exists('../content') else 'APPROVED')");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("t.review.limit.1"), "{}", ended.stderr);
    site.scratch.write("content", "");
    let answered = decide(&site, "answer", "review.limit.1", &["revise"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(site.told().visits("build"), 3);
}

#[test]
fn only_one_process_drives_a_run() {
    let site = Site::new().workflow(FLOW);
    let (here, go) = (site.pipe("here"), site.pipe("go"));
    let body = format!(
        "if os.environ['BATON_PHASE'] == 'ship':\n    print('here', file=open({here:?}, 'w'), flush=True)\n    \
         open({go:?}).read()\nreport()"
    );
    let site = site.agent("dev", &body);
    assert_eq!(site.run(&[]).code, Some(3));
    assert_eq!(decide(&site, "approve", "ok.1", &[]).code, Some(0));
    let resume = ["resume", RUN, "--no-input"];
    let (mut one, mut other) = (site.start(&resume), site.start(&resume));
    assert_eq!(listen(&here).next(LONG), Ok("here".to_owned()), "the agent begins");
    // The one that does not drive ends by itself, while the agent still works.
    let loser = loop {
        if one.wait(std::time::Duration::from_millis(20)).is_some() {
            break &mut one;
        }
        if other.wait(std::time::Duration::from_millis(20)).is_some() {
            break &mut other;
        }
    };
    let lost = end(loser);
    // Whoever comes too late for the workspace is told so; whoever comes too late for the run may try again.
    assert!(matches!(lost.code, Some(1 | 75)), "{}", lost.stderr);
    assert!(matches!(site.resume(&[]).code, Some(1 | 75)), "a third one does not drive it either");
    std::fs::write(&go, "go").expect("the agent waits");
    let codes = [end(&mut one).code, end(&mut other).code];
    assert!(codes.contains(&Some(0)) && (codes.contains(&Some(1)) || codes.contains(&Some(75))), "{codes:?}");
    let run = site.told();
    assert!(is_completed(&run));
    assert_eq!(find(&run, "ship.1").attempts, 1, "it was begun once");
}

#[test]
fn advisory_gate_goes_on_after_its_time() {
    let flow = FLOW.replace("gate: {items: [the parser]}", "gate: {type: advisory, items: [the parser], after: 100ms}");
    let site = Site::new().workflow(&flow).agent("dev", "report()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let decide = find(&run, "ok.1").decided.clone().expect("decided");
    assert_eq!((decide.by.as_str(), decide.door), ("nobody", Door::Advisory));
}

#[test]
fn auto_gate_is_decided_by_its_checks() {
    let flow = |command: &str| {
        FLOW.replace(
            "gate: {items: [the parser]}",
            &format!("gate: {{type: auto, items: [the parser], checks: [{{name: tests, run: '{command}'}}]}}"),
        )
    };
    let site = Site::new().workflow(&flow("true")).agent("dev", "report()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(find(&site.told(), "ok.1").decided.clone().expect("decided").by, "checks");
    let site = Site::new().workflow(&flow("echo three failed; false")).agent("dev", "report()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(matches!(find(&site.told(), "ok.1").handoff.state, State::AwaitingPerson { .. }));
}

#[test]
fn cancelled_run_ends_what_goes_on() {
    let site = Site::new().workflow(FLOW);
    let (here, go) = (site.pipe("here"), site.pipe("go"));
    let body = format!("print('here', file=open({here:?}, 'w'), flush=True)\nopen({go:?}).read()\nreport()");
    let site = site.agent("dev", &body);
    let mut process = site.start(&WAIT);
    process.close_input();
    assert_eq!(listen(&here).next(LONG), Ok("here".to_owned()), "the agent begins");
    let cancelled = site.baton(&["cancel", RUN]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    let ended = end(&mut process);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let run = site.told();
    assert!(run.handoffs().all(|tracked| tracked.handoff.state.name().is_finished()));
}

#[test]
fn interrupted_run_lets_go_and_is_resumed() {
    let site = Site::new().workflow(&FLOW.replace(", {id: ok, gate: {items: [the parser]}}", ""));
    let here = site.pipe("here");
    let body = format!(
        "if not os.path.exists('../second'):\n    write('../second', '')\n    \
         print('here', file=open({here:?}, 'w'), flush=True)\n    signal.pause()\nreport()"
    );
    let site = site.agent("dev", &body);
    let mut process = site.start(&WAIT);
    process.close_input();
    assert_eq!(listen(&here).next(LONG), Ok("here".to_owned()), "the agent begins");
    process.terminate();
    let ended = end(&mut process);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let run = site.told();
    assert!(matches!(find(&run, "build.1").handoff.state, State::Pending { .. }), "it was let go");
    assert_eq!(find(&run, "build.1").handoff.attempts, 0, "nothing has failed");
    assert_eq!(site.resume(&[]).code, Some(0));
}

#[test]
fn approval_counts_only_for_the_files_that_were_looked_at() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}}\n\
        phases: [{id: build, agent: dev, review: blocking}, {id: ship, agent: dev}]\n";
    // The same words about another file.
    let body = "sql = 'CREATE' if os.environ['BATON_FENCE'] == '1' else 'DROP'\n\
        write('migration.sql', sql)\nreport(artifacts=['migration.sql'])";
    let site = Site::new().workflow(flow).agent("dev", body);
    assert_eq!(site.run(&[]).code, Some(3));
    let seen = find(&site.told(), "build.1").handoff.shown().expect("something is shown").0;
    assert_eq!(decide(&site, "reject", "build.1", &["--note", "Once more."]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(3));
    let old = site.baton(&["approve", "t.build.1", "--yes", "--shown", &seen]);
    assert_eq!(old.code, Some(1), "{old:?}");
    assert!(old.stderr.contains("baton show t.build.1"), "{old:?}");
    assert_eq!(decide(&site, "approve", "build.1", &[]).code, Some(0));
}

#[test]
fn nobody_answers_a_question_of_a_run_with_work_of_their_own() {
    let site = site();
    assert_eq!(site.run(&[]).code, Some(3));
    let before = site.journal().len();
    site.scratch.write("aside.json", r#"{"baton": 1, "document": "request", "id": "aside", "instructions": "Look."}"#);
    let sent = site.baton(&["send", "aside.json", "--to", "ben", "--returns-to", "t.ok.1"]);
    assert_eq!(sent.code, Some(1), "{sent:?}");
    assert!(sent.stderr.contains("only the driver of run t reports about t.ok.1"), "{}", sent.stderr);
    assert_eq!(site.journal().len(), before);
}

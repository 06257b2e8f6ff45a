//! What people are asked, and how their answers travel: to the agent that asked, together with the question.

use baton_engine::Fence;
use baton_testbed::{Process, account};
use serde_json::Value;

use crate::site::{BATON, Ended, LONG, RUN, Site, find};

/// One agent that asks in its first attempt, with these members of a report.
fn asking(asks: &str) -> Site {
    let flow = "name: ask\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev}]\n";
    Site::new().workflow(flow).agent("dev", &in_the_first_attempt(asks))
}

fn in_the_first_attempt(asks: &str) -> String {
    format!("if os.environ['BATON_FENCE'] == '1':\n    report({asks})\nelse:\n    report()")
}

const BLOCKED: &str = "'blocked', blocked_reason='missing_requirements', attempted=['read the guide'], \
    questions=[{'question': 'Which store?', 'options': ['SQLite', {'label': 'PostgreSQL', 'description': 'for many'}]}]";

/// Decides from another process about what is shown now.
fn decide(site: &Site, verb: &str, name: &str, more: &[&str]) -> Ended {
    let shown = site.json(&["show", &format!("{RUN}.{name}"), "--json"])["question"]["digest"].clone();
    let id = format!("{RUN}.{name}");
    site.baton(&[&[verb, &id], more, &["--yes", "--shown", shown.as_str().expect("a digest")]].concat())
}

impl Site {
    fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.baton(arguments);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
    }

    /// Returns the prompt of the second attempt.
    fn second_prompt(&self) -> String {
        self.read(self.attempt("build.1", Fence(2)).join("prompt.md"))
    }

    /// Starts the program at a terminal of its own.
    fn at_terminal(&self, arguments: &str) -> Process {
        let mut command = self.program("script");
        command.args(["-qec", &format!("{BATON} {arguments}"), "/dev/null"]).env("NO_COLOR", "1");
        Process::spawn(&mut command)
    }
}

/// Types a line when the terminal shows something.
fn when(process: &mut Process, shown: &str, typed: &str) -> String {
    let line = process.stdout.find(shown, LONG).unwrap_or_else(|silence| panic!("{shown}: {silence:?}"));
    process.send_line(typed);
    line
}

#[test]
fn a_question_is_answered_never_approved() {
    let site = asking(BLOCKED);
    site.scratch.write("approve.yaml", "- {approve: true}\n");
    let ended = site.run(&["--answers", "approve.yaml"]);
    assert_eq!(ended.code, Some(3), "approval does not answer a question: {}", ended.stderr);
    let refused = decide(&site, "approve", "build.question.1", &[]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("`baton answer ID TEXT`"), "{}", refused.stderr);
    assert_eq!(site.told().visits("build"), 1);
    assert_eq!(decide(&site, "answer", "build.question.1", &["Neither: a file."]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    assert!(
        site.second_prompt()
            .contains(&format!("You asked:\n> Which store?\n\n{} answered:\nNeither: a file.", account()))
    );
    let notes = site.read(site.attempt("build.1", Fence(2)).join("notes.json"));
    assert!(notes.contains("\"question\": \"Which store?\""), "{notes}");
}

#[test]
fn options_of_a_blocked_agent_are_the_choices_of_the_person() {
    let site = asking(BLOCKED);
    assert_eq!(site.run(&[]).code, Some(3));
    let waiting = site.json(&["inbox", "--json"])["waiting"][0].clone();
    assert_eq!(waiting["choices"][1], serde_json::json!({"choice": "PostgreSQL", "meaning": "for many"}));
    let shown = site.json(&["show", "t.build.question.1", "--json"]);
    assert_eq!(shown["question"]["choices"], waiting["choices"]);
    let typo = decide(&site, "answer", "build.question.1", &["--choice", "Postgres"]);
    assert_eq!(typo.code, Some(2), "{}", typo.stderr);
    assert_eq!(decide(&site, "answer", "build.question.1", &["--choice", "2"]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    assert!(site.second_prompt().contains(&format!("> Which store?\n\n{} answered:\nPostgreSQL\n", account())));
}

#[test]
fn a_question_in_the_context_comes_back_with_its_answer_from_every_door() {
    let context = "'needs_clarification', next={'context': 'mTLS or an API key?'}";
    let pair = |by: &str| format!("You asked:\n> mTLS or an API key?\n\n{by} answered:\nmutual TLS\n");
    let site = asking(context);
    site.scratch.write("answers.yaml", "- {answer: mutual TLS}\n");
    assert_eq!(site.run(&["--answers", "answers.yaml"]).code, Some(0));
    let prompt = site.second_prompt();
    assert!(prompt.contains(&pair("answers:answers.yaml:1")), "{prompt}");

    let site = asking(context);
    assert_eq!(site.run(&[]).code, Some(3));
    assert!(site.baton(&["inbox"]).stdout.contains("mTLS or an API key?"));
    assert_eq!(decide(&site, "answer", "build.1", &["mutual TLS", "--as", "Bo"]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    assert!(site.second_prompt().contains(&pair(&format!("{} as Bo", account()))));

    let site = asking(context);
    let mut process = site.at_terminal("run flow --workspace workspace --id t");
    when(&mut process, "[l]ater", "mutual TLS\n");
    assert_eq!(process.wait(LONG).expect("it ends").code(), Some(0));
    assert!(site.second_prompt().contains(&pair(&account())));
}

#[test]
fn what_is_typed_at_a_question_is_the_answer_and_a_refused_word_does_not_end_the_run() {
    let site = asking(BLOCKED);
    let mut process = site.at_terminal("run flow --workspace workspace --id t");
    // `a` approves elsewhere. Here it asks for the answer, and nothing is decided without one.
    let menu = when(&mut process, "[l]ater", "a\n");
    assert!(!menu.contains("pprove") && menu.contains("[1-2]"), "{menu}");
    when(&mut process, "[l]ater", "2");
    assert_eq!(process.wait(LONG).expect("it ends").code(), Some(0));
    assert!(site.second_prompt().contains(&format!("> Which store?\n\n{} answered:\nPostgreSQL\n", account())));
}

#[test]
fn several_questions_are_asked_in_turn_each_with_its_options() {
    let two = "'blocked', blocked_reason='missing_requirements', attempted=['read the guide'], questions=[\
        {'question': 'Which store?', 'options': ['SQLite', 'PostgreSQL']}, \
        {'question': 'Which format?', 'options': ['CSV', 'JSON']}]";
    let site = asking(two);
    let mut process = site.at_terminal("run flow --workspace workspace --id t");
    when(&mut process, "[l]ater", "a");
    when(&mut process, "2. PostgreSQL", "1");
    when(&mut process, "2. JSON", "as XML\n");
    assert_eq!(process.wait(LONG).expect("it ends").code(), Some(0));
    let (asked, told) = ("> 1. Which store?\n> 2. Which format?", "1. SQLite\n2. as XML");
    let pair = format!("You asked:\n{asked}\n\n{} answered:\n{told}\n", account());
    assert!(site.second_prompt().contains(&pair), "{}", site.second_prompt());
}

#[test]
fn a_gate_of_a_workflow_takes_no_words_and_asks_again() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.py]}}\n\
        phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the parser]}}]\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let mut process = site.at_terminal("run flow --workspace workspace --id t");
    let menu = when(&mut process, "[l]ater", "tell them that it is fine");
    assert!(!menu.contains("[t]ell"), "{menu}");
    when(&mut process, "please type one of", "");
    when(&mut process, "[l]ater", "approve");
    when(&mut process, "A note for the record and the next agent", "Start with the importer.");
    assert_eq!(process.wait(LONG).expect("it ends").code(), Some(0));
    let decided = find(&site.told(), "ok.1").decided.clone().expect("decided");
    assert_eq!(decided.note.as_deref(), Some("Start with the importer."));
}

#[test]
fn a_failed_check_shows_its_command_what_it_said_and_where_the_log_is() {
    let flow = "name: check\nagents: {dev: {command: [./dev.py]}}\nphases:\n  - {id: build, agent: dev}\n  \
        - {id: p0, check: 'echo checking; echo src/a.rs:3 breaks a rule; false', on_failure: gate}\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    assert_eq!(site.run(&[]).code, Some(3));
    let inbox = site.baton(&["inbox"]).stdout;
    assert!(inbox.contains("the check p0 failed: exit code 1: src/a.rs:3 breaks a rule"), "{inbox}");
    let shown = site.baton(&["show", "t.p0.failure.1"]).stdout;
    for told in ["command   echo checking;", "output    checking", "src/a.rs:3 breaks a rule", "p0.1/1/verify-p0.log"] {
        assert!(shown.contains(told), "{told} is not shown:\n{shown}");
    }
    assert_eq!(shown.matches("src/a.rs:3 breaks a rule").count(), 2, "in the command and in its output:\n{shown}");
    let check = site.baton(&["show", "t.p0.1"]).stdout;
    assert!(check.contains("src/a.rs:3 breaks a rule") && check.contains("verdict failed"), "{check}");
    // What the person says goes back with the work.
    let back = decide(&site, "answer", "p0.failure.1", &["--choice", "back", "--note", "Only rule 3 matters."]);
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    assert_eq!(site.resume(&[]).code, Some(3));
    let prompt = site.read(site.attempt("build.2", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("Only rule 3 matters.") && prompt.contains("src/a.rs:3 breaks a rule"), "{prompt}");
}

#[test]
fn a_failed_agent_shows_the_line_that_matters_and_its_log() {
    let flow = "name: fail\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "sys.exit('reading\\nthe index is gone')");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3));
    let first = "build: PROCESSING_ERROR: the command ended with 1: the index is gone";
    assert!(ended.stderr.contains(first), "{}", ended.stderr);
    let shown = site.baton(&["show", "t.build.failure.1"]).stdout;
    assert_eq!(shown.matches("the index is gone").count(), 1, "it is told once:\n{shown}");
    assert!(shown.contains("build.1/1/stderr.log"), "{shown}");
}

#[test]
fn a_request_that_was_not_understood_is_asked_about_as_its_acknowledgment_says() {
    let flow =
        "name: ack\nagents: {dev: {command: [./dev.py], acknowledge: true}}\nphases: [{id: build, agent: dev}]\n";
    let body = "partial = 'acknowledgment: {received: true, understood: partial, blockers: [The test data is missing], \
        action: request_clarification}'\n\
        full = 'acknowledgment: {received: true, understood: {task: build it}, questions: [], starting: true}'\n\
        write(os.environ['BATON_ACKNOWLEDGMENT_FILE'], partial if os.environ['BATON_FENCE'] == '1' else full)\nreport()";
    let site = Site::new().workflow(flow).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("The test data is missing"), "{}", ended.stderr);
    let inbox = site.baton(&["inbox"]).stdout;
    assert!(inbox.contains("The test data is missing"), "{inbox}");
    let shown = site.baton(&["show", "t.build.1"]).stdout;
    assert!(shown.contains("blockers  1. The test data is missing"), "{shown}");
    assert_eq!(decide(&site, "answer", "build.1", &["It is in data/."]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    let pair = format!("You asked:\n> The test data is missing\n\n{} answered:\nIt is in data/.\n", account());
    assert!(site.second_prompt().contains(&pair), "{}", site.second_prompt());
}

#[test]
fn an_escalation_shows_the_decision_that_is_pending() {
    let flow =
        "name: escalate\nagents: {dev: {command: [./dev.py], dialect: package}}\nphases: [{id: build, agent: dev}]\n";
    let package = r#"handoff:
  id: HO-1
  from: {agent: dev, step: 2}
  to: {agent: human, reason: Business decision required}
  context:
    summary: Two possible approaches with significant trade-offs in parsing dates
    decisions:
      - {id: pending, decision: 'Approach A (fast, debt) or B (robust, long)', rationale: Depends on the priority}
      - {id: D-1, decision: Dates are UTC, rationale: Servers are}
    open_questions:
      - {question: Is time-to-market or maintainability the priority?, priority: high, context: The fair is in May}
  expectations: {deliverable: Validated choice with justification}
"#;
    let body = format!("write(os.environ['BATON_REPORT_FILE'], '''{package}''')");
    let site = Site::new().workflow(flow).agent("dev", &body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let shown = site.baton(&["show", "t.build.question.1"]).stdout;
    for told in [
        "reason    Business decision required",
        "pending   1. Approach A (fast, debt) or B (robust, long)\n             because: Depends on the priority",
        "decided   1. D-1: Dates are UTC",
        "summary   Two possible approaches",
        "maintainability the priority? (high)",
        "The fair is in May",
        "wanted    Validated choice with justification",
    ] {
        assert!(shown.contains(told), "{told} is not shown:\n{shown}");
    }
}

#[test]
fn what_a_person_says_after_stop_goes_back_with_the_work() {
    let flow = "name: stop\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "report(decision='STOP', issues=['Rows are lost.'])");
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = site.baton(&["show", "t.build.failure.1"]).stdout;
    assert!(shown.contains("Rows are lost.") && shown.contains("decision STOP"), "{shown}");
    let mut process = site.at_terminal("resume t");
    when(&mut process, "[l]ater", "retry");
    when(&mut process, "A note for the record and the next agent", "Keep rows without a key.");
    // The agent says STOP again, and the person is asked again.
    when(&mut process, "[l]ater", "later");
    assert_eq!(process.wait(LONG).expect("it ends").code(), Some(3));
    let prompt = site.read(site.attempt("build.2", Fence(1)).join("prompt.md"));
    assert!(prompt.contains("Keep rows without a key."), "{prompt}");
}

#[test]
fn log_of_a_failure_is_where_something_stands() {
    let flow = |agent: &str, phase: &str| {
        format!(
            "name: logs\nagents: {{dev: {{command: [./dev.py], retry: {{max_retries: 0}}{agent}}}}}\n\
             phases: [{{id: build, agent: dev{phase}}}]\n"
        )
    };
    let hangs = "print('ERROR: no such module', flush=True)\nsignal.pause()";
    let verified = ", verify: [{name: tests, run: 'echo no; exit 1'}]";
    for (agent, phase, body, log) in [
        (", timeout: 1s", "", hangs, "build.1/1/stdout.log"),
        ("", "", "print('done!')", "build.1/1/stdout.log"),
        ("", "", "sys.exit('no such module')", "build.1/1/stderr.log"),
        ("", verified, "report()", "build.1/1"),
    ] {
        let site = Site::new().workflow(&flow(agent, phase)).agent("dev", body);
        assert_eq!(site.run(&[]).code, Some(3), "{body}");
        let shown = site.baton(&["show", "t.build.failure.1"]).stdout;
        let told = shown.lines().find(|line| line.starts_with("log ")).unwrap_or_default();
        assert!(told.ends_with(log), "{body}: {shown}");
    }
}

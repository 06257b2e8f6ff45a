//! Acknowledgments: they come before the work, are heard at once, and whoever has not understood does not work on.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::handoff::Ask;
use baton_testbed::Process;

use crate::site::{BATON, LONG, RUN, Site, end, find, listen};

/// A workflow with one agent that must acknowledge as told.
fn flow(acknowledge: &str) -> String {
    format!(
        "name: ack\nagents: {{dev: {{command: [./dev.py], acknowledge: {acknowledge}, \
         retry: {{max_retries: 1, delay: 0s}}}}}}\nphases: [{{id: build, agent: dev}}]\n"
    )
}

/// Python that writes an acknowledgment with these members.
fn acknowledging(members: &str) -> String {
    format!("write(os.environ['BATON_ACKNOWLEDGMENT_FILE'], 'acknowledgment: {{received: true, {members}}}\\n')")
}

const UNDERSTOOD: &str = "understood: {task: Parse dates.}, starting: true";

const START: [&str; 8] = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"];

#[test]
fn acknowledgment_is_journalled_while_the_agent_works() {
    let site = Site::new().workflow(&flow("true"));
    let go = site.pipe("go");
    let body = format!("{}\nopen({go:?}).read()\nreport()", acknowledging(UNDERSTOOD));
    let site = site.agent("dev", &body);
    let mut driver = site.start(&START);
    driver.stdout.find("\"acknowledged\"", LONG).expect("it is told while the agent waits for us");
    let build = find(&site.told(), "build.1").handoff.clone();
    assert!(build.lease().expect("it works").acknowledged);
    std::fs::write(&go, "go").expect("the agent waits");
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let kinds: Vec<String> = site.journal().iter().map(|event| event.kind.clone()).collect();
    let acknowledged = kinds.iter().filter(|kind| *kind == "acknowledged").count();
    assert_eq!(acknowledged, 1, "it is told once: {kinds:?}");
}

#[test]
fn doubt_stops_the_attempt_and_the_same_agent_goes_on_with_the_answer() {
    let doubts = [
        "understood: partial, action: request_clarification",
        "understood: full, starting: true, blockers: [No schema.]",
        "understood: full, starting: true, questions: [Which dates?]",
        "understood: full, starting: false",
    ];
    for doubt in doubts {
        let site = Site::new().workflow(&flow("true"));
        let alive = site.pipe("alive");
        let body = format!(
            "if os.environ['BATON_FENCE'] == '1':\n    \
             held = open({alive:?}, 'w')\n    print('here', file=held, flush=True)\n    {}\n    signal.pause()\n\
             {}\nreport()",
            acknowledging(doubt),
            acknowledging(UNDERSTOOD),
        );
        let site = site.agent("dev", &body);
        let mut driver = site.start(&START);
        let agent = listen(&alive);
        let ended = end(&mut driver);
        assert_eq!(ended.code, Some(3), "{doubt}: {}", ended.stderr);
        assert_eq!(agent.rest(LONG).expect("the agent is killed"), ["here"], "{doubt}");
        let build = find(&site.told(), "build.1").handoff.clone();
        assert_eq!(build.state, State::AwaitingPerson { ask: Ask::Clarification }, "{doubt}");
        let shown = build.shown().expect("the acknowledgment is shown").0;
        let answer = ["answer", "t.build.1", "Only ISO dates.", "--yes", "--shown", &shown];
        assert_eq!(site.baton(&answer).code, Some(0), "{doubt}");
        let ended = site.resume(&[]);
        assert_eq!(ended.code, Some(0), "{doubt}: {}", ended.stderr);
        let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
        assert!(prompt.contains("Only ISO dates."), "{prompt}");
    }
}

#[test]
fn agent_that_does_not_acknowledge_in_time_is_killed_and_tried_again() {
    let site = Site::new().workflow(&flow("{within: 4s}"));
    let alive = site.pipe("alive");
    let body = format!(
        "if os.environ['BATON_ATTEMPT'] == '1':\n    held = open({alive:?}, 'w')\n    \
         print('here', file=held, flush=True)\n    signal.pause()\n{}\nreport()",
        acknowledging(UNDERSTOOD),
    );
    let site = site.agent("dev", &body);
    let mut driver = site.start(&START[..7]);
    assert_eq!(listen(&alive).rest(LONG).expect("the agent is killed"), ["here"]);
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("NOT_ACKNOWLEDGED"), "{}", ended.stderr);
    assert_eq!(find(&site.told(), "build.1").attempts, 2);
    let prompt = site.read(site.attempt("build.1", Fence(2)).join("prompt.md"));
    assert!(prompt.contains("dev did not say within 4 s that it understood"), "the agent knows why: {prompt}");
}

#[test]
fn report_without_acknowledgment_is_refused_where_one_is_asked_for() {
    let site = Site::new().workflow(&flow("true")).agent("dev", "report()");
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("it must say that it understood"), "{}", ended.stderr);
}

/// Members that no door takes as an acknowledgment in a project that is strict: a template was not filled in.
const UNFILLED: &str = "from: '[sending agent]', understood: {task: Parse dates.}, starting: true";

fn strict(site: Site) -> Site {
    site.scratch.write("baton.toml", "[rules]\nplaceholder = \"error\"\n");
    site
}

#[test]
fn acknowledgment_that_is_not_valid_ends_an_attempt_in_a_run() {
    let body = format!("{}\nsignal.pause()", acknowledging(&UNFILLED.replace('\'', "\\'")));
    let site = strict(Site::new().workflow(&flow("true")).agent("dev", &body));
    let ended = end(&mut site.start(&START));
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("the acknowledgment is not valid:\\n1:"), "{}", ended.stdout);
    assert!(ended.stdout.contains("placeholder"), "{}", ended.stdout);
}

#[test]
fn warning_about_an_acknowledgment_does_not_stop_a_run() {
    let body = format!("{}\nreport()", acknowledging(&UNFILLED.replace('\'', "\\'")));
    let site = Site::new().workflow(&flow("true")).agent("dev", &body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn the_same_acknowledgment_gets_the_same_answer_from_a_worker_and_from_the_command_line() {
    let text = format!("acknowledgment: {{received: true, {UNFILLED}}}");
    let (site, mut driver) = with_queue("true");
    let site = strict(site);
    site.scratch.write("ack.yaml", format!("{text}\n"));
    let claim = site.baton(&["claim", "--agent", "ack/anyone"]);
    assert_eq!(claim.code, Some(0), "{}", claim.stderr);
    let refused = site.baton(&["ack", "t.build.1", "--fence", "1", "ack.yaml"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("error[placeholder]"), "{}", refused.stderr);
    let failed = site.baton(&["fail", "t.build.1", "--fence", "1", "--code", "TIMEOUT", "--message", "too slow"]);
    assert_eq!(failed.code, Some(0), "{}", failed.stderr);
    let written = format!("printf \"{text}\" > $BATON_ACKNOWLEDGMENT_FILE; {REPORT}");
    assert_eq!(worker(&site, &written).wait(LONG).and_then(|status| status.code()), Some(1));
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("the acknowledgment is not valid:\\n1:"), "{}", ended.stdout);
}

/// Starts a worker for one handoff; what it runs is shell text.
fn worker(site: &Site, text: &str) -> Process {
    let mut command = site.command(&["worker", "--agent", "ack/anyone", "--once", "--", "sh", "-c", text]);
    let mut worker = Process::spawn(command.env("BATON", BATON));
    worker.close_input();
    worker
}

/// A run whose only phase waits for a worker that must acknowledge.
fn with_queue(acknowledge: &str) -> (Site, Process) {
    let flow = format!(
        "name: ack\nagents: {{anyone: {{queue: true, acknowledge: {acknowledge}, \
         retry: {{max_retries: 1, delay: 0s}}}}}}\nphases: [{{id: build, agent: anyone}}]\n"
    );
    let site = Site::new().workflow(&flow);
    let driver = site.start(&START);
    driver.stdout.find("t.build.1", LONG).expect("it begins");
    (site, driver)
}

const REPORT: &str = "printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
    \"summary\": \"Wrote the parser for dates and its three tests.\"}' $BATON_HANDOFF_ID";

const ACKNOWLEDGE: &str = "printf 'acknowledgment: {received: true, understood: {task: Parse dates.}, starting: true}' \
    > $BATON_ACKNOWLEDGMENT_FILE";

#[test]
fn worker_passes_on_the_acknowledgment_while_the_command_works() {
    let (site, mut driver) = with_queue("{within: 30s}");
    let go = site.pipe("go");
    let mut worker = worker(&site, &format!("{ACKNOWLEDGE}; cat {go}; {REPORT}"));
    driver.stdout.find("\"acknowledged\"", LONG).expect("it is told while the command waits for us");
    std::fs::write(&go, "").expect("the command waits");
    assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(0));
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn command_of_a_worker_with_a_question_is_stopped_and_a_person_asked() {
    let (site, mut driver) = with_queue("true");
    let alive = site.pipe("alive");
    let asks = ACKNOWLEDGE.replace("starting: true", "starting: true, questions: [Which dates?]");
    let mut worker = worker(&site, &format!("exec 3> {alive}; echo here >&3; {asks}; exec tail -f /dev/null"));
    assert_eq!(listen(&alive).rest(LONG).expect("the command is killed"), ["here"]);
    assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(0));
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert_eq!(find(&site.told(), "build.1").handoff.state, State::AwaitingPerson { ask: Ask::Clarification });
}

#[test]
fn claim_that_is_not_acknowledged_in_time_goes_back() {
    let (site, mut driver) = with_queue("{within: 4s}");
    let claim = site.baton(&["claim", "--agent", "ack/anyone"]);
    assert_eq!(claim.code, Some(0), "{}", claim.stderr);
    assert!(claim.stderr.contains("or it goes back: baton ack t.build.1 --fence 1"), "{}", claim.stderr);
    let line = driver.stdout.find("\"expired\"", LONG).expect("nobody acknowledges it");
    assert!(line.contains("t.build.1"), "{line}");
    let mut worker = worker(&site, &format!("{ACKNOWLEDGE}; {REPORT}"));
    assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(0));
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    assert_eq!(find(&run, "build.1").attempts, 2);
}

#[test]
fn command_of_a_worker_that_does_not_acknowledge_is_a_failed_attempt() {
    let (site, mut driver) = with_queue("true");
    for _ in 0..2 {
        let mut worker = worker(&site, REPORT);
        assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(1));
    }
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("BATON_ACKNOWLEDGMENT_FILE"), "{}", ended.stdout);
}

//! What the program shows of a run: the same words everywhere, what came of each handoff, and whose time it took.

use baton_engine::Fence;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use serde_json::Value;

use crate::site::{RUN, Site, find};

const CHECKED: &str = "name: shown\nagents: {dev: {command: [./dev.py]}}\n\
    phases: [{id: build, agent: dev}, {id: last, check: 'CHECK', on_failure: gate}]\n";

const BUILDS: &str = "write('parser.py', 'def parse(): pass')\nreport(artifacts=['parser.py'])";

fn checked(command: &str) -> Site {
    let site = Site::new().workflow(&CHECKED.replace("CHECK", command)).agent("dev", BUILDS);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    site
}

fn line<'t>(text: &'t str, begin: &str) -> &'t str {
    let found = text.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("no line begins with {begin}:\n{text}"))
}

#[test]
fn check_that_fails_is_told_with_the_same_words_everywhere() {
    let site = checked("echo three tests fail; false");
    let list = site.baton(&["list"]).stdout;
    assert!(line(&list, "t.last.1").contains("did not pass"), "{list}");
    assert!(line(&list, "t.build.1").contains("completed"), "{list}");
    let table = site.baton(&["show", RUN]).stdout;
    assert!(line(&table, "last").ends_with("did not pass"), "{table}");
    let handoff = site.baton(&["show", "t.last.1"]).stdout;
    assert!(line(&handoff, "state").ends_with("completed, did not pass"), "{handoff}");
}

#[test]
fn finished_handoff_shows_what_came_of_it() {
    let site = checked("false");
    let shown = site.baton(&["show", "t.build.1"]).stdout;
    assert!(line(&shown, "reported").ends_with(" complete"), "{shown}");
    assert!(line(&shown, "summary").contains("Wrote the parser for dates and its three tests."), "{shown}");
    assert!(line(&shown, "artifacts").ends_with(" parser.py"), "{shown}");
}

#[test]
fn log_of_a_check_has_all_that_it_said_and_the_report_has_the_end() {
    let site = checked("seq 1 900000; echo the very end; false");
    let log = site.read(site.attempt("last.1", Fence(1)).join("verify-last.log"));
    assert!(log.len() > 5 * 1024 * 1024 && log.starts_with("1\n2\n") && log.ends_with("900000\nthe very end\n"));
    let told = site.told();
    let report = find(&told, "last.1").report().expect("a report");
    let output = report.verification["output"].as_str().expect("its output");
    assert!(output.len() < 5_000 && output.ends_with("900000\nthe very end"), "{output}");
}

fn microseconds_between(events: &[Event], from: fn(&Command) -> bool, to: fn(&Command) -> bool) -> i64 {
    let at = |is_it: fn(&Command) -> bool| {
        let of_build = events.iter().filter(|event| event.handoff.as_str() == "t.build.1");
        let mut found = of_build.filter(|event| matches!(event.fact(), Ok(Fact::Happened(command)) if is_it(&command)));
        found.next().expect("it happened").at.as_microsecond()
    };
    at(to) - at(from)
}

#[test]
fn time_of_an_agent_is_its_own_and_not_that_of_the_person_who_reviews() {
    let flow =
        "name: shown\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev, review: blocking}]\n";
    let site = Site::new().workflow(flow).agent("dev", BUILDS);
    assert_eq!(site.run(&[]).code, Some(3));
    let shown = find(&site.told(), "build.1").handoff.shown().expect("something is shown").0;
    assert_eq!(site.baton(&["approve", "t.build.1", "--yes", "--shown", &shown]).code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(0));
    let run: Value = serde_json::from_str(&site.baton(&["show", RUN, "--json"]).stdout).expect("JSON");
    let took = run["phases"][0]["seconds"].as_f64().expect("a number");
    let events = site.journal();
    let claimed: fn(&Command) -> bool = |command| matches!(command, Command::Claim(_));
    let decided: fn(&Command) -> bool = |command| matches!(command, Command::Decide(_));
    let reported: fn(&Command) -> bool = |command| matches!(command, Command::Report(_));
    let until_decided = microseconds_between(&events, claimed, decided) as f64 / 1e6;
    let worked = microseconds_between(&events, claimed, reported) as f64 / 1e6;
    let person = find(&site.told(), "build.1").handoff.state.finished_at().is_some();
    assert!(person && took + 1e-5 >= worked && took < until_decided, "{took} of {until_decided}, {worked} of it work");
}

//! Nobody there: a run does not wait for ever for an agent that nobody starts, and says that it waits.

use baton_engine::State;
use baton_engine::step::Role;

use crate::site::{Ended, LONG, RUN, Site, end, find};

const FOLDER: &str = "name: waiting\nagents: {react: {directory: ., timeout: 1s, retry: {max_retries: 0}}}\n\
    phases: [{id: build, agent: react}]\n";

/// Decides about a question of the run from another process.
fn answer(site: &Site, name: &str, word: &str) -> Ended {
    let shown = find(&site.told(), name).handoff.shown().expect("something is shown").0;
    site.baton(&["answer", &format!("{RUN}.{name}"), word, "--yes", "--shown", &shown])
}

/// Claims the request in the folder and completes it, as a specialist does.
fn specialist(site: &Site) {
    let claim = site.baton(&["dir", "claim", "workspace", "--agent", "@react", "--wait", "--json"]);
    assert_eq!(claim.code, Some(0), "{claim:?}");
    let completed = site.baton(&["dir", "complete", "workspace", "t.build.1-1"]);
    assert_eq!(completed.code, Some(0), "{completed:?}");
}

#[test]
fn folder_request_that_nobody_picks_up_fails_and_a_person_is_asked() {
    let site = Site::new().workflow(FOLDER);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("@react did not pick it up within 1 s"), "{}", ended.stderr);
    assert!(matches!(find(&site.told(), "build.1").handoff.state, State::Failed { .. }));
    let claim = site.baton(&["dir", "claim", "workspace", "--agent", "@react"]);
    assert_eq!(claim.code, Some(1), "nobody can pick it up later: {claim:?}");
}

#[test]
fn pick_up_time_of_a_folder_is_retried_as_the_policy_says() {
    let flow = "name: waiting\nagents: {react: {directory: ., pick_up_within: 300ms, \
        retry: {max_retries: 1, delay: 0s}}}\nphases: [{id: build, agent: react, on_failure: stop}]\n";
    let site = Site::new().workflow(flow);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let run = site.told();
    assert_eq!((find(&run, "build.1").attempts, find(&run, "build.1").ended), (2, 2));
}

#[test]
fn work_in_the_queue_that_nobody_claims_fails_as_the_policy_says() {
    let flow = "name: waiting\nagents: {anyone: {queue: true, pick_up_within: 300ms, \
        retry: {max_retries: 1, delay: 0s}}}\nphases: [{id: build, agent: anyone, on_failure: stop}]\n";
    let site = Site::new().workflow(flow);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("build: TIMEOUT: nobody picked it up"), "nobody began an attempt: {}", ended.stderr);
    let expired = site.journal().iter().filter(|event| event.kind == "expired").count();
    assert_eq!(expired, 2, "it is tried once more");
    let failure = find(&site.told(), "build.1").handoff.last_failure.clone().expect("it has failed");
    assert_eq!(failure.to_string(), "TIMEOUT: nobody picked it up within 0.3 s");
}

#[test]
fn wall_clock_ends_a_wait_for_the_queue_and_a_person_decides() {
    let flow = "name: waiting\nagents: {anyone: {queue: true}}\nphases: [{id: build, agent: anyone}]\n\
        limits: {wall_clock: 1s}\n";
    let site = Site::new().workflow(flow);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("the limit is 1 s"), "{}", ended.stderr);
    let run = site.told();
    let question = find(&run, "build.limit.1");
    assert_eq!(
        (question.step.role, question.handoff.terms.choices.as_slice()),
        (Role::Limit, &CHOICES.map(str::to_owned)[..])
    );
    assert!(matches!(find(&run, "build.1").handoff.state, State::Pending { .. }), "it can still be claimed");
    assert_eq!(site.resume(&[]).code, Some(3), "nothing goes on without the person");
    assert_eq!(answer(&site, "build.limit.1", "stop").code, Some(0));
    assert_eq!(site.resume(&[]).code, Some(1), "the run stops");
}

const CHOICES: [&str; 3] = ["continue", "revise", "stop"];

#[test]
fn wall_clock_ends_a_wait_for_a_folder_and_continue_goes_on_waiting() {
    let flow = "name: waiting\nagents: {react: {directory: .}}\nphases: [{id: build, agent: react}]\n\
        limits: {wall_clock: 1s}\n";
    let site = Site::new().workflow(flow);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("Still waiting for react: the run has taken"), "{}", ended.stderr);
    assert_eq!(answer(&site, "build.limit.1", "continue").code, Some(0));
    let mut driver = site.start(&["resume", RUN, "--no-input", "--json"]);
    driver.stdout.find("\"claimed\"", LONG).expect("it waits again");
    specialist(&site);
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let requests = site.baton(&["dir", "status", "workspace", "--json"]);
    assert!(requests.stdout.contains("\"completed\": 1"), "the request is the same: {}", requests.stdout);
    assert!(requests.stdout.contains("\"failed\": 0"), "{}", requests.stdout);
}

#[test]
fn limit_that_is_reached_is_told_once_between_phases_and_inside_a_group() {
    let phases = "phases: [{id: one, check: 'true'}, {id: two, check: 'true'}, {id: three, check: 'true'}]";
    let group = "inputs: {list: {default: [a, b, c]}}\n\
        phases: [{id: each, foreach: inputs.list, at_once: 1, phases: [{id: look, check: 'true'}]}]";
    for (flow, limit) in [(phases, 2), (group, 3)] {
        let site = Site::new().workflow(&format!("name: w\n{flow}\nlimits: {{handoffs: {limit}}}\n"));
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        let waits: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("waits")).collect();
        assert!(waits.len() == 1 && waits[0].contains("were made; the limit is"), "{ended:?}");
    }
}

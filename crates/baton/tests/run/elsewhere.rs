//! Agents that claim their work themselves: a real worker takes it from the queue while the run is driven.

use baton_testbed::Process;

use crate::site::{BATON, LONG, Site, end, find};

const FLOW: &str = "name: elsewhere\nagents:\n  anyone: {queue: true, retry: {max_retries: 2, delay: 0s}}\n  \
    dev: {command: [./dev.py]}\nphases: [{id: build, agent: anyone}, {id: ship, agent: dev}]\n";

/// Begins a run, and waits until there is something to do.
fn begin(site: &Site) -> Process {
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", "t", "--json"]);
    driver.close_input();
    driver.stdout.find("t.build.1", LONG).expect("it begins");
    driver
}

/// Starts a worker; what it runs is shell text.
fn worker(site: &Site, text: &str) -> Process {
    let mut command = site.command(&["worker", "--agent", "elsewhere/anyone", "--once", "--", "sh", "-c", text]);
    command.env("BATON", BATON);
    Process::spawn(&mut command)
}

fn report(more: &str) -> String {
    format!(
        "cat > ../request.txt; printf '{{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
         \"summary\": \"Wrote the parser for dates and its three tests.\"{more}}}' $BATON_HANDOFF_ID"
    )
}

#[test]
fn worker_does_the_work_of_a_phase() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    let mut driver = begin(&site);
    let mut worker = worker(&site, &report(""));
    worker.close_input();
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(0));
    let run = site.told();
    assert_eq!(find(&run, "build.1").attempts, 1);
    assert!(site.scratch.read("request.txt").contains("phase `build`"));
}

#[test]
fn worker_that_lies_is_refuted_by_the_driver() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    let mut driver = begin(&site);
    let mut first = worker(&site, &report(", \"artifacts\": [\"parser.py\"]"));
    first.close_input();
    assert_eq!(first.wait(LONG).and_then(|status| status.code()), Some(0));
    let mut second = worker(&site, &report(""));
    second.close_input();
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    let build = find(&run, "build.1");
    assert_eq!(build.attempts, 2);
    assert!(build.handoff.notes.iter().any(|note| note.text.contains("artifact-missing")), "{:?}", build.handoff.notes);
}

#[test]
fn work_goes_on_elsewhere_while_nobody_drives() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    let mut driver = begin(&site);
    driver.kill();
    let mut worker = worker(&site, &report(""));
    worker.close_input();
    assert_eq!(worker.wait(LONG).and_then(|status| status.code()), Some(0));
    let ended = site.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(find(&site.told(), "build.1").attempts, 1, "what the worker did is not done again");
}

#[test]
fn report_from_the_queue_must_be_of_the_agent_and_the_phase_that_was_asked() {
    let site = Site::new().workflow(FLOW).agent("dev", "report()");
    let mut driver = begin(&site);
    let mut other = worker(&site, &report(", \"from\": {\"agent\": \"somebody-else\"}"));
    other.close_input();
    other.wait(LONG).expect("the worker ends");
    let claimed = site.baton(&["claim", "--agent", "elsewhere/anyone", "--json"]);
    assert_eq!(claimed.code, Some(0), "{claimed:?}");
    let hand_in = |from: &str, phase: &str| {
        site.scratch.write(
            "report.json",
            format!(
                "{{\"baton\": 1, \"document\": \"report\", \"from\": {{\"agent\": \"{from}\"}}, \"phase\": \"{phase}\", \
                 \"outcome\": \"complete\", \"summary\": \"Wrote the parser for dates and its three tests.\"}}"
            ),
        );
        site.baton(&["report", "t.build.1", "--fence", "2", "report.json"])
    };
    for (from, phase, word) in [("dev", "build", "`anyone` did the work"), ("anyone", "ship", "done in `build`")] {
        let refused = hand_in(from, phase);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("report-echo-mismatch") && refused.stderr.contains(word), "{refused:?}");
    }
    assert_eq!(hand_in("Anyone", "build").code, Some(0));
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    assert_eq!(find(&run, "build.1").attempts, 2, "the worker's report in another name has failed");
}

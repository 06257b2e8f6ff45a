//! `writes`: two agents that may change the same files never work at the same time; others do.

use crate::site::{Site, find};

fn flow(second: &str) -> String {
    format!(
        "name: writers\nagents: {{dev: {{command: [./dev.py]}}}}\nphases:\n  - id: both\n    parallel:\n      \
         - {{id: one, agent: dev, writes: ['src/**']}}\n      - {{id: two, agent: dev, writes: ['{second}']}}\n"
    )
}

#[test]
fn overlapping_writers_take_turns() {
    // Each looks out for the other for a second; if they worked at the same time, they would meet.
    let body = "name = os.environ['BATON_PHASE'].split('/')[1]\nother = {'one': 'two', 'two': 'one'}[name]\n\
                write('../' + name, 'here')\nstart, met = time.time(), False\n\
                while time.time() < start + 1: met = met or os.path.exists('../' + other)\n\
                os.remove('../' + name)\nreport('failed' if met else 'complete')";
    let site = Site::new().workflow(&flow("src/parser/*.py")).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    assert_eq!((find(&run, "both.one.1").attempts, find(&run, "both.two.1").attempts), (1, 1));
}

#[test]
fn disjoint_writers_work_at_the_same_time() {
    // Each waits for the other: a barrier that only two at the same time can pass.
    let body = "other = {'both/one': 'two', 'both/two': 'one'}[os.environ['BATON_PHASE']]\n\
                mine = os.environ['BATON_PHASE'].split('/')[1]\n\
                write('../' + mine, 'here')\nstart = time.time()\n\
                while not os.path.exists('../' + other) and time.time() < start + 60: pass\n\
                report('complete' if os.path.exists('../' + other) else 'failed')";
    let site = Site::new().workflow(&flow("docs/**")).agent("dev", body);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = site.told();
    assert_eq!((find(&run, "both.one.1").attempts, find(&run, "both.two.1").attempts), (1, 1));
}

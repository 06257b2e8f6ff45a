//! Who drives a run, as others see it: where its workspace is taken, and in the list of runs.

use baton_engine::Fence;
use baton_engine::HandoffId;
use baton_engine::lifecycle::{Claim, Command, Release};
use baton_engine::store::Order;
use baton_store::Location;
use baton_testbed::account;
use jiff::Timestamp;
use rustix::process::Signal;

use crate::site::{LONG, RUN, Site, end, listen};

#[expect(clippy::disallowed_methods, reason = "the program under test reads the machine's clock, too")]
fn now() -> Timestamp {
    Timestamp::now()
}

/// Gives a command to the run's own handoff, as another driver does.
fn apply(site: &Site, command: impl FnOnce(Fence) -> Command) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let location = Location::Sqlite(site.store());
        let store = baton_store::open(&location).await.expect("the store opens");
        let id = HandoffId::parse(RUN).expect("safe");
        let root = store.find(&id).await.expect("it answers").expect("the run");
        store.apply(Order::new(id, command(root.fence)), now()).await.expect("applied");
    });
}

#[test]
fn workspace_of_a_run_that_somebody_else_still_drives_names_the_run_and_its_driver() {
    let site = Site::new().workflow("name: w\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: p, agent: dev}]");
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let site = site.agent("dev", &format!("write({begun:?}, 'begun\\n')\nopen({go_on:?}).read()\nreport()"));
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"]);
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the agent begins");
    let other = site.baton(&["run", "flow", "--workspace", "workspace", "--id", "other", "--no-input"]);
    assert_eq!(other.code, Some(75), "{other:?}");
    assert!(other.stderr.contains(&format!("error: run t, driven by {}@", account())), "{other:?}");
    assert!(other.stderr.contains("its own --workspace"), "{other:?}");
    // It stands still, and whoever looks takes it that it has ended.
    driver.signal(Signal::STOP);
    let why = "it was not heard of".to_owned();
    apply(&site, |fence| Command::Release(Release { fence, why }));
    let resumed = site.resume(&[]);
    assert_eq!(resumed.code, Some(75), "{resumed:?}");
    assert!(resumed.stderr.contains(&format!("error: t is driven by {}@", account())), "{resumed:?}");
    assert!(resumed.stderr.contains("then baton resume t") && !resumed.stderr.contains("--workspace"), "{resumed:?}");
    driver.signal(Signal::CONT);
    std::fs::write(&go_on, "").expect("the agent goes on");
    assert_eq!(end(&mut driver).code, Some(0));
}

#[test]
fn driver_whose_lease_is_over_was_last_heard_of_and_drives_no_more() {
    let site = Site::new().workflow("name: w\nphases: [{id: agree, gate: {items: [It is complete]}}]");
    assert_eq!(site.run(&[]).code, Some(3));
    apply(&site, |_| Command::Claim(Claim { driver: true, ..Claim::by("ana@elsewhere:7", 1) }));
    let listed = site.baton(&["runs"]);
    assert!(listed.stdout.contains("ana@elsewhere:7 was last heard from "), "{listed:?}");
    assert!(!listed.stdout.contains("driven by"), "{listed:?}");
    let listed: serde_json::Value = serde_json::from_str(&site.baton(&["runs", "--json"]).stdout).expect("JSON");
    assert_eq!((&listed["runs"][0]["run"], &listed["runs"][0]["state"]), (&RUN.into(), &"silent".into()));
    assert!(listed["runs"][0]["last_heard_of_at"].is_string(), "{listed}");
}

#[test]
fn run_goes_on_when_nobody_reads_what_it_says() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev}]\n";
    let site = Site::new().workflow(flow).agent("dev", "report()");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = site.command(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"]);
    let ended = command.stdin(std::process::Stdio::null()).stderr(writer).output().expect("it starts");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stdout));
    let audit = site.baton(&["audit", "verify", "--all"]);
    assert_eq!(audit.code, Some(0), "it is in the ledger: {}{}", audit.stdout, audit.stderr);
}

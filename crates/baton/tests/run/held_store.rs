//! A store that another process holds while a run is driven: the driver says who it is, and ends with "try again".

use std::process::Command;

use baton_testbed::Process;
use rustix::process::Signal;
use serde_json::Value;

use crate::site::{LONG, RUN, Site, end, listen};

/// Takes the lock of the store, and stops.
const HOLDER: &str = "\
import fcntl, os, signal, sys
held = open(sys.argv[1].replace('.db', '.lock'), 'a')
fcntl.flock(held, fcntl.LOCK_EX)
print('held', flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
";

#[test]
fn driver_names_the_stopped_process_that_holds_its_store_and_ends_with_75_when_it_is_interrupted() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py], retry: {delay: 0s}}}\nphases: [{id: p, agent: dev}]";
    let site = Site::new().workflow(flow);
    let (begun, go_on) = (site.pipe("begun"), site.pipe("go-on"));
    let site = site.agent("dev", &format!("write({begun:?}, 'begun\\n')\nopen({go_on:?}).read()\nreport()"));
    let mut driver = site.start(&["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input", "--json"]);
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the agent begins");
    let mut holder = Process::spawn(Command::new("python3").args(["-c", HOLDER]).arg(site.store()));
    holder.stdout.find("held", LONG).expect("it holds the store");
    std::fs::write(&go_on, "").expect("the agent goes on");
    let named = format!("process {} (python3", holder.id());
    let told = driver.stdout.find(&named, LONG).expect("the driver says so");
    assert!(told.contains("which is stopped"), "{told}");
    driver.signal(Signal::INT);
    let ended = end(&mut driver);
    assert_eq!(ended.code, Some(75), "{ended:?}");
    let last: Value = serde_json::from_str(ended.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["event"], &last["end"], &last["exit"]), (&"ended".into(), &"interrupted".into(), &75.into()));
    assert!(last["why"].as_str().expect("a reason").contains(&named), "{last}");
    holder.signal(Signal::KILL);
    // Whoever waits for the agent's second word gets it from us.
    let again = std::thread::spawn(move || listen_and_answer(&begun, &go_on));
    let resumed = site.resume(&[]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    again.join().expect("it was asked again");
}

/// Lets an agent that begins once more go on.
fn listen_and_answer(begun: &str, go_on: &str) {
    listen(begun).find("begun", LONG).expect("the agent begins again");
    std::fs::write(go_on, "").expect("the agent goes on");
}

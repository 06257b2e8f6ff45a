//! Drivers in containers: their process numbers mean nothing outside, although the host name is the same.

use std::process::{Command, Stdio};

use baton_testbed::{Process, account};

use crate::site::{BATON, LONG, RUN, Site, listen};

/// Words before a command that give it process numbers of its own.
const CONTAINED: [&str; 4] = ["unshare", "--pid", "--fork", "--mount-proc"];

/// Returns whether this machine lets us do that.
fn has_namespaces() -> bool {
    Command::new(CONTAINED[0]).args(&CONTAINED[1..]).arg("true").output().is_ok_and(|output| output.status.success())
}

#[test]
fn living_driver_in_a_container_with_our_host_name_is_not_taken_for_dead() {
    if !has_namespaces() {
        return;
    }
    let flow = "name: w\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nphases: [{id: p, agent: dev}]";
    let site = Site::new().workflow(flow);
    let pipe = site.pipe("begun");
    let site = site.agent("dev", &format!("write({pipe:?}, 'begun\\n')\nsignal.pause()"));
    let mut contained = site.program(CONTAINED[0]);
    contained.args(&CONTAINED[1..]).arg(BATON).args(["run", "flow", "--workspace", "workspace", "--id", RUN]);
    contained.stderr(Stdio::null());
    let begun = std::thread::spawn(move || listen(&pipe).find("begun", LONG));
    let _driver = Process::spawn(&mut contained);
    begun.join().expect("it listens").expect("the agent begins");
    // On another machine nobody would see this lock.
    std::fs::remove_file(site.scratch.path("workspace/.baton/workspace.lock")).expect("it is there");
    let second = site.resume(&[]);
    assert_eq!(second.code, Some(75), "{}", second.stderr);
    assert!(second.stderr.contains(&format!("t is driven by {}@", account())), "{}", second.stderr);
    let claims = site.journal().iter().filter(|event| event.kind == "claimed").count();
    assert_eq!(claims, 2, "the run and its agent, once each");
}

//! Hostile agents that fill the disk: the run ends, says what is wrong, and its record is sound.

use std::process::{Command, Stdio};

use baton_testbed::Process;

use crate::den::{Den, RUN_FLOW, everybody};
use crate::site::{Ended, LONG, Site, end, listen};

/// Runs the workflow in a workspace of four megabytes, which nobody else sees.
fn run_in_a_small_workspace(den: &Den) -> Ended {
    let mount = "mount -t tmpfs -o size=4m,mode=0777 small workspace && exec \"$@\"";
    let mut command = apart(mount, &den.command(&RUN_FLOW));
    command.env_remove("XDG_STATE_HOME").current_dir(den.site.scratch.root());
    let mut process = Process::spawn(&mut command);
    process.close_input();
    end(&mut process)
}

/// Makes a command that a script starts as its last one, where it may mount something that nobody else sees.
fn apart(script: &str, inner: &Command) -> Command {
    let mut command = Command::new("unshare");
    // Only root may mount; everybody else is root in a namespace of users.
    command.arg(if rustix::process::getuid().is_root() { "-m" } else { "-rm" });
    command.args(["sh", "-c", script, "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).stderr(Stdio::piped());
    command
}

#[test]
fn driver_whose_store_has_no_room_for_a_while_keeps_what_came_out() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py], retry: {max_retries: 0}}}\nsandbox: off\nphases: [{id: p, agent: dev}]";
    let site = Site::new().workflow(flow);
    let (room, begun) = (site.pipe("room"), site.pipe("begun"));
    let body = format!(
        "full = open(root + '/small/full', 'wb', 0)\ntry:\n    while full.write(b'x' * 512): pass\nexcept OSError: pass\n\
         write({begun:?}, 'begun')\nreport()"
    )
    .replace("root", &format!("{:?}", site.scratch.root().to_string_lossy()));
    let site = site.agent("dev", &body);
    let arguments = [&RUN_FLOW[..], &["--store", "small/baton.db"]].concat();
    // Whoever waits for room makes it.
    let script = "mkdir -p small && mount -t tmpfs -o size=2m,mode=0777 small small || exit 9\n\
                  (read line < \"$ROOM\"; rm small/full) & exec \"$@\"";
    let mut command = apart(script, &site.command(&arguments));
    let mut driver = Process::spawn(command.env("ROOM", &room).current_dir(site.scratch.root()));
    driver.close_input();
    listen(&begun).find("begun", LONG).expect("the disk is full");
    let stderr = driver.stderr.take().expect("a pipe");
    stderr.find("the store cannot be written", LONG).expect("the driver says so");
    std::fs::write(&room, "go on\n").expect("somebody makes room");
    let ended = driver.wait(LONG).expect("it ends");
    assert_eq!(ended.code(), Some(0), "{:?}", stderr.rest(LONG));
}

#[test]
fn workspace_full_of_small_files_fails_the_attempt_and_not_the_record() {
    let body = "def fill():\n    for number in range(10000):\n        write('small-%d' % number, 'x' * 4096)\n\
        trick('filled', fill)\nprint(seen, file=sys.stderr, flush=True)\ntell()";
    for who in everybody() {
        let den = Den::new(who, ("", "", ""), body);
        let ended = run_in_a_small_workspace(&den);
        assert_eq!(ended.code, Some(3), "{who:?}: {}", ended.stderr);
        let shown = den.baton(&["show", "t.build.1"]).stdout;
        let log = den.baton(&["log", "t", "--json"]).stdout;
        assert!(shown.contains("No space left on device"), "{who:?}: {shown}");
        assert!(log.contains("No space left on device"), "{who:?}: {log}");
        assert_eq!(den.baton(&["audit", "verify", "--all"]).code, Some(0), "{who:?}");
    }
}

//! Nothing that an attempt has started outlives it, wherever it went.

use std::path::Path;
use std::time::Duration;

use baton_agents::process;
use baton_engine::agent::Agent as _;
use baton_protocol::workflow::{AgentFields, CommandLine};

use crate::bench::{Bench, LONG, failed, runtime, unheard, until_closed};

const SOON: Option<Duration> = Some(Duration::from_secs(2));

/// Three that hang: in the group, in a session of its own, and twice forked with other variables. Each holds the pipe.
fn hanging(pipe: &std::path::Path) -> String {
    let pipe = pipe.display();
    format!(
        "exec 9> {pipe}; sleep 600 & setsid sleep 600 & setsid sh -c 'sleep 600 & wait' & \
         env -i setsid sleep 600 & echo started >&9; exec sleep 600"
    )
}

#[test]
fn timeout_kills_the_group_and_what_left_it() {
    let bench = Bench::new();
    let pipe = bench.pipe("alive");
    let mut job = bench.job();
    job.timeout = SOON;
    let watcher = std::thread::spawn({
        let pipe = pipe.clone();
        move || until_closed(&pipe)
    });
    let failure = failed(bench.attempt(&bench.shell(&hanging(&pipe)), &job));
    assert_eq!(failure.to_string(), "TIMEOUT: the command did not finish within 2 s");
    assert_eq!(watcher.join().expect("everybody is dead"), "started\n");
}

#[test]
fn command_may_end_by_itself_before_it_is_killed() {
    let bench = Bench::new();
    let mut job = bench.job();
    job.timeout = SOON;
    let tidy = "trap 'echo tidied >&2; exit 0' TERM; sleep 600 & wait";
    failed(bench.attempt(&bench.shell(tidy).with_grace(LONG), &job));
    assert_eq!(bench.scratch.read("attempt/stderr.log"), "tidied\n");
}

#[test]
fn command_that_does_not_listen_is_killed_after_the_grace() {
    let bench = Bench::new();
    let pipe = bench.pipe("alive");
    let mut job = bench.job();
    job.timeout = SOON;
    let deaf = format!("trap '' TERM; exec 9> {}; echo started >&9; sleep 600; sleep 600", pipe.display());
    let watcher = std::thread::spawn(move || until_closed(&pipe));
    let failure = failed(bench.attempt(&bench.shell(&deaf).with_grace(Duration::from_millis(100)), &job));
    assert_eq!(failure.code.as_str(), "TIMEOUT");
    assert_eq!(watcher.join().expect("everybody is dead"), "started\n");
}

#[test]
fn dropping_the_attempt_kills_everything() {
    let bench = Bench::new();
    let pipe = bench.pipe("alive");
    let (agent, job) = (bench.shell(&hanging(&pipe)), bench.job());
    runtime().block_on(async {
        let opened = tokio::task::spawn_blocking(move || {
            // Opening waits until the agent has opened its end too, so it runs when the attempt is dropped.
            let file = std::fs::File::open(pipe).expect("it can be read");
            let lines = baton_testbed::ChildLines::of(file);
            assert_eq!(lines.next(LONG).expect("it started"), "started");
            lines
        });
        let updates = unheard();
        let lines = tokio::select! {
            attempt = agent.turn(&job, &updates) => panic!("{attempt:?}"),
            lines = opened => lines.expect("it started"),
        };
        assert_eq!(lines.rest(LONG).expect("everybody is dead"), Vec::<String>::new());
    });
}

#[test]
fn children_that_hold_the_pipes_do_not_hold_the_report() {
    let bench = Bench::new();
    let pipe = bench.pipe("alive");
    let watcher = std::thread::spawn({
        let pipe = pipe.clone();
        move || until_closed(&pipe)
    });
    let leaving = format!(
        "exec 9> {}; sleep 600 & setsid sleep 600 & (setsid sh -c 'echo away >&9; exec sleep 600' &); echo done",
        pipe.display()
    );
    assert_eq!(bench.answer(&leaving).text, "done\n");
    // What left may have been killed before it could say anything.
    let said = watcher.join().expect("everybody is dead");
    assert!(["", "away\n"].contains(&said.as_str()), "{said}");
}

/// A process that nobody waits for; killed at the end if nobody else does it.
struct Left {
    number: String,
    lines: baton_testbed::ChildLines,
}

impl Left {
    /// Starts one in a session of its own, as a driver that was killed leaves it.
    fn start(bench: &Bench, name: &str, run: &str, workspace: &Path) -> Left {
        let pipe = bench.pipe(name);
        let text = format!("exec > {} 2>&1; echo $$; exec sleep 600", pipe.display());
        let mut command = std::process::Command::new("setsid");
        command
            .args(["--fork", "sh", "-c", &text])
            .env(process::RUN, run)
            .env(process::WORKSPACE, workspace)
            .stderr(std::process::Stdio::null());
        assert!(command.status().expect("setsid runs").success());
        let lines = baton_testbed::ChildLines::of(std::fs::File::open(pipe).expect("it can be read"));
        let number = lines.next(LONG).expect("it starts");
        Left { number, lines }
    }

    fn lives(&self) -> bool {
        baton_testbed::lives(&self.number)
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        baton_testbed::kill(&self.number);
    }
}

#[test]
fn what_a_killed_driver_left_is_swept() {
    let bench = Bench::new();
    let baton_engine::agent::Job { run, workspace, .. } = bench.job();
    let ours = Left::start(&bench, "a", run.as_str(), &workspace);
    let other = Left::start(&bench, "b", &format!("{run}-other"), &workspace);
    let elsewhere = Left::start(&bench, "c", run.as_str(), Path::new("/elsewhere"));
    assert_eq!(process::sweep_run(&run, &workspace), 1);
    assert_eq!(ours.lines.rest(LONG).expect("it is dead"), Vec::<String>::new());
    assert!(other.lives(), "another run is left alone");
    assert!(elsewhere.lives(), "a run of the same name in another workspace is left alone");
    assert_eq!(process::sweep_run(&run, &workspace), 0);
}

#[test]
fn secrets_are_not_inherited() {
    let bench = Bench::new();
    // Cargo has set these for us; they are as good as secrets.
    let secret = "CARGO_MANIFEST_DIR";
    assert!(std::env::var(secret).is_ok());
    let text = format!("echo \"${{{secret}-none}}\" \"${{CARGO_PKG_NAME-none}}\" \"$GREETING\" \"${{PATH:+path}}\"");
    let mut agent = AgentFields { command: Some(CommandLine::Shell(text)), ..AgentFields::default() };
    agent.env = vec!["CARGO_PKG_NAME".to_owned()];
    agent.set_env.insert("GREETING".to_owned(), "hello".into());
    let reply = crate::bench::answered(bench.attempt(&bench.agent(&agent), &bench.job()));
    assert_eq!(reply.text, "none baton-agents hello path\n");
}

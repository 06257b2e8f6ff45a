//! What running costs beyond the agents themselves: a process in a cage beside a bare one; ten phases of agents that do
//! nothing, beside the bare processes; fifty runs at once; and the memory of a run that waits.
//!
//! `cargo bench -p baton --bench overhead` prints everything.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use baton_agents::Launcher;
use baton_agents::process::{Cage, GRACE, Launch, ProcessEnd};
use baton_testbed::gauge::{Figure, Limit, Usage, median};
use baton_testbed::{Scratch, isolate};

/// The argument with which this program plays an agent.
const AGENT: &str = "play-an-agent";

const PHASES: usize = 10;
const ROUNDS: usize = 15;
const CAGES: usize = 100;
const TOGETHER: usize = 50;

fn main() {
    if std::env::args().any(|argument| argument == AGENT) {
        return play_agent();
    }
    println!("{}", Figure::heading());
    cage();
    let single = per_phase();
    together(single);
    waiting();
}

/// Measures what launcher and cage cost a process that ends at once. Both are started in turns.
fn cage() {
    let folder = Scratch::new();
    folder.folder("workspace/src").folder("hidden").folder("attempt");
    let mut cage = Cage::read_only();
    ["", "attempt", "workspace/src"].iter().for_each(|path| cage.open_up(&folder.path(path)));
    cage.close(&folder.path("workspace"));
    cage.hide(&folder.path("hidden"));
    let launcher = Launcher::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut bare, mut limited, mut caged) = (Vec::new(), Vec::new(), Vec::new());
    let launched = |cage: Option<Cage>| {
        let start = Instant::now();
        let ended = runtime.block_on(launcher.run(Launch { cage, ..Launch::new("true") }, None, GRACE));
        assert!(matches!(ended, Ok(ProcessEnd::Exited { status, .. }) if status.success()));
        start.elapsed().as_secs_f64() * 1e3
    };
    for _ in 0..CAGES {
        let start = Instant::now();
        Command::new("true").status().expect("it runs");
        bare.push(start.elapsed().as_secs_f64() * 1e3);
        limited.push(launched(None));
        caged.push(launched(Some(cage.clone())));
    }
    println!("a bare process: {:.1} ms; {}", median(&bare), Launcher::protection());
    for (name, times) in [("session and limits, per attempt", limited), ("launcher and cage, per attempt", caged)] {
        let ours = median(&times) - median(&bare);
        println!("{}", Figure { name: name.to_owned(), ours, limit: Limit::AtMost(5.0), unit: "ms" });
    }
}

/// Reads the prompt and says that nothing had to be done.
#[expect(clippy::disallowed_methods, reason = "an agent has a clock of its own")]
fn play_agent() {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).expect("a prompt");
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() + 1;
    let time = jiff::Timestamp::from_second(seconds as i64).expect("a time");
    println!(
        r#"{{"agent": "clerk", "output_type": "note", "timestamp": "{time}", "feature_directory": "out",
            "skills_invoked": [], "status": "complete",
            "handoff": {{"next_agent": null, "context": "Sorted 41 invoices into folders by customer number."}}}}"#
    );
}

fn agent() -> String {
    std::env::current_exe().expect("this program").display().to_string()
}

fn write_workflow(folder: &Path, queue: bool) {
    let agent = match queue {
        true => "{queue: true}".to_owned(),
        false => format!("{{command: ['{}', {AGENT}], dialect: metadata-block}}", agent()),
    };
    let phases: String = (1..=PHASES).map(|number| format!("  - {{id: phase-{number}, agent: clerk}}\n")).collect();
    let text = format!("name: bench\nagents:\n  clerk: {agent}\nphases:\n{phases}");
    std::fs::write(folder.join("workflow.yaml"), text).expect("a workflow");
}

fn baton(folder: &Path, workspace: &str, store: &Path) -> Child {
    isolate(&mut Command::new(env!("CARGO_BIN_EXE_baton")), folder)
        .args(["run", "workflow.yaml", "--no-input", "--workspace", workspace, "--store"])
        .arg(store)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("baton starts")
}

/// Runs the ten agents bare: fed and read like Baton does it.
fn bare() -> Duration {
    let start = Instant::now();
    for _ in 0..PHASES {
        let mut child =
            Command::new(agent()).arg(AGENT).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("an agent");
        child.stdin.take().expect("piped").write_all(&[b'x'; 4000]).expect("it reads");
        child.wait_with_output().expect("it ends");
    }
    start.elapsed()
}

/// Measures the time per phase beyond the bare processes. Returns how long a run takes.
fn per_phase() -> Duration {
    let folder = Scratch::new();
    write_workflow(&folder.path(""), false);
    let (mut over, mut runs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let alone = bare();
        let start = Instant::now();
        let ended = baton(&folder.path(""), &format!("w{round}"), &folder.path("baton.db")).wait().expect("it ends");
        let run = start.elapsed();
        assert!(ended.success(), "the run ended with {ended}");
        over.push(run.saturating_sub(alone).as_secs_f64() * 1e3 / PHASES as f64);
        runs.push(run.as_secs_f64());
    }
    println!("  a run of {PHASES} phases: {:.1} ms", median(&runs) * 1e3);
    let name = "overhead per phase".to_owned();
    println!("{}", Figure { name, ours: median(&over), limit: Limit::AtMost(15.0), unit: "ms" });
    Duration::from_secs_f64(median(&runs))
}

/// Measures fifty runs at once on one store, beside one after the other.
fn together(single: Duration) {
    let folder = Scratch::new();
    write_workflow(&folder.path(""), false);
    let start = Instant::now();
    let children: Vec<Child> =
        (0..TOGETHER).map(|number| baton(&folder.path(""), &format!("w{number}"), &folder.path("baton.db"))).collect();
    for mut child in children {
        let ended = child.wait().expect("it ends");
        assert!(ended.success(), "a run ended with {ended}");
    }
    let took = start.elapsed();
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let speed_up = single.as_secs_f64() * TOGETHER as f64 / took.as_secs_f64();
    println!("  {TOGETHER} runs at once: {:.2} s, {speed_up:.1} × as fast as one after the other", took.as_secs_f64());
    let name = format!("{TOGETHER} runs at once, of the cores used");
    println!("{}", Figure { name, ours: speed_up / cores, limit: Limit::AtLeast(0.6), unit: "×" });
}

/// Measures the memory of a run that waits for an agent elsewhere.
fn waiting() {
    let folder = Scratch::new();
    write_workflow(&folder.path(""), true);
    let mut child = baton(&folder.path(""), "w", &folder.path("baton.db"));
    let mut most = 0;
    // It has settled when it does not grow any more.
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(100));
        most = Usage::of(child.id()).map_or(most, |usage| usage.resident_bytes.max(most));
    }
    child.kill().and_then(|()| child.wait()).expect("it ends");
    let name = "memory of a run that waits".to_owned();
    println!("{}", Figure { name, ours: most as f64 / 1e6, limit: Limit::AtMost(50.0), unit: "MB" });
}

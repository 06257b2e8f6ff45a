//! A server under load, beside the store that it serves.
//!
//! `cargo bench -p baton --bench serve` prints everything; a word after `--` (idle, cycles, journal, page, browser) one part.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "serve/cycles.rs"]
mod cycles;
#[path = "serve/http.rs"]
mod http;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use baton_testbed::gauge::{Figure, Limit, Usage, percentile};
use baton_testbed::{Process, Scratch, isolate};
use serde::Deserialize;
use serde_json::{Value, json};

use http::Connection;

const LONG: Duration = Duration::from_secs(60);
const LISTENERS: usize = 1_000;
const CLAIMS: usize = 200;
const EVENTS: usize = 10_000;

/// A list so long that its run has ten thousand events.
const ITEMS: usize = 2_500;
const WORKFLOW: &str = "name: batch\ninputs: {list: {required: true}}\nagents: {clerk: {queue: true}}\n\
    phases: [{id: each, foreach: inputs.list, at_once: 64, phases: [{id: file, agent: clerk}]}]\n\
    limits: {handoffs: 100000}\n";

/// So many work while the page is looked at, and so often it is.
const OTHERS: usize = 8;
const PAGES: usize = 300;

/// A browser shows a run of so many steps. What it uses while it starts does not count.
const LOOKED_AT: usize = 40;
const SETTLED: usize = 10;
const STEP: Duration = Duration::from_secs(1);

/// How long a server that only waits is watched.
const WATCHED: Duration = Duration::from_secs(15);

fn main() {
    raise_limit();
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!("{}", Figure::heading());
    if wanted("idle") {
        runtime.block_on(idle());
    }
    if wanted("cycles") {
        cycles::measure();
    }
    if wanted("journal") {
        runtime.block_on(journal());
    }
    if wanted("page") {
        runtime.block_on(page());
    }
    if wanted("browser") {
        runtime.block_on(browser());
    }
}

/// Lets this process and the server hold more connections than a terminal usually allows.
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).expect("up to the maximum it can be raised");
}

/// A server on a store of its own.
struct Served {
    process: Process,
    address: String,
    _folder: Scratch,
}

impl Served {
    fn start() -> Served {
        Served::start_in(Scratch::new(), &[])
    }

    fn start_in(folder: Scratch, options: &[&str]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        isolate(&mut command, folder.root()).current_dir(folder.root());
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--store", "baton.db"]).args(options);
        command.stderr(Stdio::null());
        let process = Process::spawn(&mut command);
        let told: Value = serde_json::from_str(&process.stdout.next(LONG).expect("an address")).expect("JSON");
        let address = told["url"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address").to_owned();
        Served { process, address, _folder: folder }
    }

    fn usage(&self) -> Usage {
        Usage::of(self.process.id()).expect("it lives")
    }

    /// Returns its resident memory in MiB.
    fn memory(&self) -> f64 {
        self.usage().resident_bytes as f64 / f64::from(1 << 20)
    }
}

/// What it costs to have many who only wait.
async fn idle() {
    let served = Served::start();
    println!("a server nobody talks to: {:.0} MiB", served.memory());
    let mut waiting = Vec::new();
    for number in 0..LISTENERS + CLAIMS {
        let mut connection = Connection::open(&served.address).await;
        if number < LISTENERS {
            connection.send("GET", "/api/v1/events", "").await;
            assert_eq!(connection.head().await.expect("an answer").0, 200);
        } else {
            connection.send("POST", "/api/v1/claims", r#"{"agent": "nobody", "wait": "60s"}"#).await;
        }
        waiting.push(connection);
    }
    let before = served.usage().cpu;
    tokio::time::sleep(WATCHED).await;
    let used = (served.usage().cpu - before).as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    let name = format!("{LISTENERS} streams and {CLAIMS} waiting claims");
    println!(
        "{}",
        Figure { name: format!("{name}, memory"), ours: served.memory(), limit: Limit::AtMost(256.0), unit: "MiB" }
    );
    println!("{}", Figure { name: format!("{name}, processor"), ours: used, limit: Limit::AtMost(5.0), unit: "%" });
}

/// Claims what is ready, and reports about it.
async fn work(connection: &mut Connection, agent: &str, has_prompt: bool) {
    let wanted = format!(r#"{{"agent": "{agent}", "wait": "10s", "prompt": {has_prompt}}}"#);
    let claimed = connection.done("POST", "/api/v1/claims", &wanted).await;
    let claimed: Claimed<'_> = serde_json::from_slice(&claimed).expect("a claim");
    let Claim { handoff: Named { id }, fence } = claimed.claims.first().expect("as many are there as claim");
    let body = format!(r#"{{"fence": {fence}, "document": {}}}"#, report(id));
    connection.done("POST", &format!("/api/v1/handoffs/{id}/report"), &body).await;
}

/// What a claimant that costs next to nothing reads of an answer.
#[derive(Deserialize)]
struct Claimed<'a> {
    #[serde(borrow)]
    claims: Vec<Claim<'a>>,
}

#[derive(Deserialize)]
struct Claim<'a> {
    #[serde(borrow)]
    handoff: Named<'a>,
    fence: u64,
}

#[derive(Deserialize)]
struct Named<'a> {
    id: &'a str,
}

/// Starts a server, and a run in it that has something to do for each item of a list.
async fn serve_list(items: usize) -> (Served, Connection) {
    let folder = Scratch::new();
    folder.folder("workspace").write("workflow.yaml", WORKFLOW);
    let served = Served::start_in(folder, &["--workflow", "workflow.yaml", "--workspace", "workspace"]);
    let mut connection = Connection::open(&served.address).await;
    let items: Vec<String> = (0..items).map(|number| format!("invoice-{number}")).collect();
    let run = json!({ "workflow": "batch", "id": "long", "inputs": { "list": items } });
    connection.ask("POST", "/api/v1/runs", &run.to_string()).await;
    (served, connection)
}

/// What a browser uses while it shows a run in which something happens all the time.
async fn browser() {
    let (served, mut connection) = serve_list(LOOKED_AT).await;
    let profile = Scratch::new();
    let mut command = Command::new("chromium");
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]);
    command.args(["--disable-component-update", "--disable-sync", "--remote-debugging-port=0"]);
    command.arg(format!("--user-data-dir={}", profile.root().display()));
    command.arg(format!("http://{}/runs/long", served.address)).stderr(Stdio::null());
    let chromium = Process::spawn(&mut command);
    let cpu = || Usage::of_family(chromium.id()).cpu;
    let (mut before, mut began) = (cpu(), Instant::now());
    for number in 0..LOOKED_AT {
        if number == SETTLED {
            (before, began) = (cpu(), Instant::now());
        }
        work(&mut connection, "batch/clerk", true).await;
        tokio::time::sleep(STEP).await;
    }
    let used = (cpu() - before).as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
    let name = format!("a browser that shows a run, one step in {} s", STEP.as_secs_f64());
    println!("{}", Figure { name, ours: used, limit: Limit::AtMost(5.0), unit: "% of a core" });
}

/// How long the page of a run takes that has many events and goes on, while others work.
async fn page() {
    let (served, mut connection) = serve_list(ITEMS).await;
    // The last item stays open, so that the run goes on.
    for _ in 1..ITEMS {
        work(&mut connection, "batch/clerk", true).await;
    }
    let others = (0..OTHERS).map(|worker| {
        let address = served.address.clone();
        tokio::spawn(async move {
            let mut connection = Connection::open(&address).await;
            for number in 0.. {
                connection.done("POST", "/api/v1/handoffs", &sent(&format!("c-{worker}-{number}"))).await;
                work(&mut connection, "finder", true).await;
            }
        })
    });
    let others: Vec<_> = others.collect();
    let (mut times, mut size) = (Vec::new(), 0);
    for _ in 0..PAGES {
        let began = Instant::now();
        connection.send("GET", "/runs/long", "").await;
        let (status, body) = connection.answer().await;
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        times.push(began.elapsed());
        size = body.len();
    }
    others.iter().for_each(tokio::task::JoinHandle::abort);
    let journal = connection.ask("GET", "/api/v1/runs/long", "").await;
    println!("a run of {ITEMS} items with {} events; its page has {} kB", journal["events"], size / 1_000);
    let milliseconds = |share: f64| percentile(&times, share).as_secs_f64() * 1e3;
    println!("median of its page while {OTHERS} others work: {:.1} ms", milliseconds(0.5));
    let name = format!("p99 of its page while {OTHERS} others work");
    println!("{}", Figure { name, ours: milliseconds(0.99), limit: Limit::AtMost(100.0), unit: "ms" });
}

/// How long a page of a long journal takes while others ask, too.
async fn journal() {
    let served = Served::start();
    let mut connection = Connection::open(&served.address).await;
    connection.done("POST", "/api/v1/handoffs", &sent("long")).await;
    let claimed = connection.ask("POST", "/api/v1/claims", r#"{"agent": "finder", "lease": "1h"}"#).await;
    let beat = json!({ "fence": claimed["claims"][0]["fence"] }).to_string();
    for _ in 2..EVENTS {
        connection.ask("POST", "/api/v1/handoffs/long/heartbeat", &beat).await;
    }
    let mut times = Vec::new();
    for number in 0..500 {
        let path = format!("/api/v1/runs/long/journal?after={}&limit=100", number * (EVENTS / 500));
        let began = Instant::now();
        connection.ask("GET", &path, "").await;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let name = format!("p99 of a page of a journal with {EVENTS} events");
    println!("{}", Figure { name, ours: times[times.len() * 99 / 100], limit: Limit::AtMost(100.0), unit: "ms" });
}

/// The body that sends a request to an agent.
fn sent(id: &str) -> String {
    format!(r#"{{"to": "finder", "document": {}}}"#, request(id))
}

fn request(id: &str) -> String {
    format!(r#"{{"baton": 1, "document": "request", "id": "{id}", "instructions": "Find the writer of rows."}}"#)
}

fn report(id: &str) -> String {
    let summary = "Found the writer of rows in src/csv.rs, function write_row.";
    format!(r#"{{"baton": 1, "document": "report", "id": "{id}", "outcome": "complete", "summary": "{summary}"}}"#)
}

//! The whole judgement of one document beside the least that anybody could do with it: `serde_json` to a `Value`
//! and the `jsonschema` crate with the document's published schema, on the same text, in the same run.
//!
//! Both take turns in short rounds, so that whatever else the machine does hits both; the ratio is the median of the
//! rounds' ratios. With `--instructions` each side runs under `valgrind --tool=callgrind` instead, which counts the
//! same on every machine however busy it is.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "judgement/subject.rs"]
mod subject;

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use subject::{DOCUMENTS, Subject};

const ROUNDS: usize = 200;
const ROUND: Duration = Duration::from_millis(5);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let position = |name: &str| arguments.iter().position(|argument| argument == name);
    match (position("--repeat"), position("--instructions")) {
        (Some(at), _) => repeat(&arguments[at + 1], &arguments[at + 2], &arguments[at + 3]),
        (_, Some(_)) => count_instructions(),
        _ => measure_times(),
    }
}

fn measure_times() {
    println!("| document | bytes | bare parse + schema | whole judgement | documents/s | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (file, schema) in DOCUMENTS {
        let subject = Subject::load(file, schema);
        let (bare, whole, ratio) = measure(&subject);
        println!(
            "| {} ({file}) | {} | {:.1} µs | {:.1} µs | {:.0} | {ratio:.2} |",
            subject.name,
            subject.bytes.len(),
            bare * 1e6,
            whole * 1e6,
            1.0 / whole
        );
    }
}

/// Counts the instructions of 1,000 runs of each side, less those of starting the process.
fn count_instructions() {
    println!("| document | bare parse + schema | whole judgement | ratio |");
    println!("|---|--:|--:|--:|");
    for (file, schema) in DOCUMENTS {
        let side = |side: &str| (instructions(file, side, 1100) - instructions(file, side, 100)) / 1000;
        let (bare, whole) = (side("bare"), side("whole"));
        #[expect(clippy::cast_precision_loss, reason = "a ratio needs two digits")]
        let ratio = whole as f64 / bare as f64;
        println!("| {schema} ({file}) | {bare} | {whole} | {ratio:.2} |");
    }
}

/// Runs this program again under callgrind and returns what it counted.
fn instructions(file: &str, side: &str, times: u32) -> u64 {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args(["--repeat", file, side, &times.to_string()])
        .output()
        .expect("valgrind is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    let counted =
        text.lines().find_map(|line| line.split_once("Collected :")).expect("callgrind tells what it counted");
    counted.1.trim().parse().expect("a number")
}

fn repeat(file: &str, side: &str, times: &str) {
    let (file, schema) = DOCUMENTS.iter().find(|(known, _)| *known == file).expect("a document");
    let subject = Subject::load(file, schema);
    for _ in 0..times.parse::<u32>().expect("a number") {
        assert!(black_box(if side == "bare" { subject.validate() } else { subject.judge() }));
    }
}

/// Returns seconds per bare validation, seconds per judgement, and the median of their ratios.
fn measure(subject: &Subject) -> (f64, f64, f64) {
    let mut rounds: Vec<(f64, f64)> =
        (0..ROUNDS).map(|_| (time(|| subject.validate()), time(|| subject.judge()))).skip(ROUNDS / 10).collect();
    rounds.sort_by(|left, right| (left.1 / left.0).total_cmp(&(right.1 / right.0)));
    let (bare, whole) = rounds[rounds.len() / 2];
    (bare, whole, whole / bare)
}

fn time(run: impl Fn() -> bool) -> f64 {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < ROUND {
        for _ in 0..8 {
            assert!(black_box(run()));
        }
        count += 8;
    }
    start.elapsed().as_secs_f64() / f64::from(count)
}

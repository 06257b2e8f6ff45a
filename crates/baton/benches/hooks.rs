//! How long a coding agent waits for `baton hook`: 200 calls of each kind, in turns, in a small project, with a process of its
//! own for each, as coding agents call it.
//!
//! `cargo bench -p baton --bench hooks` prints everything.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use baton_testbed::gauge::percentile;
use baton_testbed::{Scratch, isolate};
use serde_json::{Value, json};

const ROUNDS: usize = 200;

/// The files of the project.
const FILES: usize = 100;

/// How many handoffs are filed of a session before the next one begins.
const HANDOFFS: usize = 10;

const CONTRACTS: &str = "[hooks.agents.developer]\ndialect = \"metadata-block\"\nwrites = [\"src/**\"]\n\
    mandatory_skills = [\"testing\"]\n";

fn main() {
    let scratch = Scratch::new();
    scratch.write("baton.toml", CONTRACTS);
    for number in 0..FILES {
        scratch.write(format!("src/{number}.py"), format!("print({number})\n").repeat(400));
    }
    let names = [
        "bare process (`true`)",
        "an agent begins",
        "a tool is recorded",
        "an agent that is not named ends",
        "a report is refused",
        "a report is accepted and filed",
    ];
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); names.len()];
    for round in 0..ROUNDS {
        let agent = |event: &str, kind: &str, more: Value| {
            let mut told = json!({
                "session_id": format!("session-{}", round / HANDOFFS), "cwd": scratch.root(), "hook_event_name": event,
                "agent_id": format!("a{round}"), "agent_type": kind,
            });
            told.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            told
        };
        let says = |text: &str| json!({ "last_assistant_message": text });
        let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "testing" }, "tool_response": {} });
        let calls = [
            (agent("SubagentStart", "developer", json!({})), ""),
            (agent("PostToolUse", "developer", skill), ""),
            (agent("SubagentStop", "explorer", says("Found it.")), ""),
            (agent("SubagentStop", "developer", says("Done.")), "block"),
            (agent("SubagentStop", "developer", says(REPORT)), ""),
        ];
        times[0].push(measured(&mut Command::new("true"), "", ""));
        for (number, (told, answer)) in calls.into_iter().enumerate() {
            let mut hook = Command::new(env!("CARGO_BIN_EXE_baton"));
            isolate(&mut hook, scratch.root()).current_dir(scratch.root()).args(["hook", "claude-code"]);
            times[number + 1].push(measured(&mut hook, &told.to_string(), answer));
        }
    }
    println!("{ROUNDS} calls of each kind, {FILES} files; goal: 50 ms\n\n{:<34}{:>10}{:>10}", "", "median", "p95");
    for (name, times) in names.iter().zip(&times) {
        let shown = |share: f64| format!("{:.1} ms", percentile(times, share).as_secs_f64() * 1e3);
        println!("{name:<34}{:>10}{:>10}", shown(0.5), shown(0.95));
    }
}

/// Runs a process to its end; it must say what is expected.
fn measured(command: &mut Command, input: &str, answer: &str) -> Duration {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // A process that reads nothing may have closed its end.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let ended = child.wait_with_output().expect("it ends");
    let time = start.elapsed();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains(answer) && said.is_empty() == answer.is_empty(), "{said}");
    time
}

const REPORT: &str = r#"Implemented.

```json
{
  "agent": "developer", "output_type": "code", "timestamp": "2026-05-04T10:12:31Z", "feature_directory": "src/",
  "skills_invoked": ["testing"], "status": "complete",
  "handoff": {"next_agent": "reviewer", "context": "count_words in src/count.py splits on white space and counts by word; three tests."}
}
```
"#;

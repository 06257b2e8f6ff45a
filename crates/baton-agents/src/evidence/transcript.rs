//! The transcript of a Claude Code session: which tools were really called, and which of the calls succeeded.
//!
//! One JSON object per line; what is broken is passed over, and nothing is held in memory but the line that is read and
//! the calls that have no result yet. What subagents called is in files of their own beside it.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use baton_host::{open_regular, whole_json};
use memchr::memmem;
use serde_json::Value;

/// Longer lines are passed over.
const LINE_BYTES: u64 = 32 * 1024 * 1024;
/// No more than this is read.
const TRANSCRIPT_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// How many transcripts of subagents are read.
const SUBAGENTS_MAX: usize = 1_000;

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// A skill, by its name.
    Skill(String),
    /// A file that was read, by its path.
    Read(String),
    /// A command for the shell.
    Command(String),
}

/// How a transcript was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// From the first line to the last.
    Whole,
    /// Some lines could not be read.
    Part,
    /// It is not a transcript.
    None,
}

/// Shows every call of a session that succeeded.
pub(super) fn each_call(path: &Path, mut visit: impl FnMut(&Call)) -> io::Result<Coverage> {
    let mut coverage = calls_of(path, &mut visit)?;
    for subagent in subagents(path) {
        let seen = calls_of(&subagent, &mut visit).unwrap_or(Coverage::None);
        if coverage == Coverage::Whole && seen != Coverage::Whole {
            coverage = Coverage::Part;
        }
    }
    Ok(coverage)
}

/// Returns the transcripts of subagents: `SESSION/subagents/*.jsonl` beside `SESSION.jsonl`.
fn subagents(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path.with_extension("").join("subagents")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")).take(SUBAGENTS_MAX).collect()
}

fn calls_of(path: &Path, visit: &mut impl FnMut(&Call)) -> io::Result<Coverage> {
    let mut reader = BufReader::with_capacity(256 * 1024, open_regular(path)?).take(TRANSCRIPT_BYTES);
    let (mut line, mut messages, mut whole) = (Vec::new(), false, true);
    let mut open = HashMap::new();
    loop {
        line.clear();
        if reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let cut = line.len() as u64 == LINE_BYTES && !line.ends_with(b"\n");
        if cut {
            reader.skip_until(b'\n')?;
        }
        messages |= memmem::find(&line, b"\"message\"").is_some();
        whole &= !cut && show(&line, &mut open, visit);
    }
    whole &= reader.limit() > 0;
    Ok(match (messages, whole) {
        (false, _) => Coverage::None,
        (true, false) => Coverage::Part,
        (true, true) => Coverage::Whole,
    })
}

/// Shows the calls that succeed on one line, and keeps those that begin there. Returns whether it could be read.
fn show(line: &[u8], open: &mut HashMap<String, Call>, visit: &mut impl FnMut(&Call)) -> bool {
    // Most lines call nothing and need not be parsed.
    if memmem::find(line, b"tool_use").is_none() {
        return true;
    }
    let Ok(entry) = serde_json::from_str::<Value>(&whole_json(line)) else { return false };
    let content = entry.pointer("/message/content").and_then(Value::as_array);
    for item in content.into_iter().flatten() {
        match item["type"].as_str() {
            Some("tool_use") => {
                if let (Some(id), Some(call)) = (item["id"].as_str(), call(item)) {
                    open.insert(id.to_owned(), call);
                }
            }
            Some("tool_result") => {
                let ended = item["tool_use_id"].as_str().and_then(|id| open.remove(id));
                ended.iter().filter(|_| item["is_error"] != true).for_each(&mut *visit);
            }
            _ => {}
        }
    }
    true
}

fn call(item: &Value) -> Option<Call> {
    let input = |name: &str| item["input"][name].as_str().map(str::to_owned);
    match item["name"].as_str()? {
        "Skill" => input("skill").or_else(|| input("command")).map(Call::Skill),
        "Read" => input("file_path").map(Call::Read),
        "Bash" => input("command").map(Call::Command),
        _ => None,
    }
}

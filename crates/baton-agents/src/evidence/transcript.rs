//! The transcript of a Claude Code session: which tools were really called.
//!
//! One JSON object per line; what is broken is passed over, and nothing is held in memory but the line that is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use memchr::memmem;
use serde_json::Value;

/// Longer lines are passed over.
const LINE_BYTES: u64 = 32 * 1024 * 1024;
/// No more than this is read.
const TRANSCRIPT_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// A tool that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call<'a> {
    /// A skill, by its name.
    Skill(&'a str),
    /// A file that was read, by its path.
    Read(&'a str),
    /// A command for the shell.
    Command(&'a str),
}

/// How a transcript was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// From the first line to the last.
    Whole,
    /// Some lines could not be read.
    Part,
    /// It is no transcript.
    None,
}

/// Shows every call of a transcript.
pub(super) fn each_call(path: &Path, mut visit: impl FnMut(Call<'_>)) -> io::Result<Coverage> {
    // A pipe in its place could let us wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(Coverage::None);
    }
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?).take(TRANSCRIPT_BYTES);
    let (mut line, mut messages, mut whole) = (Vec::new(), false, true);
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
        whole &= !cut && show(&line, &mut visit);
    }
    whole &= reader.limit() > 0;
    Ok(match (messages, whole) {
        (false, _) => Coverage::None,
        (true, false) => Coverage::Part,
        (true, true) => Coverage::Whole,
    })
}

/// Shows the calls of one line; says whether it could be read.
fn show(line: &[u8], visit: &mut impl FnMut(Call<'_>)) -> bool {
    // Most lines call nothing and need not be parsed.
    if memmem::find(line, b"tool_use").is_none() {
        return true;
    }
    let Ok(entry) = serde_json::from_slice::<Value>(line) else { return false };
    let content = entry.pointer("/message/content").and_then(Value::as_array);
    for item in content.into_iter().flatten().filter(|item| item["type"] == "tool_use") {
        let input = |name: &str| item["input"][name].as_str();
        let call = match item["name"].as_str() {
            Some("Skill") => input("skill").or(input("command")).map(Call::Skill),
            Some("Read") => input("file_path").map(Call::Read),
            Some("Bash") => input("command").map(Call::Command),
            _ => None,
        };
        call.into_iter().for_each(&mut *visit);
    }
    true
}

//! Where the report of an agent is: at the end of its last message, or in a file that it has written.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use baton_host::{open_regular, whole_json};
use baton_protocol::read::{BYTES_MAX, is_blockless};
use baton_protocol::wire::same_word;
use baton_protocol::{Document, Hints};
use serde_json::Value;

use super::input::{AgentEnd, is_notification};
use crate::command_error::CommandError;

/// How much of a transcript is read where the program itself does not say what the answer was.
const TRANSCRIPT_BYTES: u64 = 256 * 1024 * 1024;

/// Finds the text that an agent hands in: its last message if that has a block, else the first of these files that holds a
/// report of it, else the message all the same. Whoever can find none of them does not know what the agent said.
pub(crate) fn find(
    end: &AgentEnd,
    agent: &str,
    files: impl IntoIterator<Item = PathBuf>,
) -> Result<String, CommandError> {
    let said = said(end);
    if let Some(said) = said.as_ref().filter(|said| !is_blockless(said)) {
        return Ok(said.clone());
    }
    let filed = files.into_iter().filter_map(|path| text_of(&path)).find(|text| is_report_of(text, agent));
    filed.or(said).ok_or_else(|| {
        CommandError::usage("what the agent said is unknown: no last message was given, and there is no transcript")
    })
}

/// Returns the last that the agent said, which may be nothing; `None` if nobody tells.
fn said(end: &AgentEnd) -> Option<String> {
    match &end.text {
        Some(text) if !text.trim().is_empty() => Some(text.clone()),
        told => {
            let transcript = end.transcript.as_deref().filter(|path| is_file(path));
            transcript.map(|path| last_said(path).unwrap_or_default()).or_else(|| told.clone())
        }
    }
}

/// Returns what an agent was asked, as far as its program tells: a subagent by the first message of its transcript, the
/// main session by the last.
pub(crate) fn asked(end: &AgentEnd, is_subagent: bool) -> Option<String> {
    let from_transcript = || {
        let mut asked = messages(end.transcript.as_deref()?, "user")
            .filter(|text| !text.trim().is_empty() && !is_notification(text));
        if is_subagent { asked.next() } else { asked.last() }
    };
    end.asked.clone().filter(|text| !text.trim().is_empty()).or_else(from_transcript)
}

fn last_said(transcript: &Path) -> Option<String> {
    messages(transcript, "assistant").last()
}

/// Returns the texts of one side in a transcript of Claude Code.
fn messages(transcript: &Path, role: &'static str) -> impl Iterator<Item = String> {
    let file = open_regular(transcript).ok();
    let lines = file.into_iter().flat_map(|file| BufReader::new(file.take(TRANSCRIPT_BYTES)).split(b'\n'));
    lines.map_while(Result::ok).filter_map(move |line| {
        let line: Value = serde_json::from_str(&whole_json(&line)).ok()?;
        let message = Some(&line["message"]).filter(|message| message["role"] == role)?;
        match &message["content"] {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
            _ => None,
        }
    })
}

/// Reads a file that may hold a report.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path).ok()?.take(BYTES_MAX as u64 + 1).read_to_string(&mut text).ok()?;
    (text.len() <= BYTES_MAX).then_some(text)
}

/// Returns whether a path leads to a regular file. Whoever opened a pipe would wait for somebody to write into it.
pub(crate) fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn is_report_of(text: &str, agent: &str) -> bool {
    let reading = baton_protocol::read(text.as_bytes(), Hints::default());
    let from = match &reading.document {
        Some(Document::Report(report)) => report.agent(),
        Some(Document::Request(package)) if package.kind.is_some() => {
            package.from.as_ref().and_then(|from| from.agent.as_deref())
        }
        _ => return false,
    };
    from.is_none_or(|from| same_word(from.trim_start_matches('@'), agent))
}

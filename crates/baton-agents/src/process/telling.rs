//! How a program ended, in words and as a failure.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use baton_engine::failure::{Code, CommandStream, Failure, FailureOutput, Transience};
use baton_protocol::workflow::is_interpreter;

use super::ProcessEnd;

/// What a shell says when it finds no such program, or may not run it.
const NOT_RUNNABLE: [i32; 2] = [126, 127];

/// How many bytes of stdout are repeated at most.
const STDOUT_TAIL_BYTES: usize = 2_000;

/// How many of its lines are.
const STDOUT_TAIL_LINES: usize = 10;

impl ProcessEnd {
    /// Returns what is wrong with an end, unless the program ended by itself and well.
    pub fn failure(&self) -> Option<Failure> {
        let failed = |code, message| Some(Failure::new(code, message));
        match self {
            ProcessEnd::Exited { status, .. } if status.success() => None,
            ProcessEnd::Exited { status, stdout, tail }
                if status.code().is_some_and(|code| NOT_RUNNABLE.contains(&code)) =>
            {
                Some(for_good(ended_badly(Code::dependency_missing(), *status, stdout, tail)))
            }
            ProcessEnd::Exited { status, stdout, tail } => {
                Some(ended_badly(Code::processing_error(), *status, stdout, tail))
            }
            ProcessEnd::Flooded { most } => {
                failed(Code::validation_failed(), format!("the command wrote more than {} to stdout", size(*most)))
            }
            ProcessEnd::TimedOut { limit, tail } => {
                Some(too_late(format!("the command did not finish within {}", length(*limit)), tail))
            }
            ProcessEnd::Silent { limit, tail } => {
                Some(too_late(format!("the command wrote nothing for {}", length(*limit)), tail))
            }
            ProcessEnd::Lost(error) => failed(Code::processing_error(), format!("the command was lost: {error}")),
        }
    }
}

/// Makes the failure of a program whose time is over. Its output is not part of it: the next attempt that is too late has failed in
/// the same way, whatever it said. What is in the logs is found by the stream that it wrote to.
pub(crate) fn too_late(message: String, tail: &str) -> Failure {
    let stream = if tail.is_empty() { CommandStream::Stdout } else { CommandStream::Stderr };
    Failure { stream: Some(stream), ..Failure::new(Code::timeout(), message) }
}

/// With what interpreters end that cannot read their script.
const NO_SCRIPT: [i32; 2] = [1, 2];

/// Returns the failure of an interpreter that did not find its script; it will not find it in the next attempt either.
pub(crate) fn without_script(ended: &ProcessEnd, program: &Path, arguments: &[String]) -> Option<Failure> {
    let ProcessEnd::Exited { status, stdout, tail } = ended else { return None };
    let script = arguments.first().filter(|script| !script.starts_with('-'))?;
    let is_one = is_interpreter(program.to_str()?) && status.code().is_some_and(|code| NO_SCRIPT.contains(&code));
    let name = program.file_name()?.to_str()?;
    // What the script itself runs may miss a file of a similar name.
    let is_its_own = |line: &str| {
        let speaker = line.split(':').next().unwrap_or_default();
        speaker.rsplit('/').next() == Some(name) || line.starts_with("Can't open ")
    };
    let says_so = |line: &str| {
        is_its_own(line) && line.contains(script.trim_start_matches("./")) && line.contains("No such file")
    };
    let mut lines = tail.lines().filter(|line| !line.trim().is_empty());
    let is_missing = is_one && lines.next().is_some_and(says_so) && lines.next().is_none();
    is_missing.then(|| for_good(ended_badly(Code::dependency_missing(), *status, stdout, tail)))
}

/// The failure when a program could not be started.
pub fn not_started(program: &Path, error: &io::Error) -> Failure {
    let message = match error.kind() {
        io::ErrorKind::NotFound if program.exists() => {
            format!("{} cannot be started: its interpreter is missing", program.display())
        }
        io::ErrorKind::NotFound => format!("program not found: {}", program.display()),
        _ => format!("{} cannot be started: {error}", program.display()),
    };
    permanent(Code::dependency_missing(), message)
}

/// Makes a failure after which another attempt makes no sense.
pub(crate) fn permanent(code: Code, message: impl Into<String>) -> Failure {
    for_good(Failure::new(code, message))
}

fn for_good(failure: Failure) -> Failure {
    Failure { chance: Transience::Permanent, ..failure }
}

/// Makes the failure of a command that did not end well. A command that wrote nothing to stderr may have complained on stdout.
pub fn ended_badly(code: Code, status: ExitStatus, stdout: &[u8], tail: &str) -> Failure {
    let how = how_it_ended(status);
    let on_stdout = last_lines(stdout);
    let (stream, lines) = match (tail.is_empty(), on_stdout.is_empty(), status.code()) {
        (false, _, _) => (CommandStream::Stderr, tail.to_owned()),
        (true, false, _) => (CommandStream::Stdout, on_stdout),
        (true, true, Some(_)) => return Failure::new(code, format!("{how}; it wrote nothing")),
        (true, true, None) => return Failure::new(code, how),
    };
    let failure = Failure { stream: Some(stream), ..Failure::new(code, how) };
    failure.with_output(FailureOutput::LastLines(lines))
}

/// Describes how a command ended that did not end well.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the command ended with {code}"),
        (None, Some(signal)) => format!("the command was killed by signal {signal}{}", signal_name(signal)),
        (None, None) => "the command ended with neither an exit code nor a signal".to_owned(),
    }
}

fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(STDOUT_TAIL_BYTES)..]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(STDOUT_TAIL_LINES)..].join("\n")
}

fn signal_name(number: i32) -> &'static str {
    match number {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU)",
        _ => "",
    }
}

/// Writes a size, in whole MiB where possible.
pub(crate) fn size(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}

/// Writes a length of time.
pub(crate) fn length(time: Duration) -> String {
    match (time.subsec_millis(), time.as_secs()) {
        (0, 0) => "0 s".to_owned(),
        (0, seconds) if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        (0, seconds) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        (0, seconds) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_is_named() {
        let told = |status, stdout: &[u8], tail| ended_badly(Code::processing_error(), status, stdout, tail).text();
        assert_eq!(told(ExitStatus::from_raw(9), b"", ""), "the command was killed by signal 9 (SIGKILL)");
        assert_eq!(told(ExitStatus::from_raw(3 << 8), b"fine", "oh"), "the command ended with 3; it said last:\noh");
        assert_eq!(told(ExitStatus::from_raw(3 << 8), b"", ""), "the command ended with 3; it wrote nothing");
        let said: String = (1..20).map(|line| format!("line {line}\n\n")).collect();
        let told = told(ExitStatus::from_raw(3 << 8), said.as_bytes(), "");
        assert!(told.starts_with("the command ended with 3; it said last on stdout:\nline 10\n"), "{told}");
        assert!(told.ends_with("line 19"), "{told}");
    }

    #[test]
    fn end_decides_the_code_and_the_chance() {
        let of = |ended: ProcessEnd| ended.failure().map(|failure| (failure.code.to_string(), failure.chance));
        let exited =
            |raw| ProcessEnd::Exited { status: ExitStatus::from_raw(raw), stdout: Vec::new(), tail: String::new() };
        assert_eq!(of(exited(0)), None);
        assert_eq!(of(exited(3 << 8)), Some(("PROCESSING_ERROR".to_owned(), Transience::Transient)));
        assert_eq!(of(exited(127 << 8)), Some(("DEPENDENCY_MISSING".to_owned(), Transience::Permanent)));
        assert_eq!(of(ProcessEnd::Flooded { most: 1 }), Some(("VALIDATION_FAILED".to_owned(), Transience::Transient)));
        let late = ProcessEnd::TimedOut { limit: Duration::from_secs(3), tail: String::new() };
        assert_eq!(of(late), Some(("TIMEOUT".to_owned(), Transience::Transient)));
    }
}

//! The end of stderr: which of its lines says what went wrong.

use super::fault::is_telling;

/// How lines begin that do not explain a failure: warnings, and what is always printed.
const NOISE: [&str; 8] =
    ["warn", "yolo mode", "ripgrep is not", "approval mode overridden", "loaded cached", "usage:", "tip:", "for more"];

/// Returns the most telling line: the first that names a problem, or else the last that is not a warning.
pub(crate) fn telling_line(tail: &str) -> Option<String> {
    let tail = without_colours(tail);
    let mut lines = tail.lines().filter(|line| !line.trim().is_empty()).peekable();
    let mut told: Vec<String> = Vec::new();
    while let Some(line) = lines.next() {
        // What is indented belongs to a stack or a table of options.
        if line.starts_with([' ', '\t', '}', ']']) || is_noise(line) {
            continue;
        }
        let line = line.trim();
        // A heading says nothing without what stands below it.
        if !line.ends_with(':') {
            told.push(line.to_owned());
        } else if let Some(below) = lines.next_if(|below| below.starts_with([' ', '\t'])) {
            told.push(format!("{line} {}", below.trim()));
        } else if lines.peek().is_some() {
            told.push(line.to_owned());
        }
    }
    let telling = told.iter().position(|line| is_telling(line));
    telling.map(|at| told.swap_remove(at)).or_else(|| told.pop())
}

fn is_noise(line: &str) -> bool {
    let line = line.to_lowercase();
    NOISE.iter().any(|noise| line.starts_with(noise))
}

/// Takes the colours out of a text for terminals.
pub fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        rest = match behind.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|letter: char| ('@'..='~').contains(&letter));
                end.map_or("", |end| &sequence[end + 1..])
            }
            None => behind,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_that_matters_is_found() {
        let told = |text: &str| telling_line(text).unwrap_or_default();
        let untrusted = "Approval mode overridden to \"default\"\n\u{1b}[31mGemini is not running in a trusted directory. Use `--skip-trust`\u{1b}[0m";
        assert_eq!(told(untrusted), "Gemini is not running in a trusted directory. Use `--skip-trust`");
        let usage = "error: unexpected argument '--x' found\n\n  tip: use\n\nUsage: codex exec\nFor more information, try '--help'.";
        assert_eq!(told(usage), "error: unexpected argument '--x' found");
        assert_eq!(told("WARNING: no PATH\nfirst\nlast\n    at f (x.js:1)\n}\n"), "last");
        assert_eq!(told("Warning: only\n"), "");
    }

    #[test]
    fn heading_is_told_with_what_stands_below_it_or_not_at_all() {
        let told = |text: &str| telling_line(text).unwrap_or_default();
        assert_eq!(
            told("Error: Unexpected error\n\nFailed query: \n\n   CREATE TABLE a (\n   );\n\nparams: \n"),
            "Failed query: CREATE TABLE a ("
        );
        assert_eq!(told("it broke\ndetails:\n"), "it broke");
        assert_eq!(told("Caused by:\nno space left\n"), "no space left");
        assert_eq!(
            told("Traceback (most recent call last):\n  File \"x.py\"\n    f()\nValueError: 3\n"),
            "ValueError: 3"
        );
        assert_eq!(told("params:\n"), "");
    }
}

//! Small pieces of text that every door writes alike: numbers, times, and texts that must fit on a line.

use std::time::Duration;

use baton_engine::definition::Definition;
use baton_protocol::printable;
use jiff::Timestamp;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthChar as _;

/// What is said about a check, a group or another step that was completed with a result that is not good.
pub const DID_NOT_PASS: &str = "did not pass";

/// Writes a number with what it counts: `1 run`, `2 runs`.
pub fn counted(number: impl TryInto<u64>, thing: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// Makes a text one printable line.
pub fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// Cuts a text that is wider than its place. A Chinese character or an emoji takes two columns, an accent none.
pub fn cut(text: &str, columns_max: usize) -> String {
    let mut columns = 0;
    let end = text.char_indices().find(|(_, character)| {
        columns += character.width().unwrap_or_default();
        columns > columns_max
    });
    match end {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Writes a duration briefly, in its two largest units.
pub fn briefly(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let shown: Vec<String> = parts
        .into_iter()
        .skip_while(|(count, _)| *count == 0)
        .take(2)
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    if shown.is_empty() { format!("{}ms", duration.subsec_millis()) } else { shown.concat() }
}

/// Writes the inputs that somebody has changed: ` with size=5`; nothing if there are none.
pub fn with_inputs(inputs: &Map<String, Value>) -> String {
    let shown = |(name, value): (&String, &Value)| format!("{name}={}", Definition::as_typed(value));
    let shown: Vec<String> = inputs.iter().map(shown).collect();
    if shown.is_empty() { String::new() } else { format!(" with {}", one_line(&shown.join(", "))) }
}

/// Writes what a run was given, a line for each input: `size: 5`.
pub fn inputs(inputs: &Map<String, Value>) -> Vec<String> {
    let given = inputs.iter().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| one_line(&format!("{name}: {}", Definition::as_typed(value)))).collect()
}

/// Writes how long something took, with tenths of short ones.
pub fn took(duration: Duration) -> String {
    match duration.as_secs() {
        0 if duration.as_millis() < 100 => format!("{} ms", duration.as_millis()),
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        _ => briefly(duration),
    }
}

/// Writes how long ago something was.
pub fn ago(time: Timestamp, now: Timestamp) -> String {
    match Duration::try_from(now.duration_since(time)) {
        Ok(passed) if passed.as_secs() > 0 => format!("{} ago", briefly(passed)),
        _ => "now".to_owned(),
    }
}

/// Writes how far away something is.
pub fn ahead(time: Timestamp, now: Timestamp) -> String {
    let left = span(now, time);
    // A moment after it was given, a minute is still a minute.
    let whole = if left.as_secs() > 0 { Duration::from_secs_f64(left.as_secs_f64().ceil()) } else { left };
    format!("in {}", briefly(whole))
}

/// Writes until when an answer is waited for.
pub fn lapses(at: Timestamp) -> String {
    format!("continues without an answer at {}", at.strftime("%F %H:%M UTC"))
}

/// Returns the time between two others; none if the second is not later.
pub fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

/// Returns the most telling line: the first, or the last of those that it announces.
pub fn telling_line(words: &str) -> &str {
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if first.ends_with(':') { lines.next_back().unwrap_or(first) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "run")), ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn durations_are_written_in_two_units() {
        let written = |seconds: u64| briefly(Duration::from_secs(seconds));
        assert_eq!([written(30), written(90), written(7_200), written(90_061)], ["30s", "1m30s", "2h", "1d1h"]);
        assert_eq!(briefly(Duration::from_millis(5)), "5ms");
    }

    #[test]
    fn times_are_told_from_now() {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        let at = |second: i64| Timestamp::from_second(1_000_000 + second).expect("a time");
        assert_eq!((ago(at(-90), now), ago(at(5), now)), ("1m30s ago".to_owned(), "now".to_owned()));
        assert_eq!(ahead(at(60), now), "in 1m");
    }

    #[test]
    fn texts_are_cut_where_a_terminal_would() {
        assert_eq!([cut("設計図", 4), cut("設計図", 5), cut("設計図", 6)], ["設計…", "設計…", "設計図"]);
        assert_eq!([cut("e\u{301}t\u{e9}", 3), cut("a bc", 2)], ["e\u{301}t\u{e9}", "a…"]);
    }
}

//! Lengths of time as people write them: `30s`, `5min`, `1h30m`, `2d`, or plain seconds. Options, workflow files and
//! whatever else takes a length of time read it here, so that all of them take the same.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::diagnostic::excerpt;
use crate::tree::Node;
use crate::wire::{Reader, Wire};

/// The longest one: a hundred years.
const MILLISECONDS_MAX: f64 = 100.0 * 366.0 * 86_400_000.0;

/// The units, in milliseconds.
const UNITS: [(&str, f64); 7] = [
    ("ms", 1.0),
    ("s", 1_000.0),
    ("m", 60_000.0),
    ("min", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
    ("w", 7.0 * 86_400_000.0),
];

/// How the words for units begin, and the units that they stand for.
const UNIT_WORDS: [(&str, &str); 7] =
    [("ms", "ms"), ("mil", "ms"), ("s", "s"), ("m", "m"), ("h", "h"), ("d", "d"), ("w", "w")];

/// A length of time: `90s`, `5min`, `1h30m`, `2d`, `500ms`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duration {
    /// In milliseconds.
    pub milliseconds: u64,
}

/// Why a text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurationFault {
    /// It does not look like one at all.
    Malformed(String),
    /// A number is followed by a word that is not a unit.
    UnknownUnit(String),
    /// A number after others has no unit, so its meaning is unclear.
    MissingUnit(String),
    /// A unit comes twice, or after a smaller one.
    Disordered(String),
    /// It is longer than a hundred years.
    TooLong(String),
}

impl fmt::Display for DurationFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationFault::Malformed(text) => {
                write!(formatter, "`{text}` is not a duration: write 30s, 5min, 1h30m, 2d or plain seconds")
            }
            DurationFault::UnknownUnit(unit) => {
                write!(formatter, "unknown unit of time `{unit}`: use ms, s, m or min, h, d or w")
            }
            DurationFault::MissingUnit(number) => {
                write!(formatter, "the last `{number}` has no unit: add ms, s, m or min, h, d or w")
            }
            DurationFault::Disordered(text) => {
                write!(formatter, "`{text}` is not a duration: write each unit once, the largest first, such as 1h30m")
            }
            DurationFault::TooLong(text) => write!(formatter, "`{text}` is too long: at most 100 years"),
        }
    }
}

impl std::error::Error for DurationFault {}

impl Duration {
    /// Reads a length of time.
    ///
    /// ```
    /// use baton_protocol::duration::Duration;
    ///
    /// let minutes = |text: &str| Duration::parse(text).map(|duration| duration.milliseconds / 60_000);
    /// assert_eq!((minutes("1h30m"), minutes("5min"), minutes("90")), (Ok(90), Ok(5), Ok(1)));
    /// assert!(minutes("a while").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Duration, DurationFault> {
        let malformed = || DurationFault::Malformed(excerpt(text));
        let whole = text.trim();
        let (mut rest, mut milliseconds, mut before) = (whole, 0.0, f64::INFINITY);
        while !rest.is_empty() {
            let digits = length_of(rest, |letter| letter.is_ascii_digit() || letter == '.');
            let number: f64 = rest[..digits].parse().map_err(|_| malformed())?;
            let after = rest[digits..].trim_start();
            let unit = &after[..length_of(after, char::is_alphabetic)];
            let factor = match UNITS.iter().find(|(name, _)| *name == unit) {
                Some((_, factor)) => *factor,
                None if !unit.is_empty() => return Err(DurationFault::UnknownUnit(excerpt(unit))),
                None if digits == whole.len() => 1_000.0,
                None if after.is_empty() => return Err(DurationFault::MissingUnit(excerpt(rest))),
                None => return Err(malformed()),
            };
            if factor >= before {
                return Err(DurationFault::Disordered(excerpt(text)));
            }
            before = factor;
            milliseconds += number * factor;
            rest = after[unit.len()..].trim_start();
        }
        match milliseconds {
            _ if whole.is_empty() => Err(malformed()),
            // Half a millisecond is nothing to anybody who waits, but `1.005s` is not 1.004.
            _ if milliseconds <= MILLISECONDS_MAX => Ok(Duration { milliseconds: milliseconds.round() as u64 }),
            _ => Err(DurationFault::TooLong(excerpt(text))),
        }
    }

    /// Returns what was probably meant by a text whose units are words, such as `30 minutes`.
    fn meant(text: &str) -> Option<String> {
        let meant: String = text.split_whitespace().collect();
        let (mut short, mut rest) = (String::new(), meant.as_str());
        while !rest.is_empty() {
            let digits = length_of(rest, |letter| !letter.is_alphabetic());
            let (number, after) = rest.split_at(digits);
            let (unit, after) = after.split_at(length_of(after, char::is_alphabetic));
            let unit = unit.to_lowercase();
            short.push_str(number.trim_end_matches(','));
            short.push_str(UNIT_WORDS.iter().find(|(word, _)| unit.starts_with(word)).map_or(&unit, |(_, unit)| unit));
            rest = after;
        }
        (short != text && Duration::parse(&short).is_ok()).then_some(short)
    }

    /// Returns it as the standard library has it.
    pub fn as_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.milliseconds)
    }
}

/// How many bytes at the beginning of a text satisfy a condition.
fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amount, unit) = match self.milliseconds {
            0 => (0, "s"),
            ms if ms % 86_400_000 == 0 => (ms / 86_400_000, "d"),
            ms if ms % 3_600_000 == 0 => (ms / 3_600_000, "h"),
            ms if ms % 60_000 == 0 => (ms / 60_000, "m"),
            ms if ms % 1_000 == 0 => (ms / 1_000, "s"),
            ms => (ms, "ms"),
        };
        write!(formatter, "{amount}{unit}")
    }
}

impl Wire for Duration {
    const EXPECTED: &'static str = "a length of time, such as `90s`, `5min` or `1h30m`";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match &node {
            Node::Text(text) | Node::Plain(text) => Duration::parse(text).map_err(|fault| fault.to_string()),
            // Written without an exponent, which would look like a unit.
            Node::Number(number) => {
                Duration::parse(&number.as_f64().unwrap_or(f64::MAX).to_string()).map_err(|fault| fault.to_string())
            }
            other => Err(reader.should_be(Self::EXPECTED, other.kind())),
        };
        match read {
            Ok(duration) => Some(duration),
            Err(fault) => {
                let meant = node.as_text().and_then(Duration::meant).map(|meant| format!("did you mean `{meant}`?"));
                reader.wrong_value(fault, meant, node);
                None
            }
        }
    }

    fn write(&self) -> Value {
        json!(self.to_string())
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = "[0-9]+(\\.[0-9]+)?";
        let units: String = ["w", "d", "h", "(m|min)", "s", "ms"].map(|unit| format!("({number} *{unit} *)?")).concat();
        json_schema!({
            "anyOf": [
                { "type": "number", "minimum": 0 },
                { "type": "string", "minLength": 1, "pattern": format!("^({number}|{units})$") },
            ],
            "description": "A length of time: a number of seconds, or numbers with ms, s, m, min, h, d or w, such as 1h30m.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(text: &str) -> Result<u64, DurationFault> {
        Duration::parse(text).map(|duration| duration.milliseconds)
    }

    #[test]
    fn every_way_to_write_a_duration_is_read() {
        for (text, expected) in [
            ("30s", 30_000),
            ("90", 90_000),
            ("1.5", 1_500),
            ("0", 0),
            ("250ms", 250),
            ("5m", 300_000),
            ("5min", 300_000),
            ("1h30m", 5_400_000),
            ("1h30min", 5_400_000),
            ("1h 30m", 5_400_000),
            (" 5 min ", 300_000),
            ("1.005s", 1_005),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
        ] {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused_with_the_reason() {
        for text in ["", " ", "s", "-5s", "1..5s", "NaN", "inf", "٣s", "5m-", ".", "5,5s", "1h:30"] {
            assert_eq!(milliseconds(text), Err(DurationFault::Malformed(excerpt(text))), "{text:?}");
        }
        for (text, unit) in [("5x", "x"), ("1e9", "e"), ("1h5parsecs", "parsecs"), ("5µs", "µs"), ("5M", "M")] {
            assert_eq!(milliseconds(text), Err(DurationFault::UnknownUnit(unit.to_owned())), "{text}");
        }
        for text in ["1h1h", "30m1h", "1m1min", "5s 1d", "1ms1s"] {
            assert_eq!(milliseconds(text), Err(DurationFault::Disordered(text.to_owned())), "{text}");
        }
        assert_eq!(milliseconds("1h30"), Err(DurationFault::MissingUnit("30".to_owned())));
        for text in ["999999999d", "99999999999", "5000000w", "36601d"] {
            assert_eq!(milliseconds(text), Err(DurationFault::TooLong(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for milliseconds in [0, 1, 999, 1_000, 90_000, 5_400_000, 86_400_000, 3_162_240_000_000] {
            let duration = Duration { milliseconds };
            assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
        }
    }
}

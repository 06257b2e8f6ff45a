//! Times and durations as people write them: `30s`, `5m`, `1h30m`, `2d`, plain seconds, or RFC 3339.

use std::time::Duration;

use baton_engine::engine::WantedTime;
use jiff::Timestamp;

/// The longest duration that is taken: a hundred years.
const SECONDS_MAX: f64 = 100.0 * 366.0 * 86_400.0;

const UNITS: [(&str, f64); 6] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("w", 7.0 * 86_400.0)];

/// Reads a duration, for clap.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration: write 30s, 5m, 1h30m, 2d or plain seconds");
    let too_long = || format!("`{text}` is too long: at most 100 years are taken");
    if let Some(seconds) = plain_number(text) {
        return checked(seconds).ok_or_else(too_long);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let number = plain_number(&rest[..digits]).ok_or_else(wrong)?;
        rest = &rest[digits..];
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == &rest[..length]).ok_or_else(wrong)?;
        rest = &rest[length..];
        seconds += number * unit;
    }
    if text.is_empty() {
        return Err(wrong());
    }
    checked(seconds).ok_or_else(too_long)
}

/// Reads a time or a duration, for clap.
pub(crate) fn parse_moment(text: &str) -> Result<WantedTime, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(WantedTime::At(time));
    }
    parse_duration(text).map(WantedTime::In).map_err(|why| match why.contains("too long") {
        true => why,
        false => {
            format!("`{text}` is no time: write 2026-05-01T12:00:00Z, or a duration from now such as 30s, 5m or 2h")
        }
    })
}

/// Writes a duration briefly, in its two largest units.
pub(crate) fn briefly(duration: Duration) -> String {
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

fn plain_number(text: &str) -> Option<f64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_number)
}

fn checked(seconds: f64) -> Option<Duration> {
    (seconds <= SECONDS_MAX).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        let milliseconds = |text: &str| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(milliseconds("30s"), Ok(30_000));
        assert_eq!(milliseconds("90"), Ok(90_000));
        assert_eq!(milliseconds("1h30m"), Ok(5_400_000));
        assert_eq!(milliseconds("1.5s"), Ok(1_500));
        assert_eq!(milliseconds("250ms"), Ok(250));
        assert_eq!(milliseconds("2d"), Ok(172_800_000));
        assert_eq!(milliseconds("0"), Ok(0));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for wrong in ["", "s", "5 m", "-5s", "5x", "1h30", "1e9", "5m-", "NaN", "inf", "1..5s", "999999999d", "٣s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_only_too_long_is_called_so() {
        for long in ["1000000d", "99999999999", "5000000w"] {
            let why = format!("`{long}` is too long: at most 100 years are taken");
            assert_eq!(parse_duration(long), Err(why.clone()));
            assert_eq!(parse_moment(long), Err(why));
        }
    }

    #[test]
    fn moments_are_times_or_durations() {
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().expect("a time");
        let after = |text: &str| parse_moment(text).map(|moment| moment.after(now).to_string());
        assert_eq!(after("5m"), Ok("2026-05-01T12:05:00Z".to_owned()));
        assert_eq!(after("2026-05-01T14:00:00+02:00"), Ok("2026-05-01T12:00:00Z".to_owned()));
        assert!(after("tomorrow").is_err());
    }

    #[test]
    fn durations_are_written_in_two_units() {
        let written = |seconds: u64| briefly(Duration::from_secs(seconds));
        assert_eq!([written(30), written(90), written(7_200), written(90_061)], ["30s", "1m30s", "2h", "1d1h"]);
        assert_eq!(briefly(Duration::from_millis(5)), "5ms");
    }
}

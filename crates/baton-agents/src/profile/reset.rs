//! When a limit of an account ends: a time, a length, or what a clock on the wall shows.

use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

/// Nobody waits longer than this: a number that says so is something else.
const LONGEST: Duration = Duration::from_secs(40 * 24 * 60 * 60);

/// When a limit ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reset {
    /// At this time.
    At(Timestamp),
    /// After so long.
    After(Duration),
    /// When the clock shows this, as a program writes it: `4:26 PM`, `4:31pm (UTC)`, `Nov 18th, 2026 4:26 PM`.
    Clock(String),
}

impl Reset {
    /// Makes one of seconds since 1970.
    pub(super) fn at_second(second: i64) -> Option<Reset> {
        Timestamp::from_second(second).ok().map(Reset::At)
    }

    /// Finds one in what a program says.
    pub(super) fn in_text(text: &str) -> Option<Reset> {
        let said = text.to_lowercase();
        let behind = |mark: &str| said.find(mark).map(|at| said[at + mark.len()..].trim_start_matches([':', '"', ' ']));
        for mark in ["resets_in_seconds", "retry-after", "retry_after"] {
            if let Some(seconds) = behind(mark).and_then(leading_number) {
                return Some(Reset::After(Duration::from_secs(seconds)));
            }
        }
        if let Some(length) = behind("try again in ").and_then(length) {
            return Some(Reset::After(length));
        }
        let clock = ["try again at ", "resets at ", "resets "].iter().find_map(|mark| behind(mark))?;
        let clock = clock.split_once('\n').map_or(clock, |(clock, _)| clock);
        time(clock_of(clock).1)?;
        Some(Reset::Clock(clock.trim_end_matches('.').to_owned()))
    }

    /// Returns the time, as seen from now; `None` if that is unknown.
    pub(super) fn after(&self, now: &Zoned) -> Option<Timestamp> {
        let until = match self {
            Reset::At(at) => *at,
            Reset::After(length) => now.timestamp().checked_add(SignedDuration::try_from(*length).ok()?).ok()?,
            Reset::Clock(text) => on_the_wall(text, now)?,
        };
        let longest = SignedDuration::try_from(LONGEST).ok()?;
        (until.duration_since(now.timestamp()) <= longest).then_some(until)
    }
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Reads `2 days 3 hours 5 minutes` or `20s`.
fn length(text: &str) -> Option<Duration> {
    let mut seconds = 0;
    let mut rest = text;
    while let Some(number) = leading_number(rest) {
        let unit = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_start();
        let word_end = unit.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(unit.len());
        seconds += number
            * match &unit[..word_end] {
                "s" | "second" | "seconds" => 1,
                "m" | "min" | "minute" | "minutes" => 60,
                "h" | "hour" | "hours" => 3600,
                "d" | "day" | "days" => 86_400,
                _ => break,
            };
        rest = unit[word_end..].trim_start_matches([' ', ',']);
    }
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Reads a time of the clock, in the zone that it names or else in ours. One that has passed today is meant for tomorrow.
fn on_the_wall(text: &str, now: &Zoned) -> Option<Timestamp> {
    let zone = match text.split_once('(') {
        Some((_, zone)) => TimeZone::get(zone.split(')').next()?.trim()).ok()?,
        None => now.time_zone().clone(),
    };
    let now = now.with_time_zone(zone.clone());
    let (day, clock) = clock_of(text);
    let time = time(clock)?;
    let Some(day) = day else {
        let meant = now.date().to_datetime(time).to_zoned(zone).ok()?;
        let meant = if meant <= now { meant.checked_add(1.day()).ok()? } else { meant };
        return Some(meant.timestamp());
    };
    let on = |year: i16| date(day, year)?.to_datetime(time).to_zoned(zone.clone()).ok();
    let meant = match day.rsplit_once(", ").and_then(|(_, year)| year.trim().parse().ok()) {
        Some(year) => on(year)?,
        // A day without a year that has passed is meant for the next one.
        None => on(now.year()).filter(|meant| *meant > now).or_else(|| on(now.year() + 1))?,
    };
    Some(meant.timestamp())
}

/// Splits what a program writes into the day, where it names one, and what the clock shows.
fn clock_of(text: &str) -> (Option<&str>, &str) {
    let text = text.split('(').next().unwrap_or(text).trim();
    let begins_with_day = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let Some((day, rest)) = text.rsplit_once(", ").filter(|_| begins_with_day) else { return (None, text) };
    match rest.split_once(' ') {
        // `Nov 18th, 2026 4:26 PM`
        Some((year, clock)) if year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) => {
            (Some(&text[..day.len() + 2 + year.len()]), clock)
        }
        _ => (Some(day), rest),
    }
}

fn date(day: &str, year: i16) -> Option<Date> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (month, day) = day.split_once(' ')?;
    let month = MONTHS.iter().position(|name| month.to_lowercase().starts_with(name))? + 1;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(leading_number(day)?).ok()?).ok()
}

/// Reads `4:26 PM`, `16:26` or, with its half of the day, a whole hour: `4pm`.
fn time(clock: &str) -> Option<Time> {
    let clock = clock.trim().to_lowercase();
    let digits = clock.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(clock.len());
    let (hour, rest) = (clock[..digits].parse::<i8>().ok()?, &clock[digits..]);
    let (minute, half) = match rest.strip_prefix(':') {
        Some(rest) => (leading_number(rest)?, rest.trim_start_matches(|letter: char| letter.is_ascii_digit())),
        None => (0, rest),
    };
    let half = half.trim_start();
    let hour = match (half.starts_with("pm"), half.starts_with("am")) {
        (true, _) => hour % 12 + 12,
        (_, true) => hour % 12,
        _ if rest.starts_with(':') => hour,
        _ => return None,
    };
    Time::new(hour, i8::try_from(minute).ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(text: &str) -> Option<String> {
        let now: Zoned = "2026-11-16T15:30:00+01:00[+01:00]".parse().expect("a time");
        Reset::in_text(text)?.after(&now).map(|at| at.to_string())
    }

    #[test]
    fn time_of_the_clock_is_local_unless_it_says_where() {
        let told = |text: &str| until(text).unwrap_or_default();
        assert_eq!(told("or try again at 4:26 PM."), "2026-11-16T15:26:00Z");
        assert_eq!(told("try again at 3:10 PM"), "2026-11-17T14:10:00Z", "it has passed today");
        assert_eq!(told("try again at Nov 18th, 2026 12:05 AM."), "2026-11-17T23:05:00Z");
        assert_eq!(told("5-hour limit · resets 4:31pm (UTC)"), "2026-11-16T16:31:00Z");
        assert_eq!(told("You've hit your limit · resets 4pm (UTC)"), "2026-11-16T16:00:00Z");
        assert_eq!(told("You've hit your limit · resets 12am"), "2026-11-16T23:00:00Z");
        assert_eq!(told("weekly limit · resets Nov 20, 5pm (UTC)"), "2026-11-20T17:00:00Z");
        assert_eq!(told("weekly limit · resets Nov 1, 9:30am (UTC)"), "", "more than 40 days");
        assert_eq!(told("weekly limit · resets Dec 2 at noon"), "");
    }

    #[test]
    fn length_counts_from_now() {
        let told = |text: &str| until(text).unwrap_or_default();
        assert_eq!(told(r#"{"resets_in_seconds":3600}"#), "2026-11-16T15:30:00Z");
        assert_eq!(told("Try again in 1 day 2 hours 5 minutes."), "2026-11-17T16:35:00Z");
        assert_eq!(told("retry-after: 20"), "2026-11-16T14:30:20Z");
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["try again later", "try again at noon", "resets soon: see a page", "retry-after: never"] {
            assert_eq!(until(text), None, "{text}");
        }
        assert_eq!(until("retry-after: 99999999999"), None, "nobody waits that long");
    }
}

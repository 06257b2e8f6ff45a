//! Times as people write them: in RFC 3339, or as a duration from now.

use std::time::Duration;

use baton_engine::engine::WantedTime;
use baton_protocol::duration::DurationFault;
use jiff::Timestamp;

/// Reads a duration, for clap.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    baton_protocol::duration::Duration::parse(text).map(|duration| duration.as_std()).map_err(|fault| fault.to_string())
}

/// Reads a time or a duration, for clap.
pub(crate) fn parse_moment(text: &str) -> Result<WantedTime, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(WantedTime::At(time));
    }
    let duration = baton_protocol::duration::Duration::parse(text);
    duration.map(|duration| WantedTime::In(duration.as_std())).map_err(|fault| match fault {
        DurationFault::Malformed(text) => {
            format!(
                "`{text}` is not a time: write 2026-05-01T12:00:00Z, or a duration from now such as 30s, 5min or 2h"
            )
        }
        fault => fault.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_or_durations() {
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().expect("a time");
        let after = |text: &str| parse_moment(text).map(|moment| moment.after(now).to_string());
        assert_eq!(after("5m"), Ok("2026-05-01T12:05:00Z".to_owned()));
        assert_eq!(after("2026-05-01T14:00:00+02:00"), Ok("2026-05-01T12:00:00Z".to_owned()));
        let why = |text: &str| parse_moment(text).expect_err("it is neither");
        assert!(why("tomorrow").starts_with("`tomorrow` is not a time: write 2026-05-01T12:00:00Z, or a duration"));
        assert_eq!(why("5000000w"), "`5000000w` is too long: at most 100 years");
    }
}

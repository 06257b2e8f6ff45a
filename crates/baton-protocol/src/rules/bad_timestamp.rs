//! Judges whether timestamps are times. Whether a time is plausible is for other rules.

use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;

use crate::diagnostic::excerpt;
use super::{Case, RuleFindings};

rule! {
    /// ## What it checks
    /// Whether every timestamp of the document is a date with a time in ISO 8601, such as `2026-03-09T16:42:07Z`. An
    /// offset (`+02:00`) may replace the `Z`, or the zone may be missing. A date alone, a range, a placeholder or a
    /// sentence is not a timestamp. It applies to all dialects that have timestamps: the blocks, packages, the mailbox
    /// (also the time inside `error`) and native documents. If Baton itself records when the report came, it is a
    /// warning.
    ///
    /// ## Why it matters
    /// Timeouts, retries and the order of events are computed from these fields. `yesterday evening` cannot be sorted,
    /// and a date alone puts everything at midnight.
    ///
    /// ## Example
    /// ```json
    /// { "agent": "map-developer", "timestamp": "9 March 2026, 16:42" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "agent": "map-developer", "timestamp": "2026-03-09T16:42:07Z" }
    /// ```
    "bad-timestamp": Shape, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    for (pointer, text) in timestamps(case) {
        if let Some(fault) = fault(text) {
            findings.add(pointer, fault, "write date and time in ISO 8601, such as 2026-03-09T16:42:07Z");
        }
    }
}

fn fault(text: &str) -> Option<String> {
    match Pieces::parse(text) {
        Ok(pieces) if pieces.time().is_some() => None,
        Ok(_) => Some(format!("`{}` is a date without a time", excerpt(text))),
        Err(_) if text.trim().is_empty() => Some("the timestamp is blank".to_owned()),
        Err(_) => Some(format!("`{}` is not a date and time in ISO 8601", excerpt(text))),
    }
}

/// Returns the time of day of a timestamp, as it was written; `None` if it is not a timestamp.
pub(super) fn time_of_day(text: &str) -> Option<Time> {
    Pieces::parse(text).ok()?.time()
}

/// Returns every timestamp of a document with its canonical pointer.
pub(super) fn timestamps<'a>(case: &Case<'a>) -> impl Iterator<Item = (&'static str, &'a str)> {
    let request = case
        .request()
        .map(|request| [("/timestamp", request.timestamp.as_deref()), ("/started_at", request.started_at.as_deref())]);
    let report = case.report().map(|report| {
        let failed = report.error.as_ref().and_then(|error| error.timestamp.as_deref());
        [
            ("/timestamp", report.timestamp.as_deref()),
            ("/requested_at", report.requested_at.as_deref()),
            ("/started_at", report.started_at.as_deref()),
            ("/error/timestamp", failed),
        ]
    });
    let all = request.into_iter().flatten().chain(report.into_iter().flatten());
    all.filter_map(|(pointer, text)| Some((pointer, text?)))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn date_times_are_taken_with_and_without_a_zone() {
        for good in [
            "2026-03-09T16:42:07Z",
            "2026-03-09T16:42:07.123456+02:00",
            "2026-03-09T16:42:07",
            "2026-03-09 16:42:07Z",
            "2026-03-09T16:42-05:00",
            "20260309T164207Z",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
    }

    #[test]
    fn dates_ranges_and_prose_are_refused() {
        for bad in [
            "",
            " ",
            "...",
            "[timestamp]",
            "2026-03-09",
            "2026-03-09/10",
            "2026-03-09T16:42:07Z/2026-03-10T16:42:07Z",
            "2026-02-30T10:00:00Z",
            "2026-03-09T25:00:00Z",
            "2026-03-09T16:42:07+00:00Z",
            "16:42:07",
            "1773074527",
            "just now",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
        assert_eq!(fault("2026-03-09").expect("bad"), "`2026-03-09` is a date without a time");
    }
}

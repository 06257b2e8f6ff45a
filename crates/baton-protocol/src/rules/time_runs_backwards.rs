//! Times that cannot follow each other.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Case, RuleFindings};
use crate::model::{Report, Request};

rule! {
    /// ## What it checks
    /// Something ended before it began, or began before it was asked for: the request's time, the start, the error
    /// and the end must follow each other. Equal times are fine, and a full minute
    /// such as 10:30:00 means any moment of it, because agents round. A time without a zone is compared only with another
    /// one without a zone, and a time that cannot be read is left to `bad-timestamp`. Applies to requests and reports
    /// of every dialect; the request's time is also taken from the request itself, where it is known. Where Baton notes
    /// itself when a report came, it is a warning: a language model has no clock.
    ///
    /// ## Why it matters
    /// Such times were made up or copied. Timeouts, durations and the order of the record are computed from them.
    ///
    /// ## Example
    /// ```json
    /// { "started_at": "2026-03-02T09:40:00Z", "completed_at": "2026-03-02T09:12:30Z" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "started_at": "2026-03-02T09:12:30Z", "completed_at": "2026-03-02T09:40:00Z" }
    /// ```
    "time-runs-backwards": Mailbox, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if let Some(request) = case.request() {
        check_request(request, findings);
    } else if let Some(report) = case.report() {
        check_report(report, case.surroundings.request, findings);
    }
}

fn check_request(request: &Request, findings: &mut RuleFindings<'_>) {
    let asked = event("it was requested", request.timestamp.as_deref());
    let started = event("it began", request.started_at.as_deref());
    compare(asked, started, "/started_at", findings);
}

fn check_report(report: &Report, request: Option<&Request>, findings: &mut RuleFindings<'_>) {
    let requested = event("it was requested", report.requested_at.as_deref());
    let request = event("it was requested", request.and_then(|request| request.timestamp.as_deref()));
    let started = event("it began", report.started_at.as_deref());
    let error = report.error.as_ref().and_then(|error| error.timestamp.as_deref());
    let failed = event("the error happened", error);
    let ended = event("it ended", report.timestamp.as_deref());
    // The first contradiction explains the others.
    let _ = compare(requested, started, "/started_at", findings)
        && compare(request, started, "/started_at", findings)
        && compare(started, ended, "/started_at", findings)
        && compare(requested, ended, "/timestamp", findings)
        && compare(request, ended, "/timestamp", findings);
    compare(failed, ended, "/error/timestamp", findings);
}

#[derive(Clone, Copy)]
struct Event<'t> {
    what: &'static str,
    at: &'t str,
}

fn event<'t>(what: &'static str, at: Option<&'t str>) -> Option<Event<'t>> {
    at.map(|at| Event { what, at })
}

/// Returns whether two events follow each other, and tells if not; in doubt they do.
fn compare(first: Option<Event<'_>>, second: Option<Event<'_>>, pointer: &str, findings: &mut RuleFindings<'_>) -> bool {
    let (Some(first), Some(second)) = (first, second) else { return true };
    let in_order = !runs_backwards(first.at, second.at);
    if !in_order {
        findings.add(
            pointer,
            format!("{} at {}, before {} at {}", second.what, second.at, first.what, first.at),
            "take the times from a clock, all in UTC",
        );
    }
    in_order
}

fn runs_backwards(before: &str, after_text: &str) -> bool {
    let (Some((before, zoned)), Some((after, also_zoned))) = (moment(before), moment(after_text)) else {
        return false;
    };
    let in_order = if has_fraction(after_text) {
        before <= after
    } else if after.as_second() % 60 == 0 {
        // A full minute was probably rounded, and means any moment of it.
        before.as_second() < after.as_second() + 60
    } else {
        // A time without a fraction means any moment of its second.
        before.as_second() <= after.as_second()
    };
    zoned == also_zoned && !in_order
}

fn has_fraction(text: &str) -> bool {
    text.contains(['.', ','])
}

/// Reads a time, and returns whether it has a zone; a date alone is not a time.
fn moment(text: &str) -> Option<(Timestamp, bool)> {
    if let Ok(moment) = text.trim().parse::<Timestamp>() {
        return Some((moment, true));
    }
    let local: DateTime = text.trim().parse().ok().filter(|_| text.contains(':'))?;
    local.to_zoned(TimeZone::UTC).ok().map(|local| (local.timestamp(), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_respected() {
        assert!(!runs_backwards("2026-03-02T10:00:00+02:00", "2026-03-02T09:00:00Z"));
        assert!(runs_backwards("2026-03-02T10:00:00Z", "2026-03-02T11:30:00+02:00"));
    }

    #[test]
    fn time_without_a_fraction_means_its_whole_second() {
        assert!(!runs_backwards("2026-03-02T10:00:05.900Z", "2026-03-02T10:00:05Z"));
        assert!(runs_backwards("2026-03-02T10:00:06.000Z", "2026-03-02T10:00:05Z"));
        assert!(runs_backwards("2026-03-02T10:00:00.900Z", "2026-03-02T10:00:00.100Z"));
    }

    #[test]
    fn full_minute_means_any_moment_of_it() {
        assert!(!runs_backwards("2026-03-02T10:30:45.200Z", "2026-03-02T10:30:00Z"));
        assert!(!runs_backwards("2026-03-02T10:30:45Z", "2026-03-02T10:30Z"));
        assert!(runs_backwards("2026-03-02T10:31:00Z", "2026-03-02T10:30:00Z"));
        assert!(runs_backwards("2026-03-02T10:30:45Z", "2026-03-02T10:30:10Z"));
    }

    #[test]
    fn what_cannot_be_compared_is_left_alone() {
        assert!(!runs_backwards("2026-03-02T10:00:00", "2026-03-02T09:00:00Z"));
        assert!(!runs_backwards("2026-03-02T10:00:00Z", "2026-03-02"));
        assert!(!runs_backwards("soon", "2026-03-02T09:00:00Z"));
        assert!(runs_backwards("2026-03-02T10:00:00", "2026-03-02 09:00:00"));
    }
}

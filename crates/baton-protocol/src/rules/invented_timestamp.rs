//! Judges whether a time was looked up or made up.

use super::bad_timestamp::{time_of_day, timestamps};
use super::{Case, RuleFindings};

rule! {
    /// ## What it checks
    /// Whether a timestamp lies exactly at midnight, `00:00:00` in its own zone, down to the fraction of a second. It
    /// applies to all dialects that have timestamps. It is a warning, because work can really end at midnight.
    ///
    /// ## Why it matters
    /// A language model has no clock. One that did not ask for the time writes the date it believes in and fills the
    /// rest with zeros; such a time cannot be compared with anything, and often the date is wrong as well.
    ///
    /// ## Example
    /// ```json
    /// { "agent": "store-developer", "timestamp": "2026-05-18T00:00:00Z" }
    /// ```
    ///
    /// ## Use instead
    /// Take the time from the machine, for example with `date -u +%Y-%m-%dT%H:%M:%SZ`:
    ///
    /// ```json
    /// { "agent": "store-developer", "timestamp": "2026-05-18T13:26:51Z" }
    /// ```
    "invented-timestamp": Shape, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    for (pointer, text) in timestamps(case) {
        if time_of_day(text).is_some_and(|time| time == jiff::civil::Time::midnight()) {
            findings.add(
                pointer,
                format!("`{text}` is exactly midnight, which looks invented"),
                "take the time from a clock: date -u +%Y-%m-%dT%H:%M:%SZ",
            );
        }
    }
}

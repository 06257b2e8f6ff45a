//! How the history of a handoff is written: a line per event for people.

use baton_engine::journal::Event;
use baton_views::timeline::in_words;
use baton_views::words::{cut, one_line};
use jiff::Timestamp;

use super::columns::columns;

/// The longest text of an event that is shown in its line on a terminal.
const COLUMNS_MAX: usize = 100;

/// The longest text of an event that is written elsewhere: a fingerprint or a path must not be cut off.
const WRITTEN_MAX: usize = 1_000;

/// Returns a line for each event: when, what, and who or why. `width` is that of the terminal, if there is one.
pub(crate) fn lines(events: &[Event], width: Option<usize>) -> String {
    let row = |event: &Event| [clock_time(event.at), event.kind.clone(), shortened(&in_words(event), width)];
    columns(&events.iter().map(row).collect::<Vec<_>>())
}

/// Returns when an event happened, and who or why.
pub(crate) fn told_at(event: &Event, width: Option<usize>) -> (String, String) {
    (clock_time(event.at), shortened(&in_words(event), width))
}

pub(crate) fn shortened(text: &str, width: Option<usize>) -> String {
    cut(&one_line(text), if width.is_some() { COLUMNS_MAX } else { WRITTEN_MAX })
}

/// Returns a time in whole seconds.
pub(crate) fn clock_time(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

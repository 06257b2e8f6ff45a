//! How the history of a handoff is written: a line per event for people.

use baton_engine::journal::Event;
use baton_views::timeline::in_words;
use baton_views::words::{cut, one_line};
use jiff::Timestamp;

use super::columns::{self, fit, fitted, padded};

/// The longest text of an event that is shown in its line on a terminal.
const COLUMNS_MAX: usize = 100;

/// The longest text of an event that is written elsewhere: a fingerprint or a path must not be cut off.
const WRITTEN_MAX: usize = 1_000;

/// Returns a line for each event: when, what, and who or why. `width` is that of the terminal, if there is one.
pub(crate) fn lines(events: &[Event], width: Option<usize>) -> String {
    let row = |event: &Event| vec![clock_time(event.at), event.kind.clone(), shortened(&in_words(event), width)];
    fitted(events.iter().map(row).collect(), width, &[])
}

/// How wide the place and the kind of something are in a log; a long place may be wider.
const PLACE: usize = 24;
const PLACE_MAX: usize = 40;
const KIND: usize = 12;

/// A terminal that is narrower than this has room for less of each.
const WIDE: usize = 100;

/// Lays a line of a log out: when, where, what, and who or why. On a terminal it fits into one line.
pub(crate) fn cells([time, place, kind, told]: [&str; 4], width: Option<usize>) -> [String; 4] {
    let narrow = width.filter(|width| *width < WIDE);
    let place_columns = narrow.map_or(PLACE, |width| (width / 4).max(KIND));
    // The day stands in front of the `T`; on a narrow terminal the time must do.
    let time = narrow.and_then(|_| time.split_once('T')).map_or(time, |(_, time)| time.trim_end_matches('Z'));
    let place = match (width, narrow) {
        (_, Some(_)) => fit(place, place_columns),
        (Some(_), None) => fit(place, PLACE_MAX),
        (None, None) => place.to_owned(),
    };
    let (place, kind) = (padded(&place, place_columns), padded(kind, KIND));
    let before = columns::width(time) + columns::width(&place) + columns::width(&kind) + 3;
    let told = match width {
        Some(width) => fit(&one_line(told), width.saturating_sub(before).clamp(KIND, COLUMNS_MAX)),
        None => shortened(told, None),
    };
    [time.to_owned(), place, kind, told]
}

fn shortened(text: &str, width: Option<usize>) -> String {
    cut(&one_line(text), if width.is_some() { COLUMNS_MAX } else { WRITTEN_MAX })
}

/// Returns a time in whole seconds.
pub(crate) fn clock_time(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

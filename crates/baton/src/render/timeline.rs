//! How the history of a handoff is written: a line per event for people.

use baton_engine::journal::Event;
use baton_views::timeline::in_words;
use baton_views::words::{cut, one_line};
use jiff::Timestamp;

use super::columns::{self, fit, fitted, padded};
use super::sheet::wrapped;

/// The longest text of an event that is shown in its line on a terminal.
const COLUMNS_MAX: usize = 100;

/// The longest text of an event that is shown in several lines on a terminal.
const WRAPPED_MAX: usize = 300;

/// The space between two columns.
const GAP: usize = 2;

/// The longest text of an event that is written elsewhere: a fingerprint or a path must not be cut off.
const WRITTEN_MAX: usize = 1_000;

/// Returns a line for each event: when, what, and who or why. On a terminal of this width, long texts are wrapped beside
/// them.
pub(crate) fn lines(events: &[Event], width: Option<usize>) -> String {
    let Some(width) = width else {
        let row = |event: &Event| vec![clock_time(event.at), event.kind.clone(), shortened(&in_words(event), None)];
        return fitted(events.iter().map(row).collect(), None, &[]);
    };
    let heads: Vec<[String; 2]> =
        events.iter().map(|event| [brief_time(&clock_time(event.at), width), event.kind.clone()]).collect();
    let (heads, indent) = (columns::columns(&heads), columns::widest(&heads) + GAP);
    let mut text = String::new();
    for (event, head) in events.iter().zip(heads.lines()) {
        let told = wrapped(&cut(&one_line(&in_words(event)), WRAPPED_MAX), width.saturating_sub(indent).max(KIND));
        for (index, line) in told.iter().enumerate() {
            let before = padded(if index == 0 { head } else { "" }, indent);
            text.push_str(&format!("{}\n", format!("{before}{line}").trim_end()));
        }
    }
    text
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
    let time = width.map_or_else(|| time.to_owned(), |width| brief_time(time, width));
    let place = match (width, narrow) {
        (_, Some(_)) => fit(place, place_columns),
        (Some(_), None) => fit(place, PLACE_MAX),
        (None, None) => place.to_owned(),
    };
    let (place, kind) = (padded(&place, place_columns), padded(kind, KIND));
    let before = columns::width(&time) + columns::width(&place) + columns::width(&kind) + 3;
    let told = match width {
        Some(width) => fit(&one_line(told), width.saturating_sub(before).clamp(KIND, COLUMNS_MAX)),
        None => shortened(told, None),
    };
    [time, place, kind, told]
}

/// Returns a time for a terminal of this width: a narrow one has no room for the day.
fn brief_time(time: &str, width: usize) -> String {
    match time.split_once('T').filter(|_| width < WIDE) {
        Some((_, time)) => time.trim_end_matches('Z').to_owned(),
        None => time.to_owned(),
    }
}

fn shortened(text: &str, width: Option<usize>) -> String {
    cut(&one_line(text), if width.is_some() { COLUMNS_MAX } else { WRITTEN_MAX })
}

/// Returns a time in whole seconds.
pub(crate) fn clock_time(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

//! How the history of a handoff is written: a line per event for people.

use baton_engine::journal::Event;
use baton_views::timeline::in_words;
use baton_views::words::{cut, one_line};
use jiff::Timestamp;

use super::columns::{self, fit, fitted, padded};
use super::sheet::wrapped;

/// How wide the text of an event is at most on a terminal.
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
        let row = |event: &Event| {
            vec![clock_time(event.at), event.kind.clone(), cut(&one_line(&in_words(event)), WRITTEN_MAX)]
        };
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

/// Text that is broken into lines needs so many columns to be readable.
const ROOM_MIN: usize = 30;

/// A terminal that is narrower than this has room for less of each.
const WIDE: usize = 100;

/// Lays a line of a log out: when, where, what, and who or why. On a terminal what does not fit goes on below.
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
        Some(width) => hanging(&cut(&one_line(told), WRAPPED_MAX), width, (columns::width(&time) + 1, before)),
        None => cut(&one_line(told), WRITTEN_MAX),
    };
    [time, place, kind, told]
}

/// Breaks a text that begins in the second of these columns. It goes on there, or where that leaves too little room, it
/// begins in a line of its own behind the first.
fn hanging(text: &str, width: usize, (near, far): (usize, usize)) -> String {
    let room = |indent: usize| width.saturating_sub(indent).clamp(KIND, COLUMNS_MAX);
    if columns::width(text) <= room(far) {
        return text.to_owned();
    }
    let (indent, own_line) = if room(far) < ROOM_MIN { (near, true) } else { (far, false) };
    let lines = wrapped(text, room(indent)).into_iter().map(|line| fit(&line, room(indent)));
    let begin = own_line.then(String::new).into_iter();
    begin.chain(lines).collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(indent)))
}

/// Returns a time for a terminal of this width: a narrow one has no room for the day.
fn brief_time(time: &str, width: usize) -> String {
    match time.split_once('T').filter(|_| width < WIDE) {
        Some((_, time)) => time.trim_end_matches('Z').to_owned(),
        None => time.to_owned(),
    }
}

/// Returns a time in whole seconds.
pub(crate) fn clock_time(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

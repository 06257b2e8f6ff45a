//! Text in columns, as wide as a terminal shows it: a Chinese character or an emoji takes two columns, an accent none.

use baton_views::words::{DID_NOT_PASS, cut, one_line};
use unicode_width::UnicodeWidthStr as _;

use super::sheet::{Paint, Tint};

/// Returns how many columns of a terminal a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Fills a text up with spaces; what is wider stays as it is.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Writes rows under each other, each column as wide as its widest cell.
pub(crate) fn columns<R: AsRef<[String]>>(rows: &[R]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.as_ref().iter().map(|cell| one_line(cell)).collect()).collect();
    aligned(&rows, &[])
}

/// Writes rows with their titles under each other so that a line fits into a terminal of this width; elsewhere nothing is
/// shortened. Long cells give way first, then columns in the order of `dispensable`, and the first column last: it holds what is
/// typed again.
pub(crate) fn fitted(rows: Vec<Vec<String>>, terminal: Option<usize>, dispensable: &[&str]) -> String {
    aligned(&shortened(rows, terminal, dispensable), &[])
}

/// Does the same as [`fitted`] in colour, where it is wanted: faint titles, and what a column with such a title says about how
/// things stand.
pub(crate) fn tinted(rows: Vec<Vec<String>>, paint: Paint, dispensable: &[&str]) -> String {
    let rows = shortened(rows, paint.terminal, dispensable);
    let plain = aligned(&rows, &[]);
    let (Some(titles), Some(title_line)) = (rows.first(), plain.lines().next()) else { return plain };
    let widths = widths(&rows);
    let mut text = paint.tint(Tint::Faint, title_line) + "\n";
    for row in &rows[1..] {
        let cell = |((cell, columns), title): ((&String, &usize), &String)| {
            let gap = " ".repeat(columns.saturating_sub(width(cell)));
            let tint = ["STATE", "QUEUE"].contains(&title.as_str()).then(|| standing(cell)).flatten();
            tint.map_or_else(|| cell.clone(), |tint| paint.tint(tint, cell)) + &gap
        };
        let cells: Vec<String> = row.iter().zip(&widths).zip(titles).map(cell).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the tint of words that say how something stands.
pub(crate) fn standing(words: &str) -> Option<Tint> {
    let begins = |known: &[&str]| known.iter().any(|known| words.starts_with(known));
    match () {
        () if begins(&["failed"]) || words.contains(DID_NOT_PASS) => Some(Tint::Red),
        () if begins(&["completed"]) => Some(Tint::Green),
        () if begins(&["cancelled"]) => Some(Tint::Faint),
        () if begins(&["claimed", "verifying", "driven by"]) => Some(Tint::Cyan),
        () if begins(&["awaiting", "waits", "blocked", "not running", "paused"]) => Some(Tint::Yellow),
        () => None,
    }
}

fn shortened(rows: Vec<Vec<String>>, terminal: Option<usize>, dispensable: &[&str]) -> Vec<Vec<String>> {
    let clean = |row: Vec<String>| row.iter().map(|cell| one_line(cell)).collect();
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(clean).collect();
    let Some(columns) = terminal else { return rows };
    for title in dispensable {
        let mut shortened = rows.clone();
        shorten(&mut shortened, columns, 1, COMFORTABLE);
        if widest(&shortened) <= columns {
            break;
        }
        if let Some(index) = rows.first().and_then(|titles| titles.iter().position(|known| known == title)) {
            rows.iter_mut().for_each(|row| drop(row.remove(index)));
        }
    }
    shorten(&mut rows, columns, 1, SHORTEST);
    shorten(&mut rows, columns, 0, SHORTEST);
    rows
}

/// A cell of this width says what matters.
const COMFORTABLE: usize = 24;

/// A shorter cell says nothing.
const SHORTEST: usize = 8;

/// Cuts the widest columns from the one with this index on until a line fits, but none to less than `least`.
fn shorten(rows: &mut [Vec<String>], columns: usize, from: usize, least: usize) {
    while let Some(over) = widest(rows).checked_sub(columns).filter(|over| *over > 0) {
        let widths = widths(rows);
        let Some((index, width)) = widths.into_iter().enumerate().skip(from).max_by_key(|(_, width)| *width) else {
            return;
        };
        if width <= least {
            return;
        }
        let room = width.saturating_sub(over).max(least);
        for row in rows.iter_mut() {
            row[index] = fit(&row[index], room);
        }
    }
}

/// Cuts a text so that it fits with the sign that something is missing.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns { text.to_owned() } else { cut(text, columns.saturating_sub(1)) }
}

/// Does the same as [`columns`] for cells that are printable already; those in the columns of `numbers` stand at the right.
pub(crate) fn aligned<R: AsRef<[String]>>(rows: &[R], numbers: &[usize]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let cell = |(index, (cell, columns)): (usize, (&String, &usize))| match numbers.contains(&index) {
            true => format!("{}{cell}", " ".repeat(columns.saturating_sub(width(cell)))),
            false => padded(cell, *columns),
        };
        let cells: Vec<String> = row.as_ref().iter().zip(&widths).enumerate().map(cell).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns how wide the longest line of such rows can become.
pub(crate) fn widest<R: AsRef<[String]>>(rows: &[R]) -> usize {
    widths(rows).iter().map(|columns| columns + 2).sum::<usize>().saturating_sub(2)
}

fn widths<R: AsRef<[String]>>(rows: &[R]) -> Vec<usize> {
    let count = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or_default();
    let cell = |row: &R, column: usize| row.as_ref().get(column).map_or(0, |cell| width(cell));
    (0..count).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_terminals_get_shorter_cells_and_then_fewer_columns() {
        let rows = || {
            let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
            vec![row(["ID", "STATE", "TRIES"]), row(["shodan.tests.1", "waits for a person: shodan.tests.1", "1"])]
        };
        let fitted = |columns| fitted(rows(), columns, &["TRIES"]);
        assert_eq!(
            fitted(None),
            "ID              STATE                               TRIES\nshodan.tests.1  waits for a person: shodan.tests.1  1\n"
        );
        assert_eq!(
            fitted(Some(50)),
            "ID              STATE                        TRIES\nshodan.tests.1  waits for a person: shodan…  1\n"
        );
        assert_eq!(fitted(Some(40)), "ID              STATE\nshodan.tests.1  waits for a person: sho…\n");
        assert_eq!(fitted(Some(20)), "ID          STATE\nshodan.te…  waits f…\n");
    }

    #[test]
    fn states_have_their_colours_where_colour_is_wanted() {
        let rows = || {
            let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
            vec![row(["ID", "STATE"]), row(["failed", "completed"]), row(["b", "failed"]), row(["c", "pending"])]
        };
        let plain = tinted(rows(), Paint::new(false, None), &[]);
        assert_eq!(plain, "ID      STATE\nfailed  completed\nb       failed\nc       pending\n");
        let colored = tinted(rows(), Paint::new(true, None), &[]);
        let lines: Vec<&str> = colored.lines().collect();
        assert_eq!(lines[0], "\u{1b}[2mID      STATE\u{1b}[0m");
        assert_eq!(lines[1], "failed  \u{1b}[32mcompleted\u{1b}[0m");
        assert_eq!(lines[2], "b       \u{1b}[31mfailed\u{1b}[0m");
        assert_eq!(lines[3], "c       pending");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "b"], ["long", "x\ny"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "a     b\nlong  x y\n");
    }

    #[test]
    fn chinese_and_emoji_take_two_columns_and_accents_none() {
        let rows = [["設計", "b"], ["🚀ab", "c"], ["e\u{301}tude", "d"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "設計   b\n🚀ab   c\ne\u{301}tude  d\n");
        let numbers = [["7", "設"], ["1000", "x"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&numbers, &[0]), "   7  設\n1000  x\n");
        assert_eq!((widest(&numbers), padded("設", 4)), (8, "設  ".to_owned()));
    }
}

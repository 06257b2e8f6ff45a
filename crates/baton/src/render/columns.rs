//! Text in columns, as wide as a terminal shows it: a Chinese character or an emoji takes two columns, an accent none.

use baton_views::words::one_line;
use unicode_width::UnicodeWidthStr as _;

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

/// Does the same for cells that are printable already; those in the columns of `numbers` stand at the right.
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

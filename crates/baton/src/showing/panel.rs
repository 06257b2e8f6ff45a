//! The lines at the bottom of a terminal that change while something goes on. It makes texts and writes nothing.

use crate::render::columns::{fit, width};
use crate::render::sheet::TerminalSize;

/// What stands at the bottom now. The cursor is on the line below it.
#[derive(Debug, Default)]
pub(super) struct Panel {
    shown: Vec<String>,
}

impl Panel {
    /// Returns the text that puts these lines in the place of those that were shown.
    pub(super) fn replace(&mut self, lines: Vec<String>, size: TerminalSize) -> String {
        let mut text = self.up(size.columns);
        // What is above the screen cannot be drawn again. The last column stays free: terminals differ in what they do there.
        let above = lines.len().saturating_sub(size.rows.saturating_sub(1));
        self.shown = lines.iter().skip(above).map(|line| fit(line, size.columns.saturating_sub(1))).collect();
        for line in &self.shown {
            text.push_str(&format!("{line}\x1b[K\n"));
        }
        // Only now, and not before: a screen that is empty for a moment flickers.
        text.push_str("\x1b[J");
        text
    }

    /// Returns the text that removes what is shown.
    pub(super) fn clear(&mut self, size: TerminalSize) -> String {
        let text = self.up(size.columns);
        self.shown.clear();
        if text.is_empty() { text } else { format!("{text}\x1b[J") }
    }

    /// Moves the cursor to the first line. A terminal that has become narrower has broken lines into several rows.
    fn up(&self, columns: usize) -> String {
        let rows: usize = self.shown.iter().map(|line| width(line).div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(columns: usize) -> TerminalSize {
        TerminalSize { columns, rows: 24 }
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn lines_take_the_place_of_those_before() {
        let mut panel = Panel::default();
        assert_eq!(panel.clear(size(20)), "");
        assert_eq!(panel.replace(lines(&["a", "b"]), size(20)), "a\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(panel.replace(lines(&["c"]), size(20)), "\x1b[2A\rc\x1b[K\n\x1b[J");
        assert_eq!(panel.clear(size(20)), "\x1b[1A\r\x1b[J");
        assert_eq!(panel.clear(size(20)), "");
    }

    #[test]
    fn rows_that_a_narrower_terminal_has_made_of_a_line_are_removed_too() {
        let mut panel = Panel::default();
        panel.replace(lines(&["0123456789", "abc", ""]), size(20));
        assert_eq!(panel.clear(size(4)), "\x1b[5A\r\x1b[J");
        // A wider one leaves each line as it is.
        panel.replace(lines(&["0123456789", "漢字"]), size(9));
        assert_eq!(panel.clear(size(40)), "\x1b[2A\r\x1b[J");
    }

    #[test]
    fn lines_are_cut_and_the_last_ones_stay_where_not_all_fit() {
        let mut panel = Panel::default();
        let narrow = TerminalSize { columns: 6, rows: 3 };
        assert_eq!(panel.replace(lines(&["a", "b", "0123456789"]), narrow), "b\x1b[K\n0123…\x1b[K\n\x1b[J");
    }
}

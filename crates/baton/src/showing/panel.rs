//! The lines at the bottom of a terminal that change while something goes on. It makes texts and writes nothing.
//!
//! Between two drawings the cursor stays at the beginning of a line of its own, below everything that stays. Terminals move it
//! with the text above when a window is resized, and each wraps, cuts or scrolls in its own way. So nothing is counted from
//! what was drawn before, and nothing above the cursor is ever touched.

use crate::render::columns::fit;
use crate::render::sheet::TerminalSize;

/// A line is not longer, also where there is room: on a terminal that becomes narrower it takes fewer rows.
const COLUMNS_MAX: usize = 100;

/// Removes what stands at the cursor and below it, in two steps: a screen that is cleared as a whole goes to the history of tmux.
const CLEAR: &str = "\r\x1b[K\x1b7\x1b[B\x1b[J\x1b8";

/// Terminals that know this draw what stands between as one picture, so nothing flickers.
const TOGETHER: (&str, &str) = ("\x1b[?2026h", "\x1b[?2026l");

/// What stands at the bottom now.
#[derive(Debug, Default)]
pub(super) struct Panel {
    is_shown: bool,
}

impl Panel {
    /// Returns the text that puts these lines in the place of those that were shown.
    pub(super) fn replace(&mut self, lines: &[String], size: TerminalSize) -> String {
        let clear = self.clear();
        // The cursor has a row of its own; without one, the screen would scroll with each drawing.
        let count = lines.len().min(size.rows.saturating_sub(1));
        if count == 0 {
            return clear.to_owned();
        }
        self.is_shown = true;
        // The last column stays free: terminals differ in what they do there.
        let columns = size.columns.saturating_sub(1).min(COLUMNS_MAX);
        let lines: Vec<String> = lines[..count].iter().map(|line| fit(line, columns)).collect();
        let lines = lines.join("\x1b[B\r");
        // Makes room below the cursor, and remembers it. A terminal that has just become too low for that scrolls, and what
        // was shown must not be there any more.
        let room = format!("{}\x1b[{count}A\r\x1b7", "\n".repeat(count));
        // One that has just become smaller must not wrap either, and its last row is wherever it is.
        let bottom = "\x1b[?7l\x1b[999;1H".to_owned() + &up(count - 1);
        format!("{}{clear}{room}{bottom}{lines}\x1b8\x1b[?7h{}", TOGETHER.0, TOGETHER.1)
    }

    /// Returns the text that removes what is shown.
    pub(super) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_shown) { CLEAR } else { "" }
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: TerminalSize = TerminalSize { columns: 20, rows: 24 };

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn lines_take_the_place_of_those_before() {
        let mut panel = Panel::default();
        assert_eq!(panel.clear(), "");
        let drawn = "\n\n\x1b[2A\r\x1b7\x1b[?7l\x1b[999;1H\x1b[1Aa\x1b[B\rb\x1b8\x1b[?7h\x1b[?2026l";
        assert_eq!(panel.replace(&lines(&["a", "b"]), WIDE), format!("\x1b[?2026h{drawn}"));
        assert_eq!(panel.replace(&lines(&["a", "b"]), WIDE), format!("\x1b[?2026h{CLEAR}{drawn}"));
        let one = "\n\x1b[1A\r\x1b7\x1b[?7l\x1b[999;1Hc\x1b8\x1b[?7h\x1b[?2026l";
        assert_eq!(panel.replace(&lines(&["c"]), WIDE), format!("\x1b[?2026h{CLEAR}{one}"));
        assert_eq!(panel.clear(), CLEAR);
        assert_eq!(panel.clear(), "");
        assert_eq!(panel.replace(&[], WIDE), "");
    }

    #[test]
    fn cursor_keeps_a_row_on_a_screen_that_is_too_low() {
        let low = |rows| Panel::default().replace(&lines(&["a", "b", "c"]), TerminalSize { columns: 20, rows });
        assert!(low(3).contains("b\x1b8") && !low(3).contains('c'));
        assert_eq!(low(1), "");
    }

    #[test]
    fn long_lines_are_cut() {
        let drawn = |columns| Panel::default().replace(&["0123456789".repeat(12)], TerminalSize { columns, rows: 9 });
        assert!(drawn(6).contains("0123…\x1b8"));
        assert!(drawn(200).contains("78…\x1b8"), "{:?}", drawn(200));
    }
}

//! A sheet for people: labels on the left, text beside them, wrapped and indented. Knows nothing about its content.

use anstyle::{AnsiColor, Style};
use baton_protocol::printable;

use super::columns;

/// How wide the labels are, with the space after them.
pub(crate) const LABEL: usize = 10;

/// How long a line may be; what is longer is wrapped.
pub(crate) const COLUMNS_MAX: usize = 100;

/// On a terminal that is narrower than this, lines break where it breaks them.
const COLUMNS_MIN: usize = 40;

/// How a piece of text looks, where colour is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    /// What matters most.
    Strong,
    /// What helps to find one's way.
    Faint,
    /// Good.
    Green,
    /// Bad.
    Red,
    /// Unknown.
    Yellow,
    /// What can be typed.
    Cyan,
}

impl Tint {
    fn style(self) -> Style {
        match self {
            Tint::Strong => Style::new().bold(),
            Tint::Faint => Style::new().dimmed(),
            Tint::Green => AnsiColor::Green.on_default(),
            Tint::Red => AnsiColor::Red.on_default(),
            Tint::Yellow => AnsiColor::Yellow.on_default(),
            Tint::Cyan => AnsiColor::Cyan.on_default(),
        }
    }
}

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalSize {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Colours text, or leaves it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Whether there is colour.
    pub(crate) colored: bool,
    /// How long lines may be.
    pub(crate) columns: usize,
    /// How wide the terminal is, if it is one.
    pub(crate) terminal: Option<usize>,
}

impl Paint {
    /// Breaks a text at its spaces where the terminal ends; elsewhere it stays as it is.
    pub(crate) fn fitted(&self, text: &str) -> String {
        match self.terminal {
            Some(width) => wrapped(text, width).join("\n"),
            None => text.to_owned(),
        }
    }

    /// Writes for this width; anything but a terminal gets the usual one.
    pub(crate) fn new(colored: bool, width: Option<usize>) -> Paint {
        let columns = width.unwrap_or(COLUMNS_MAX).clamp(COLUMNS_MIN, COLUMNS_MAX);
        Paint { colored, columns, terminal: width }
    }

    /// Returns the text in a tint. It must be printable already.
    pub(crate) fn tint(self, tint: Tint, text: &str) -> String {
        self.styled(tint.style(), text)
    }

    /// Returns a word in a tint and bold, so that it stands out at the beginning of a line.
    pub(crate) fn strong(self, tint: Tint, text: &str) -> String {
        self.styled(tint.style().bold(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if self.colored && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Labelled lines.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// How it is coloured.
    pub(crate) paint: Paint,
    text: String,
}

impl Sheet {
    /// Makes an empty sheet.
    pub(crate) fn new(paint: Paint) -> Sheet {
        Sheet { paint, text: String::new() }
    }

    /// Returns what was written.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Writes a line over the whole width, or more than one if it is longer.
    pub(crate) fn heading(&mut self, text: &str) {
        let lines = wrapped(&printable(text), self.paint.columns);
        self.text.push_str(&self.paint.tint(Tint::Strong, &lines.join("\n")));
        self.text.push('\n');
    }

    /// Writes a text beside its label; nothing if it is empty.
    pub(crate) fn row(&mut self, label: &str, text: &str) {
        let lines = wrapped(&printable(text), self.paint.columns - LABEL);
        self.painted(label, &lines);
    }

    /// Writes a text of which some exists beside its label.
    pub(crate) fn optional(&mut self, label: &str, text: Option<&str>) {
        self.row(label, text.unwrap_or_default());
    }

    /// Writes several texts under each other, the first one beside the label.
    pub(crate) fn list(&mut self, label: &str, marks: impl Iterator<Item = (String, String)>) {
        let mut lines = Vec::new();
        for (mark, text) in marks {
            let mark = printable(&mark);
            let indent = columns::width(&mark);
            for (index, line) in
                wrapped(&printable(&text), (self.paint.columns - LABEL).saturating_sub(indent)).into_iter().enumerate()
            {
                let before = if index == 0 { mark.clone() } else { " ".repeat(indent) };
                lines.push(format!("{before}{line}"));
            }
        }
        self.painted(label, &lines);
    }

    /// Writes lines that are printable already, as they are, beside their label.
    pub(crate) fn painted(&mut self, label: &str, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let padded = columns::padded(label, LABEL - 1) + " ";
            let painted = if label.is_empty() { padded } else { self.paint.tint(Tint::Faint, &padded) };
            let line = format!("{painted}{line}");
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }
}

/// Numbers texts from 1.
pub(crate) fn numbered(texts: impl IntoIterator<Item = String>) -> impl Iterator<Item = (String, String)> {
    texts.into_iter().enumerate().map(|(index, text)| (format!("{}. ", index + 1), text))
}

/// Breaks a text into lines at its spaces; its own line breaks and indentation stay.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    text.trim_end().trim_start_matches('\n').lines().flat_map(|line| wrapped_line(line, width)).collect()
}

fn wrapped_line(text: &str, width: usize) -> Vec<String> {
    let words = text.trim_start();
    // What is indented so far that hardly anything fits behind it goes on at the left.
    let indent = Some(&text[..text.len() - words.len()]).filter(|indent| columns::width(indent) * 2 <= width);
    let indent = indent.unwrap_or_default();
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    for word in words.split(' ') {
        if line.len() > indent.len() && columns::width(&line) + 1 + columns::width(word) > width {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
        } else if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_beside_their_label() {
        let mut sheet = Sheet::new(Paint::new(false, None));
        sheet.row("summary", &"word ".repeat(30));
        sheet.row("nothing", "");
        sheet.list("items", numbered(["one\ntwo".to_owned(), "three".to_owned()]));
        insta::assert_snapshot!(sheet.into_text(), @"
        summary   word word word word word word word word word word word word word word word word word word
                  word word word word word word word word word word word word
        items     1. one
                     two
                  2. three
        ");
    }

    #[test]
    fn indentation_stays() {
        let code = "\nfn main() {\n    if yes {\n\treturn;\n    }\n\n    many words in a line\n}\n";
        let kept = ["fn main() {", "    if yes {", "\treturn;", "    }", "", "    many words", "    in a line", "}"];
        assert_eq!(wrapped(code, 15), kept);
        assert_eq!(wrapped("          deep words", 12), ["deep words"]);
        assert_eq!(wrapped("a  b   c", 20), ["a  b   c"]);
        let mut sheet = Sheet::new(Paint::new(false, None));
        sheet.row("said last", "  File \"a.py\", line 3\n    assert x\nAssertionError");
        assert_eq!(
            sheet.into_text(),
            "said last   File \"a.py\", line 3\n              assert x\n          AssertionError\n"
        );
    }

    #[test]
    fn texts_cannot_colour_the_terminal_but_we_can() {
        let mut sheet = Sheet::new(Paint::new(true, None));
        sheet.row("summary", "a\x1b[31mb");
        assert_eq!(sheet.into_text(), "\x1b[2msummary   \x1b[0ma\\u{1b}[31mb\n");
    }
}

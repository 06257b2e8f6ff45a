//! A plain list of names and what is said under them, in as few words as possible: it is in prompts.

/// The longest line of an index.
const LINE_CHARACTERS_MAX: usize = 160;

/// A list of names and what is said under them.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    lines: Vec<String>,
}

impl Sheet {
    /// Writes a line, or nothing if there is no text.
    pub(super) fn line(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
            self.lines.push([name, ": ", text].concat());
        }
    }

    /// Writes text on lines of its own.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        if !text.trim().is_empty() {
            self.lines.push(format!("{name}:\n{}", text.trim_end()));
        }
    }

    /// Lists several things under a name; nothing if there are none.
    pub(super) fn list<T: AsRef<str>>(&mut self, name: &str, items: impl IntoIterator<Item = T>) {
        let mut items = items.into_iter().filter(|item| !item.as_ref().trim().is_empty()).peekable();
        if items.peek().is_some() {
            self.lines.push(format!("{name}:"));
            self.lines.extend(items.map(|item| ["- ", item.as_ref().trim()].concat()));
        }
    }

    pub(super) fn into_text(self) -> String {
        self.lines.join("\n")
    }
}

/// Cuts a line that is only to be recognised.
pub(super) fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

//! The only place that prints. Data goes to stdout, the rest to stderr; colour only where it is wanted.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use baton_engine::engine::StoreNews;
use baton_protocol::printable;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::command_error::CommandError;
use crate::render::sheet::{COLUMNS_MAX, Paint, TerminalSize, Tint};

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where results and messages go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    stdout_color: bool,
    stderr_color: bool,
}

impl Output {
    /// Decides about colour once.
    pub(crate) fn new(color: Color) -> Self {
        let wanted = |terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        Output { stdout_color: wanted(io::stdout().is_terminal()), stderr_color: wanted(io::stderr().is_terminal()) }
    }

    /// Returns whether stdout gets colour.
    pub(crate) fn has_color(&self) -> bool {
        self.stdout_color
    }

    /// Writes a result to stdout. A reader that has gone away (`| head`) is not an error.
    pub(crate) fn data(&self, text: &str) -> Result<(), CommandError> {
        self.bytes(text.as_bytes())
    }

    fn bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|error| CommandError::usage(format!("cannot write to stdout: {error}"))),
        }
    }

    /// Writes a file to stdout, byte by byte; on a terminal as text, without what would do something to it.
    pub(crate) fn file(&self, bytes: &[u8]) -> Result<(), CommandError> {
        match io::stdout().is_terminal() {
            true => self.document(&String::from_utf8_lossy(bytes)),
            false => self.bytes(bytes),
        }
    }

    /// Writes a document to stdout, letter by letter; on a terminal without what would do something to it.
    pub(crate) fn document(&self, text: &str) -> Result<(), CommandError> {
        let text = text.trim_end_matches('\n');
        match io::stdout().is_terminal() {
            true => self.data(&format!("{}\n", printable(text))),
            false => self.data(&format!("{text}\n")),
        }
    }

    /// Writes a JSON result to stdout.
    pub(crate) fn json(&self, value: &serde_json::Value) -> Result<(), CommandError> {
        self.data(&format!("{value:#}\n"))
    }

    /// Reports that the store goes away or comes back while somebody waits.
    pub(crate) fn store_news(&self, news: StoreNews<'_>) {
        match news {
            StoreNews::Away(problem) => self.note(&format!("{problem}; trying again")),
            StoreNews::Back => self.note("the store answers again"),
        }
    }

    /// Prints a note beside the result.
    pub(crate) fn note(&self, text: &str) {
        self.pass_on(format!("{text}\n").as_bytes());
    }

    /// Returns whether a person can be asked: somebody sees what is shown beside the result, and can answer.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Prints why a command could not do what was asked.
    pub(crate) fn error(&self, error: &CommandError) {
        let paint = self.paint_beside();
        self.note(&format!("{} {}", paint.strong(Tint::Red, "error:"), printable(&error.message)));
        for hint in &error.hints {
            self.note(&format!("{} {}", paint.strong(Tint::Cyan, "hint:"), printable(hint)));
        }
    }

    /// Passes on what somebody else writes beside the result, as it is.
    pub(crate) fn pass_on(&self, bytes: &[u8]) {
        // Whoever does not want to read it any more has closed it; what is done goes on.
        let _ = io::stderr().lock().write_all(bytes);
    }

    /// Counts how far long work of unknown length is, on a terminal only.
    pub(crate) fn tally(&self, what: &'static str) -> ProgressBar {
        if !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("{spinner} {msg} {pos} ({per_sec})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(what);
        bar
    }

    /// Returns how large the terminal is on which notes are read; the usual size if it does not say.
    pub(crate) fn size_beside(&self) -> TerminalSize {
        size_of(&io::stderr()).unwrap_or(TerminalSize { columns: 80, rows: 24 })
    }

    /// Returns whether the notes beside the result are read on a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Returns how many characters fit on a line of stdout; `None` if it is not a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        size_of(&io::stdout()).map(|size| size.columns)
    }

    /// Returns how results are written on stdout.
    pub(crate) fn paint(&self) -> Paint {
        Paint::new(self.stdout_color, self.width())
    }

    /// Returns how things are written beside the result.
    pub(crate) fn paint_beside(&self) -> Paint {
        Paint::new(self.stderr_color, size_of(&io::stderr()).map(|size| size.columns))
    }

    /// Shows the progress of long work, on a terminal only.
    pub(crate) fn progress(&self, length: usize) -> ProgressBar {
        // A bar that appears for a moment only flickers.
        if length < 64 || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("checking [{bar:30}] {pos}/{len} files ({eta} left)");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

/// Returns how many characters fit on a line of stdout, and as many as on paper if it is not a terminal.
pub(crate) fn columns() -> usize {
    size_of(&io::stdout()).map_or(COLUMNS_MAX, |size| size.columns)
}

#[cfg(unix)]
fn size_of(stream: &impl std::os::fd::AsFd) -> Option<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(stream).ok().filter(|size| size.ws_col > 0)?;
    // Some terminals know only how wide they are.
    let rows = if size.ws_row == 0 { usize::MAX } else { usize::from(size.ws_row) };
    Some(TerminalSize { columns: usize::from(size.ws_col), rows })
}

#[cfg(not(unix))]
fn size_of<T>(_: &T) -> Option<TerminalSize> {
    None
}

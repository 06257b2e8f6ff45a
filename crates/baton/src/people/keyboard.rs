//! Lines that a person types, for code that cannot block. A line is read only when somebody wants one; whoever stops
//! waiting loses nothing, for the next one gets the line.

use std::io::{BufRead, Read};
use std::sync::mpsc;

use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest line that is taken; nobody types more.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Reads lines on a thread of its own.
#[derive(Debug)]
pub(crate) struct Keyboard {
    wanted: mpsc::Sender<()>,
    lines: UnboundedReceiver<Option<String>>,
    is_reading: bool,
}

impl Keyboard {
    /// Reads from standard input.
    pub(crate) fn new() -> Keyboard {
        Keyboard::reading(std::io::stdin)
    }

    /// Reads from what `open` gives, on the thread that reads.
    pub(crate) fn reading<R: Typed>(open: impl FnOnce() -> R + Send + 'static) -> Keyboard {
        let (wanted, wishes) = mpsc::channel();
        let (sender, lines) = unbounded_channel();
        // It ends with the program: a read from a terminal cannot be called off.
        std::thread::spawn(move || read_lines(open(), &wishes, &sender));
        Keyboard { wanted, lines, is_reading: false }
    }

    /// Returns the next line; `None` at the end of what is typed. Dropping the future loses nothing.
    pub(crate) async fn line(&mut self) -> Option<String> {
        if !self.is_reading {
            self.wanted.send(()).ok()?;
            self.is_reading = true;
        }
        let line = self.lines.recv().await.flatten();
        self.is_reading = false;
        line
    }

    /// Returns whether no line is there.
    #[cfg(test)]
    pub(crate) fn is_silent(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns what was typed while nobody waited for it: it was meant for something else.
    pub(crate) fn typed_before(&mut self) -> Option<String> {
        let line = self.lines.try_recv().ok()?;
        self.is_reading = false;
        line
    }
}

/// Forgets what was typed and nobody has read, also the beginning of a line: it was meant for something that is not asked
/// now, and the shell would take it for a command. Only a terminal keeps such a thing, and can forget it.
pub(crate) fn forget_what_was_typed() {
    let terminal = std::io::stdin();
    // In the background the terminal is somebody else's, and touching it would stop us.
    if !tcgetpgrp(&terminal).is_ok_and(|foreground| foreground != getpgrp()) {
        let _ = tcflush(&terminal, QueueSelector::IFlush);
    }
}

/// Something that lines can be read from.
pub(crate) trait Typed {
    /// Reads a line into the text; returns how many bytes.
    fn read_line(&mut self, line: &mut String) -> std::io::Result<usize>;
}

impl Typed for std::io::Stdin {
    fn read_line(&mut self, line: &mut String) -> std::io::Result<usize> {
        // The lock is held for this line only.
        self.lock().take(LINE_BYTES_MAX).read_line(line)
    }
}

#[cfg(test)]
impl Typed for std::io::BufReader<std::io::PipeReader> {
    fn read_line(&mut self, line: &mut String) -> std::io::Result<usize> {
        BufRead::read_line(self, line)
    }
}

fn read_lines(mut typed: impl Typed, wishes: &mpsc::Receiver<()>, lines: &UnboundedSender<Option<String>>) {
    while wishes.recv().is_ok() {
        let mut line = String::new();
        let read = typed.read_line(&mut line);
        let told = match read {
            Ok(bytes) if bytes > 0 => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
            _ => None,
        };
        if lines.send(told).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn lines_come_when_they_are_wanted_and_the_end_is_told() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let mut keyboard = Keyboard::reading(|| std::io::BufReader::new(reader));
        writer.write_all(b"one\r\ntwo\n").expect("written");
        assert_eq!(keyboard.line().await.as_deref(), Some("one"));
        assert_eq!(keyboard.typed_before(), None, "nobody wanted the second line yet");
        assert_eq!(keyboard.line().await.as_deref(), Some("two"));
        drop(writer);
        assert_eq!(keyboard.line().await, None);
    }

    #[tokio::test]
    async fn whoever_stops_waiting_loses_no_line() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let mut keyboard = Keyboard::reading(|| std::io::BufReader::new(reader));
        tokio::select! {
            biased;
            line = keyboard.line() => panic!("nobody typed {line:?}"),
            () = std::future::ready(()) => {}
        }
        writer.write_all(b"late\n").expect("written");
        assert_eq!(keyboard.line().await.as_deref(), Some("late"));
    }
}

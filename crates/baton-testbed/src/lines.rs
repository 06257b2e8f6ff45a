//! Reading what somebody else writes, line by line, without waiting for ever.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The lines that arrive at the other end of a pipe.
#[derive(Debug)]
pub struct ChildLines {
    receiver: Receiver<String>,
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nobody can write any more.
    Ended,
    /// Nothing came in time.
    Late,
}

impl ChildLines {
    /// Reads from now on, so that the writer never waits for the reader.
    pub fn of(source: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut source = BufReader::new(source);
            let mut line = Vec::new();
            // An error ends the lines like the end does, and so does a receiver that has gone.
            while source.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&line);
                if sender.send(text.trim_end_matches(['\r', '\n']).to_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
        ChildLines { receiver }
    }

    /// Returns the next line without its end.
    pub fn next(&self, limit: Duration) -> Result<String, Silence> {
        self.receiver.recv_timeout(limit).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::Late,
            RecvTimeoutError::Disconnected => Silence::Ended,
        })
    }

    /// Skips lines up to the first that contains the text, and returns that.
    pub fn find(&self, text: &str, limit: Duration) -> Result<String, Silence> {
        let start = Instant::now();
        loop {
            let line = self.next(limit.saturating_sub(start.elapsed()))?;
            if line.contains(text) {
                return Ok(line);
            }
        }
    }

    /// Returns all lines up to the end.
    pub fn rest(&self, limit: Duration) -> Result<Vec<String>, Silence> {
        let start = Instant::now();
        let mut lines = Vec::new();
        loop {
            match self.next(limit.saturating_sub(start.elapsed())) {
                Ok(line) => lines.push(line),
                Err(Silence::Ended) => return Ok(lines),
                Err(Silence::Late) => return Err(Silence::Late),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn lines_come_without_their_ends_and_then_end() {
        let lines = ChildLines::of("one\ntwo\r\nthree".as_bytes());
        assert_eq!(lines.next(LONG).unwrap(), "one");
        assert_eq!(lines.rest(LONG).unwrap(), ["two", "three"]);
        assert_eq!(lines.next(LONG), Err(Silence::Ended));
    }

    #[test]
    fn text_is_found_and_what_was_before_is_gone() {
        let lines = ChildLines::of("one\ntwo\nthree\n".as_bytes());
        assert_eq!(lines.find("tw", LONG).unwrap(), "two");
        assert_eq!(lines.next(LONG).unwrap(), "three");
        assert_eq!(lines.find("four", LONG), Err(Silence::Ended));
    }

    #[test]
    fn open_pipe_without_a_line_is_late() {
        let (reader, writer) = std::io::pipe().unwrap();
        let lines = ChildLines::of(reader);
        assert_eq!(lines.next(Duration::from_millis(1)), Err(Silence::Late));
        drop(writer);
        assert_eq!(lines.next(LONG), Err(Silence::Ended));
    }
}

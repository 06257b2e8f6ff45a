//! Where the output of a program goes while it runs. A log grows to a limit and then says that it was cut.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// How long a log may be.
pub const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where the output of a program goes while it runs.
#[derive(Default)]
pub enum Sink {
    /// Nowhere.
    #[default]
    Nothing,
    /// To a file.
    Log(Log),
    /// To somebody who passes it on.
    Listener(Box<Listener>),
}

/// Passes output on.
pub type Listener = dyn FnMut(&[u8]) + Send;

/// A file that grows to a limit.
#[derive(Debug)]
pub struct Log {
    file: File,
    room: u64,
    most: u64,
}

impl Sink {
    /// Makes a log; what was in the file before is gone.
    pub fn log(path: &Path) -> io::Result<Sink> {
        Sink::log_up_to(path, LOG_BYTES_MAX)
    }

    /// Makes a log that grows to another limit.
    pub(crate) fn log_up_to(path: &Path, most: u64) -> io::Result<Sink> {
        Ok(Sink::Log(Log { file: File::create(path)?, room: most, most }))
    }

    /// Takes some output. What cannot be written is no reason to stop the work.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match self {
            Sink::Nothing => {}
            Sink::Log(log) => drop(log.write(bytes)),
            Sink::Listener(listener) => listener(bytes),
        }
    }
}

impl Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.room == 0 {
            return Ok(());
        }
        let fits = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        self.room -= fits as u64;
        self.file.write_all(&bytes[..fits])?;
        if self.room == 0 {
            writeln!(self.file, "\n[baton: cut here, after {} MiB]", self.most / 1024 / 1024)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Nothing => formatter.write_str("Nothing"),
            Sink::Log(log) => log.fmt(formatter),
            Sink::Listener(_) => formatter.write_str("Listener"),
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;

    use super::*;

    #[test]
    fn log_is_cut_once() {
        let scratch = Scratch::new();
        let mut log = Log { file: File::create(scratch.path("log")).unwrap(), room: 5, most: LOG_BYTES_MAX };
        for piece in ["abc", "def", "ghi"] {
            log.write(piece.as_bytes()).unwrap();
        }
        assert_eq!(scratch.read("log"), "abcde\n[baton: cut here, after 64 MiB]\n");
    }
}

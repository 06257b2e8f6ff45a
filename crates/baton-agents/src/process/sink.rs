//! Where the output of a program goes while it runs. A log grows to a limit and then says that it was cut.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};

use baton_host::SharedFolder;

use super::telling::size;

/// How long a log may be. What comes after that is counted, and the log says how much it was.
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
    most: u64,
    /// How much more fits.
    room: u64,
    /// How much did not.
    cut: u64,
}

impl Sink {
    /// Makes a log; what was there before, a link or a file, is gone.
    pub fn log(folder: &SharedFolder, name: &OsStr) -> io::Result<Sink> {
        Ok(Sink::Log(Log::up_to(folder.create(name)?, LOG_BYTES_MAX)))
    }

    /// Takes some output. Output that cannot be written is not a reason to stop the work.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match self {
            Sink::Nothing => {}
            Sink::Log(log) => drop(log.write(bytes)),
            Sink::Listener(listener) => listener(bytes),
        }
    }
}

impl Log {
    fn up_to(file: File, most: u64) -> Log {
        Log { file, most, room: most, cut: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        self.room -= fits as u64;
        self.cut += (bytes.len() - fits) as u64;
        self.file.write_all(&bytes[..fits])
    }
}

/// Only when nothing more comes is it known how much was cut.
impl Drop for Log {
    fn drop(&mut self) {
        if self.cut > 0 {
            let (most, cut) = (size(self.most as usize), self.cut);
            let _ = writeln!(self.file, "\n[baton: cut here, after {most}; {cut} more bytes were written]");
        }
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
        let mut log = Log::up_to(File::create(scratch.path("log")).unwrap(), 5);
        for piece in ["abc", "def", "ghi"] {
            log.write(piece.as_bytes()).unwrap();
        }
        drop(log);
        assert_eq!(scratch.read("log"), "abcde\n[baton: cut here, after 5 bytes; 4 more bytes were written]\n");
    }

    #[test]
    fn log_that_is_just_full_is_not_cut() {
        let scratch = Scratch::new();
        let mut log = Log::up_to(File::create(scratch.path("log")).unwrap(), 5);
        log.write(b"abcde").unwrap();
        drop(log);
        assert_eq!(scratch.read("log"), "abcde");
    }
}

//! Holds a caged process back until its limits are set.
//!
//! Bubblewrap names the first process of the cage on one pipe and waits for a word on another before it starts the command.
//! In between the limits are set from outside, which saves starting one more program for every attempt. On a third pipe it reads
//! which calls the kernel refuses.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, pidfd_open, prlimit};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use super::refused_calls;

/// Who holds this may have open files that children inherit. Two at once would inherit those of each other.
static INHERITING: Mutex<()> = Mutex::new(());

/// The most that bubblewrap says about a cage.
const NEWS_BYTES_MAX: usize = 4 * 1024;

/// Our ends of the pipes, and the limits that are to be set.
#[derive(Debug)]
pub(super) struct Threshold {
    news: PipeReader,
    go: PipeWriter,
    limits: Vec<(Resource, Rlimit)>,
}

/// The ends of bubblewrap, which it inherits while this lives.
pub(super) struct Inherited {
    news: PipeWriter,
    go: PipeReader,
    refused_calls: PipeReader,
    _alone: MutexGuard<'static, ()>,
}

impl Inherited {
    /// Returns the options that name them.
    pub(super) fn words(&self) -> Vec<String> {
        let ends: [(&str, &dyn AsFd); 3] =
            [("--info-fd", &self.news), ("--block-fd", &self.go), ("--seccomp", &self.refused_calls)];
        ends.iter().flat_map(|(option, end)| [(*option).to_owned(), end.as_fd().as_raw_fd().to_string()]).collect()
    }
}

/// Opens the pipes for a cage that is about to be started.
pub(super) fn open(limits: Vec<(Resource, Rlimit)>) -> io::Result<(Threshold, Inherited)> {
    let alone = INHERITING.lock().unwrap_or_else(PoisonError::into_inner);
    let ((ours_news, news), (go, ours_go)) = (io::pipe()?, io::pipe()?);
    let refused_calls = refused_calls::open()?;
    fcntl_setfd(&news, FdFlags::empty())?;
    fcntl_setfd(&go, FdFlags::empty())?;
    fcntl_setfd(&refused_calls, FdFlags::empty())?;
    Ok((Threshold { news: ours_news, go: ours_go, limits }, Inherited { news, go, refused_calls, _alone: alone }))
}

impl Threshold {
    /// Holds the first process of the cage, sets the limits, and lets the command begin. After an error it must be killed: it would
    /// begin without limits.
    pub(super) async fn cross(mut self, held: &OnceLock<OwnedFd>) -> io::Result<()> {
        let mut news = Receiver::from_owned_fd(OwnedFd::from(self.news))?;
        let mut said = Vec::new();
        let first = loop {
            if let Some(first) = first_process(&said) {
                break first;
            }
            if news.read_buf(&mut said).await? == 0 || said.len() > NEWS_BYTES_MAX {
                return Err(io::Error::other("bubblewrap does not say which process it has started"));
            }
        };
        let _ = held.set(pidfd_open(first, PidfdFlags::empty())?);
        for (resource, limit) in self.limits {
            prlimit(Some(first), resource, limit)?;
        }
        self.go.write_all(b"!")
    }
}

/// Reads which process is the first of the cage, once all is said: bubblewrap would die of a pipe that nobody reads.
fn first_process(said: &[u8]) -> Option<Pid> {
    let (said, _) = std::str::from_utf8(said).ok()?.split_once('}')?;
    let (_, behind) = said.split_once("\"child-pid\":")?;
    let behind = behind.trim_start();
    let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
    Pid::from_raw(behind[..end].parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_process_is_read_once_all_is_said() {
        let read = |said: &str| first_process(said.as_bytes()).map(Pid::as_raw_pid);
        assert_eq!(read("{\n    \"child-pid\": 4251\n}"), Some(4251));
        assert_eq!(read("{\"child-pid\": 42,\"ipc-namespace\": 7}"), Some(42));
        assert_eq!(
            ["", "{\n    \"child-pid\": 42,\n", "{\"child-pid\": 0}", "{\"child-pid\": x}"].map(read),
            [None; 4]
        );
    }
}

//! The file in which a command acknowledges its request, looked at while the command works.
//!
//! A text counts when it can be read as an acknowledgment and has not changed from one look to the next, so a file that
//! is half written is read again. One file is looked at without events: that costs less than a watcher of its own for
//! each attempt, and works on every file system.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use baton_host::SharedFolder;
use baton_protocol::{Document, Hints};

use super::AttemptFiles;

/// How long to wait from one look to the next.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The longest acknowledgment that is read.
const BYTES_MAX: u64 = 1024 * 1024;

/// The file in which a command acknowledges its request.
#[derive(Debug)]
pub struct AcknowledgmentFile {
    folder: Arc<SharedFolder>,
    name: OsString,
    /// What the last look has found.
    seen: Option<String>,
    /// What was returned last.
    told: Option<String>,
}

impl AcknowledgmentFile {
    /// Looks at the file of an attempt, which need not be there yet.
    pub fn of(files: &AttemptFiles) -> AcknowledgmentFile {
        AcknowledgmentFile::at(&files.answers, files.acknowledgment.file_name().unwrap_or_default())
    }

    fn at(folder: &Arc<SharedFolder>, name: impl Into<OsString>) -> AcknowledgmentFile {
        AcknowledgmentFile { folder: Arc::clone(folder), name: name.into(), seen: None, told: None }
    }

    /// Waits for an acknowledgment that was not returned before; for ever, if none comes. May be dropped at any moment.
    pub async fn next(&mut self) -> String {
        loop {
            tokio::time::sleep(LOOK_AGAIN).await;
            let found = self.read();
            let settled = found.is_some() && found == self.seen;
            self.seen = found;
            if settled && let Some(text) = self.unsaid() {
                return text;
            }
        }
    }

    /// Returns what the file says now, for when the command has ended and nothing will change any more.
    pub fn last(&mut self) -> Option<String> {
        self.seen = self.read();
        self.unsaid()
    }

    fn unsaid(&mut self) -> Option<String> {
        let text = self.seen.clone().filter(|text| self.told.as_ref() != Some(text))?;
        let reading = baton_protocol::read(text.as_bytes(), Hints::default());
        matches!(reading.document, Some(Document::Acknowledgment(_))).then(|| {
            self.told = Some(text.clone());
            text
        })
    }

    fn read(&self) -> Option<String> {
        // That it is something else is told when the command has ended.
        String::from_utf8(self.folder.read(&self.name, BYTES_MAX).ok()??).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "acknowledgment: {received: true, understood: full, starting: true}\n";

    async fn next(file: &mut AcknowledgmentFile) -> String {
        tokio::time::timeout(Duration::from_secs(60), file.next()).await.expect("it is noticed")
    }

    #[tokio::test]
    async fn half_written_file_is_read_again() {
        let scratch = baton_testbed::Scratch::new();
        let folder = Arc::new(SharedFolder::open(scratch.root(), scratch.root()).expect("a folder"));
        let mut file = AcknowledgmentFile::at(&folder, "ack.yaml");
        scratch.write("ack.yaml", &WHOLE[..30]);
        assert!(tokio::time::timeout(LOOK_AGAIN * 5, file.next()).await.is_err(), "half of it says nothing");
        assert_eq!(file.last(), None);
        scratch.write("ack.yaml", WHOLE);
        assert_eq!(next(&mut file).await, WHOLE);
        assert_eq!(file.last(), None, "it is told once");
        let doubt = WHOLE.replace("full", "partial");
        scratch.write("ack.yaml", &doubt);
        assert_eq!(next(&mut file).await, doubt, "whoever thinks again is heard again");
    }
}

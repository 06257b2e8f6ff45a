//! The anchor: a place outside of the store that gets a line for each entry of its ledger.
//!
//! Lines come in order and at least once: after a crash the same line may come again, and says the same.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use baton_agents::Launcher;
use baton_agents::process::{Environment, GRACE, Launch, Mark};
use baton_engine::handoff::Digest;
use baton_engine::ledger::{LedgerEntry, LedgerLineFault};
use baton_engine::ledger_keeper::{AnchorFault, LedgerAnchor};
use baton_engine::store::{AnchoredEntry, Store};

use crate::random;

/// How long a command may take for the lines that it gets at once.
const COMMAND_LIMIT: Duration = Duration::from_secs(15);

/// How many lines are delivered at once.
const PAGE: u32 = 1_000;

/// A place outside of the store that gets a line for each entry of its ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// A file that lines are appended to.
    File(PathBuf),
    /// A command that gets lines on its standard input.
    Command {
        /// What the shell runs.
        command: String,
        /// Where it is run.
        folder: PathBuf,
    },
}

/// An anchor that nobody else on this machine delivers to meanwhile.
enum OpenAnchor<'a> {
    File(File),
    Command { command: &'a str, folder: &'a Path },
}

impl Anchor {
    /// Takes a file by its whole path, by which it is known again from any folder.
    pub(crate) fn at(path: &Path) -> Anchor {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let whole = fs::canonicalize(folder).ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
        Anchor::File(whole.unwrap_or_else(|| path.to_owned()))
    }

    /// Returns the anchor of a configuration in a folder.
    pub(crate) fn below(self, folder: &Path) -> Anchor {
        match self {
            Anchor::File(path) => Anchor::at(&folder.join(path)),
            Anchor::Command { command, .. } => Anchor::Command { command, folder: folder.to_owned() },
        }
    }

    /// Returns the file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Anchor::File(path) => Some(path),
            Anchor::Command { .. } => None,
        }
    }

    /// Returns whether it is this file, whatever leads to it.
    pub(crate) fn is_at(&self, other: &Path) -> bool {
        let same = |path: &Path| {
            path == other
                || fs::canonicalize(path)
                    .ok()
                    .zip(fs::canonicalize(other).ok())
                    .is_some_and(|(one, other)| one == other)
        };
        self.file().is_some_and(same)
    }

    /// Returns the name under which the store remembers what was delivered.
    pub(crate) fn place(&self) -> String {
        match self {
            Anchor::File(path) => format!("file:{}", path.display()),
            // A command may hold a password.
            Anchor::Command { command, .. } => format!("command:{}", Digest::of(command.as_bytes()).0),
        }
    }

    /// Makes the file if it is not there, so that it can be hidden from agents.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        match self {
            Anchor::File(path) => open(path).map(drop),
            Anchor::Command { .. } => Ok(()),
        }
    }

    /// Returns how many entries were not delivered yet.
    pub(crate) async fn waiting(&self, store: &dyn Store) -> Result<u64, String> {
        let known = store.anchored(&self.place()).await.map_err(|error| error.to_string())?;
        let (mut after, mut waiting) = (known.map_or(0, |known| known.number), 0);
        loop {
            let entries = store.ledger(after, PAGE).await.map_err(|error| error.to_string())?;
            let Some(last) = entries.last() else { return Ok(waiting) };
            after = last.number;
            waiting += entries.len() as u64;
        }
    }

    /// Delivers the entries that were not delivered yet, the oldest first. Returns how many there were.
    ///
    /// If what was delivered before is not in the ledger any more, all of it is delivered again: then the anchor itself
    /// shows that the ledger was rewritten.
    pub(crate) async fn deliver_to(&self, store: &dyn Store) -> Result<u64, String> {
        let place = self.place();
        let anchored = async || store.anchored(&place).await.map_err(|error| error.to_string());
        if let Some(file) = self.file().filter(|file| !file.exists())
            && let Some(known) = anchored().await?
        {
            return Err(lost(file, &known));
        }
        let mut anchor = self.open().await?;
        let mut delivered = 0;
        // Only now nobody else delivers.
        let known = anchored().await?;
        let is_ours = match &known {
            Some(known) => {
                let there = entry(store, known.number).await?;
                there.is_some_and(|entry| entry.digest == known.digest)
            }
            None => true,
        };
        if let (OpenAnchor::File(file), Some(path), true) = (&mut anchor, self.file(), is_ours) {
            follows(file, path, known.as_ref(), store).await?;
        }
        let mut after = known.filter(|_| is_ours).map_or(0, |known| known.number);
        loop {
            let entries = store.ledger(after, PAGE).await.map_err(|error| error.to_string())?;
            let Some(last) = entries.last() else { return Ok(delivered) };
            let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
            anchor.deliver(lines).await?;
            let anchored = AnchoredEntry { number: last.number, digest: last.digest };
            store.set_anchored(&place, anchored).await.map_err(|error| error.to_string())?;
            after = last.number;
            delivered += entries.len() as u64;
        }
    }

    async fn open(&self) -> Result<OpenAnchor<'_>, String> {
        match self {
            Anchor::File(path) => {
                let path = path.clone();
                // Two processes that deliver at once would write lines twice.
                let locked = tokio::task::spawn_blocking(move || {
                    let file = open(&path)?;
                    file.lock().map_err(|error| format!("{}: {error}", path.display()))?;
                    Ok::<File, String>(file)
                });
                Ok(OpenAnchor::File(locked.await.map_err(|error| error.to_string())??))
            }
            Anchor::Command { command, folder } => Ok(OpenAnchor::Command { command, folder }),
        }
    }
}

#[async_trait]
impl LedgerAnchor for Anchor {
    async fn catch_up(&self, store: &dyn Store) -> Result<u64, AnchorFault> {
        self.deliver_to(store).await.map_err(AnchorFault)
    }
}

impl OpenAnchor<'_> {
    async fn deliver(&mut self, lines: String) -> Result<(), String> {
        match self {
            OpenAnchor::File(file) => append(file, &lines).map_err(|error| error.to_string()),
            OpenAnchor::Command { command, folder } => {
                let launch = Launch {
                    arguments: vec!["-c".to_owned(), (*command).to_owned()],
                    folder: Some(folder.to_path_buf()),
                    environment: Environment::inherited(),
                    // What leaves its session is found by this, and ended with the rest.
                    mark: Mark::new([("BATON_ANCHOR", random::word())]),
                    input: lines.into_bytes(),
                    may_gain_privileges: true,
                    ..Launch::new("sh")
                };
                let ended = Launcher::default().run(launch, Some(COMMAND_LIMIT), GRACE).await;
                let ended = ended.map_err(|error| format!("the command cannot be started: {error}"))?;
                ended.failure().map_or(Ok(()), |failure| Err(failure.text()))
            }
        }
    }
}

/// Makes sure that the last line of a file is of this ledger: another store's lines would spoil the proof of both.
async fn follows(file: &mut File, path: &Path, known: Option<&AnchoredEntry>, store: &dyn Store) -> Result<(), String> {
    let shown = path.display();
    let (last, is_empty) = last_line(file).map_err(|error| format!("{shown}: {error}"))?;
    let Some(last) = last else {
        return match known {
            Some(known) if is_empty => Err(lost(path, known)),
            _ if is_empty => Ok(()),
            _ => Err(format!(
                "{shown} is not an anchor: its last line is not a ledger entry; name another file under [anchor]"
            )),
        };
    };
    match entry(store, last.number).await? {
        Some(entry) if entry == last => Ok(()),
        _ => Err(format!(
            "{shown} belongs to another store: its last line, of the run {}, is not in this ledger; name another file \
             under [anchor]",
            last.run
        )),
    }
}

/// Returns the entry of this number.
async fn entry(store: &dyn Store, number: u64) -> Result<Option<LedgerEntry>, String> {
    let found = store.ledger(number.saturating_sub(1), 1).await.map_err(|error| error.to_string())?;
    Ok(found.into_iter().next().filter(|entry| entry.number == number))
}

fn lost(path: &Path, known: &AnchoredEntry) -> String {
    format!(
        "{} is gone or empty, but {} lines were delivered to it; restore it, or name another file under [anchor]",
        path.display(),
        known.number
    )
}

/// How much of the end of a file is searched for its last line.
const TAIL_BYTES: u64 = 16 * 1024;

/// Returns the last line of a file that can be read, and whether the file is empty. A line that a crash has torn does not count.
fn last_line(file: &mut File) -> std::io::Result<(Option<LedgerEntry>, bool)> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let last = tail.lines().rev().take(2).find_map(|line| LedgerEntry::parse(line).ok());
    Ok((last, length == 0))
}

fn open(path: &Path) -> Result<File, String> {
    let is_new = !path.exists();
    let opened = OpenOptions::new().read(true).append(true).create(true).open(path);
    let file = opened.map_err(|error| format!("{}: {error}", path.display()))?;
    if is_new && let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        // The name must be on the disk as well; a file system that cannot do this has no need for it.
        let _ = folder.sync_all();
    }
    Ok(file)
}

/// Appends lines in one write, and returns when they are on the disk. What was written in part is taken back.
fn append(file: &mut File, lines: &str) -> std::io::Result<()> {
    let length = file.metadata()?.len();
    let torn = length > 0 && {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        last != *b"\n"
    };
    let text = if torn { format!("\n{lines}") } else { lines.to_owned() };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // A file to which one may only append cannot be cut; then the torn line stays, and is told as such.
        let _ = file.set_len(length);
    }
    written
}

/// Reads the lines of an anchor file, one after the other.
pub(crate) fn lines(path: &Path) -> Result<impl Iterator<Item = std::io::Result<AnchorLine>>, String> {
    use std::io::BufRead as _;
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let numbered = (1_u64..).zip(std::io::BufReader::new(file).split(b'\n'));
    Ok(numbered.map(|(number, bytes)| {
        let entry = match String::from_utf8(bytes?) {
            Ok(text) => LedgerEntry::parse(&text),
            Err(_) => Err(LedgerLineFault::NotUtf8),
        };
        Ok(AnchorLine { number, entry })
    }))
}

/// A line of an anchor file.
#[derive(Debug)]
pub(crate) struct AnchorLine {
    /// Where it stands, from 1.
    pub number: u64,
    /// What it says, or why it cannot be read.
    pub entry: Result<LedgerEntry, LedgerLineFault>,
}

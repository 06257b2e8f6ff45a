//! Where one agent of a session stands: what was refused so far, and how the workspace was before. Kept in files, since
//! every call of a hook is a process of its own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use baton_engine::engine::RefusedText;
use baton_engine::handoff::{Digest, WrittenDocument};
use baton_host::atomic_file;
use baton_protocol::Dialect;
use serde::{Deserialize, Serialize};

/// How often an agent is kept from ending, for one prompt. What the program says about earlier times does not count: a
/// version that says nothing would never be let go. Claude Code itself lets go after 8 and
/// loses the answer, Gemini CLI fails after 15, and Codex never stops.
pub(crate) const BLOCKS_MAX: usize = 3;

/// Where one agent of a session stands. While somebody has it, other calls about the same agent wait: two that had counted
/// two refusals each would both refuse a third time.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Standing {
    /// What was refused, the first one first.
    pub refused: Vec<RefusedFile>,
    /// What identifies the text with which the agent was let go; after that it is not kept again.
    #[serde(skip_serializing_if = "Option::is_none")]
    let_go: Option<Digest>,
    /// What identifies how the workspace was when the agent began.
    pub baseline: Option<Digest>,
    #[serde(skip)]
    folder: PathBuf,
    #[serde(skip)]
    agent: String,
    #[serde(skip)]
    _lock: Option<File>,
}

/// A text that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefusedFile {
    /// The file that has it, in the folder of the session.
    pub file: String,
    /// Why it was refused.
    pub why: String,
}

impl Standing {
    /// Takes it, and waits until nobody else has it; the agent may never have been seen before.
    pub(crate) fn take(folder: &Path, agent: &str) -> io::Result<Standing> {
        let lock = File::options().create(true).append(true).open(folder.join(format!("{agent}.lock")))?;
        lock.lock()?;
        let text = fs::read(folder.join(format!("{agent}.json"))).unwrap_or_default();
        let standing: Standing = serde_json::from_slice(&text).unwrap_or_default();
        Ok(Standing { folder: folder.to_owned(), agent: agent.to_owned(), _lock: Some(lock), ..standing })
    }

    /// Forgets what was refused: there is a new prompt, or a handoff was accepted.
    pub(crate) fn begin_anew(&mut self) -> io::Result<()> {
        if self.refused.is_empty() && self.let_go.is_none() {
            return Ok(());
        }
        self.refused.clear();
        self.let_go = None;
        self.write()
    }

    /// Returns whether the agent was kept from ending as often as it may be.
    pub(crate) fn is_spent(&self) -> bool {
        self.let_go.is_some() || self.refused.len() >= BLOCKS_MAX
    }

    /// Notes that the agent is let go with a text, and that everything that was refused is filed.
    pub(crate) fn let_go(&mut self, text: &str) -> io::Result<()> {
        self.refused.clear();
        self.let_go = Some(Digest::of(text.as_bytes()));
        self.write()
    }

    /// Returns whether the agent was let go with this very text before.
    pub(crate) fn was_let_go_with(&self, text: &str) -> bool {
        self.let_go == Some(Digest::of(text.as_bytes()))
    }

    /// Keeps a refused text, before anybody hears of it.
    pub(crate) fn refuse(&mut self, text: &str, why: &str) -> io::Result<()> {
        let refused = self.keep(text, why)?;
        self.refused.push(refused);
        self.write()
    }

    /// Writes a text that is not accepted to a file.
    pub(crate) fn keep(&self, text: &str, why: &str) -> io::Result<RefusedFile> {
        // Texts of earlier prompts stay.
        let free = |number: &usize| !self.folder.join(self.file_name(*number)).exists();
        let file = (1..).find(free).map(|number| self.file_name(number)).unwrap_or_default();
        fs::write(self.folder.join(&file), text)?;
        Ok(RefusedFile { file, why: why.to_owned() })
    }

    /// Returns a text that was refused for the record.
    pub(crate) fn recorded(&self, refused: &RefusedFile) -> RefusedText {
        let path = self.folder.join(&refused.file);
        // Nobody could read it as a document.
        let document = WrittenDocument::new(Dialect::Native, fs::read_to_string(&path).unwrap_or_default());
        RefusedText { document: document.shortened(&path.display().to_string()), why: refused.why.clone() }
    }

    /// Keeps it. The next call reads it; nobody waits for the disk, since a session does not outlive a power cut.
    pub(crate) fn write(&self) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        atomic_file::replace(&self.folder.join(format!("{}.json", self.agent)), &text)
    }

    fn file_name(&self, number: usize) -> String {
        format!("{}-{number}.md", self.agent)
    }
}

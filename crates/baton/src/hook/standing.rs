//! Where one agent of a session stands: what was refused so far, and how the workspace was before. Kept in files, since
//! every call of a hook is a process of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_engine::handoff::Digest;
use baton_host::atomic_file;
use serde::{Deserialize, Serialize};

use super::input::AgentEnd;

/// How often an agent is kept from ending, for one prompt. Claude Code itself lets go after 8 and loses the answer, Gemini
/// CLI fails after 15, and Codex never stops.
pub(crate) const BLOCKS_MAX: usize = 3;

/// Where one agent of a session stands.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Standing {
    /// The prompt that this is about.
    prompt: Option<String>,
    /// What was refused, the first one first.
    pub refused: Vec<RefusedFile>,
    /// What identifies how the workspace was when the agent began.
    pub baseline: Option<Digest>,
    #[serde(skip)]
    folder: PathBuf,
    #[serde(skip)]
    agent: String,
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
    /// Reads where an agent stands; it may never have been seen before.
    pub(crate) fn read(folder: &Path, agent: &str) -> Standing {
        let text = fs::read(folder.join(format!("{agent}.json"))).unwrap_or_default();
        let standing: Standing = serde_json::from_slice(&text).unwrap_or_default();
        Standing { folder: folder.to_owned(), agent: agent.to_owned(), ..standing }
    }

    /// Forgets what was refused for an earlier prompt.
    pub(crate) fn at(&mut self, end: &AgentEnd) {
        let is_same = match &end.prompt {
            Some(_) => self.prompt == end.prompt,
            None => end.is_again,
        };
        if !is_same {
            self.refused.clear();
        }
        self.prompt.clone_from(&end.prompt);
    }

    /// Returns whether the agent was kept from ending as often as it may be.
    pub(crate) fn is_spent(&self) -> bool {
        self.refused.len() >= BLOCKS_MAX
    }

    /// Keeps a text that is refused, before anybody is told.
    pub(crate) fn refuse(&mut self, text: &str, why: &str) -> io::Result<()> {
        // Texts of earlier prompts stay.
        let free = |number: &usize| !self.folder.join(self.file_name(*number)).exists();
        let file = (1..).find(free).map(|number| self.file_name(number)).unwrap_or_default();
        fs::write(self.folder.join(&file), text)?;
        self.refused.push(RefusedFile { file, why: why.to_owned() });
        self.write()
    }

    /// Reads a text that was refused.
    pub(crate) fn text(&self, refused: &RefusedFile) -> String {
        fs::read_to_string(self.folder.join(&refused.file)).unwrap_or_default()
    }

    /// Begins anew: what was refused is filed.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        self.refused.clear();
        self.write()
    }

    /// Keeps it.
    pub(crate) fn write(&self) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        atomic_file::write(&self.folder.join(format!("{}.json", self.agent)), &text)
    }

    fn file_name(&self, number: usize) -> String {
        format!("{}-{number}.md", self.agent)
    }
}

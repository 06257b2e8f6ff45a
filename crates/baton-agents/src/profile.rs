//! Coding agents whose flags and output are known: how each is started without a person, goes on in its session, and tells
//! what it does.
//!
//! A profile never widens what its program may do: who wants edits without questions says so in `arguments`. Keys are
//! not inherited either; the programs find their login in the home folder, or `env` names the variable.

pub(crate) mod claude;
mod codex;
mod fault;
mod figures;
mod gemini;
mod heard;
mod opencode;
mod reset;
mod skill_paths;
mod stream;
mod tail;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_engine::session::{SessionKind, SessionTurn, Spent};
use baton_host::SharedFolder;
use baton_protocol::workflow::Profile;
use serde_json::Value;

use crate::process::Environment;

pub(crate) use fault::{ProfileFault, Trouble};
pub(crate) use heard::{ClosedDoor, Heard, is_report};
pub use skill_paths::in_command as skills_read_by;
pub(crate) use stream::EventStream;
pub(crate) use tail::telling_line;
pub use tail::without_colours;

/// How long a turn of a coding agent may take, unless the workflow says otherwise.
pub(crate) const TURN_TIME: Duration = Duration::from_secs(60 * 60);

/// How long a coding agent may say nothing, unless the workflow says otherwise. Their own tools end after ten minutes.
pub(crate) const SILENCE: Duration = Duration::from_secs(15 * 60);

/// How one coding agent is used.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// The program.
    pub(crate) program: &'static str,
    /// How it keeps its sessions.
    pub(crate) sessions: SessionKind,
    /// Its flags; those of the workflow come after them.
    pub(crate) arguments: fn(&TurnStart<'_>) -> Vec<String>,
    /// What comes after those of the workflow.
    pub(crate) ends_with: fn(&SessionTurn) -> Vec<String>,
    /// What comes last when the prompt is on stdin.
    pub(crate) before_stdin: &'static [&'static str],
    /// What comes right before a prompt that is an argument.
    pub(crate) before_argument: &'static [&'static str],
    /// Variables that say where it keeps its things.
    pub(crate) inherits: &'static [&'static str],
    /// What it keeps in the home folder and changes there.
    pub(crate) home: &'static [&'static str],
    /// Where of these its settings are, and which of them tell it what to do at every start, here and outside of the cage.
    pub(crate) settings: (&'static str, &'static [&'static str]),
    /// Variables that put these things elsewhere, each with the folder below it.
    pub(crate) moved_by: &'static [(&'static str, &'static str)],
    /// A file that it makes in the workspace at each start, with its text, if the folder around it is there.
    pub(crate) at_start: Option<(&'static str, &'static str)>,
    /// Makes somebody who understands its events.
    pub(crate) reader: fn(&TurnStart<'_>) -> Box<dyn EventReader>,
    /// Returns what to do about a trouble, where that can be known.
    pub(crate) help: fn(Trouble) -> Option<&'static str>,
}

impl Recipe {
    /// Makes the folders that the program keeps in the home folder: only what is there can be opened up in a cage. What
    /// cannot be made is missed by the program itself.
    pub(crate) fn make_home(&self, environment: &Environment) {
        let Some(home) = environment.get("HOME").map(Path::new).filter(|home| home.is_dir()) else { return };
        for folder in self.home.iter().map(Path::new).filter(|path| path.extension().is_none()) {
            let _ = std::fs::create_dir_all(home.join(folder));
        }
    }

    /// Returns its settings and instructions, wherever they are: nobody changes them in a cage.
    pub(crate) fn settings(&self, environment: &Environment) -> Vec<PathBuf> {
        let (folder, names) = self.settings;
        let home = environment.get("HOME").map(|home| Path::new(home).join(folder));
        let folders = home.into_iter().chain(moved(Some(self), environment));
        folders.flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect()
    }

    /// Makes the file that the program makes in the workspace at its start.
    pub(crate) fn make_ready(&self, workspace: &Path) {
        let Some((path, text)) = self.at_start.map(|(path, text)| (workspace.join(path), text)) else { return };
        // What is there stays as it is, and a link may lead anywhere.
        if path.parent().is_some_and(|folder| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()))
            && let Ok(mut file) = std::fs::File::create_new(path)
        {
            let _ = file.write_all(text.as_bytes());
        }
    }
}

/// What is known when a turn begins.
pub(crate) struct TurnStart<'a> {
    pub(crate) session: &'a SessionTurn,
    /// What the turns before have spent.
    pub(crate) spent_before: Spent,
    /// Where it answers.
    pub(crate) folder: &'a Arc<SharedFolder>,
}

/// Understands the events of one turn of one program.
pub(crate) trait EventReader: Send {
    /// Takes one event.
    fn take(&mut self, event: &Value, heard: &mut Heard);

    /// Takes how the program ended.
    fn end(&mut self, exit: &ProgramExit<'_>, heard: &mut Heard);
}

/// How a program ended by itself.
pub(crate) struct ProgramExit<'a> {
    /// Its exit code. After a signal it is the one that a shell tells: a cage makes one look like the other.
    pub(crate) code: i32,
    /// The end of stderr.
    pub(crate) tail: &'a str,
}

/// Returns how a coding agent is used.
pub(crate) fn recipe(profile: Profile) -> &'static Recipe {
    match profile {
        Profile::Claude => &claude::RECIPE,
        Profile::Codex => &codex::RECIPE,
        Profile::Gemini => &gemini::RECIPE,
        Profile::Opencode => &opencode::RECIPE,
    }
}

/// Returns where a coding agent keeps its things instead of the home folder: without its sessions it cannot go on.
pub(crate) fn moved(recipe: Option<&Recipe>, environment: &Environment) -> Vec<PathBuf> {
    let variables = recipe.into_iter().flat_map(|recipe| recipe.moved_by);
    let places = variables.filter_map(|(name, below)| Some(Path::new(environment.get(name)?).join(below)));
    places.filter(|place| place.is_absolute()).collect()
}

/// Makes words of text.
fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Returns the flag that begins or resumes a session whose name is chosen by us.
fn session_flag(turn: &SessionTurn) -> Vec<String> {
    let flag = if turn.goes_on { "--resume" } else { "--session-id" };
    turn.id.iter().flat_map(|id| [flag.to_owned(), id.clone()]).collect()
}

/// Returns a text by its JSON pointer.
fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Returns a number by its JSON pointer; 0 if there is none.
fn number_at(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

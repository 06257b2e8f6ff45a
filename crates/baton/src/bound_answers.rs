//! A file of answers in a workspace, where agents write: it decides only as it was when its run began.
//!
//! What it was then is kept in the state folder, which no agent reaches.

use std::fs;
use std::io;
use std::path::Path;

use baton_engine::definition::Definition;
use baton_engine::{RunId, StateFolder};
use baton_host::folders::make_private_folders;

use crate::command_error::CommandError;
use crate::people::answers::Answers;

/// The file that says what a file of answers was.
const FILE: &str = "answers.sha256";

/// Notes what a file of answers is, before a run begins. One that lies elsewhere need not be noted.
pub(crate) fn note(
    state: &StateFolder,
    (run, definition): (&RunId, &Definition),
    answers: &Answers,
) -> Result<(), CommandError> {
    if !answers.lies_in(&definition.workspace) {
        return Ok(());
    }
    let folder = state.run(&definition.workspace, run);
    let noted = make_private_folders(&folder).and_then(|()| fs::write(folder.join(FILE), &answers.digest().0));
    noted.map_err(|error| CommandError::usage(format!("cannot write in {}: {error}", folder.display())))
}

/// Refuses a file of answers that lies in the workspace of a run and is not what it was when the run began.
pub(crate) fn check(
    state: Option<&StateFolder>,
    (run, definition): (&RunId, &Definition),
    answers: &Answers,
) -> Result<(), CommandError> {
    if !answers.lies_in(&definition.workspace) {
        return Ok(());
    }
    let noted = state.map(|state| noted(&state.run(&definition.workspace, run).join(FILE)));
    if noted.is_some_and(|noted| noted.is_ok_and(|noted| noted == answers.digest().0)) {
        return Ok(());
    }
    let name = answers.name();
    let why =
        format!("{name} lies in the workspace of {run}, where agents write, and is not what it was when {run} began");
    Err(CommandError::usage(why).hint("read it, put it outside of the workspace, and name it there"))
}

fn noted(file: &Path) -> io::Result<String> {
    fs::read_to_string(file)
}

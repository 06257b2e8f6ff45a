//! A file that a report names, as it was when it was looked at. Whoever decides on another machine has no workspace.

use baton_engine::Handoff;
use baton_engine::evidence::{Examined, SeenFile, seen_files};
use baton_engine::handoff::Digest;
use baton_protocol::wire::closest;

use super::question;
use crate::asking;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::Session;

/// Prints the file, if the store has kept it.
pub(super) fn show(session: &Session, handoff: &Handoff, path: &str, output: &Output) -> Result<Exit, CommandError> {
    let files: Vec<SeenFile> = seen_files(&examined(session, handoff)?).collect();
    let asked = path.strip_prefix("./").unwrap_or(path);
    let found = files.iter().find(|file| file.path == asked).ok_or_else(|| unknown(handoff, path, &files))?;
    let Some(sha256) = &found.sha256 else {
        return Err(CommandError::no(format!("{path} did not exist when it was looked at")));
    };
    let digest = Digest(sha256.clone());
    let Some(bytes) = session.run(session.store.content(&handoff.run, &digest))? else {
        let message = format!("{path} was not kept: it is a folder, or larger than what is kept of files");
        return Err(CommandError::no(message).hint("[artifacts] in baton.toml says how much is kept"));
    };
    if Digest::of(&bytes) != digest {
        return Err(CommandError::internal(format!(
            "the store is damaged: what it has kept of {path} is another file"
        )));
    }
    output.file(&bytes)?;
    Ok(Exit::Done)
}

/// Returns what was seen of a report, or of what a person is asked about.
fn examined(session: &Session, handoff: &Handoff) -> Result<Vec<Examined>, CommandError> {
    if let Some(question) = question(session, handoff)? {
        return Ok(question.examined);
    }
    Ok(asking::examined(&session.run(session.store.history_of(&handoff.id))?))
}

fn unknown(handoff: &Handoff, path: &str, files: &[SeenFile]) -> CommandError {
    let message = format!("{}: nobody has looked at a file {path}", handoff.id);
    let known: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let hint = match closest(path, &known) {
        Some(close) => format!("did you mean {close}?"),
        None if known.is_empty() => "its report names no files, or has not been examined".to_owned(),
        None => format!("there are: {}", known.join(", ")),
    };
    CommandError::no(message).hint(hint)
}

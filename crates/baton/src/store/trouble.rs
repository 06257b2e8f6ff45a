//! What goes wrong with a store, as commands tell it: with an exit code and what to do.

use baton_engine::Refusal;
use baton_engine::store::Error;
use baton_store::Location;

use super::Source;
use crate::command_error::CommandError;

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Refused(refusal) => refused(&refusal),
            Error::NotFound(_) => CommandError::usage(message).hint("`baton list` shows what is there"),
            Error::Invalid(_) => CommandError::usage(message),
            Error::Taken { what: "key", .. } => {
                CommandError::no(message).hint("a key stands for one request: use another key for another request")
            }
            Error::Taken { .. } => CommandError::no(message).hint("name another id with --id"),
            Error::TooNew { .. } => CommandError::usage(message).hint("update baton, or use another store"),
            Error::Unreachable(_) => CommandError::try_again(message).hint(
                "see that nobody holds the file, or that the server runs and the address is right; then try again",
            ),
            Error::Unwritable(_) => {
                CommandError::usage(message).hint("make room on the disk, or see who may write to the file")
            }
            Error::Damaged(_) => CommandError::usage(message)
                .hint("nothing was changed; stop all workers, copy the files, restore a backup"),
            Error::Failed(_) => CommandError::internal(message).hint("this is a mistake in baton: please report it"),
        }
    }
}

/// Tells that a command has no effect.
fn refused(refusal: &Refusal) -> CommandError {
    let error = CommandError::no(refusal.to_string());
    match refusal {
        Refusal::Stale { .. } => error.hint("the lease was lost; stop working on it, and claim again"),
        Refusal::NeverGiven { .. } => error.hint("`baton claim` tells the number that --fence wants"),
        Refusal::NoChoice => error.hint("`baton show` lists what can be chosen"),
        Refusal::Unknown { .. } => error.hint(
            "sign the decision with --sign, or decide outside of the user namespace; a file of answers is nobody",
        ),
        Refusal::PartOfRun => error.hint("`baton inbox` shows what waits for a person, `baton resume` goes on with a run"),
        Refusal::Over { .. }
        // Whoever knows which handoff it is names the command.
        | Refusal::NotAcknowledged { .. }
        | Refusal::TooLong { .. }
        | Refusal::Repeated
        | Refusal::NotReady { .. }
        | Refusal::Overdue
        | Refusal::NotExpired
        // Whoever is told the right digest decides about what nobody has looked at.
        | Refusal::Changed { .. }
        | Refusal::OtherQuestion { .. }
        | Refusal::Unanswered
        | Refusal::NotNamed { .. }
        | Refusal::Unsigned { .. }
        | Refusal::Forged { .. }
        | Refusal::Twice { .. }
        | Refusal::WrongState { .. } => error,
    }
}

/// Tells that a store cannot be opened, and which.
pub(super) fn opening(location: &Location, source: &Source, error: Error) -> CommandError {
    let mut error = CommandError::from(error);
    if !error.message.contains(&location.to_string()) {
        error.message = format!("{location}: {}", error.message);
    }
    if let (Location::Postgres(_), Source::Workspace(_)) = (location, source) {
        error.hints = vec!["the runs of this workspace are kept there; name it with --store or BATON_STORE".to_owned()];
    }
    error
}

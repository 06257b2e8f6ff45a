//! What goes wrong behind the doors, as commands tell it: with an exit code and what to do.

use baton_engine::engine::{IdKind, NoAnswer, Problem, TermsFault};
use baton_engine::lifecycle::Decision;
use baton_engine::store::StoreError;
use baton_engine::{HandoffId, Refusal};
use baton_protocol::Kind;
use baton_store::Location;

use super::Source;
use crate::command_error::CommandError;

impl From<Problem> for CommandError {
    fn from(problem: Problem) -> Self {
        let message = problem.to_string();
        match problem {
            Problem::Unknown { close: Some(close), .. } => {
                CommandError::usage(message).hint(format!("did you mean `{close}`?"))
            }
            Problem::Unknown { sought: IdKind::Handoff, .. } => {
                CommandError::usage(message).hint("`baton list` shows what is there")
            }
            Problem::Unknown { sought: IdKind::Run, .. } => {
                CommandError::usage(message).hint("`baton runs` shows what is there")
            }
            Problem::Pruned { .. } => {
                CommandError::usage(message).hint("its archive is where `baton prune --to` wrote it")
            }
            Problem::Ambiguous { .. } => CommandError::usage(message).hint("write more of the id"),
            Problem::Removed(_) | Problem::AlreadyDecided { .. } => CommandError::no(message),
            Problem::NotOfARun(_) => CommandError::usage(message).hint("`baton runs` shows what runs there are"),
            Problem::BrokenRun { run, .. } => CommandError::no(message).hint(format!("baton audit verify {run}")),
            Problem::Refused { id, refusal, .. } => {
                let mut error = refused(&refusal);
                error.message = message;
                match refusal {
                    Refusal::Changed { .. } => error.hint(format!("look at it again: baton show {}", id.in_shell())),
                    Refusal::NotAcknowledged { given } => error
                        .hint(format!("acknowledge the request first: baton ack {} --fence {given}", id.in_shell())),
                    _ => error,
                }
            }
            Problem::NothingAsked(_) => CommandError::no(message),
            Problem::SeveralAsked { questions, .. } => {
                let ids: Vec<&str> = questions.iter().map(HandoffId::as_str).collect();
                CommandError::usage(message).hint(format!("name one of them: {}", ids.join(", ")))
            }
            Problem::ShownTooShort { id, .. } => {
                CommandError::usage(message).hint(format!("`baton show {}` prints the digest", id.in_shell()))
            }
            Problem::NotOffered { id, why } => CommandError::usage(message).hint(match why.given {
                Decision::Approve | Decision::Reject { .. } => {
                    format!("choose with `baton answer {} --choice WORD`: {}", id.in_shell(), why.choices.join(", "))
                }
                Decision::Answer { .. } | Decision::Ask { .. } => why.suggestion(),
            }),
            Problem::NothingSaid { .. } => {
                CommandError::usage(message).hint("say why with --note, or give the answer as text")
            }
            Problem::WrongKind { found, .. } | Problem::NoAnswer(NoAnswer::OtherKind(found)) => {
                CommandError::no(message).hint(match found {
                    Kind::Request => "`baton send` takes requests",
                    Kind::Acknowledgment => "`baton ack` takes acknowledgments",
                    Kind::Report => "`baton report` takes reports",
                })
            }
            Problem::NoAnswer(NoAnswer::RequestItself | NoAnswer::NoOutcome) | Problem::NotComplete => {
                CommandError::no(message)
            }
            Problem::Terms(fault) => terms(&fault),
            Problem::InsideWork(_) => CommandError::no(message).hint("only a person can decide, in their own shell"),
            Problem::NotAPerson(_) => CommandError::no(message).hint("use the token of an approver"),
            Problem::DriversWork { .. } => {
                CommandError::no(message).hint("`baton resume` continues a run, `baton cancel` ends it")
            }
            Problem::Contended(_) => CommandError::no(message).hint("try again"),
            Problem::Store(error) => error.into(),
        }
    }
}

/// The error when the terms of a handoff cannot be agreed to.
fn terms(fault: &TermsFault) -> CommandError {
    let message = fault.to_string();
    match fault {
        TermsFault::NoReceiver => CommandError::usage(message).hint("give --to AGENT"),
        TermsFault::Document(_) | TermsFault::Receiver(_) => CommandError::no(message),
        TermsFault::NoTime(_) => CommandError::usage(message).hint("give it a duration such as 5m, or leave it out"),
        TermsFault::Retry(_) => CommandError::usage(message),
        TermsFault::DeadlinePassed(_) => CommandError::usage(message)
            .hint("give --deadline a time that is still to come, or a duration from now such as 2h"),
        TermsFault::DeadlineBeforeStart => CommandError::usage("the deadline is not after --not-before"),
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Refused(refusal) => refused(&refusal),
            StoreError::NotFound(_) => CommandError::usage(message).hint("`baton list` shows what is there"),
            StoreError::Invalid(_) => CommandError::usage(message),
            StoreError::Taken { what: "key", .. } => {
                CommandError::no(message).hint("a key stands for one request: use another key for another request")
            }
            StoreError::Taken { .. } => CommandError::no(message).hint("name another id with --id"),
            StoreError::TooNew { .. } | StoreError::Newer(_) => {
                CommandError::usage(message).hint("update baton, or use another store")
            }
            StoreError::Unreachable(_) => CommandError::try_again(message).hint(
                "check that the server is running and its address is right, or that no other program holds the file; then try again",
            ),
            StoreError::Unwritable(_) => {
                CommandError::usage(message).hint("free space on the disk, or check the permissions of the file")
            }
            StoreError::Gone(_) => CommandError::usage(message).hint(
                "put the file back, or restore a backup; then start this again. What was not in the file when it went is lost",
            ),
            StoreError::Damaged(_) => CommandError::usage(message)
                .hint("nothing was changed; stop all workers, copy the files, restore a backup"),
            StoreError::Declined { code, hint, .. } => {
                let error = if is_usage(&code) { CommandError::usage(message) } else { CommandError::no(message) };
                hint.into_iter().fold(error, CommandError::hint)
            }
            StoreError::Failed(_) => {
                CommandError::internal(message).hint("internal error: please report it")
            }
        }
    }
}

/// Returns whether somebody must change the call or the configuration before a server does what is asked.
fn is_usage(code: &str) -> bool {
    matches!(
        code,
        "unauthorized"
            | "too_often"
            | "bad_certificate"
            | "bad_value"
            | "bad_query"
            | "bad_terms"
            | "not_json"
            | "too_large"
            | "unknown"
            | "unknown_phase"
            | "not_baton"
            | "not_tls"
            | "not_through_a_server"
    )
}

/// The error when a command has no effect.
fn refused(refusal: &Refusal) -> CommandError {
    let error = CommandError::no(refusal.to_string());
    match refusal {
        Refusal::Stale { .. } => error.hint("the lease was lost; stop working on it, and claim again"),
        Refusal::NeverGiven { .. } => error.hint("`baton claim` prints the number for --fence"),
        Refusal::NoChoice => error.hint("`baton show` lists what can be chosen"),
        Refusal::Unknown { .. } => error.hint(
            "sign the decision with --sign, or decide outside of the user namespace; a file of answers cannot decide here",
        ),
        Refusal::PartOfRun => error.hint("`baton inbox` shows what waits for a person, `baton resume` continues a run"),
        Refusal::Over { .. }
        // Whoever knows which handoff it is names the command.
        | Refusal::NotAcknowledged { .. }
        | Refusal::TooLong { .. }
        | Refusal::Repeated
        | Refusal::NotReady { .. }
        | Refusal::Overdue
        | Refusal::NotAsSeen
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

/// The error when a store cannot be opened; it names the store.
pub(super) fn opening(location: &Location, source: &Source, error: StoreError) -> CommandError {
    let is_away = matches!(error, StoreError::Unreachable(_));
    let mut error = CommandError::from(error);
    if let (Location::Server(address), true) = (location, is_away) {
        let check =
            format!("check that the server is running (`baton serve` starts one) and that {address} is its address");
        error.hints = vec![format!("{check}; then try again")];
    }
    if !error.message.contains(&location.to_string()) {
        error.message = format!("{location}: {}", error.message);
    }
    if let (Location::Postgres(_), Source::Workspace(_)) = (location, source) {
        error.hints = vec!["the runs of this workspace are kept there; name it with --store or BATON_STORE".to_owned()];
    }
    error
}

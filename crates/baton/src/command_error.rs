//! What goes wrong in a command, and the exit codes. Kinds are mapped to codes here and nowhere else.

use std::fmt;
use std::process::ExitCode;

use baton_engine::evidence::WorkspaceFault;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The answer is "no": findings, failed or rejected.
    No,
    /// Wrong usage, configuration or unreadable path.
    Usage,
    /// A person must decide or answer first.
    Waiting,
    /// Our mistake.
    Internal,
    /// The same may work later: the store does not answer at the moment, or somebody else drives the run.
    TryAgain,
    /// Somebody pressed Ctrl-C, and what runs was ended; shells write such an end in the same way.
    Interrupted,
}

impl Exit {
    /// Returns the number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Waiting => 3,
            Exit::Internal => 70,
            Exit::TryAgain => 75,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// A command could not do what was asked.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    kind: Exit,
    /// What happened, where.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

impl From<WorkspaceFault> for CommandError {
    fn from(error: WorkspaceFault) -> Self {
        CommandError::usage(error)
    }
}

impl CommandError {
    /// The caller must change something: an argument, the configuration, a path.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        CommandError { kind: Exit::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// The answer is no.
    pub(crate) fn no(message: impl fmt::Display) -> Self {
        CommandError { kind: Exit::No, message: message.to_string(), hints: Vec::new() }
    }

    /// We made a mistake.
    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        CommandError { kind: Exit::Internal, message: message.to_string(), hints: Vec::new() }
    }

    /// The same may work later, with nothing changed.
    pub(crate) fn try_again(message: impl fmt::Display) -> Self {
        CommandError { kind: Exit::TryAgain, message: message.to_string(), hints: Vec::new() }
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn interrupted(message: impl fmt::Display) -> Self {
        CommandError { kind: Exit::Interrupted, message: message.to_string(), hints: Vec::new() }
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns which file it is about.
    #[must_use]
    pub(crate) fn about(self, name: &str) -> Self {
        CommandError { message: format!("{name}: {}", self.message), ..self }
    }

    /// Returns the exit code's meaning.
    pub(crate) fn exit_code(&self) -> Exit {
        self.kind
    }
}

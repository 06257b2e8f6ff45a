//! Where a call comes in, as the journal and everybody who reads it know it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a call comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Door {
    /// A command such as `baton approve`.
    #[serde(rename = "cli")]
    CommandLine,
    /// A question at the terminal of a run.
    #[serde(rename = "terminal")]
    Terminal,
    /// A request to a server.
    #[serde(rename = "http")]
    Http,
    /// A file of answers.
    #[serde(rename = "answers")]
    AnswersFile,
    /// A gate whose checks decide.
    #[serde(rename = "auto")]
    Checks,
    /// A gate that only informs.
    #[serde(rename = "advisory")]
    Advisory,
    /// A rehearsal, which has no effect.
    #[serde(rename = "rehearsal")]
    Rehearsal,
}

impl Door {
    /// Returns what people call it: decided through …
    pub fn in_words(self) -> &'static str {
        match self {
            Door::CommandLine => "the command line",
            Door::Terminal => "the terminal of the run",
            Door::Http => "the server",
            Door::AnswersFile => "a file of answers",
            Door::Checks => "the checks of the gate",
            Door::Advisory => "the advisory gate",
            Door::Rehearsal => "a rehearsal",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

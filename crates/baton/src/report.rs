//! The result of a check: every file with what is said about it, ready to be rendered.

use baton_protocol::{Dialect, Judgement, Kind, Severity};

use crate::discover::Problem;

/// One file that was checked.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Its name in every output.
    pub name: String,
    /// Its bytes, where there is something to show.
    pub bytes: Vec<u8>,
    /// Its dialect.
    pub dialect: Option<Dialect>,
    /// Which document it is.
    pub kind: Option<Kind>,
    /// What is said about it.
    pub judgement: Judgement,
}

/// Everything that was checked.
#[derive(Debug)]
pub(crate) struct Report {
    /// The files, in the order of their names.
    pub files: Vec<Checked>,
    /// What could not be opened.
    pub problems: Vec<Problem>,
    /// How many files were left out as no handoffs.
    pub skipped: usize,
}

impl Report {
    /// Counts the diagnostics of a severity in all files.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.files.iter().map(|file| file.judgement.count(severity)).sum()
    }
}

//! The result of a check: every file with what is said about it, ready to be rendered.

use baton_protocol::{Dialect, Judgement, Severity};

use crate::command_error::Exit;
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
    pub kind: Option<&'static str>,
    /// What is said about it.
    pub judgement: Judgement,
}

/// Everything that was checked.
#[derive(Debug)]
pub(crate) struct CheckReport {
    /// The files, in the order of their names.
    pub files: Vec<Checked>,
    /// What could not be opened.
    pub problems: Vec<Problem>,
    /// How many files were left out as no handoffs.
    pub skipped: usize,
}

impl CheckReport {
    /// Counts the diagnostics of a severity in all files.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.files.iter().map(|file| file.judgement.count(severity)).sum()
    }

    /// Returns how the command ends.
    pub(crate) fn verdict(&self, strict: bool) -> Exit {
        let invalid = self.files.iter().any(|file| !file.judgement.valid);
        match (self.problems.is_empty(), invalid || (strict && self.count(Severity::Warning) > 0)) {
            (false, _) => Exit::Usage,
            (true, true) => Exit::No,
            (true, false) => Exit::Done,
        }
    }
}

/// Keeps the text of a file only where an excerpt will be shown.
pub(crate) fn kept(bytes: Vec<u8>, judgement: &Judgement) -> Vec<u8> {
    match judgement.diagnostics.is_empty() {
        true => Vec::new(),
        false => bytes,
    }
}

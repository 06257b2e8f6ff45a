//! The result of a check: every file with what is said about it, ready to be rendered.

use baton_protocol::{Dialect, Judgement, Severity};
use clap::{Args, ValueEnum};

use crate::command_error::{CommandError, Exit};
use crate::discover::Problem;
use crate::output::Output;
use crate::render;

/// How the result is written, and what counts as a failure.
#[derive(Debug, Args)]
pub(crate) struct Writing {
    /// How to write the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT")]
    format: OutputFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Fail on warnings, too
    #[arg(long)]
    strict: bool,
}

/// The formats of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people, with excerpts.
    Human,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitHub workflow commands.
    Github,
}

impl Writing {
    /// Writes a result and says how the command ends.
    pub(crate) fn write(&self, report: &CheckReport, output: &Output) -> Result<Exit, CommandError> {
        let exit = report.verdict(self.strict);
        let text = match (self.json, self.format) {
            (true, _) | (_, OutputFormat::Json) => render::json::render(report),
            (_, OutputFormat::Human) => render::human::render(report, exit != Exit::Done, output.has_color()),
            (_, OutputFormat::Sarif) => render::sarif::render(report),
            (_, OutputFormat::Github) => render::github::render(report),
        };
        output.data(&text)?;
        for problem in &report.problems {
            output.error(&CommandError::usage(format!("{}: {}", problem.path, problem.message)));
        }
        Ok(exit)
    }
}

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

    /// Says how the command ends.
    fn verdict(&self, strict: bool) -> Exit {
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

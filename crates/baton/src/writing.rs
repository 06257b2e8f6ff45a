//! How the result of a check is written: in which format, and what counts as a failure.

use clap::{Args, ValueEnum};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::report::CheckReport;

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
            (_, OutputFormat::Human) => {
                render::human::render(report, exit != Exit::Done, output.has_color(), output.width())
            }
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

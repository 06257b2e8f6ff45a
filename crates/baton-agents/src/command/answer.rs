//! What a command that has ended said: its report from the file or from stdout, or why there is none.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use baton_engine::agent::{Job, Reply};
use baton_engine::failure::{Code, Failure};
use baton_protocol::workflow::ReportFrom;

use super::files::AttemptFiles;
use crate::process::{Ended, Environment, STDOUT_BYTES_MAX, size};
use crate::profile::{Heard, Output, Recipe, Said, refusal};

/// What was asked of the command.
pub(super) struct Asked<'a> {
    pub(super) job: &'a Job,
    pub(super) files: &'a AttemptFiles,
    pub(super) environment: &'a Environment,
    pub(super) report: ReportFrom,
}

/// Says what a command answered.
pub(super) fn of(ended: &Ended, recipe: Option<&Recipe>, asked: &Asked<'_>) -> Result<Reply, Failure> {
    let Ended::Exited { stdout, tail, .. } = ended else {
        return Err(ended.failure().unwrap_or_else(|| refused("the command ended in an unknown way")));
    };
    let heard = match recipe {
        Some(recipe) => hear(recipe, stdout, tail, asked),
        None => text(stdout, "stdout")
            .map_or_else(|failure| Heard::Unreadable(failure.message), |text| Heard::Said(Said::text(text))),
    };
    match (ended.failure(), &heard) {
        // The program's own words say more than its exit code.
        (Some(_), Heard::Refused(message)) | (None, Heard::Refused(message)) => return Err(refusal(message)),
        (Some(failure), Heard::Said(_) | Heard::Unreadable(_)) => return Err(failure),
        (None, Heard::Said(_) | Heard::Unreadable(_)) => {}
    }
    let acknowledgment = read(&asked.files.acknowledgment)?;
    match (report(heard, asked), acknowledgment) {
        (Ok(reply), acknowledgment) => Ok(Reply { acknowledgment, ..reply }),
        // Whoever has not understood says so and does not begin.
        (Err(_), Some(text)) => Ok(Reply { acknowledgment: Some(text), ..Reply::default() }),
        (Err(failure), None) => Err(failure),
    }
}

fn hear(recipe: &Recipe, stdout: &[u8], tail: &str, asked: &Asked<'_>) -> Heard {
    let Ok(stdout) = std::str::from_utf8(stdout) else {
        return Heard::Unreadable(format!("what {} wrote to stdout is not UTF-8", recipe.program));
    };
    let (environment, workspace) = (asked.environment, asked.job.workspace.as_path());
    (recipe.read)(&Output { stdout, tail, folder: &asked.files.folder, workspace, environment })
}

fn report(heard: Heard, asked: &Asked<'_>) -> Result<Reply, Failure> {
    let path = &asked.files.report;
    let filed = match asked.report {
        ReportFrom::Auto | ReportFrom::File => read(path)?,
        ReportFrom::Stdout => None,
    };
    let (said, unreadable) = match heard {
        Heard::Said(said) => (said, None),
        Heard::Refused(message) | Heard::Unreadable(message) => (Said::default(), Some(message)),
    };
    let reply = Reply { tokens_used: said.tokens, transcript: said.transcript, ..Reply::default() };
    if let Some(text) = filed {
        return Ok(Reply { text, source: path.display().to_string(), ..reply });
    }
    match (asked.report, said.text.filter(|text| !is_blank(text)), unreadable) {
        (ReportFrom::Auto | ReportFrom::Stdout, Some(text), _) => {
            // For whoever looks later; the report itself goes on without it.
            let _ = fs::write(path, &text);
            Ok(Reply { text, source: "stdout".to_owned(), ..reply })
        }
        (ReportFrom::Auto | ReportFrom::Stdout, None, Some(why)) => Err(refused(why)),
        (ReportFrom::Auto, None, None) => {
            Err(refused("the command ended without a report: it wrote neither to BATON_REPORT_FILE nor to stdout"))
        }
        (ReportFrom::Stdout, None, None) => {
            Err(refused("the command ended without a report: it wrote nothing to stdout"))
        }
        (ReportFrom::File, _, _) => {
            Err(refused("the command ended without a report: it did not write to BATON_REPORT_FILE"))
        }
    }
}

/// Reads a file that the command may have written; `None` if there is nothing in it.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    // Anything but a file, such as a pipe without a writer, would never end.
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(STDOUT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    opened.map_err(|error| refused(format!("cannot read {}: {error}", path.display())))?;
    if bytes.len() > STDOUT_BYTES_MAX {
        return Err(refused(format!("{} is longer than {}", path.display(), size(STDOUT_BYTES_MAX))));
    }
    Ok(Some(text(&bytes, &path.display().to_string())?).filter(|text| !is_blank(text)))
}

fn text(bytes: &[u8], place: &str) -> Result<String, Failure> {
    let text = std::str::from_utf8(bytes);
    let refuse = |error| refused(format!("what the command wrote to {place} is not text: {error}"));
    text.map(str::to_owned).map_err(refuse)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::new(Code::validation_failed(), message)
}

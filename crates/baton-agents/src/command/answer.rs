//! What a command that has ended said: its report from the file, from stdout or from its output, or why there is none.
//! Those of coding agents are read in `final_answer.rs`.

use std::path::{Path, PathBuf};

use baton_engine::agent::{EndedTurn, Job, Reply};
use baton_engine::evidence::Transcript;
use baton_engine::failure::{Code, CommandStream, Failure};
use baton_host::open_regular;
use baton_protocol::read::is_blockless;
use baton_protocol::workflow::ReportFrom;
use baton_protocol::{Document, Hints};

use super::files::{AttemptFiles, name};
use super::output_files::OutputFiles;
use crate::evidence::snapshot::hash;
use crate::process::{Environment, ProcessEnd, STDOUT_BYTES_MAX};
use crate::profile::is_report;

/// What was asked of the command.
pub(super) struct AskedCommand<'a> {
    pub(super) job: &'a Job,
    /// The output directory as it was before.
    pub(super) output: &'a OutputFiles,
    pub(super) files: &'a AttemptFiles,
    pub(super) environment: &'a Environment,
    pub(super) report: ReportFrom,
}

/// Returns what a command answered.
pub(super) fn of(ended: &ProcessEnd, asked: &AskedCommand<'_>) -> EndedTurn {
    answer(ended, asked).into()
}

fn answer(ended: &ProcessEnd, asked: &AskedCommand<'_>) -> Result<Reply, Failure> {
    if let Some(failure) = ended.failure() {
        return Err(failure);
    }
    let ProcessEnd::Exited { stdout, .. } = ended else {
        return Err(refused("the command ended with neither an exit code nor a signal"));
    };
    let acknowledgment = read(asked.files, &asked.files.acknowledgment)?;
    match (report(stdout, asked), acknowledgment) {
        (Ok(reply), acknowledgment) => Ok(Reply { acknowledgment, ..reply }),
        // Whoever has not understood says so and does not begin.
        (Err(_), Some(text)) => Ok(Reply { acknowledgment: Some(text), ..Reply::default() }),
        (Err(failure), None) => Err(failure),
    }
}

/// Finds the report: in the file that was named for it, on stdout, or as a file in the output directory.
fn report(stdout: &[u8], asked: &AskedCommand<'_>) -> Result<Reply, Failure> {
    let said = text(stdout, "stdout").map_err(on_standard_output);
    let unreadable = said.as_ref().err().cloned();
    let said = said.ok().filter(|text| !is_blank(text));
    let filed = match asked.report {
        ReportFrom::Auto | ReportFrom::File => read(asked.files, &asked.files.report)?,
        ReportFrom::Stdout => None,
    };
    let found = match asked.report {
        ReportFrom::File => filed.map(|text| in_report_file(text, asked)),
        ReportFrom::Stdout => said.map(|text| on_stdout(text, asked)),
        ReportFrom::Auto => anywhere(filed, said, asked)?,
    };
    match (found, unreadable) {
        (Some(found), _) => Ok(found),
        (None, Some(failure)) if asked.report != ReportFrom::File => Err(failure),
        (None, _) => {
            let failure = refused(format!("the command ended without a report: {}", nowhere(asked)));
            Err(if stdout.trim_ascii().is_empty() { failure } else { on_standard_output(failure) })
        }
    }
}

/// Says where to look: what the command wrote to stdout tells most about this failure.
fn on_standard_output(failure: Failure) -> Failure {
    Failure { stream: Some(CommandStream::Stdout), ..failure }
}

/// Records how a transcript is now that its agent has ended, so that a later change can be noticed.
pub(super) fn sealed(path: &Path) -> Option<Transcript> {
    let sha256 = open_regular(path).and_then(hash).ok()?;
    Some(Transcript { path: path.to_str()?.to_owned(), sha256 })
}

/// Looks everywhere. Prose counts only if there is nothing better, so that the agent learns what is wrong with it.
fn anywhere(filed: Option<String>, said: Option<String>, asked: &AskedCommand<'_>) -> Result<Option<Reply>, Failure> {
    if let (Some(filed), Some(said)) = (&filed, &said)
        && is_report(filed)
        && is_report(said)
        && document(filed) != document(said)
    {
        // Where no bubblewrap keeps the folders of attempts apart, somebody else may have written the file.
        let message = "the report in BATON_REPORT_FILE differs from the one on stdout; write one of them";
        return Err(refused(message));
    }
    if let Some(text) = filed.as_ref().filter(|text| !is_blockless(text)) {
        return Ok(Some(in_report_file(text.clone(), asked)));
    }
    if let Some(text) = said.as_ref().filter(|text| is_report(text)) {
        return Ok(Some(on_stdout(text.clone(), asked)));
    }
    if let Some(reply) = in_output_directory(asked, said.as_deref())? {
        return Ok(Some(reply));
    }
    let directory = directory(asked);
    Ok(match (filed, said) {
        (Some(text), _) => {
            Some(Reply { looked_in: vec!["stdout".to_owned(), directory], ..in_report_file(text, asked) })
        }
        (None, Some(text)) => {
            Some(Reply { looked_in: vec!["BATON_REPORT_FILE".to_owned(), directory], ..on_stdout(text, asked) })
        }
        (None, None) => None,
    })
}

/// Returns the one file of the output directory that was written in this attempt and ends with a block of this agent.
pub(super) fn in_output_directory(asked: &AskedCommand<'_>, said: Option<&str>) -> Result<Option<Reply>, Failure> {
    let written = asked.output.written_for(asked.job);
    let mut found = written.reports;
    // A block that cannot be read says more than prose, and less than anything that may be a document.
    if found.is_empty() && said.is_none_or(is_blockless) {
        found = written.broken;
    }
    if found.len() > 1 {
        let names = found.iter().map(|file| file.path.strip_prefix(&asked.job.workspace).unwrap_or(&file.path));
        let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
        let message = format!(
            "{} files in the output directory end with a handoff block of {}: {}; leave the block in one of them",
            names.len(),
            asked.job.agent,
            names.join(", ")
        );
        return Err(refused(message));
    }
    Ok(found.pop().map(|file| {
        let source = file.path.strip_prefix(&asked.job.workspace).unwrap_or(&file.path).display().to_string();
        let path = std::path::absolute(&file.path).ok();
        kept(&file.text, asked);
        Reply { text: file.text, source, path, ..Reply::default() }
    }))
}

pub(super) fn in_report_file(text: String, asked: &AskedCommand<'_>) -> Reply {
    let AttemptFiles { report, kept: visible, .. } = asked.files;
    let path = if report == visible { Some(report.clone()) } else { kept(&text, asked) };
    Reply { text, source: visible.display().to_string(), path, ..Reply::default() }
}

fn on_stdout(text: String, asked: &AskedCommand<'_>) -> Reply {
    let path = kept(&text, asked);
    Reply { text, source: "stdout".to_owned(), path, ..Reply::default() }
}

/// Keeps a report for whoever looks later; it goes on without that.
pub(super) fn kept(text: &str, asked: &AskedCommand<'_>) -> Option<PathBuf> {
    asked.files.write(&asked.files.kept, text).is_ok().then(|| asked.files.kept.clone())
}

fn nowhere(asked: &AskedCommand<'_>) -> String {
    match asked.report {
        ReportFrom::Auto => {
            format!("no handoff block found in BATON_REPORT_FILE, stdout, {}", directory(asked))
        }
        ReportFrom::Stdout => "it wrote nothing to stdout".to_owned(),
        ReportFrom::File => "it did not write to BATON_REPORT_FILE".to_owned(),
    }
}

/// Names the output directory for people.
fn directory(asked: &AskedCommand<'_>) -> String {
    let folder = &asked.job.output_directory;
    let folder = folder.strip_prefix(&asked.job.workspace).unwrap_or(folder);
    format!("the folder {}", folder.display())
}

/// Reads a file that the command may have written; `None` if there is nothing in it. What is not a file of its own is
/// refused: a link shows what the command itself may not see, and a pipe never ends.
pub(super) fn read(files: &AttemptFiles, path: &Path) -> Result<Option<String>, Failure> {
    let unfit = |error| refused(format!("cannot read {}: {error}", path.display()));
    let most = STDOUT_BYTES_MAX as u64;
    let found = match files.answers.read(name(path), most).map_err(unfit)? {
        Some(bytes) => Some(bytes),
        None => files.answers_now().and_then(|folder| folder.read(name(path), most)).map_err(unfit)?,
    };
    let Some(bytes) = found else { return Ok(None) };
    Ok(Some(text(&bytes, &path.display().to_string())?).filter(|text| !is_blank(text)))
}

fn text(bytes: &[u8], place: &str) -> Result<String, Failure> {
    let text = std::str::from_utf8(bytes);
    let refuse = |error| refused(format!("what the command wrote to {place} is not text: {error}"));
    text.map(str::to_owned).map_err(refuse)
}

fn document(text: &str) -> Option<Document> {
    baton_protocol::read(text.as_bytes(), Hints::default()).document
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure::new(Code::validation_failed(), message)
}

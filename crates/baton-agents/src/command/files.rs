//! The files of one attempt.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_engine::agent::Job;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::Note;
use baton_engine::report_contract::CONTRACT_FILE;
use serde_json::{Value, json};

/// The files of one attempt: what the command is told, and where it answers.
#[derive(Debug, Clone)]
pub struct AttemptFiles {
    pub(super) folder: PathBuf,
    pub(super) prompt: PathBuf,
    pub(super) request: PathBuf,
    pub(super) notes: PathBuf,
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    pub(super) report: PathBuf,
    /// Where the command says that it understood.
    pub acknowledgment: PathBuf,
}

impl AttemptFiles {
    /// Writes what the command is told, and removes what an attempt that crashed here may have said.
    pub fn prepare(job: &Job) -> Result<AttemptFiles, Failure> {
        let folder = std::path::absolute(&job.folder).map_err(|error| unwritable(&job.folder, &error))?;
        let is_json = job.request.text.trim_start().starts_with(['{', '[']);
        let files = AttemptFiles {
            prompt: folder.join("prompt.md"),
            request: folder.join(if is_json { "request.json" } else { "request.yaml" }),
            notes: folder.join("notes.json"),
            stdout: folder.join("stdout.log"),
            stderr: folder.join("stderr.log"),
            report: folder.join("report.md"),
            acknowledgment: folder.join("acknowledgment.yaml"),
            folder,
        };
        for path in [&files.report, &files.acknowledgment] {
            remove(path)?;
        }
        write(&files.prompt, &job.prompt)?;
        write(&files.request, &job.request.text)?;
        let notes: Vec<Value> = job.notes.iter().map(as_json).collect();
        let notes = serde_json::to_string_pretty(&notes).expect("notes are text");
        write(&files.notes, &notes)?;
        match &job.contract {
            Some(contract) => write(&files.folder.join(CONTRACT_FILE), &format!("{:#}\n", contract.json()))?,
            None => remove(&files.folder.join(CONTRACT_FILE))?,
        }
        Ok(files)
    }

    /// Returns the variables that tell a command where they are.
    pub fn variables(&self) -> [(&'static str, &Path); 5] {
        [
            ("BATON_PROMPT_FILE", &self.prompt),
            ("BATON_REQUEST_FILE", &self.request),
            ("BATON_NOTES_FILE", &self.notes),
            ("BATON_REPORT_FILE", &self.report),
            ("BATON_ACKNOWLEDGMENT_FILE", &self.acknowledgment),
        ]
    }

    /// Reads the report that the command has written to its file; `None` if there is nothing in it.
    pub fn report(&self) -> Result<Option<String>, Failure> {
        super::answer::read(&self.report)
    }
}

/// The failure when a file cannot be written.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Code::processing_error(), format!("cannot write {}: {error}", path.display()))
}

/// Returns a note as commands read it.
fn as_json(note: &Note) -> Value {
    let Note { about, from, text, question } = note;
    let mut value = json!({ "about": about, "from": from, "text": text });
    if let Some(question) = question {
        value["question"] = json!(question);
    }
    value
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(path, &error)),
        _ => Ok(()),
    }
}

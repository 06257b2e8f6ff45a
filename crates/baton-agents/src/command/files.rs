//! The files of one attempt. Its agent may write in their folder: nothing there is what it seems to be.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::agent::Job;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::Note;
use baton_engine::report_contract::CONTRACT_FILE;
use baton_host::SharedFolder;
use baton_host::folders::make_private_folders;
use serde_json::{Value, json};

/// The files of one attempt: what the command is told, and where it answers.
#[derive(Debug, Clone)]
pub struct AttemptFiles {
    pub(crate) folder: Arc<SharedFolder>,
    /// Where the command answers: in that folder, or where no other agent can write.
    pub(crate) answers: Arc<SharedFolder>,
    /// Above this folder nobody else puts anything.
    trusted: PathBuf,
    pub(super) prompt: PathBuf,
    pub(super) request: PathBuf,
    pub(super) notes: PathBuf,
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    pub(super) report: PathBuf,
    /// Where its report can be read later.
    pub(super) kept: PathBuf,
    /// Where the command says that it understood.
    pub acknowledgment: PathBuf,
}

impl AttemptFiles {
    /// Writes what the command is told, and removes what an attempt that crashed here may have said. No link below the
    /// workspace is followed.
    pub fn prepare(job: &Job, workspace: &Path) -> Result<AttemptFiles, Failure> {
        AttemptFiles::prepare_apart(job, workspace, None)
    }

    /// Does the same for a command that answers in a folder of its own.
    pub(super) fn prepare_apart(job: &Job, workspace: &Path, apart: Option<&Path>) -> Result<AttemptFiles, Failure> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| unwritable(path, &error));
        let (folder, workspace) = (absolute(&job.folder)?, absolute(workspace)?);
        let shared = SharedFolder::open(&workspace, &folder).map_err(|error| unwritable(&folder, &error))?;
        let shared = Arc::new(shared);
        let answers = match apart {
            Some(apart) => Arc::new(answers_in(apart).map_err(|error| unwritable(apart, &error))?),
            None => Arc::clone(&shared),
        };
        let is_json = job.request.text.trim_start().starts_with(['{', '[']);
        let files = AttemptFiles {
            prompt: folder.join("prompt.md"),
            request: folder.join(if is_json { "request.json" } else { "request.yaml" }),
            notes: folder.join("notes.json"),
            stdout: folder.join("stdout.log"),
            stderr: folder.join("stderr.log"),
            report: answers.path().join("report.md"),
            acknowledgment: answers.path().join("acknowledgment.yaml"),
            kept: folder.join("report.md"),
            folder: shared,
            answers,
            trusted: apart.map_or(workspace, Path::to_owned),
        };
        for path in [&files.report, &files.acknowledgment] {
            files.answers.remove(name(path)).map_err(|error| unwritable(path, &error))?;
        }
        files.remove(&files.kept)?;
        files.write(&files.prompt, &job.prompt)?;
        files.write(&files.request, &job.request.text)?;
        let notes: Vec<Value> = job.notes.iter().map(as_json).collect();
        let notes = serde_json::to_string_pretty(&notes).expect("notes are text");
        files.write(&files.notes, &notes)?;
        let contract = files.folder.path().join(CONTRACT_FILE);
        match &job.contract {
            Some(told) => files.write(&contract, &format!("{:#}\n", told.json()))?,
            None => files.remove(&contract)?,
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
        super::answer::read(self, &self.report)
    }

    /// Returns the folder of answers as it is now: a command that cleans up may have removed it and made it again.
    pub(super) fn answers_now(&self) -> io::Result<SharedFolder> {
        SharedFolder::open(&self.trusted, self.answers.path())
    }

    /// Writes one of the files, whatever was at its place.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        self.folder.write(name(path), text.as_bytes()).map_err(|error| unwritable(path, &error))
    }

    fn remove(&self, path: &Path) -> Result<(), Failure> {
        self.folder.remove(name(path)).map_err(|error| unwritable(path, &error))
    }
}

/// Makes a folder that only we and one command can use.
fn answers_in(apart: &Path) -> io::Result<SharedFolder> {
    make_private_folders(apart)?;
    SharedFolder::open(apart, apart)
}

/// Returns the name of one of the files.
pub(super) fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
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

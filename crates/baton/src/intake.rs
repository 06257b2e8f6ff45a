//! Takes documents from outside: reads them, judges them, and lets only valid ones of the wanted kind in.

use std::path::{Path, PathBuf};

use baton_agents::schema_folder::{SchemaFolder, SchemaFolders};
use baton_agents::workspace::Folder;
use baton_engine::Handoff;
use baton_engine::handoff::Written;
use baton_protocol::model::{Document, Request};
use baton_protocol::read::{self, Format};
use baton_protocol::surroundings::{Schemas, Workspace};
use baton_protocol::{Dialect, Hints, Kind, Reading, Settings, Surroundings};

use crate::command_error::CommandError;
use crate::discover::{Input, NotRead};
use crate::outcome;
use crate::output::Output;
use crate::render;
use crate::report::{Checked, Report};

/// A valid document.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The name of the file.
    pub name: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// What it says.
    pub document: Document,
    /// The document as it was written.
    pub written: Written,
}

/// What documents are judged by.
#[derive(Debug)]
pub(crate) struct Intake<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The dialect, if it is not to be recognised.
    pub dialect: Option<Dialect>,
    /// The request that the documents answer.
    pub request: Option<&'a Request>,
    /// The handoff that they are handed in for.
    pub handoff: Option<&'a Handoff>,
    /// The workspace that their claims are about.
    pub workspace: Option<&'a Folder>,
    /// Whether the name of a file tells its format; what agents leave behind is called as it may.
    pub by_name: bool,
}

impl Intake<'_> {
    /// Takes the documents if all of them are valid; otherwise tells what is wrong, and takes none.
    pub(crate) fn take(
        &self,
        files: &[PathBuf],
        wanted: Kind,
        json: bool,
        output: &Output,
    ) -> Result<Option<Vec<Taken>>, CommandError> {
        let Some(taken) = self.take_any(files, json, output)? else { return Ok(None) };
        match taken.iter().find(|taken| taken.document.kind() != wanted) {
            Some(other) => Err(wrong_kind(&other.name, other.document.kind(), wanted)),
            None => Ok(Some(taken)),
        }
    }

    /// Takes documents of whatever kind if all of them are valid; otherwise tells what is wrong, and takes none.
    pub(crate) fn take_any(
        &self,
        files: &[PathBuf],
        json: bool,
        output: &Output,
    ) -> Result<Option<Vec<Taken>>, CommandError> {
        if files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            return Err(CommandError::usage("standard input can be read once only: `-` is given twice"));
        }
        let (mut taken, mut checked) = (Vec::new(), Vec::new());
        for file in files {
            let (document, judged) = self.judge(file)?;
            checked.push(judged);
            taken.extend(document);
        }
        let report = Report { files: checked, problems: Vec::new(), skipped: 0 };
        let valid = report.files.iter().all(|file| file.judgement.valid);
        let silent = report.files.iter().all(|file| file.judgement.diagnostics.is_empty());
        match (valid, json) {
            (false, true) => output.data(&render::json::render(&report))?,
            (false, false) => output.note(render::human::render(&report, true, false).trim_end()),
            (true, false) if !silent => output.note(render::human::render(&report, false, false).trim_end()),
            (true, _) => {}
        }
        Ok(valid.then_some(taken))
    }

    /// Reads and judges one file; what is not valid is not taken.
    fn judge(&self, file: &Path) -> Result<(Option<Taken>, Checked), CommandError> {
        let input = if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.to_owned()) };
        let name = input.name();
        if file.is_dir() {
            return Err(CommandError::usage(format!("{name}: this is a folder, not a document")));
        }
        let bytes = match input.read() {
            Ok(bytes) => bytes,
            Err(NotRead::TooLarge(length)) => return Ok((None, self.too_large(name, length))),
            Err(problem) => return Err(CommandError::usage(problem.describe(&name))),
        };
        let hints = Hints { format: Format::of_path(&name).filter(|_| self.by_name), dialect: self.dialect };
        let reading = baton_protocol::read(&bytes, hints);
        let full = std::path::absolute(file).ok().filter(|_| input != Input::Stdin);
        let full = full.map(|path| path.to_string_lossy().replace('\\', "/"));
        let schemas = SchemaFolder::beside(file).map(|folder| SchemaFolders::default().at(folder));
        let surroundings = Surroundings {
            path: full.as_deref(),
            request: self.request,
            workspace: self.workspace.map(|folder| folder as &dyn Workspace),
            schemas: schemas.as_deref().map(|folder| folder as &dyn Schemas),
            ..self.handoff.map(outcome::surroundings).unwrap_or_default()
        };
        let judgement = baton_protocol::judge(&bytes, &reading, &surroundings, self.settings);
        let (dialect, kind) = (reading.dialect, reading.document.as_ref().map(|document| document.kind().as_str()));
        let text = String::from_utf8(bytes.clone()).ok();
        let taken = match (reading.document, dialect, text) {
            (Some(document), Some(dialect), Some(text)) if judgement.valid => {
                let written = Written::new(dialect, text).judged(&judgement);
                Some(Taken { name: name.clone(), dialect, document, written })
            }
            _ => None,
        };
        Ok((taken, Checked { name, bytes, dialect, kind, judgement }))
    }

    fn too_large(&self, name: String, length: u64) -> Checked {
        let reading = Reading::unreadable(read::too_large(length));
        let judgement = baton_protocol::judge(b"", &reading, &Surroundings::default(), self.settings);
        Checked { name, bytes: Vec::new(), dialect: None, kind: None, judgement }
    }
}

/// Tells that a document is of another kind, and which command takes it.
pub(crate) fn wrong_kind(name: &str, kind: Kind, wanted: Kind) -> CommandError {
    let article = |kind: Kind| if kind == Kind::Acknowledgment { "an" } else { "a" };
    let (found, wished) = (kind.as_str(), wanted.as_str());
    let message = format!("{name}: this is {} {found}, not {} {wished}", article(kind), article(wanted));
    CommandError::no(message).hint(match kind {
        Kind::Request => "`baton send` takes requests",
        Kind::Acknowledgment => "`baton ack` takes acknowledgments",
        Kind::Report => "`baton report` takes reports",
    })
}

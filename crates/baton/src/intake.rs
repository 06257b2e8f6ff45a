//! Takes documents from files: reads them, has them judged, and tells what is wrong with those that are not valid.

use std::path::{Path, PathBuf};

use baton_agents::schema_folder::{SchemaFolder, SchemaFolders};
use baton_agents::workspace::WorkspaceFolder;
use baton_engine::engine::{IncomingDocument, JudgedDocument, ValidDocument, Yardstick};
use baton_protocol::read::Format;
use baton_protocol::surroundings::{Schemas, Workspace};
use baton_protocol::{Dialect, Kind};

use crate::command_error::CommandError;
use crate::discover::{Input, NotRead};
use crate::output::Output;
use crate::render;
use crate::report::{CheckReport, Checked};

/// A valid document, and where it comes from.
#[derive(Debug)]
pub(crate) struct TakenDocument {
    /// The name of the file.
    pub name: String,
    /// The document.
    pub valid: ValidDocument,
}

/// How documents are taken.
#[derive(Debug)]
pub(crate) struct Intake<'a> {
    /// What they are judged by.
    pub yardstick: &'a Yardstick,
    /// The dialect, if it is not to be recognised.
    pub dialect: Option<Dialect>,
    /// The workspace that their claims are about.
    pub workspace: Option<&'a WorkspaceFolder>,
    /// Whether the name of a file tells its format; agents call what they leave behind as they like.
    pub by_name: bool,
}

impl<'a> Intake<'a> {
    /// Takes documents whose format is told by their name.
    pub(crate) fn by_name(yardstick: &'a Yardstick, dialect: Option<Dialect>) -> Intake<'a> {
        Intake { yardstick, dialect, workspace: None, by_name: true }
    }

    /// Takes the documents if all of them are valid; otherwise tells what is wrong, and takes none.
    pub(crate) fn take(
        &self,
        files: &[PathBuf],
        wanted: Kind,
        json: bool,
        output: &Output,
    ) -> Result<Option<Vec<TakenDocument>>, CommandError> {
        let Some(taken) = self.take_any(files, json, output)? else { return Ok(None) };
        let of_kind = |TakenDocument { name, valid }| match valid.of_kind(wanted) {
            Ok(valid) => Ok(TakenDocument { name, valid }),
            Err(problem) => Err(CommandError::from(problem).about(&name)),
        };
        taken.into_iter().map(of_kind).collect::<Result<_, _>>().map(Some)
    }

    /// Takes documents of whatever kind if all of them are valid; otherwise tells what is wrong, and takes none.
    pub(crate) fn take_any(
        &self,
        files: &[PathBuf],
        json: bool,
        output: &Output,
    ) -> Result<Option<Vec<TakenDocument>>, CommandError> {
        if files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            return Err(CommandError::usage("standard input can be read once only: `-` is given twice"));
        }
        let (mut taken, mut checked) = (Vec::new(), Vec::new());
        for file in files {
            let (document, judged) = self.judge(file)?;
            checked.push(judged);
            taken.extend(document);
        }
        let report = CheckReport { files: checked, problems: Vec::new(), skipped: 0 };
        let valid = report.files.iter().all(|file| file.judgement.valid);
        let silent = report.files.iter().all(|file| file.judgement.diagnostics.is_empty());
        match (valid, json) {
            (false, true) => output.data(&render::json::render(&report))?,
            (false, false) => output.note(render::human::render(&report, true, false, None).trim_end()),
            (true, false) if !silent => output.note(render::human::render(&report, false, false, None).trim_end()),
            (true, _) => {}
        }
        Ok(valid.then_some(taken))
    }

    /// Reads one file and has it judged; what is not valid is not taken.
    fn judge(&self, file: &Path) -> Result<(Option<TakenDocument>, Checked), CommandError> {
        let input = if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.to_owned()) };
        let name = input.name();
        if file.is_dir() {
            return Err(CommandError::usage(format!("{name}: this is a folder, not a document")));
        }
        let bytes = match input.read() {
            Ok(bytes) => bytes,
            Err(NotRead::TooLarge(length)) => {
                return Ok(of_judged(name, Vec::new(), self.yardstick.judge_too_large(length)));
            }
            Err(problem) => return Err(CommandError::usage(problem.describe(&name))),
        };
        let path = std::path::absolute(file).ok().filter(|_| input != Input::Stdin);
        let path = path.map(|path| path.to_string_lossy().replace('\\', "/"));
        let schemas = SchemaFolder::beside(file).map(|folder| SchemaFolders::default().at(folder));
        let judged = self.yardstick.judge(&IncomingDocument {
            bytes: &bytes,
            format: Format::of_path(&name).filter(|_| self.by_name),
            dialect: self.dialect,
            path: path.as_deref(),
            workspace: self.workspace.map(|folder| folder as &dyn Workspace),
            schemas: schemas.as_deref().map(|folder| folder as &dyn Schemas),
            answers: None,
        });
        Ok(of_judged(name, bytes, judged))
    }
}

fn of_judged(name: String, bytes: Vec<u8>, judged: JudgedDocument) -> (Option<TakenDocument>, Checked) {
    let JudgedDocument { dialect, kind, judgement, valid } = judged;
    let taken = valid.map(|valid| TakenDocument { name: name.clone(), valid });
    (taken, Checked { name, bytes, dialect, kind: kind.map(Kind::as_str), judgement })
}

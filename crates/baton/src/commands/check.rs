//! `baton check`: reads handoff documents and says what is wrong with them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use baton_agents::schema_folder::{SchemaFolder, SchemaFolders};
use baton_agents::workspace::WorkspaceFolder;
use baton_protocol::model::{Document, Request};
use baton_protocol::read::{self, Format};
use baton_protocol::surroundings::{Schemas, Workspace};
use baton_protocol::{Dialect, Hints, Judgement, Reading, Settings, Surroundings};
use clap::Args;
use rayon::prelude::*;

use crate::command_error::{CommandError, Exit};
use crate::config;
use crate::discover::{self, Found, Input, NotRead, Problem};
use crate::output::Output;
use crate::report::{CheckReport, Checked, kept};
use crate::writing::Writing;

/// Check handoff documents and say precisely what is wrong
///
/// Reads files, folders, quoted globs or `-` (standard input) in any of the six dialects,
/// recognises the dialect, and judges the document. What cannot be read is never valid.
///
/// Reports are judged against their request if it is among the files (same id), or given with --request.
///
/// With --staged it judges what would be committed, even if the file in the working tree has changed since. Everything else
/// (--workspace, --request, schemas, baton.toml) is read from the disk.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton check handoffs/\n  baton check --workspace . .output/review.md\n  \
agent | baton check --dialect task -\n  baton check --staged handoffs/\n  baton check --format sarif 'runs/**/*.json' > findings.sarif")]
pub(crate) struct Options {
    /// Files, folders, quoted globs, or `-` for standard input
    #[arg(required_unless_present = "staged", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check what the next commit adds or changes, as it is in git's index; FILE limits it to these paths
    #[arg(long)]
    staged: bool,
    /// Read every document as this dialect instead of recognising it
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Check claims about files against this folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The request that the reports answer
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Folder of the JSON Schemas that requests name [default: `schemas` beside `handoffs`]
    #[arg(long, value_name = "DIR")]
    schemas: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
    /// Skip readable files that are not handoffs (for whole repositories)
    #[arg(long)]
    skip_unknown: bool,
    /// The configuration file [default: the nearest baton.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Finds a dialect by name, for clap.
pub(crate) fn parse_dialect(name: &str) -> Result<Dialect, String> {
    let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    Dialect::parse(name).ok_or_else(|| baton_protocol::wire::suggest(name, &known))
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let checker = Checker::new(options)?;
    let found = match options.staged {
        true => Found { inputs: discover::find_staged(&options.files)?, problems: Vec::new() },
        false => discover::find(&options.files),
    };
    let report = checker.check(found, output);
    options.writing.write(&report, output)
}

/// Requests by id and, for tasks, phase.
type Requests = HashMap<(String, Option<String>), Request>;

struct Checker<'o> {
    options: &'o Options,
    settings: Settings,
    workspace: Option<WorkspaceFolder>,
    schemas: SchemaFolders,
    request: Option<Request>,
}

/// What one file gave at first sight.
enum Sighted {
    /// It is judged.
    Judged(Box<Checked>),
    /// It answers something, so it waits until all requests are known.
    Waiting(String, Vec<u8>),
    /// It is not a handoff, and such files are left out.
    Skipped,
    /// It cannot be opened.
    Problem(Problem),
}

impl<'o> Checker<'o> {
    fn new(options: &'o Options) -> Result<Self, CommandError> {
        if let Some(folder) = options.schemas.as_deref().filter(|folder| !folder.is_dir()) {
            return Err(CommandError::usage(format!("{}: the folder of schemas does not exist", folder.display())));
        }
        Ok(Checker {
            options,
            settings: config::load(options.config.as_deref())?,
            workspace: options.workspace.as_deref().map(WorkspaceFolder::open).transpose()?,
            schemas: SchemaFolders::default(),
            request: options.request.as_deref().map(read_request).transpose()?,
        })
    }

    fn check(&self, found: Found, output: &Output) -> CheckReport {
        let progress = output.progress(found.inputs.len());
        let sighted: Vec<(Sighted, Option<Request>)> = found
            .inputs
            .par_iter()
            .map(|input| {
                let sighted = self.sight(input);
                progress.inc(1);
                sighted
            })
            .collect();
        let mut report = CheckReport { files: Vec::new(), problems: found.problems, skipped: 0 };
        let mut requests = Requests::new();
        let mut waiting = Vec::new();
        for (sighted, request) in sighted {
            requests.extend(request.and_then(|request| Some((key(&request)?, request))));
            match sighted {
                Sighted::Judged(checked) => report.files.push(*checked),
                Sighted::Waiting(name, bytes) => waiting.push((name, bytes)),
                Sighted::Skipped => report.skipped += 1,
                Sighted::Problem(problem) => report.problems.push(problem),
            }
        }
        report.files.par_extend(waiting.into_par_iter().map(|(name, bytes)| self.judge_answer(name, bytes, &requests)));
        report.files.sort_by(|left, right| left.name.cmp(&right.name));
        // A commit without handoffs is fine; a folder without any was named by mistake.
        if report.files.is_empty() && report.problems.is_empty() && !self.options.staged {
            let message = format!("none of {} files is a handoff", report.skipped);
            report.problems.push(Problem { path: "--skip-unknown".to_owned(), message });
        }
        progress.finish_and_clear();
        report
    }

    /// Reads a file; judges it at once unless it answers something.
    fn sight(&self, input: &Input) -> (Sighted, Option<Request>) {
        let name = input.name();
        let bytes = match input.read() {
            Ok(bytes) => bytes,
            Err(NotRead::TooLarge(length)) => {
                return (Sighted::Judged(Box::new(too_large(name, length, &self.settings))), None);
            }
            Err(NotRead::Problem(problem)) => return (Sighted::Problem(problem), None),
        };
        let reading = self.read(&name, &bytes);
        // Whoever commits other files has not called them handoffs.
        let may_be_other = self.options.skip_unknown || self.options.staged && self.options.files.is_empty();
        if may_be_other && reading.unmarked {
            return (Sighted::Skipped, None);
        }
        let request = match &reading.document {
            Some(Document::Request(request)) => Some(request.as_ref().clone()),
            Some(Document::Report(report)) if report.id.is_some() && self.request.is_none() => {
                drop(reading);
                return (Sighted::Waiting(name, bytes), None);
            }
            _ => None,
        };
        let judgement = self.judge(&name, &bytes, &reading, self.request.as_ref());
        let (dialect, kind) = (reading.dialect, reading.document.as_ref().map(|document| document.kind().as_str()));
        (Sighted::Judged(Box::new(Checked { bytes: kept(bytes, &judgement), name, dialect, kind, judgement })), request)
    }

    fn judge_answer(&self, name: String, bytes: Vec<u8>, requests: &Requests) -> Checked {
        let reading = self.read(&name, &bytes);
        let request = match &reading.document {
            Some(Document::Report(report)) => report.id.clone().and_then(|id| {
                let phase = report.phase.as_ref().map(ToString::to_string);
                requests.get(&(id.clone(), phase)).or_else(|| requests.get(&(id, None)))
            }),
            _ => None,
        };
        let judgement = self.judge(&name, &bytes, &reading, request);
        let (dialect, kind) = (reading.dialect, reading.document.as_ref().map(|document| document.kind().as_str()));
        Checked { bytes: kept(bytes, &judgement), name, dialect, kind, judgement }
    }

    fn read<'t>(&self, name: &str, bytes: &'t [u8]) -> Reading<'t> {
        baton_protocol::read(bytes, Hints { format: Format::of_path(name), dialect: self.options.dialect })
    }

    fn judge(&self, name: &str, bytes: &[u8], reading: &Reading<'_>, request: Option<&Request>) -> Judgement {
        let folder = self.options.schemas.clone().or_else(|| SchemaFolder::beside(Path::new(name)));
        let schemas = folder.map(|folder| self.schemas.at(folder));
        // The folder counts, from wherever the file is named.
        let full = std::path::absolute(name).map(|path| path.to_string_lossy().replace('\\', "/")).ok();
        let surroundings = Surroundings {
            // Whoever gives the request judges what was handed in for it, as a run does.
            times_are_kept: request.is_some(),
            path: full.as_deref(),
            request,
            workspace: self.workspace.as_ref().map(|folder| folder as &dyn Workspace),
            schemas: schemas.as_deref().map(|folder| folder as &dyn Schemas),
            ..Surroundings::default()
        };
        baton_protocol::judge(bytes, reading, &surroundings, &self.settings)
    }
}

/// Judges a file that is not read because of its size.
fn too_large(name: String, length: u64, settings: &Settings) -> Checked {
    let reading = Reading::unreadable(read::too_large(length));
    let judgement = baton_protocol::judge(b"", &reading, &Surroundings::default(), settings);
    Checked { name, bytes: Vec::new(), dialect: None, kind: None, judgement }
}

fn key(request: &Request) -> Option<(String, Option<String>)> {
    Some((request.id.clone()?, request.phase.as_ref().map(ToString::to_string)))
}

fn read_request(path: &Path) -> Result<Request, CommandError> {
    let input = Input::File(path.to_owned());
    let name = input.name();
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&name)))?;
    let reading = baton_protocol::read(&bytes, Hints { format: Format::of_path(&name), dialect: None });
    match reading.document {
        Some(Document::Request(request)) => Ok(*request),
        Some(other) => Err(CommandError::usage(format!("{name} is a {}, not a request", other.kind().as_str()))),
        None => Err(CommandError::usage(format!("{name} cannot be read as a request"))
            .hint(format!("baton check {name} says why"))),
    }
}

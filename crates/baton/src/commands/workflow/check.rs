//! `baton workflow check`: reads workflow files and says what is wrong with them.

use std::path::{Path, PathBuf};

use baton_protocol::workflow::{self, Files};
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::config::{self, Config};
use crate::discover::{Input, NotRead, Problem};
use crate::output::Output;
use crate::report::{CheckReport, Checked, kept};
use crate::workflow_file;
use crate::writing::Writing;

/// Check workflow files and say precisely what is wrong
///
/// Checks the file and the files that it refers to: agents and phases that do not exist, unreachable phases, unknown
/// targets, cycles without a limit, mistakes in expressions and limits, and missing programs.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton workflow check\n  baton workflow check workflow.yaml\n  baton workflow check examples/*/ --strict\n  \
baton workflow check --format sarif workflow.yaml > findings.sarif"
)]
pub(super) struct Options {
    /// Workflow files, folders with a workflow.yaml, or `-` for standard input [default: this folder]
    #[arg(default_value = ".", hide_default_value = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the agents will work: programs and scripts without `./` are looked for there
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    #[command(flatten)]
    writing: Writing,
    /// The configuration file [default: the nearest baton.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let config = config::read(options.config.as_deref())?;
    let mut report = CheckReport { files: Vec::new(), problems: Vec::new(), skipped: 0 };
    for path in &options.files {
        match check(path, options, &config) {
            Ok(checked) => report.files.push(checked),
            Err(problem) => report.problems.push(problem),
        }
    }
    report.files.sort_by(|left, right| left.name.cmp(&right.name));
    report.files.dedup_by(|left, right| left.name == right.name);
    options.writing.write(&report, output)
}

fn check(path: &Path, options: &Options, config: &Config) -> Result<Checked, Problem> {
    let problem = |message: String| Problem { path: path.display().to_string(), message };
    let file = workflow_file::locate(path).map_err(problem)?;
    let is_stdin = file.as_os_str() == "-";
    let input = match is_stdin {
        true => Input::Stdin,
        false => Input::File(file.strip_prefix("./").unwrap_or(&file).to_owned()),
    };
    let (bytes, reading) = workflow_file::read(&input).map_err(|not_read| match not_read {
        NotRead::Problem(found) => found,
        NotRead::TooLarge(_) => problem(not_read.describe(&input.name())),
    })?;
    // What is piped in has no folder that its paths could begin in.
    let around = (!is_stdin).then(|| workflow_file::WorkflowFolder::new(&file, &options.workspace));
    let files = around.as_ref().map(|around| around as &dyn Files);
    if let Err(error) = workflow_file::signers(reading.workflow.as_ref(), &config.approvers) {
        return Err(problem(format!("its approvers cannot be read: {}", error.message)));
    }
    let judgement = workflow::judge(&bytes, &reading, files, &config.settings);
    Ok(Checked {
        name: input.name(),
        bytes: kept(bytes, &judgement),
        dialect: None,
        kind: reading.workflow.is_some().then_some("workflow"),
        judgement,
    })
}

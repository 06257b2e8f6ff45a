//! A session that a run has started: judged by what the run has asked, with what an agent can see of its attempt. The driver
//! judges again afterwards, so what is kept here lies in the folder of the attempt, where the agent could change it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baton_agents::evidence::LocalEvidence;
use baton_engine::StateFolder;
use baton_engine::engine::{SessionTask, Yardstick};
use baton_engine::evidence::{self, Evidence as _, KeptBytes, Scene};
use baton_engine::handoff::Digest;
use baton_engine::report_contract::{CONTRACT_FILE, ReportContract};
use baton_protocol::model::{Document, Request};
use baton_protocol::rules::writes_outside;
use baton_protocol::{Dialect, Hints};
use walkdir::WalkDir;

use super::HookAnswer;
use super::input::AgentEnd;
use super::reasons::Reasons;
use super::standing::{BLOCKS_MAX, Standing};
use super::{judging, report_text, session_log};
use crate::command_error::CommandError;
use crate::config;

/// How many files of an output directory are looked at.
const FILES_MAX: usize = 10_000;

/// An attempt of a run, as its agent knows it.
#[derive(Debug)]
pub(crate) struct RunAttempt {
    request_file: PathBuf,
    report_file: Option<PathBuf>,
    handoff: String,
    agent: String,
    phase: Option<String>,
    workspace: PathBuf,
    output_directory: Option<PathBuf>,
}

/// Returns the attempt that this process is part of, if it is.
pub(crate) fn of_environment() -> Option<RunAttempt> {
    let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(RunAttempt {
        request_file: path("BATON_REQUEST_FILE")?,
        report_file: path("BATON_REPORT_FILE"),
        handoff: text("BATON_HANDOFF_ID")?,
        agent: text("BATON_AGENT").unwrap_or_default(),
        phase: text("BATON_PHASE"),
        workspace: path("BATON_WORKSPACE").or_else(|| env::current_dir().ok())?,
        output_directory: path("BATON_OUTPUT_DIRECTORY"),
    })
}

/// Judges what the agent of an attempt hands in.
pub(crate) fn judge(attempt: &RunAttempt, end: &AgentEnd) -> Result<HookAnswer, CommandError> {
    let request = attempt.request()?;
    if end.is_busy {
        return Ok(HookAnswer::Nothing);
    }
    let mut standing = attempt.standing()?;
    let contract = attempt.contract();
    let text = attempt.text(end)?;
    let reasons = match attempt.reasons(&text, request, end, contract, standing.baseline.clone())? {
        reasons if reasons.are_none() => return Ok(HookAnswer::Nothing),
        reasons => reasons,
    };
    if standing.is_spent() {
        return Ok(HookAnswer::Tell(format!(
            "baton: {} ends after {BLOCKS_MAX} tries without a handoff that is accepted; its run decides what follows",
            attempt.handoff
        )));
    }
    standing.refuse(&text, &reasons.recorded()).map_err(unkept)?;
    Ok(HookAnswer::Block(reasons.told()))
}

/// Notes that the run has told its agent something new, and how the workspace is before it begins.
pub(crate) fn begins(attempt: &RunAttempt) -> Result<HookAnswer, CommandError> {
    let mut standing = attempt.standing()?;
    standing.begin_anew().map_err(unkept)?;
    // What is corrected later belongs to the same work.
    if standing.baseline.is_none() && attempt.contract().writes.is_some() {
        let eyes = attempt.eyes();
        let mut scene =
            Scene { workspace: attempt.workspace.clone(), folder: attempt.folder().to_owned(), ..Scene::default() };
        judging::runtime()?.block_on(async {
            scene.before = eyes.remember(&scene.workspace).await;
            eyes.keep(&scene).await;
        });
        standing.baseline = scene.before.and_then(|before| before.digest);
        standing.write().map_err(unkept)?;
    }
    Ok(HookAnswer::Nothing)
}

fn unkept(error: io::Error) -> CommandError {
    CommandError::usage(format!("cannot record the refusal: {error}"))
}

impl RunAttempt {
    fn folder(&self) -> &Path {
        self.request_file.parent().unwrap_or(Path::new("."))
    }

    /// Looks at the workspace. In a cage the state folder is not there; what must be kept lies in the folder of the attempt.
    fn eyes(&self) -> LocalEvidence {
        LocalEvidence::new([], StateFolder::at(self.folder()))
    }

    fn standing(&self) -> Result<Standing, CommandError> {
        Standing::take(self.folder(), "hook").map_err(unkept)
    }

    fn request(&self) -> Result<Request, CommandError> {
        let file = self.request_file.display();
        let text = fs::read(&self.request_file)
            .map_err(|error| CommandError::usage(format!("cannot read the request {file}: {error}")))?;
        match baton_protocol::read(&text, Hints::default()).document {
            Some(Document::Request(request)) => Ok(*request),
            _ => Err(CommandError::usage(format!("{file} is not a request"))),
        }
    }

    /// Returns what the report is judged by beyond its request. Without it things are as usual: the driver knows better, and
    /// has the last word.
    fn contract(&self) -> ReportContract {
        let text = fs::read(self.folder().join(CONTRACT_FILE)).ok();
        let written = text.and_then(|text| serde_json::from_slice(&text).ok());
        match written {
            Some(value) => ReportContract::of_json(&value),
            None => ReportContract { settings: config::load(None).unwrap_or_default(), ..ReportContract::default() },
        }
    }

    /// Returns what the agent hands in, from the places that its run looks at.
    fn text(&self, end: &AgentEnd) -> Result<String, CommandError> {
        let written = self.report_file.as_deref().and_then(report_text::text_of);
        match written.filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text),
            None => report_text::find(end, &self.agent, self.new_files()),
        }
    }

    /// Returns the files of the output directory that are newer than the request.
    fn new_files(&self) -> Vec<PathBuf> {
        let since = fs::metadata(&self.request_file).and_then(|found| found.modified());
        let since = since.unwrap_or(SystemTime::UNIX_EPOCH);
        let entries = self.output_directory.iter().flat_map(|folder| WalkDir::new(folder).into_iter().take(FILES_MAX));
        let is_new = |entry: &walkdir::DirEntry| {
            let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
            entry.file_type().is_file() && changed.is_some_and(|changed| changed >= since)
        };
        entries.filter_map(Result::ok).filter(is_new).map(walkdir::DirEntry::into_path).collect()
    }

    fn reasons(
        &self,
        text: &str,
        request: Request,
        end: &AgentEnd,
        contract: ReportContract,
        baseline: Option<Digest>,
    ) -> Result<Reasons, CommandError> {
        let ReportContract { dialect, mandatory_skills, writes, views, settings } = contract;
        let task = SessionTask {
            agent: Some(self.agent.clone()).filter(|agent| !agent.is_empty()),
            phase: self.phase.clone(),
            dialect,
            request: Some(request.clone()),
            output_directory: self.output_directory.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
        };
        // What the prompt asks for where the workflow names no dialect.
        let understood = match judging::read(&Yardstick::of_session(task, &settings), Dialect::Native, text) {
            Ok(understood) => understood,
            Err(reasons) => return Ok(reasons),
        };
        let scene = Scene {
            workspace: self.workspace.clone(),
            workflow_folder: env::var_os("BATON_WORKFLOW_DIRECTORY").map(PathBuf::from).unwrap_or_default(),
            output_directory: self.output_directory.clone(),
            // Its criteria are commands of the driver, who runs them in a cage of their own.
            request: Some(Request { expectations: None, ..request }),
            mandatory_skills,
            transcript: end.transcript.as_deref().and_then(session_log::transcript_at),
            folder: self.folder().to_owned(),
            views,
            ..Scene::default()
        };
        let eyes = self.eyes();
        let seen = judging::examine(&eyes, &scene, &understood.report, &settings, KeptBytes::default());
        let runtime = judging::runtime()?;
        if let Err(reasons) = runtime.block_on(seen) {
            return Ok(reasons);
        }
        let (Some(writes), Some(baseline)) = (writes, baseline) else { return Ok(Reasons::default()) };
        // Only the driver knows how the workspace was before earlier attempts. So of what has changed in this one it is only
        // asked whether it may have.
        let scene = Scene { writes: Some(writes), baseline: Some(baseline), ..scene };
        let mut examined = runtime.block_on(eyes.examine(&scene, &understood.report));
        examined.retain(|one| one.rule == writes_outside::RULE.name);
        evidence::allow(&mut examined, &settings);
        Ok(Reasons::of_evidence(&examined))
    }
}
